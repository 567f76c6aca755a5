package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	baseyaml "github.com/fwpsuite/fwp/internal/base/yaml"
)

// Check finds everything that is wrong with w: values out of range, and settings that
// contradict each other. The error joins *Problems without a place.
func (w *Workload) Check() error {
	var problems []error
	for _, p := range w.rangeProblems() {
		problems = append(problems, p)
	}
	if problems == nil { // what is derived from wrong values would be noise
		for _, r := range w.contradictions() {
			problems = append(problems, r.problem)
		}
	}
	return errors.Join(problems...)
}

// rangeProblems reads every setting again as it would be written.
func (w *Workload) rangeProblems() (problems []*Problem) {
	duplicate := *w
	for _, s := range duplicate.Settings() {
		if p := problemOf(s.Value.Set(s.Value.String())); p != nil {
			p.Key = s.Key
			problems = append(problems, p)
		}
	}
	if p := problemOf(errorOf(Preset(w.Preset))); p != nil {
		problems = append(problems, p)
	}
	return problems
}

func errorOf[T any](_ T, err error) error { return err }

// problemOf takes a Problem out of an error.
func problemOf(err error) *Problem {
	p, _ := errors.AsType[*Problem](err)
	return p
}

// contradiction is a problem between settings. The first of keys is to blame.
type contradiction struct {
	keys    []string
	problem *Problem
}

// rules collects contradictions.
type rules []contradiction

// add notes a contradiction if it is there. The keys that take part have blanks between, the first is to blame.
func (r *rules) add(isBroken bool, message, expected, do, keyNames string) {
	if isBroken {
		keys := strings.Fields(keyNames)
		*r = append(*r, contradiction{keys, &Problem{Key: keys[0], Description: message, Expected: expected, Do: do}})
	}
}

func (w *Workload) contradictions() []contradiction {
	var r rules
	w.checkArrivals(&r)
	w.checkLength(&r)
	w.checkConnections(&r)
	w.checkWorkers(&r)
	w.checkQueues(&r)
	w.checkJobs(&r)
	return r
}

func (w *Workload) checkArrivals(r *rules) {
	hasStages, isClosed := len(w.Stages) > 0, !w.IsOpen()
	r.add(hasStages && w.Rate > 0, "stages and rate both set the rate of arrivals", "one of them", "remove rate",
		"stages rate")
	hasTrace := w.Trace != ""
	for _, s := range []struct {
		key string
		set bool
	}{
		{"rate", w.Rate > 0}, {"stages", hasStages}, {"poisson", w.Poisson}, {"burst", w.Burst > 1},
		{"duration", w.Duration > 0}, {"prefill", w.Prefill > 0}, {"queue_rates", len(w.Queues.Rates) > 0},
	} {
		r.add(hasTrace && s.set, "the trace sets the jobs and their times", "trace without "+s.key,
			"remove "+s.key, s.key+" trace")
	}
	r.add(!hasTrace && w.TraceSpeed > 0, "this needs a trace", "trace too", "add trace, or remove trace_speed",
		"trace_speed trace")
	r.add(isClosed && w.Poisson, "this needs an open loop", "rate or stages too",
		"add rate, or remove poisson", "poisson rate stages")
	r.add(isClosed && w.Burst > 1, "this needs an open loop", "rate or stages too",
		"add rate, or remove burst", "burst rate stages")
	r.add(!isClosed && w.Think != Range{}, "an open loop does not wait for replies, so think has no effect",
		"think only in a closed loop",
		"remove think, or rate and stages", "think rate stages")
	r.add(!isClosed && w.Producers == 0 && !w.Churn, "there are no producers to push the arrivals",
		"producers above 0", "add producers", "producers rate stages churn")
	r.add(w.Batch > 1 && w.Producers == 0, "this needs producers", "producers above 0",
		"add producers, or remove batch", "batch producers")
	r.add(w.JobLimit > 0 && w.Producers == 0 && !w.Churn, "there are no producers to push the jobs",
		"producers above 0", "add producers, or use prefill", "jobs producers churn")
}

