package results

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// LoadRate is the target rate of the arrivals of the plan and the rate that was achieved, within the measured window. A
// closed loop has no target rate: Target, Planned, Queued, Dropped and Unserved are 0.
type LoadRate struct {
	// Op is the command of an arrival: "push", or "connect" in churn, with short-lived connections of one push each.
	// In a closed loop it is the command that the workload is about: "push" or "connect", "ack" where nothing but
	// consuming is measured, or "beat"; of a worker "job".
	Op string `json:"op,omitempty" join:"first"`
	// Target is the mean rate of the plan in the window.
	Target float64 `json:"target_per_s" join:"sum"`
	// Achieved is Done a second.
	Achieved float64 `json:"achieved_per_s"`
	// Planned is how many arrivals the plan has in the window: a Poisson plan, or one of few arrivals, has more or fewer
	// than its rate says.
	Planned int64 `json:"planned" join:"sum"`
	// Done is how many arrivals succeeded that were due in the window: those in flight at its end are awaited. Of a closed
	// loop it is how many commands were answered in the window, and of
	// short-lived connections how many pushed their job.
	Done int64 `json:"done" join:"sum"`
	// Queued is how many arrivals found no free connection, waited for one and got it: the target (or the number of
	// connections) was the limit, not the generator.
	Queued int64 `json:"queued,omitempty" join:"sum"`
	// Dropped is how many arrivals found no free connection and were not sent (--overload drop).
	Dropped int64 `json:"dropped,omitempty" join:"sum"`
	// Unserved is how many arrivals of the window still waited for a connection at its end (--overload queue). They
	// count in response times with the time that they had waited; see Latency.AtLeast.
	Unserved int64 `json:"unserved,omitempty" join:"sum"`
	// Backlog is the longest queue of arrivals that waited for a connection.
	Backlog int64 `json:"backlog,omitempty" join:"sum"`
}

// rateCounts holds the counts of the arrivals.
var rateCounts = []count{
	{name: "unserved", denominatorKeys: "planned",
		doc: "arrivals that still waited for a connection at the end, of those planned"},
	{name: "dropped", denominatorKeys: "planned", doc: "arrivals dropped by --overload drop, of those planned"},
	{name: "queued", denominatorKeys: "planned", doc: "arrivals that got a connection after a wait, of those planned"},
}

// The shares of the arrivals of a plan that count as all of them, and below which the first line says that the target
// was missed.
const (
	enoughShare = 0.99
	belowTarget = 0.95
)

// fewArrivals is the number of arrivals below which a rate has its interval beside it.
const fewArrivals = 100

// IsAchieved reports whether an open loop carried out its plan: nearly all of the arrivals succeeded.
func (r *LoadRate) IsAchieved() bool { return float64(r.Done) >= enoughShare*float64(r.Planned) }

// isBelowTarget reports whether an open loop carried out much less than its plan.
func (r *LoadRate) isBelowTarget() bool { return float64(r.Done) < belowTarget*float64(r.Planned) }

// words returns the achieved rate: "achieved the target rate of 8,300 /s", or "below target: achieved 8,300 of
// 12,000 /s (222,000 arrivals unserved)".
func (r *LoadRate) words(length time.Duration) string {
	words := fmt.Sprintf("achieved %s of %s /s", reports.Digits(r.Achieved), reports.Digits(r.Target))
	missing := reports.JoinWith(", ", countIfAny(r.Dropped, "arrival", "dropped"),
		countIfAny(r.Unserved, "arrival", "unserved"))
	switch {
	case r.Target > 0 && r.IsAchieved() && missing == "":
		words = fmt.Sprintf("achieved the target rate of %s /s", reports.Digits(r.Target))
		if r.Done < fewArrivals && reports.Digits(r.Achieved) != reports.Digits(r.Target) {
			missing = fmt.Sprintf("%s in %s", text.Count(r.Done, "arrival"), reports.Duration(length))
		}
	case r.Target > 0 && r.isBelowTarget():
		words = "below target: " + words
	case r.Target > 0:
	case r.Done > 0:
		words = fmt.Sprintf("achieved %s /s", reports.Digits(r.Achieved))
		missing = reports.JoinWith("; ", arrivals(r.Op), r.interval(length))
	default:
		return ""
	}
	if missing != "" {
		words += " (" + missing + ")"
	}
	return words
}

