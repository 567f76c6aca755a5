package load

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

// head returns what every report begins with.
func (r *run) head() reports.Head {
	return reports.Head{
		Version: r.config.Version, Seed: r.config.Seed, StartTime: r.startTime, Took: time.Since(r.startTime),
	}
}

// report makes the report of the run, after its end.
func (r *run) report() *results.Load {
	f, now := &r.figures, r.now()
	r.closePhase(now)
	l := &results.Load{
		Head: r.head(),
		Run:  r.config.Run, Target: r.config.Target, Machine: validity.ThisMachine(), Plan: r.loadPlan(),
		GoneReason: f.goneReason, StartFailure: f.startFailure, GivenUp: f.givenUp, LoadFrom: f.loadFrom,
	}
	if f.history != nil {
		l.HistoryCut = f.history.CutAt
	}
	l.Interrupted, l.Target.HI, l.Target.Info = f.wasInterrupted, r.introduction.Greeting, r.introduction.Info
	if r.engine == nil { // no load was put on the server
		if f.unreachable != nil && !f.wasInterrupted {
			if l.Internal = machine.Explain(f.unreachable); l.Internal == "" {
				l.Unreachable = text.OfError(f.unreachable)
			}
		}
		return l
	}
	l.Engine = r.engine.String()
	if r.shards[0].Times().WaitsOnFirst {
		l.Plan.Queues, l.Plan.Awaited = r.work.Queues.Number, r.work.AwaitedQueues()
	}
	l.FailedSpans, l.AbortReason = results.FailedSpans(f.series), f.abortReason
	l.Phases, l.Measured, l.Series, l.Heat = f.phases, f.measured, f.series, f.heat
	l.Ops, l.Flows = r.reportOps(), flowsOf(f.total)
	l.Histograms = Log(f.total, r.began, r.config.Run)
	a := r.account()
	l.Connections = results.Connections{
		Planned: f.plannedConnections, Opened: f.openedConnections, Refusal: text.OfError(f.refusal),
		Losses: r.status.Losses, Disconnects: r.status.Disconnects, FirstLoss: text.OfError(r.status.FirstLoss),
	}
	l.Rate, l.Jobs, l.Queues = r.reportRate(), a.report(), r.reportQueues()
	l.JobsDue = r.reportDue(&l.Rate)
	l.ServerClock, l.Gaps = a.clock(), r.gaps.all
	l.Disruptions = r.reportDisruptions()
	l.Findings = r.reportFindings()
	l.Health, l.Percentiles = r.reportHealth(), r.config.Percentiles
	percentiles := ExtraPercentiles(r.config.Thresholds, r.config.Percentiles, r.config.Metrics...)
	_ = AddPercentiles(l, percentiles...) // a log that was just written can be read
	validity.Evaluate(l, r.config.Thresholds...)
	return l
}

// Log returns the figures of runs as an HdrHistogram log with one interval. began is when the first of them did.
func Log(total *measure.Set, began time.Time, runs ...string) string {
	var out strings.Builder
	log := measure.NewLogWriter(&out, began, runs...)
	if err := errors.Join(log.Write(total), log.Close()); err != nil {
		return "" // no histogram of this package fails to be encoded
	}
	return out.String()
}

// Figures returns what a set has, as a report shows it: without rates and without examples of errors.
func Figures(set *measure.Set) ([]results.LoadOp, []results.LoadFlow) {
	return opsOf(set, func(measure.Op, measure.ErrorKind) string { return "" }), flowsOf(set)
}

// reportOps returns the commands of the run, with rates and examples.
func (r *run) reportOps() []results.LoadOp {
	ops := opsOf(r.figures.total, r.example)
	for i := range ops {
		o := &ops[i]
		op := measure.Op(o.Op)
		if isBefore := op == measure.Connect || op == measure.Hello; !isBefore || r.work.Churn {
			o.Rate = reports.PerSecond(o.Count, r.figures.measured) // the others were sent before the window
		}
	}
	return ops
}

