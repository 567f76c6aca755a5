package load

import (
	"cmp"
	"context"
	"time"

	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/reports"
)

// enter begins a phase. What the one before has brought ends with it, so that no second
// is of two phases.
func (r *run) enter(name string) {
	now := r.now()
	if r.phase != "" {
		r.look(now)
		r.tick(now)
		r.nextTick = now + time.Second
	}
	r.closePhase(now)
	r.phase = name
	r.report.Phases = append(r.report.Phases, reports.Phase{Name: name, From: now})
	r.look(now)
}

func (r *run) closePhase(now time.Duration) {
	if n := len(r.report.Phases); n > 0 {
		p := &r.report.Phases[n-1]
		p.Took = now - p.From
	}
}

// note says what came of the current phase: bad, if there is something, else well.
func (r *run) note(well, bad string) {
	r.report.Phases[len(r.report.Phases)-1].Note = cmp.Or(bad, well)
}

// until looks again and again where the run is, and takes the figures of every second,
// until done says so or ctx is done.
func (r *run) until(ctx context.Context, done func() bool) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	r.look(r.now()) // what was known is of before
	for !done() {
		select {
		case <-ctx.Done():
			r.report.Interrupted = true
			return
		case <-ticker.C:
			r.look(r.now())
		}
	}
}

// look reads where the crews are.
func (r *run) look(now time.Duration) {
	sum := client.Status{Drained: true}
	r.each(func(c *client.Crew) { sum = together(sum, c.Status()) })
	if sum.Ready > 0 || sum.Readied > r.status.Readied { // one that is dropped at once was there all the same
		r.lastSeen = now
	}
	if sum.Ready != r.status.Ready {
		r.changed = now
	}
	r.status = sum
	r.watchHope(now)
	if now >= r.nextTick {
		r.tick(now)
		r.nextTick = max(r.nextTick+time.Second, now+time.Second/2) // as a rule on time, whatever the delay of this look
	}
}

// together adds the status of one more crew.
func together(a, b client.Status) client.Status {
	b.Wanted += a.Wanted
	b.Ready += a.Ready
	b.MostReady += a.MostReady
	b.Readied += a.Readied
	b.Open += a.Open
	b.InFlight += a.InFlight
	b.Errors += a.Errors
	b.Served += a.Served
	b.First, b.Last = orElse(a.First, b.First), orElse(b.Last, a.Last)
	b.Lost += a.Lost
	b.FirstLost = orElse(a.FirstLost, b.FirstLost)
	b.Pushing = b.Pushing || a.Pushing
	b.Aborted = b.Aborted || a.Aborted
	b.Behind = max(b.Behind, a.Behind)
	b.Backlog += a.Backlog
	b.Waited += a.Waited
	b.Held += a.Held
	b.Quiet += a.Quiet
	b.Terminated += a.Terminated
	b.Drained = b.Drained && a.Drained
	b.Emptied += a.Emptied
	b.TakenAtStop += a.TakenAtStop
	b.Repeated += a.Repeated
	b.Disconnects += a.Disconnects
	return b
}

func orElse(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
