package load

import (
	"slices"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/reports"
)

// tick ends a second: it takes from every loop what was recorded, and tells of it.
func (r *run) tick(now time.Duration) {
	second := new(measure.Set)
	for i, recorder := range r.recorders {
		var taken *measure.Set
		r.engine.Do(i, func(now time.Duration) { taken = recorder.Take(now) })
		second.Add(taken)
		recorder.Recycle(taken)
	}
	sample := r.sampler.Sample()
	if second.Until == second.From {
		return
	}
	r.total.Add(second)
	s := r.second(second)
	s.CPU, s.MemoryBytes = sample.CPU, sample.Memory
	r.report.Series = append(r.report.Series, s)
	if r.Watch != nil {
		r.Watch(Moment{Second: s, Run: r.Run, Began: r.began, Set: second, Left: r.left(now), Errors: r.status.Errors})
	}
}

// left is how long the measured window still lasts.
func (r *run) left(now time.Duration) time.Duration {
	if r.window.Until == 0 {
		return -1
	}
	return max(0, r.window.Until-now)
}

// second is what happened in one second.
func (r *run) second(set *measure.Set) reports.Second {
	over := set.Until - set.From
	s := reports.Second{
		At: set.From, Over: over, Phase: r.phase,
		Connections: r.status.Ready, InFlight: int64(r.status.InFlight), Dropped: set.Dropped(),
		Carried: reports.PerSecond(arrived(set, r.carried()), over),
	}
	if r.plan != nil && r.loadFrom > 0 && set.Until > r.loadFrom {
		from, until := max(0, set.From-r.loadFrom), set.Until-r.loadFrom
		s.Asked = (r.plan.Due(until) - r.plan.Due(from)) / over.Seconds()
		s.Backlog = r.status.Backlog
	}
	for op := range measure.Ops {
		if o, ok := secondOp(set, op); ok {
			s.Ops = append(s.Ops, o)
		}
	}
	for flow := range measure.Flows {
		series := measure.FlowSeries(flow)
		if n := set.Count(series); n > 0 {
			s.Flows = append(s.Flows, reports.SecondFlow{
				Flow: flow.String(), Count: n, P50: set.Percentile(series, 50),
				P99: set.Percentile(series, 99), Max: greatest(set, series),
			})
		}
	}
	return s
}

func secondOp(set *measure.Set, op measure.Op) (reports.SecondOp, bool) {
	late, service, response := measure.SeriesOf(op, measure.Lateness), measure.SeriesOf(op, measure.Service), measure.SeriesOf(op, measure.Response)
	o := reports.SecondOp{
		Op: op.String(), Count: set.Done(op) + set.Aside(op), Errors: set.Failed(op),
		LatenessP99: set.Percentile(late, 99),
		ServiceP50:  set.Percentile(service, 50), ServiceP99: set.Percentile(service, 99),
		ResponseP50: set.Percentile(response, 50), ResponseP99: set.Percentile(response, 99),
		ResponseMax: greatest(set, response),
	}
	return o, o.Count+o.Errors > 0
}

func greatest(set *measure.Set, series measure.Series) time.Duration {
	if h := set.Histogram(series); h != nil {
		return time.Duration(h.Max())
	}
	return 0
}

// arrival is the command that an arrival of the plan is; without arrivals, the command
// that the workload is about.
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

// carried is the command whose good end makes an arrival count: a connection that
// comes and goes has come for its PUSH.
func (r *run) carried() measure.Op {
	if r.work.Churn {
		return measure.Push
	}
	return r.arrival()
}

// arrived is how many commands of a kind were replied to, measured or not.
func arrived(set *measure.Set, op measure.Op) int64 { return set.Done(op) + set.Aside(op) }

// settle writes into the report what only the end shows.
func (r *run) settle() {
	r.closePhase(r.now())
	rep := r.report
	for op := range measure.Ops {
		if o, ok := r.op(op); ok {
			rep.Ops = append(rep.Ops, o)
		}
	}
	for flow := range measure.Flows {
		if series := measure.FlowSeries(flow); r.total.Count(series) > 0 {
			rep.Flows = append(rep.Flows, reports.LoadFlow{Flow: flow.String(), Time: latency(r.total, series)})
		}
	}
	r.settleConnections()
	r.settleRate()
	r.settleJobs()
	r.settleFindings()
}

