package explore

import (
	"context"
	"time"
)

// Budget divides the time of a run: commands are made up until Explore, findings are shrunk and confirmed until
// Shrink, and what was left on the server is removed until End. A zero time is no limit.
type Budget struct{ Explore, Shrink, End time.Time }

// The shares of a budget that are kept for its end.
const (
	cleanupShare = 8 // one such part for the clean-up
	shrinkShare  = 4 // one such part for shrinking what is found last
	cleanupMost  = 10 * time.Second
)

// Divide returns the budget of a run that begins now and lasts no longer than total: an eighth of it, at most ten
// seconds, is kept for the clean-up, and a quarter, at most what one finding may take, for shrinking. There are no
// limits if total is zero.
func Divide(total, shrinking time.Duration) Budget {
	if total == 0 {
		return Budget{}
	}
	end := time.Now().Add(total)
	shrink := end.Add(-min(total/cleanupShare, cleanupMost))
	return Budget{Explore: shrink.Add(-min(total/shrinkShare, shrinking)), Shrink: shrink, End: end}
}

// Share returns how long one of n findings may be shrunk: most, or its part of the time that is left. Zero is no limit.
func (b Budget) Share(n int, most time.Duration) time.Duration {
	if b.Shrink.IsZero() {
		return most
	}
	part := max(time.Until(b.Shrink)/time.Duration(n), 1)
	if most == 0 {
		return part
	}
	return min(part, most)
}

// Until returns a copy of ctx that ends at t, if that is not zero.
func Until(ctx context.Context, t time.Time) (context.Context, context.CancelFunc) {
	if t.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, t)
}

// within is ctx with a limit, unless that is zero.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return Until(ctx, time.Time{})
	}
	return Until(ctx, time.Now().Add(limit))
}
