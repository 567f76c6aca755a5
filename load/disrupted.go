package load

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/load/results"
)

// settleTime is how long after a disruption what the target does to a connection may still come from it.
const settleTime = 5 * time.Second

// disruptionLog is what was done to the target of a run on purpose. It is a [disrupt.Watch], whose methods are called
// beside the run.
type disruptionLog struct {
	run     *run
	calls   *history.Client // nil: there is no history
	track   disrupt.ServedCounts
	loadEnd time.Duration // when the load had, in time of the engine

	startError interface { // why the target did not start again; nil if it did
		error
		OnData() bool
	}

	isResolved bool // every job in doubt has had the time to come back

	mu          sync.Mutex
	disruptions []timedDisruption
	isActive    bool
}

// timedDisruption is a disruption in time of the engine.
type timedDisruption struct {
	disrupt.Disruption

	began, ended time.Duration
	err          error
}

func (d *disruptionLog) begin(r *run) {
	d.run = r
	if r.historyRecorder != nil && len(r.config.Schedule) > 0 {
		d.calls = r.historyRecorder.Client(Connections(&r.work), "")
	}
}

// disrupt begins with the schedule, and returns what ends it: a disruption that goes on is ended then.
func (r *run) disrupt(ctx context.Context) (stop func()) {
	if len(r.config.Schedule) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		disrupt.Run(ctx, r.config.Schedule, r.config.Disrupt, &r.disruptionLog)
	}()
	return func() {
		cancel()
		r.waitUntil(context.Background(), func() bool { return isClosed(done) })
		r.disruptionLog.loadEnd = r.now()
	}
}

// NoteBegin implements [disrupt.Watch].
func (d *disruptionLog) NoteBegin(disruption disrupt.Disruption) {
	r := d.run
	if disruption.Action.Stops() {
		r.ledger.BookStop(disruption.Action.Kills())
	}
	r.shared.Disrupt(math.MaxInt64)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isActive = true
	d.disruptions = append(d.disruptions, timedDisruption{Disruption: disruption, began: r.now()})
}

// NoteEnd implements [disrupt.Watch].
func (d *disruptionLog) NoteEnd(disruption disrupt.Disruption, err error) {
	r := d.run
	now := r.now()
	if disruption.Action.Stops() {
		r.ledger.BookRestart()
	}
	r.shared.Disrupt(now + settleTime)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isActive = false
	last := &d.disruptions[len(d.disruptions)-1]
	last.ended, last.err = now, err
	d.startError, _ = errors.AsType[interface {
		error
		OnData() bool
	}](err)
	d.record(last)
}

// startFailure returns why the target did not start again after it was stopped, nil if it did.
func (d *disruptionLog) startFailure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.startError == nil {
		return nil
	}
	return d.startError
}

// record adds a disruption to the history.
func (d *disruptionLog) record(disruption *timedDisruption) {
	if d.calls == nil {
		return
	}
	op := history.Disrupt
	switch {
	case disruption.Action.Kills():
		op = history.Kill
	case disruption.Action.Stops():
		op = history.Restart
	}
	began := d.run.began.Sub(d.run.historyRecorder.Begin())
	d.calls.Add(history.Event{
		Op: op, Outcome: history.OK, Action: disruption.String(), Call: began + disruption.began, Return: began +
			disruption.ended,
	})
}

// describe describes the disruption that goes on, empty if there is none.
func (d *disruptionLog) describe() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.isActive {
		return ""
	}
	return d.disruptions[len(d.disruptions)-1].String()
}

// observeDisruption takes a sample of what was served. A target that is disrupted is neither gone nor has it stalled.
func (r *run) observeDisruption(now time.Duration) {
	d := &r.disruptionLog
	if len(r.config.Schedule) == 0 {
		return
	}
	d.track.Add(now, r.status.ServedCommands)
	if d.describe() != "" {
		r.lastConnAt = now
		r.resetWatchdog()
	}
}