func opsOf(set *measure.Set, example func(measure.Op, measure.ErrorKind) string) (ops []results.LoadOp) {
	for _, op := range set.Ops() {
		o := results.LoadOp{
			Op: string(op), Count: set.Done(op), Outside: set.OutsideWindow(op),
			Lateness: latency(set, measure.SeriesOf(op, measure.Lateness)),
			Service:  latency(set, measure.SeriesOf(op, measure.Service)),
			Response: latency(set, measure.SeriesOf(op, measure.Response)),
		}
		for kind := range measure.ErrorKinds {
			if n := set.Errors(op, kind); n > 0 {
				o.Errors = append(o.Errors, results.LoadError{Kind: kind.String(), Count: n, Example: example(op, kind)})
			}
		}
		if o.Count+o.Outside > 0 || len(o.Errors) > 0 {
			ops = append(ops, o)
		}
	}
	return ops
}

// example returns the text of the first error of that kind.
func (r *run) example(op measure.Op, kind measure.ErrorKind) (text string) {
	r.eachShard(func(c *client.Shard) {
		if err := c.FirstError(op, kind); err != nil && text == "" {
			text = errorText(err)
		}
	})
	return text
}

func flowsOf(set *measure.Set) (flows []results.LoadFlow) {
	for flow := range measure.Flows {
		if time := latency(set, measure.FlowSeries(flow)); time.Count > 0 {
			flows = append(flows, results.LoadFlow{Flow: flow.String(), Time: time})
		}
	}
	return flows
}

// latency returns the latency figures of a series.
func latency(set *measure.Set, series measure.Series) results.Latency {
	l := latencyOf(set.Times(series))
	if l.Count > 0 {
		beyond := set.Clamps(series)
		l.OutOfRange = beyond.Underflows + beyond.Overflows
	}
	return l
}

// latencyOf returns the latency figures of times.
func latencyOf(times measure.Times) results.Latency {
	if times.Count() == 0 {
		return results.Latency{}
	}
	l := results.Latency{
		Count: times.Count(), Mean: times.Mean(), Unserved: times.Unserved(), Unanswered: times.Unanswered(),
		Curve: curve(times),
	}
	low, high := times.Min()
	setFigure(&l, "min", low, high)
	if l.Unserved+l.Unanswered > 0 {
		setFigure(&l, "mean", l.Mean, measure.Forever)
	}
	for _, p := range results.Percentiles() {
		percentile(&l, times, p)
	}
	low, high = times.Percentile(100)
	setFigure(&l, "max", low, high)
	return l
}

// percentile sets a percentile of times.
func percentile(l *results.Latency, times measure.Times, p results.Percentile) {
	low, high := times.Percentile(float64(p))
	setFigure(l, p.String(), low, high)
}

// AddPercentiles adds percentiles that not every report has, from the histograms of the run.
func AddPercentiles(l *results.Load, percentiles ...results.Percentile) error {
	if len(percentiles) == 0 || l.Histograms == "" {
		return nil
	}
	log, err := measure.ReadLog(l.Run, strings.NewReader(l.Histograms))
	if err != nil {
		return fmt.Errorf("histograms of the report: %w", err)
	}
	set := log.Total
	for _, p := range percentiles {
		for i := range l.Ops {
			op := &l.Ops[i]
			for m, to := range map[measure.Measure]*results.Latency{
				measure.Lateness: &op.Lateness, measure.Service: &op.Service, measure.Response: &op.Response,
			} {
				if to.Count > 0 {
					percentile(to, set.Times(measure.SeriesOf(measure.Op(op.Op), m)), p)
				}
			}
		}
		for i := range l.Flows {
			if series, ok := measure.ParseSeries(l.Flows[i].Flow); ok {
				percentile(&l.Flows[i].Time, set.Times(series), p)
			}
		}
	}
	return nil
}

