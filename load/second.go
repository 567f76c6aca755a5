package load

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

// tick ends a second: it takes the set of every loop, adds it to the figures and passes it to Watch.
func (r *run) tick(now time.Duration) {
	second := r.take(0)
	defer r.recorders[0].Recycle(second)
	for i := 1; i < len(r.recorders); i++ {
		set := r.take(i)
		second.Add(set)
		r.recorders[i].Recycle(set)
	}
	var sample validity.Sample
	if !r.config.CoarseTimers { // in virtual time it says nothing, and would take a tenth of the time of a run
		sample = r.sampler.Sample()
	}
	f := &r.figures
	if f.total.Add(second); second.Until == second.From {
		return
	}
	s := r.second(second)
	s.CPU, s.MemoryBytes, s.Server = sample.CPU, sample.Memory, r.serverSecond(s.Length)
	if waiting := r.waitingJobs(); waiting != nil {
		s.Server = cmp.Or(s.Server, new(results.ServerSecond))
		s.Server.WaitingJobs = waiting
	}
	if s.Phase == "measure" {
		s.JobsDue = r.lastDue()
	}
	f.series = append(f.series, s)
	r.abortIfDead(second, &s)
	AddHeat(&f.heat, second, r.successOp())
	if s.Phase == "measure" {
		f.answered += successes(second, r.successOp())
	}
	if r.config.Watch != nil {
		a := r.account()
		r.config.Watch(Progress{
			Second: s, Run: r.config.Run, Began: r.began, Set: second, Remaining: r.remaining(now), Errors: r.status.Errors,
			Op: string(r.successOp()), Jobs: a.report(),
			Disruption: r.disruptionLog.describe(),
		})
	}
}

// serverSecond returns what the server used since the second before; nil if that is not known.
func (r *run) serverSecond(length time.Duration) *results.ServerSecond {
	if r.config.ServerUsage == nil {
		return nil
	}
	before := r.serverBefore
	now, ok := r.config.ServerUsage()
	if r.serverBefore = now; !ok || before.CPU == 0 || now.CPU < before.CPU { // it was started again
		return nil
	}
	return &results.ServerSecond{
		CPU: float64(now.CPU-before.CPU) / float64(length), MemoryBytes: now.Memory, RedisBytes: now.Redis,
		Threads: now.Threads,
	}
}

// waitingJobs returns how many jobs of the run the server has in its queues, if an observer was told in this second.
func (r *run) waitingJobs() (sum *int64) {
	sizer := r.shards[0].InfoParser()
	if r.work.Observers == 0 || sizer == nil {
		return nil
	}
	for i, shard := range r.shards {
		var info []byte
		r.engine.Do(i, func(time.Duration) { info = shard.TakeInfo() })
		sizes := sizer.ParseInfo(info).Queues
		if sizes == nil || sum != nil {
			continue
		}
		sum = new(int64)
		for _, queue := range r.jobs.Queues() {
			*sum += sizes[queue]
		}
	}
	return sum
}

// take returns what a loop has recorded since the last time.
func (r *run) take(loop int) (set *measure.Set) {
	r.engine.Do(loop, func(now time.Duration) { set = r.recorders[loop].Take(now) })
	return set
}

// remaining returns how long the window still lasts, negative if that depends on the target.
func (r *run) remaining(now time.Duration) time.Duration {
	if r.window.Until == 0 {
		return -1
	}
	return max(0, r.window.Until-now)
}

// second returns the figures of one second.
func (r *run) second(set *measure.Set) results.Second {
	length := set.Until - set.From
	s := results.Second{
		At: set.From, Length: length, Phase: r.phase().Name,
		Connections: r.status.ReadyConns, InFlight: int64(r.status.InFlight), Dropped: set.Dropped(),
		Unserved: set.Unserved(r.arrivalOp()),
		Achieved: reports.PerSecond(successes(set, r.successOp()), length),
	}
	if r.plan != nil && r.loadFrom > 0 && set.Until > r.loadFrom {
		from, until := max(0, set.From-r.loadFrom), set.Until-r.loadFrom
		s.Target = (r.plan.Expected(until) - r.plan.Expected(from)) / length.Seconds() / float64(r.config.Segment.Parts())
		s.Backlog = r.status.Backlog
	}
	s.Ops, s.Flows = SecondFigures(set, r.config.Percentiles...)
	return s
}