// interval returns the interval of 95 % of an achieved rate that few arrivals carry, as if these came at random; empty
// if there are enough. It is the exact one of a Poisson process.
func (r *LoadRate) interval(length time.Duration) string {
	if r.Done == 0 || r.Done >= fewArrivals || length <= 0 {
		return ""
	}
	end := func(n int64, share float64) string {
		mean := float64(sort.Search(2000*fewArrivals, func(k int) bool { return atMost(n, float64(k)/1000) <= share }))
		return reports.Digits(mean / 1000 / length.Seconds())
	}
	return fmt.Sprintf("95 %% interval of %s: %s to %s /s", text.Count(r.Done, "arrival"), end(r.Done-1, 0.975),
		end(r.Done, 0.025))
}

// atMost returns the probability that a Poisson process of this mean has n points or fewer.
func atMost(n int64, mean float64) float64 {
	term := math.Exp(-mean)
	sum := term
	for k := range n {
		term *= mean / float64(k+1)
		sum += term
	}
	return sum
}

// JobsDue counts the jobs of a run that are due: the target has accepted them, their time has come, and no worker has
// got them yet. A job that failed does not count until it was delivered again.
type JobsDue struct {
	// Begin and End are how many there were when the window began and ended.
	Begin int64 `json:"begin" join:"sum"`
	End   int64 `json:"end" join:"sum"`
	// Growth is by how many the fewest of the last part of the window are more than the fewest of its first part, a
	// second; Allowed is what chance and the jobs on their way to workers explain of that. (docs/comparing-load.md)
	Growth  float64 `json:"growth_per_s" join:"sum"`
	Allowed float64 `json:"allowed_per_s" join:"sum"`
	// WorkersAreBusy is set if nearly all workers had a job at any time.
	WorkersAreBusy bool `json:"workers_busy,omitempty"`
}

// Grew reports whether jobs came faster than workers got them.
func (d *JobsDue) Grew() bool { return d != nil && d.Growth > d.Allowed }

// GrowthWords returns that the queues grew, empty if they did not.
func (l *Load) GrowthWords() string {
	if !l.JobsDue.Grew() || l.Disruptions != nil { // a disruption makes jobs wait
		return ""
	}
	return fmt.Sprintf("the queues grew by %s jobs a second", reports.Digits(l.JobsDue.Growth))
}

// WorkRate returns how many jobs a second workers have acknowledged or failed.
func (l *Load) WorkRate() float64 { return l.Sum("ack").Rate + l.Sum("fail").Rate }

// GrowthReport returns that the queues grew, what workers got and what was the limit.
func (l *Load) GrowthReport() string {
	if l.GrowthWords() == "" {
		return ""
	}
	limit := "the server"
	if l.JobsDue.WorkersAreBusy {
		limit = text.Count(l.Plan.Consumers, "worker") + ", all of them at work"
	}
	return fmt.Sprintf("%s: workers got %s /s; the limit was %s", l.GrowthWords(), reports.Digits(l.WorkRate()), limit)
}

// dueMetrics returns the metrics of the jobs that are due.
func dueMetrics() []Metric {
	get := func(value func(*JobsDue) float64) func(*Load) MetricValue {
		return func(l *Load) MetricValue {
			if l.JobsDue == nil {
				return MetricValue{}
			}
			return MetricValue{Value: value(l.JobsDue), OK: true}
		}
	}
	return []Metric{
		{Name: "jobs.due", Doc: "jobs that waited for a worker at the end of the measurement",
			Get: get(func(d *JobsDue) float64 { return float64(d.End) })},
		{Name: "jobs.due.growth", Unit: UnitRate, Doc: "by how much these grew per second",
			Get: get(func(d *JobsDue) float64 { return d.Growth })},
	}
}

// Gap is a part of a run in which nothing was answered, counted from its start.
type Gap struct {
	From  time.Duration `json:"from_ns"`
	Until time.Duration `json:"until_ns"`
	// HasEmptyFetches is set if fetches were answered all the same, without a job.
	HasEmptyFetches bool `json:"empty_fetches,omitempty"`
}

// words returns it as the beginning of a sentence.
func (g *Gap) words() string {
	if g.HasEmptyFetches {
		return "Only empty fetches were answered"
	}
	return "Nothing was answered"
}

// The limits of what is told below the first line.
const (
	minGap     = time.Second
	gapTimes   = 3   // times the usual service time: a shorter gap is a slow reply
	maxGaps    = 3   // more are told together
	stepSides  = 3   // seconds before and after
	stepValues = 10  // on each side
	stepFactor = 5.0 // between the two sides
	minStep    = 100 * time.Millisecond
)

