package forward

import (
	"context"
	"time"
)

// The longest waits of a client for what comes of the last bytes, before it opens a connection, and before it does to
// the transport what may end a forwarder; and how often it looks.
const (
	beforeOpening = 50 * time.Millisecond
	beforeDeed    = reaction
	look          = 5 * time.Millisecond
)

// Settle waits, for a client that does one thing after the other, before it opens a connection, or ends one (deed), or
// sends bytes (neither). What has ended a target can be told then: bytes that have had no answer before something is
// done to the transport, and the transport before bytes. It waits no more for deeds of a kind that forwarders have
// borne, and not at all on a nil Record.
func (r *Record) Settle(ctx context.Context, isOpening, isDeed bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	isHarmless := r.isHarmless(halving) && r.isHarmless(resetting)
	switch {
	case isOpening:
		r.await(ctx, beforeOpening, func() time.Time { return r.lastSent() })
	case isDeed && !isHarmless:
		r.await(ctx, beforeDeed, func() time.Time { return r.lastSent() })
	case !isDeed && r.strongCause.words != "" && !r.isHarmless(r.strongCause.kind):
		r.await(ctx, r.strongCause.kind.reactionTime(), func() time.Time { return r.strongCause.at })
	}
}

// lastSent returns when the last bytes were sent that none have followed. The lock is held.
func (r *Record) lastSent() time.Time {
	last := r.unread
	for _, at := range r.waiting {
		last = latest(last, at)
	}
	return last
}

// await waits until so much time is over since a moment, which may change, unless the target has ended. The lock is
// held, but while it waits.
func (r *Record) await(ctx context.Context, span time.Duration, since func() time.Time) {
	for r.ended == nil && ctx.Err() == nil && time.Since(since()) <= span {
		r.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(look):
		}
		r.mu.Lock()
	}
}