// SecondFigures returns what a set of one second has, as a report shows it, with further percentiles.
func SecondFigures(set *measure.Set, percentiles ...results.Percentile) (ops []results.SecondOp,
	flows []results.SecondFlow) {
	for _, op := range set.Ops() {
		if o, ok := secondOp(set, op, percentiles); ok {
			ops = append(ops, o)
		}
	}
	for flow := range measure.Flows {
		if times := set.Times(measure.FlowSeries(flow)); times.Count() > 0 {
			f := results.SecondFlow{Flow: flow.String(), Count: times.Count(), Unanswered: times.Unanswered()}
			f.AtLeast = lowerBounds(times, "", secondStat{50, &f.P50}, secondStat{99, &f.P99}, secondStat{longest, &f.Max})
			f.AtLeast = append(f.AtLeast, addExtra(times, "", percentiles, &f.Percentiles)...)
			flows = append(flows, f)
		}
	}
	return ops, flows
}

func secondOp(set *measure.Set, op measure.Op, percentiles []results.Percentile) (results.SecondOp, bool) {
	times := func(m measure.Measure) measure.Times { return set.Times(measure.SeriesOf(op, m)) }
	service, response := times(measure.Service), times(measure.Response)
	o := results.SecondOp{
		Op: string(op), Count: set.Done(op) + set.OutsideWindow(op), Errors: set.Failed(op),
		Unanswered: response.Unanswered(),
	}
	lowerBounds(times(measure.Lateness), "", secondStat{99, &o.LatenessP99})
	o.AtLeast = slices.Concat(
		lowerBounds(service, "service_", secondStat{50, &o.ServiceP50}, secondStat{99, &o.ServiceP99}),
		lowerBounds(response, "response_", secondStat{50, &o.ResponseP50}, secondStat{99, &o.ResponseP99},
			secondStat{longest, &o.ResponseMax}),
		addExtra(service, "service_", percentiles, &o.Percentiles),
		addExtra(response, "response_", percentiles, &o.Percentiles))
	return o, o.Count+o.Errors+response.Count() > 0
}

// secondStat is a percentile of a second, and where it goes; longest is the longest time.
type secondStat struct {
	percentile results.Percentile
	to         *time.Duration
}

const longest results.Percentile = 100

// lowerBounds sets the percentiles of a second, and returns the names of those that are lower bounds.
func lowerBounds(times measure.Times, prefix string, stats ...secondStat) (names []string) {
	for _, s := range stats {
		name := s.percentile.String()
		if s.percentile == longest {
			name = "max"
		}
		low, high := times.Percentile(float64(s.percentile))
		if *s.to = low; isInexact(low, high) {
			names = append(names, prefix+name)
		}
	}
	return names
}

// addExtra adds percentiles that not every second has, and returns the names of those that are lower bounds.
func addExtra(
	times measure.Times, prefix string, percentiles []results.Percentile, to *map[string]time.Duration,
) (names []string) {
	if times.Count() == 0 || len(percentiles) == 0 {
		return nil
	}
	if *to == nil {
		*to = make(map[string]time.Duration)
	}
	for _, p := range results.PercentilesBeyondSeconds(percentiles) {
		var value time.Duration
		names = append(names, lowerBounds(times, prefix, secondStat{p, &value})...)
		(*to)[prefix+p.String()] = value
	}
	return names
}

// arrivalOp returns the command of an arrival of the plan. In a closed loop it is the command that the workload is
// about.
func (r *run) arrivalOp() measure.Op {
	switch {
	case r.work.Churn:
		return measure.Connect
	case r.work.BeatOnly:
		return measure.Beat
	case r.work.Producers == 0:
		return measure.Ack
	}
	return measure.Push
}

// successOp returns the command that has to succeed for an arrival to count: a short-lived connection is opened for its
// push.
func (r *run) successOp() measure.Op {
	if r.work.Churn {
		return measure.Push
	}
	return r.arrivalOp()
}

// successes returns how many commands of a kind succeeded, measured or not.
func successes(set *measure.Set, op measure.Op) int64 { return set.Done(op) + set.OutsideWindow(op) }

// Limits of the map of response times.
const (
	heatRows    = 8        // for each ten times as long
	heatDecades = 8        // from a microsecond
	heatColumns = 4 * 3600 // seconds that are kept
)

// AddHeat adds the response times that a kind of command had in a second to a map.
func AddHeat(heat *results.LoadHeat, second *measure.Set, op measure.Op) {
	times := second.Times(measure.SeriesOf(op, measure.Response))
	if times.Count() == 0 || len(heat.Columns) == heatColumns {
		return
	}
	if heat.Op == "" {
		heat.Op = string(op)
		for i := 1; i <= heatRows*heatDecades; i++ {
			edge := float64(time.Microsecond) * math.Pow(10, float64(i)/heatRows)
			heat.Edges = append(heat.Edges, time.Duration(edge))
		}
	}
	heat.Columns = append(heat.Columns, results.HeatSecond{At: second.From, Counts: times.Rows(heat.Edges)})
}