func (r *run) op(op measure.Op) (reports.LoadOp, bool) {
	set := r.total
	o := reports.LoadOp{
		Op: op.String(), Count: set.Done(op), Rate: reports.PerSecond(set.Done(op), r.report.Measured), Outside: set.Aside(op),
		Lateness: latency(set, measure.SeriesOf(op, measure.Lateness)),
		Service:  latency(set, measure.SeriesOf(op, measure.Service)),
		Response: latency(set, measure.SeriesOf(op, measure.Response)),
	}
	if before := op == measure.Connect || op == measure.Hello; before && !r.work.Churn {
		o.Rate = 0 // of what came before the window there is none
	}
	for kind := range measure.ErrorKinds {
		if n := set.Errors(op, kind); n > 0 {
			o.Errors = append(o.Errors, reports.LoadError{Kind: kind.String(), Count: n, Example: r.example(op, kind)})
		}
	}
	return o, o.Count+o.Outside > 0 || len(o.Errors) > 0
}

// example is the first error of commands of a kind that went wrong in this way.
func (r *run) example(op measure.Op, kind measure.ErrorKind) string {
	var first error
	r.each(func(c *client.Crew) { first = orElse(first, c.First(op, kind)) })
	if first == nil {
		return ""
	}
	return inWords(first)
}

// settleConnections tells which connections ended by themselves, and what the generator
// lacked to open others.
func (r *run) settleConnections() {
	c, h := &r.report.Connections, &r.report.Health
	c.Lost = r.status.Lost
	if r.status.FirstLost != nil {
		c.LostWhy = r.status.FirstLost.Error()
	}
	h.NoFiles = r.total.Errors(measure.Connect, measure.OutOfFiles)
	h.NoPorts = r.total.Errors(measure.Connect, measure.OutOfPorts)
	h.NoMemory = r.total.Errors(measure.Connect, measure.OutOfMemory)
}

// latency sums up a series.
func latency(set *measure.Set, series measure.Series) reports.Latency {
	h := set.Histogram(series)
	if h == nil {
		return reports.Latency{}
	}
	beyond := set.Beyond(series)
	at := func(q float64) time.Duration { return set.Percentile(series, q) }
	return reports.Latency{
		Count: set.Count(series), Min: time.Duration(h.Min()), Mean: mean(h),
		P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), P9999: at(99.99), Max: time.Duration(h.Max()),
		OutOfRange: beyond.Below + beyond.Above,
	}
}

func mean(h *hdr.Histogram) time.Duration { return time.Duration(h.Mean()) }

// settleRate says what was asked of the arrivals in the window, and what was carried.
func (r *run) settleRate() {
	rate := &r.report.Rate
	rate.Op = r.arrival().String()
	rate.Done = r.doneInWindow()
	rate.Carried = reports.PerSecond(rate.Done, r.report.Measured)
	if r.plan == nil {
		return
	}
	from := r.window.From - r.loadFrom
	due := r.plan.Due(from+r.report.Measured) - r.plan.Due(from)
	rate.Planned = int64(due)
	rate.Asked = reports.PerSecond(rate.Planned, r.report.Measured)
	rate.Waited, rate.Dropped, rate.Backlog = r.status.Waited, r.total.Dropped(), r.mostBacklog()
}

// doneInWindow counts the arrivals that were answered while the window was open,
// whenever they were due.
func (r *run) doneInWindow() int64 {
	var done int64
	for _, s := range r.report.Series {
		i := slices.IndexFunc(s.Ops, func(o reports.SecondOp) bool { return o.Op == r.carried().String() })
		if s.Phase == "measure" && i >= 0 {
			done += s.Ops[i].Count
		}
	}
	return done
}

func (r *run) mostBacklog() int64 {
	var most int64
	for _, s := range r.report.Series {
		most = max(most, s.Backlog)
	}
	return most
}