// unreturnedJobs returns the jobs that the server would not take as done, and that it has not delivered again although
// the run has waited for it.
func (r *run) unreturnedJobs() []int64 {
	if !r.disruptionLog.isResolved || *r.work.Retry == 0 { // a reservation that ends may be the last failure
		return nil
	}
	return slices.Collect(r.ledger.NotReturned())
}

// reportDisruptions returns what was done to the target, and how it recovered; nil if nothing was.
func (r *run) reportDisruptions() *results.LoadDisruptions {
	d := &r.disruptionLog
	if len(r.config.Schedule) == 0 {
		return nil
	}
	c := r.ledger.Count(r.figures.isDrained)
	report := &results.LoadDisruptions{
		LostByKill: c.LostByKill, LostByRestart: c.LostByRestart, DuplicatedByStop: c.DuplicatedByStop,
		ReturnedByStop: c.ReturnedByStop, PushesInDoubt: c.Doubtful + c.Unanswered, PushesNotCarriedOut: c.InDoubt,
		ReportsInDoubt: c.ReportsLost, FetchesInDoubt: c.FetchesLost, IsResolved: d.isResolved,
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	since := r.loadFrom
	for i, disruption := range d.disruptions {
		until := d.loadEnd
		if i+1 < len(d.disruptions) {
			until = d.disruptions[i+1].began
		}
		row := results.LoadDisruption{
			Action: string(disruption.Action), Words: disruption.String(), Planned: disruption.YAML(), At: disruption.began,
			Took:        disruption.ended - disruption.began,
			FirstServed: -1, RateBack: -1,
		}
		if disruption.err != nil {
			row.Failure = text.OfError(disruption.err)
		} else {
			span := disrupt.Span{PreviousEnd: since, Begin: disruption.began, End: disruption.ended, NextBegin: until}
			row.FirstServed, row.RateBack = d.track.Recovery(span)
			row.LongestDelivery = r.longestDelivery(disruption.began, until)
			since = disruption.ended
		}
		report.List = append(report.List, row)
	}
	r.countLostByStop(report)
	r.addSkippedDisruptions(report)
	report.LongestDelivery = r.longestDelivery(0, math.MaxInt64)
	if d.startError != nil {
		report.StartFailure, report.StartsEmpty = d.startError.Error(), d.startError.OnData()
	}
	return report
}

// addSkippedDisruptions adds the disruptions of the plan that did not happen. It is called with the lock held.
func (r *run) addSkippedDisruptions(report *results.LoadDisruptions) {
	d := &r.disruptionLog
	for _, planned := range r.config.Schedule[min(len(d.disruptions), len(r.config.Schedule)):] {
		report.List = append(report.List, results.LoadDisruption{
			Action: string(planned.Action), Words: planned.String(), Planned: planned.YAML(),
			At: r.loadFrom + planned.At, FirstServed: -1, RateBack: -1,
			Failure: "it did not happen: the load ended before",
		})
	}
}

// countLostByStop counts jobs that never came for the stop behind which they were pushed.
func (r *run) countLostByStop(report *results.LoadDisruptions) {
	if !report.IsResolved {
		return
	}
	for k := range r.ledger.Missing() {
		at, ok := r.ledger.SentAt(k)
		i := slices.IndexFunc(report.List, func(d results.LoadDisruption) bool {
			return target.Action(d.Action).Stops() && d.Failure == "" && d.At+d.Took >= at
		})
		if ok && i >= 0 {
			report.List[i].LostJobs++
			report.List[i].LossWindow = max(report.List[i].LossWindow, report.List[i].At-at)
		}
	}
}

// longestDelivery returns the longest time from the due time of a push to the first delivery of its job, within a span.
func (r *run) longestDelivery(from, until time.Duration) (oldest time.Duration) {
	for i := range r.figures.series {
		s := &r.figures.series[i]
		if s.At+s.Length <= from || s.At >= until {
			continue
		}
		for _, f := range s.Flows {
			if f.Flow == results.LoadFlows()[0] {
				oldest = max(oldest, f.Max)
			}
		}
	}
	return oldest
}

// isClosed reports whether c is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
