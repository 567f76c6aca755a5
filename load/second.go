package load

import (
	"cmp"
	"math"
	"time"

	"github.com/fwpsuite/fwp/load/health"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// tick ends a second: it takes the set of every loop, adds it to the figures and passes it to Watch.
func (r *run) tick(now time.Duration) {
	second := r.take(0)
	defer r.recorders[0].Recycle(second)
	for i := 1; i < len(r.recorders); i++ {
		taken := r.take(i)
		second.Add(taken)
		r.recorders[i].Recycle(taken)
	}
	var sample health.Sample
	if !r.config.Coarse { // in virtual time it says nothing, and would take a tenth of the time of a run
		sample = r.sampler.Sample()
	}
	if second.Until == second.From {
		return
	}
	f := &r.figures
	f.total.Add(second)
	s := r.second(second)
	s.CPU, s.MemoryBytes, s.Server = sample.CPU, sample.Memory, r.serverSecond(s.Over)
	if waiting := r.waitingJobs(); waiting != nil {
		s.Server = cmp.Or(s.Server, new(results.ServerSecond))
		s.Server.WaitingJobs = waiting
	}
	f.series = append(f.series, s)
	AddHeat(&f.heat, second, r.carried())
	f.backlog = max(f.backlog, s.Backlog)
	if s.Phase == "measure" {
		f.answered += answered(second, r.carried())
	}
	if r.config.Watch != nil {
		a := r.account()
		r.config.Watch(Moment{
			Second: s, Run: r.config.Run, Began: r.began, Set: second, Left: r.left(now), Errors: r.status.Errors,
			Op: string(r.carried()), Jobs: a.report(),
			Disruption: r.disrupted.now(),
		})
	}
}

// serverSecond returns what the server used since the second before; nil if that is not known.
func (r *run) serverSecond(over time.Duration) *results.ServerSecond {
	if r.config.ServerUsage == nil {
		return nil
	}
	before := r.serverBefore
	now, known := r.config.ServerUsage()
	if r.serverBefore = now; !known || before.CPU == 0 || now.CPU < before.CPU { // it was started again
		return nil
	}
	return &results.ServerSecond{
		CPU: float64(now.CPU-before.CPU) / float64(over), MemoryBytes: now.Memory, RedisBytes: now.Redis,
		Threads: now.Threads,
	}
}

// waitingJobs returns how many jobs of the run the server has in its queues, if an observer was told in this second.
func (r *run) waitingJobs() (sum *int64) {
	sizer := r.shards[0].Sizer()
	if r.work.Observers == 0 || sizer == nil {
		return nil
	}
	for i, shard := range r.shards {
		var info []byte
		r.engine.Do(i, func(time.Duration) { info = shard.TakeInfo() })
		sizes := sizer.QueueSizes(info)
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
func (r *run) take(loop int) (taken *measure.Set) {
	r.engine.Do(loop, func(now time.Duration) { taken = r.recorders[loop].Take(now) })
	return taken
}

// left returns how long the window still lasts, negative if that depends on the target.
func (r *run) left(now time.Duration) time.Duration {
	if r.window.Until == 0 {
		return -1
	}
	return max(0, r.window.Until-now)
}

// second returns the figures of one second.
func (r *run) second(set *measure.Set) results.Second {
	over := set.Until - set.From
	s := results.Second{
		At: set.From, Over: over, Phase: r.phase().Name,
		Connections: r.status.Ready, InFlight: int64(r.status.InFlight), Dropped: set.Dropped(),
		Unserved: set.Count(measure.SeriesOf(r.arrival(), measure.Unserved)),
		Achieved: reports.PerSecond(answered(set, r.carried()), over),
	}
	if r.plan != nil && r.loadFrom > 0 && set.Until > r.loadFrom {
		from, until := max(0, set.From-r.loadFrom), set.Until-r.loadFrom
		s.Target = (r.plan.Due(until) - r.plan.Due(from)) / over.Seconds() / float64(r.config.Segment.Parts())
		s.Backlog = r.status.Backlog
	}
	s.Ops, s.Flows = SecondFigures(set)
	return s
}

// SecondFigures returns what a set of one second has, as a report shows it.
func SecondFigures(set *measure.Set) (ops []results.SecondOp, flows []results.SecondFlow) {
	for _, op := range set.Ops() {
		if o, ok := secondOp(set, op); ok {
			ops = append(ops, o)
		}
	}
	for flow := range measure.Flows {
		series := measure.FlowSeries(flow)
		if n := set.Count(series); n > 0 {
			flows = append(flows, results.SecondFlow{
				Flow: flow.String(), Count: n, P50: set.Percentile(series, 50),
				P99: set.Percentile(series, 99), Max: set.Percentile(series, 100),
			})
		}
	}
	return ops, flows
}

func secondOp(set *measure.Set, op measure.Op) (results.SecondOp, bool) {
	late, service := measure.SeriesOf(op, measure.Lateness), measure.SeriesOf(op, measure.Service)
	response := measure.SeriesOf(op, measure.Response)
	o := results.SecondOp{
		Op: string(op), Count: set.Done(op) + set.Aside(op), Errors: set.Failed(op),
		LatenessP99: set.Percentile(late, 99),
		ServiceP50:  set.Percentile(service, 50), ServiceP99: set.Percentile(service, 99),
		ResponseP50: set.Percentile(response, 50), ResponseP99: set.Percentile(response, 99),
		ResponseMax: set.Percentile(response, 100),
	}
	return o, o.Count+o.Errors > 0
}

// arrival returns the command of an arrival of the plan. In a closed loop it is the command that the workload is about.
func (r *run) arrival() measure.Op {
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

// carried returns the command that has to succeed for an arrival to count: a short-lived connection is opened for its
// push.
func (r *run) carried() measure.Op {
	if r.work.Churn {
		return measure.Push
	}
	return r.arrival()
}

// answered returns how many commands of a kind succeeded, measured or not.
func answered(set *measure.Set, op measure.Op) int64 { return set.Done(op) + set.Aside(op) }

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