// setFigure sets a figure and, if it is another one, its upper bound: what it would be if commands without a reply had
// waited for ever.
func setFigure(l *results.Latency, name string, low, high time.Duration) {
	l.Set(name, low)
	if isInexact(low, high) {
		l.AtLeast = append(l.AtLeast, name)
	}
	if high != low && high != measure.Forever {
		if l.AtMost == nil {
			l.AtMost = make(map[string]time.Duration)
		}
		l.AtMost[name] = high
	}
}

// isInexact reports whether a figure differs by more than 1 % from what it would be had what had no reply waited for
// ever.
func isInexact(low, high time.Duration) bool { return high > low+low/100 }

// perDecade is how many points a curve of percentiles has where ten times as few values are beyond.
const perDecade = 6

// curve returns the percentiles for a picture: as many as there are values beyond them.
func curve(times measure.Times) (points []results.Quantile) {
	for i := 0; ; i++ {
		beyond := math.Pow(10, -float64(i)/perDecade)
		if beyond*float64(times.Count()) < 1 {
			return points
		}
		value, _ := times.Percentile(100 * (1 - beyond))
		points = append(points, results.Quantile{Q: math.Round((1-beyond)*1e8) / 1e8, Time: value})
	}
}

// reportQueues returns a row for each queue, if these are not alike.
func (r *run) reportQueues() (rows []results.LoadQueue) {
	shares, names := r.work.QueueShares()
	if len(shares) == 0 {
		return nil
	}
	n := min(len(shares), measure.MaxQueues)
	for i, c := range r.ledger.CountBy(n, r.jobs.QueueOf) {
		row := results.LoadQueue{
			Queue: r.jobs.Queues()[i], Share: shares[i], Pushed: c.Pushed, Delivered: c.Delivered, Missing: c.Missing,
			Fetched: latencyOf(r.figures.total.QueueTimes(i)),
		}
		if i < len(names) {
			row.Recorded = names[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// reportRate returns the arrivals of the plan in the window, and those that succeeded: of a closed loop what was
// answered in it.
func (r *run) reportRate() results.LoadRate {
	f := &r.figures
	rate := results.LoadRate{Op: string(r.arrivalOp()), Done: f.answered}
	if r.plan != nil {
		rate.Done = f.total.Carried()
	}
	rate.Achieved = reports.PerSecond(rate.Done, f.measured)
	if r.plan == nil || f.measured == 0 {
		return rate
	}
	from := r.window.From - r.loadFrom
	share := func(t time.Duration) int64 { // of the arrivals before t: of a Poisson plan those that it has, not their mean
		return r.config.Segment.Share(r.plan.CountBefore(t))
	}
	rate.Planned = share(from+f.measured) - share(from)
	rate.Target = (r.plan.Expected(from+f.measured) - r.plan.Expected(from)) / f.measured.Seconds() /
		float64(r.config.Segment.Parts())
	rate.Unserved = f.total.Unserved(r.arrivalOp())
	rate.Queued, rate.Dropped, rate.Backlog = r.status.WaitCount, f.total.Dropped(), f.backlog
	return rate
}

func (r *run) reportHealth() results.Health {
	h, total := r.figures.usage, r.figures.total
	h.NoFiles = total.Errors(measure.Connect, measure.OutOfFiles)
	h.NoPorts = total.Errors(measure.Connect, measure.OutOfPorts)
	h.NoMemory = total.Errors(measure.Connect, measure.OutOfMemory)
	h.ServerCPU = max(0, r.figures.serverCPU)
	if r.figures.replies > 0 {
		h.ReplyDelay = r.figures.waitTime / time.Duration(r.figures.replies)
	}
	for _, busy := range r.figures.busyTimes {
		if r.figures.measured > 0 {
			h.Loops = append(h.Loops, min(1, float64(busy)/float64(r.figures.measured)))
		}
	}
	return h
}