// Anomalies returns what happened in the course of the run that no figure of the whole shows, in sentences: that
// nothing was answered for a while, or that times changed at once. There is none about a load of less than one arrival
// a second, or with disruptions, which are told by themselves.
func (l *Load) Anomalies() []string {
	if l.Disruptions != nil || max(l.Rate.Target, l.Rate.Achieved) < 1 {
		return nil
	}
	anomalies := l.gaps()
	for _, op := range failingOps {
		if words := l.failureWords(op); words != "" && words != l.deadSentence() {
			anomalies = append(anomalies, strings.ToUpper(words[:1])+words[1:]+".")
		}
	}
	if l.Validity.IsValid {
		for _, name := range append([]string{l.Rate.Op}, LoadFlows()[0]) {
			anomalies = append(anomalies, l.step(name)...)
		}
	}
	return anomalies
}

// gaps returns the sentences about silence.
func (l *Load) gaps() (anomalies []string) {
	if l.GoneReason != "" || strings.Contains(l.GivenUp, "nothing was answered") {
		return nil // it is in the first line
	}
	var usual, sum time.Duration
	for i := range l.Ops {
		if op := &l.Ops[i]; !strings.HasPrefix(op.Op, "fetch") {
			usual = max(usual, op.Service.P50)
		}
	}
	longest := Gap{}
	for _, g := range l.Gaps {
		length := g.Until - g.From
		if length < gapTimes*usual {
			continue
		}
		if sum += length; length > longest.Until-longest.From {
			longest = g
		}
		anomalies = append(anomalies, fmt.Sprintf("%s from %s to %s.", g.words(), moment(g.From), moment(g.Until)))
	}
	if len(anomalies) > maxGaps {
		return []string{fmt.Sprintf("%s %d times, for %s in total: the longest time from %s to %s.", longest.words(),
			len(anomalies),
			moment(sum), moment(longest.From), moment(longest.Until))}
	}
	return anomalies
}

// moment returns a time with one decimal: "4.0 s".
func moment(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// step returns a sentence about the time of a command, or of jobs, that changed at once and stayed.
func (l *Load) step(name string) []string {
	if name == LoadFlows()[0] && l.HasPiledUp() {
		return nil
	}
	var began, medians []time.Duration // when that began which ended in a second
	var counts []int64
	for i := range l.Series {
		s := &l.Series[i]
		if p50, n := s.median(name); n > 0 {
			began, medians, counts = append(began, s.At+s.Length/2-p50), append(medians, p50), append(counts, n)
		}
	}
	value := func(n *int64) int64 { return *n }
	for k := stepSides; k <= len(medians)-stepSides; k++ {
		before, after := medians[:k], medians[k:]
		if !jumps(before, after) || min(sumOf(counts[:k], value), sumOf(counts[k:], value)) < stepValues {
			continue
		}
		subject := opWords(name)
		if name != LoadFlows()[0] {
			subject += "'s response"
		}
		return []string{fmt.Sprintf("From %.0f s on, %s is %s instead of %s.", max(0, began[k]).Seconds(), subject,
			reports.Duration(medianOf(after)), reports.Duration(medianOf(before)))}
	}
	return nil
}

// jumps reports whether all times of one side are much longer than those of the other, and alike.
func jumps(before, after []time.Duration) bool {
	maxBefore, minAfter, maxAfter := slices.Max(before), slices.Min(after), slices.Max(after)
	return float64(minAfter) >= stepFactor*float64(maxBefore) && minAfter-maxBefore >= minStep && maxAfter <= 2*minAfter
}

func medianOf(times []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(times))[len(times)/2]
}

// median returns the median time of a command, or of jobs, in a second, and of how many.
func (s *Second) median(name string) (time.Duration, int64) {
	if f := reports.Find(s.Flows, func(f *SecondFlow) bool { return f.Flow == name }); f != nil {
		return f.P50, f.Count
	}
	if o := reports.Find(s.Ops, func(o *SecondOp) bool { return o.Op == name }); o != nil {
		return o.ResponseP50, o.Count + o.Unanswered
	}
	return 0, 0
}

// opWords returns the name of a kind of command, or of an end-to-end time, in tables.
func opWords(op string) string {
	switch op {
	case "job.fetched":
		return "push to fetch"
	case "job.acked":
		return "push to ack"
	case "job.late":
		return "after its time"
	default: // "fetch.found": a kind of fetch
		return strings.Replace(op, ".", ", ", 1)
	}
}