func (w *Workload) checkLength(r *rules) {
	hasStages := len(w.Stages) > 0
	r.add(hasStages && w.Duration > 0, "the stages set the length of the run", "stages without duration",
		"remove duration", "duration stages")
	r.add(hasStages && time.Duration(w.Warmup) >= w.Stages.Length(),
		fmt.Sprintf("the warm-up is as long as the stages, %v, or longer", Duration(w.Stages.Length())),
		"a warm-up shorter than the stages", "shorten warmup, or add a stage", "warmup stages")
	r.add(w.Stages.Length() > maxDuration, "the stages are too long", "1000h or less in total", "make them shorter",
		"stages")
	if w.TraceData != nil {
		r.add(w.PlanLength() > maxDuration || time.Duration(w.Warmup) >= w.PlanLength(),
			fmt.Sprintf("the trace takes %v, and the warm-up %v", Duration(w.PlanLength()), w.Warmup),
			"a shorter warm-up, and 1000h or less", "change warmup or trace_speed", "trace trace_speed warmup")
	}
	plan := w.Plan(0)
	if plan == nil || w.Trace != "" || hasStages && w.Rate > 0 {
		return
	}
	expected := plan.Expected(plan.Span())
	r.add(expected <= 0, "all rates are 0", "at least one rate above 0", "raise a rate", "stages rate")
	r.add(expected > maxJobs && w.JobLimit == 0, // the limit has one of its own
		fmt.Sprintf("%.3g arrivals are too many", expected), "10^10 or less",
		"shorten the run or lower the rate", "rate stages duration warmup jobs")
	r.add(!hasStages && w.JobLimit > 0 && float64(w.Rate)*time.Duration(w.Warmup).Seconds() >= float64(w.JobLimit),
		"all jobs would be pushed during the warm-up", "a warm-up shorter than jobs/rate", "shorten warmup, or raise jobs",
		"warmup jobs rate")
}

func (w *Workload) checkConnections(r *rules) {
	r.add(w.Producers+w.Consumers+w.Connections == 0, "there are no connections",
		"producers, consumers or connections above 0", "add producers and consumers",
		"producers consumers connections")
	r.add(w.Connections > 0 && !w.Churn && !w.BeatOnly, "the connections have nothing to do",
		"churn or beat_only too", "use the preset idle or churn, or set producers and consumers",
		"connections churn beat_only")
	r.add(w.Churn && w.BeatOnly, "churn and beat_only contradict each other", "churn or beat_only",
		"remove one of them", "churn beat_only")
	r.add((w.Churn || w.BeatOnly) && w.Connections == 0, "there are no connections",
		"connections above 0 for churn and beat_only", "add connections", "connections churn beat_only")
	r.add(w.Churn && w.Producers > 0, "with churn the connections push, so there are no producers",
		"churn without producers", "remove producers", "producers churn")
	r.add(w.ObserveEvery > 0 && w.Observers == 0, "there are no observers", "observers above 0",
		"add observers, or remove observe_every", "observe_every observers")
	r.add(len(w.DisconnectAt) > 0 && w.Disconnects == 0, "this needs disconnects", "disconnects above 0",
		"add disconnects, or remove disconnect_at", "disconnect_at disconnects")
	r.add(w.Disconnects == 1, "every command would end its connection, so there would be no load", "a share below 1",
		"lower disconnects", "disconnects")
	hasJobs := w.Producers > 0 || w.Consumers > 0 || w.Prefill > 0 || w.JobLimit > 0 || w.IsOpen()
	r.add(w.BeatOnly && hasJobs, "connections that only send BEAT have no jobs",
		"beat_only without producers, consumers, prefill, jobs, rate or stages", "remove them, or choose another preset",
		"beat_only producers consumers prefill jobs rate stages")
}

func (w *Workload) checkWorkers(r *rules) {
	pool := w.Topology.Kind == Pool
	for _, s := range []struct {
		key string
		set bool
	}{
		{"fetchers", w.Topology.Fetchers > 0},
		{"reporters", w.Topology.Reporters > 0},
		{"concurrency", w.Topology.Concurrency > 0},
	} {
		r.add(s.set && !pool, "this works only with topology pool", "topology pool too",
			"set topology to pool, or remove "+s.key, s.key+" topology")
	}
	r.add(pool && w.Consumers == 0, "there are no workers", "consumers above 0", "add consumers",
		"topology consumers")
	r.add(w.Work != Range{} && w.Consumers == 0, "there are no workers", "consumers above 0",
		"add consumers, or remove work", "work consumers")
	r.add(w.FailShare > 0 && w.Consumers == 0, "this needs workers",
		"consumers above 0", "add consumers, or remove fail_share", "fail_share consumers")
}

