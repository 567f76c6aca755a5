package load

import (
	"context"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// headStart is how long before the first arrival the shards are started, at least.
const headStart = 2 * lookEvery

// setStart sets the time of the first arrival: at once, or what Config.Start returns, which it waits for until a moment
// before. It reports whether the load begins.
func (r *run) setStart(ctx context.Context) bool {
	r.loadFrom = r.now() + time.Millisecond // the same for all shards
	if r.config.Start == nil {
		return true
	}
	r.enter("wait")
	at := r.awaitStart(ctx)
	if at.IsZero() {
		return false
	}
	if r.loadFrom = at.Sub(r.began); r.loadFrom <= r.now() {
		r.figures.notStarted = fmt.Sprintf("it was to begin %s before its connections were open",
			reports.Time(r.now()-r.loadFrom))
		return false
	}
	r.until(ctx, func() bool { return r.now() >= r.loadFrom-headStart || r.gone() })
	return ctx.Err() == nil && !r.gone()
}

// awaitStart returns what Config.Start returns, the zero time if the load does not begin.
func (r *run) awaitStart(ctx context.Context) time.Time {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	type start struct {
		at  time.Time
		err error
	}
	starts := make(chan start, 1)
	go func() {
		at, err := r.config.Start(within)
		starts <- start{at, err}
	}()
	var got start
	r.until(ctx, func() bool {
		select {
		case got = <-starts:
			return true
		default:
			return r.gone()
		}
	})
	if got.err != nil && ctx.Err() == nil {
		r.figures.notStarted = text.OfError(got.err)
		return time.Time{}
	}
	return got.at
}

// StartAt returns a Config.Start of a load that begins at a moment of the wall clock.
func StartAt(at time.Time) func(context.Context) (time.Time, error) {
	return func(context.Context) (time.Time, error) { return at, nil }
}
