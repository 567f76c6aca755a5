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
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/load/results"
)

// settles is how long after a disruption what the target does to a connection may still come from it.
const settles = 5 * time.Second

// disrupted is what was done to the target of a run on purpose. It is a [disrupt.Watch], whose methods are called
// beside the run.
type disrupted struct {
	run   *run
	calls *history.Client // nil: there is no history
	track disrupt.Track
	ended time.Duration // when the load had, in time of the engine

	unstarted interface { // why the target did not start again; nil if it did
		error
		OnData() bool
	}

	resolved bool // every job in doubt has had the time to come back

	mu    sync.Mutex
	done  []doneDisruption
	going bool
}

// doneDisruption is a disruption in time of the engine.
type doneDisruption struct {
	disrupt.Disruption

	began, ended time.Duration
	err          error
}

func (d *disrupted) begin(r *run) {
	d.run = r
	if r.recorder != nil && len(r.config.Schedule) > 0 {
		d.calls = r.recorder.Client(Connections(&r.work), "")
	}
}

// disrupt begins with the schedule, and returns what ends it: a disruption that goes on is ended then.
func (r *run) disrupt(ctx context.Context) (stop func()) {
	if len(r.config.Schedule) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		disrupt.Run(ctx, r.config.Schedule, r.config.Disrupt, &r.disrupted)
	}()
	return func() {
		cancel()
		r.until(context.Background(), func() bool { return closed(over) })
		r.disrupted.ended = r.now()
	}
}

// Begins implements [disrupt.Watch].
func (d *disrupted) Begins(what disrupt.Disruption) {
	r := d.run
	if what.Action.Stops() {
		r.ledger.Stopping(what.Action.Kills())
	}
	r.shared.Disrupt(math.MaxInt64)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.going = true
	d.done = append(d.done, doneDisruption{Disruption: what, began: r.now()})
}

// Ended implements [disrupt.Watch].
func (d *disrupted) Ended(what disrupt.Disruption, err error) {
	r := d.run
	now := r.now()
	if what.Action.Stops() {
		r.ledger.Serving()
	}
	r.shared.Disrupt(now + settles)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.going = false
	last := &d.done[len(d.done)-1]
	last.ended, last.err = now, err
	d.unstarted, _ = errors.AsType[interface {
		error
		OnData() bool
	}](err)
	d.record(last)
}

// notStarted returns why the target did not start again after it was stopped, nil if it did.
func (d *disrupted) notStarted() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unstarted == nil {
		return nil
	}
	return d.unstarted
}

// record adds a disruption to the history.
func (d *disrupted) record(done *doneDisruption) {
	if d.calls == nil {
		return
	}
	op := history.Disrupt
	switch {
	case done.Action.Kills():
		op = history.Kill
	case done.Action.Stops():
		op = history.Restart
	}
	began := d.run.began.Sub(d.run.recorder.Begin())
	d.calls.Add(history.Event{
		Op: op, Outcome: history.OK, Action: done.String(), Call: began + done.began, Return: began + done.ended,
	})
}

// now describes the disruption that goes on, empty if there is none.
func (d *disrupted) now() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.going {
		return ""
	}
	return d.done[len(d.done)-1].String()
}

// observeDisruption takes a sample of what was served. A target that is disrupted is neither gone nor has it stalled.
func (r *run) observeDisruption(now time.Duration) {
	d := &r.disrupted
	if len(r.config.Schedule) == 0 {
		return
	}
	d.track.Add(now, r.status.Served)
	if d.now() != "" {
		r.lastSeen = now
		r.resetWatchdog()
	}
}

// notReturned returns the jobs that the server would not take as done, and that it has not delivered again although the
// run has waited for it.
func (r *run) notReturned() []int64 {
	if !r.disrupted.resolved || *r.work.Retry == 0 { // a reservation that ends may be the last failure
		return nil
	}
	return slices.Collect(r.ledger.NotReturned())
}

// reportDisruptions returns what was done to the target, and how it recovered; nil if nothing was.
func (r *run) reportDisruptions() *results.LoadDisruptions {
	d := &r.disrupted
	if len(r.config.Schedule) == 0 {
		return nil
	}
	c := r.ledger.Count(r.figures.drained)
	report := &results.LoadDisruptions{
		LostByKill: c.LostByKill, LostByRestart: c.LostByRestart, TwiceByStop: c.TwiceByStop,
		ReturnedByStop: c.ReturnedByStop, PushesInDoubt: c.Doubtful + c.Unanswered, PushesNotCarriedOut: c.InDoubt,
		ReportsInDoubt: c.ReportsLost, FetchesInDoubt: c.FetchesLost, Resolved: d.resolved,
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	since := r.loadFrom
	for i, done := range d.done {
		until := d.ended
		if i+1 < len(d.done) {
			until = d.done[i+1].began
		}
		one := results.LoadDisruption{
			Action: string(done.Action), Words: done.String(), Planned: done.YAML(), At: done.began,
			Took:   done.ended - done.began,
			Served: -1, Back: -1,
		}
		if done.err != nil {
			one.Failed = text.OfError(done.err)
		} else {
			span := disrupt.Span{Since: since, Began: done.began, Ended: done.ended, Until: until}
			one.Served, one.Back = d.track.Recovery(span)
			one.Oldest = r.oldest(done.began, until)
			since = done.ended
		}
		report.List = append(report.List, one)
	}
	r.lostByStop(report)
	r.notDone(report)
	report.Oldest = r.oldest(0, math.MaxInt64)
	if d.unstarted != nil {
		report.NotStarted, report.OnData = d.unstarted.Error(), d.unstarted.OnData()
	}
	return report
}

// notDone adds the disruptions of the plan that did not happen. It is called with the lock held.
func (r *run) notDone(report *results.LoadDisruptions) {
	d := &r.disrupted
	for _, planned := range r.config.Schedule[min(len(d.done), len(r.config.Schedule)):] {
		report.List = append(report.List, results.LoadDisruption{
			Action: string(planned.Action), Words: planned.String(), Planned: planned.YAML(),
			At: r.loadFrom + planned.At, Served: -1, Back: -1,
			Failed: "it did not happen: the load ended before",
		})
	}
}

// lostByStop counts jobs that never came for the stop behind which they were pushed.
func (r *run) lostByStop(report *results.LoadDisruptions) {
	if !report.Resolved {
		return
	}
	for k := range r.ledger.Missing() {
		at, is := r.ledger.SentAt(k)
		i := slices.IndexFunc(report.List, func(d results.LoadDisruption) bool {
			return disrupt.Action(d.Action).Stops() && d.Failed == "" && d.At+d.Took >= at
		})
		if is && i >= 0 {
			report.List[i].Lost++
			report.List[i].Window = max(report.List[i].Window, report.List[i].At-at)
		}
	}
}

// oldest returns the longest time from the intended start of a push until its job was delivered for the first time, of
// the jobs that were delivered between two times.
func (r *run) oldest(from, until time.Duration) (oldest time.Duration) {
	for i := range r.figures.series {
		s := &r.figures.series[i]
		if s.At+s.Over <= from || s.At >= until {
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

// closed reports whether a channel is.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