func (w *Workload) checkQueues(r *rules) {
	q := w.Queues
	r.add(len(q.Weights) > 0 && q.Pick != Weighted,
		fmt.Sprintf("this does not work with queue_pick %s", Pick.String(q.Pick)), "queue_pick weighted too",
		"set queue_pick to weighted, or remove the weights", "queue_weights queue_pick")
	r.add(q.Pick == Weighted && len(q.Weights) == 0, "weighted needs weights", "queue_weights, one for "+
		"each queue",
		"add queue_weights", "queue_pick queue_weights")
	r.add(len(q.Weights) > 0 && q.Number > 0 && len(q.Weights) != q.Number,
		fmt.Sprintf("got %d weights for %d queues", len(q.Weights), q.Number), "one weight for each queue",
		"remove the key queues, or make the numbers equal", "queue_weights queues")
	r.add(len(q.Weights) > maxQueues, fmt.Sprintf("%d weights", len(q.Weights)), "1000 queues or less",
		"remove some", "queue_weights")
	r.add(len(q.Weights) > 0 && slices.Max(append([]float64{0}, q.Weights...)) == 0, "all weights are 0",
		"a weight above 0", "raise one of them", "queue_weights")
	if len(q.Rates) > 0 {
		r.add(w.Rate > 0 || len(w.Stages) > 0, "queue_rates and rate or stages both set the rate of arrivals",
			"one of them",
			"remove rate and stages", "queue_rates rate stages")
		r.add(q.Pick != Uniform || len(q.Weights) > 0, "queue_rates set how jobs get their queue",
			"queue_rates without queue_pick and queue_weights", "remove these", "queue_rates queue_pick queue_weights")
		r.add(q.Number > 0 && len(q.Rates) != q.Number || len(q.Rates) > maxQueues,
			fmt.Sprintf("%d rates", len(q.Rates)), "one rate for each queue, at most 1000", "remove the key queues, or "+
				"some rates",
			"queue_rates queues")
	}
	r.add(q.Skew > 0 && q.Pick != Zipf, fmt.Sprintf("this does not work with queue_pick %s",
		Pick.String(q.Pick)),
		"queue_pick zipf too", "set queue_pick to zipf, or remove queue_skew", "queue_skew queue_pick")
}

func (w *Workload) checkJobs(r *rules) {
	f := w.WithDefaults()
	r.add(f.FailShare == 1 && *f.Retry > 0,
		fmt.Sprintf("with fail_share 1 each job would be retried %d times", *f.Retry), "a share below 1, or retry 0",
		"lower fail_share, or set retry to 0", "fail_share retry")
	r.add(f.Work.Max >= time.Duration(f.ReserveFor),
		fmt.Sprintf("the work lasts as long as the reservation, %v, or longer", f.ReserveFor), "work shorter than "+
			"reserve_for",
		"shorten work, or raise reserve_for", "work reserve_for")
	r.add(f.Delay.Max > time.Duration(f.Drain),
		fmt.Sprintf("jobs may be due after the end of the drain (%v)", f.Drain),
		"drain as long as the longest delay", "shorten delay, or raise drain", "delay drain")
}

// Problem is one thing that is wrong with a workload.
type Problem = baseyaml.Problem

// advise is the question whether the nearest of the known words was meant, or else
// the given advice.
func advise(word string, words []string, advice string) string {
	if match := nearest(word, words); match != "" {
		return "did you mean " + match + "?"
	}
	return advice
}

// nearest is the known word that was probably meant, empty if all are far.
func nearest(word string, words []string) string {
	const longest = 64 // a longer one is not a mistyped word
	if len(word) > longest {
		return ""
	}
	return text.Nearest(word, words, min(max(2, len(word)/3), len(word)))
}
