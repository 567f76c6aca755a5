package load

import (
	"context"
	"time"

	"github.com/fwpsuite/fwp/reports"
)

// headStart is how long before the first arrival the shards are started, at least.
const headStart = 2 * lookEvery

// setStart sets the time of the first arrival: at once, or Config.StartAt, which it waits for until a moment before. It
// reports whether the load begins.
func (r *run) setStart(ctx context.Context) bool {
	r.loadFrom = r.now() + time.Millisecond // the same for all shards
	at := r.config.StartAt
	if at.IsZero() {
		return true
	}
	r.enter("wait")
	if r.loadFrom = at.Sub(r.began); r.loadFrom <= r.now() {
		r.figures.startFailure = "it was to begin " + reports.Time(r.now()-r.loadFrom) + " before its connections were open"
		return false
	}
	r.waitUntil(ctx, func() bool { return r.now() >= r.loadFrom-headStart || r.isGone() })
	return ctx.Err() == nil && !r.isGone()
}

// isTooLate reports whether the run begins after the moment at which its load was to begin.
func (r *run) isTooLate() bool {
	delay := time.Since(r.config.StartAt)
	if r.config.StartAt.IsZero() || delay < 0 {
		return false
	}
	r.figures.startFailure = "it was to begin " + reports.Duration(delay.Round(time.Millisecond)) +
		" before it was started"
	return true
}
