package load

import (
	"cmp"
	"context"
	"time"

	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/results"
)

// enter begins a phase. The current second ends with the phase before, so that no second belongs to two phases.
func (r *run) enter(name string) {
	now := r.now()
	if r.phase() != nil {
		r.look(now)
		r.tick(now)
		r.nextTick = now + time.Second
	}
	r.closePhase(now)
	r.figures.phases = append(r.figures.phases, results.Phase{Name: name, From: now})
	r.look(now)
}

// phase returns the current phase, nil before the first.
func (r *run) phase() *results.Phase {
	if n := len(r.figures.phases); n > 0 {
		return &r.figures.phases[n-1]
	}
	return nil
}

func (r *run) closePhase(now time.Duration) {
	if p := r.phase(); p != nil {
		p.Took = now - p.From
	}
}

// note sets the note of the current phase.
func (r *run) note(text string) { r.phase().Note = text }

// resetWatchdog makes stall detection start again.
func (r *run) resetWatchdog() { r.watchdog.reset(r.now(), &r.status) }

// waitUntil looks at the status every 20 ms, and ends each second, until done returns true or ctx is done.
func (r *run) waitUntil(ctx context.Context, done func() bool) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	r.look(r.now()) // the status may be older than the caller's last command
	for !done() {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			r.look(r.now())
		}
	}
}

// look reads the status of all shards.
func (r *run) look(now time.Duration) {
	sum := client.Status{IsDrained: true, AllFindNothing: true}
	r.eachShard(func(c *client.Shard) {
		status := c.Status()
		results.Join(&sum, &status)
		sum.LastError = cmp.Or(status.LastError, sum.LastError)
		sum.IsDrained, sum.AllFindNothing = sum.IsDrained && status.IsDrained, sum.AllFindNothing && status.AllFindNothing
	})
	// also for a connection that was closed at once
	if sum.ReadyConns > 0 || sum.Identifications > r.status.Identifications {
		r.lastConnAt = now
	}
	if sum.ReadyConns > r.mostReady {
		r.mostReady, r.lastGrowth = sum.ReadyConns, now
	}
	if sum.HasDue {
		r.dueAt = now
	}
	r.status = sum
	r.figures.backlog = max(r.figures.backlog, sum.Backlog, sum.PeakBacklog)
	r.watchdog.replyTimeout = r.config.Timeout
	r.watchdog.observe(now, &r.status, r.work.Work.Max)
	r.observeDisruption(now)
	r.observeGaps(now)
	if r.phase().Name == "measure" {
		r.sampleDueJobs(now, false)
	}
	if now >= r.nextTick {
		r.tick(now)
		r.nextTick = max(r.nextTick+time.Second, now+time.Second/2) // on the grid, even if this look is late
	}
}
