// Package forward tells the end of a forwarder before a server from the end of the server.
//
// A forwarder (kubectl port-forward, ssh -L, socat, docker-proxy) passes bytes, and ends because of none of them. What
// can end it is how its clients use the transport: a reset, a half-close, or the number of connections.
package forward

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	reaction        = 500 * time.Millisecond // that a forwarder may take to end; bytes that follow later were passed on
	moment          = 2 * time.Second        // before the first sign of an end, in which its cause is looked for
	manyConnections = 8                      // connections at a time that may be too many for a forwarder
)

// Dial opens a connection, without TLS.
type Dial = func(context.Context) (net.Conn, error)

// Target is a target of which no more than its address is known: a forwarder may be in between.
type Target interface{ Forwarded() *Record }

// Record is what clients did last to the transport of one target, all of them on one clock. The zero value is ready. It
// is safe for concurrent use.
type Record struct {
	// Greets says that clients speak before the target does, and without a command: in TLS and in ZMTP.
	Greets bool

	mu          sync.Mutex
	dials       map[string]Dial // by address
	openCount   int             // connections
	aliveCount  int             // of them, those that the other side has not ended
	maxOpen     int             // open at a time, so far
	newest      *conn           // the one that was opened last
	received    time.Time       // the last bytes
	unread      time.Time       // the last bytes that no bytes on their connection followed
	waiting     map[*conn]time.Time
	strongCause deed // the last one that may be the cause whatever was sent behind it
	weakCause   deed // the last one that may be only if nothing was sent behind it
	// when deeds of a kind were done first, as many as it takes to see that they are borne
	firstDeeds map[kind][]time.Time
	ended      *end // the first sign of an end since anything was received; nil if there is none
}

// kind is a kind of deeds, of which a forwarder ends at the first or at none.
type kind int

const (
	opening kind = iota // these and the next ones count
	leaving
	halving
	resetting
	unreading // a close that the kernel makes a reset, perhaps
)

// enoughDeeds is how many deeds of a kind a forwarder has to serve on behind until they are not what ends it. The
// kernel makes a reset of few closes with a reply under way; under TLS, which says goodbye, each is one.
var enoughDeeds = map[kind]int{halving: 1, resetting: 1, unreading: 10}

// reactionTime returns how long a forwarder may take to end behind a deed of a kind.
func (k kind) reactionTime() time.Duration {
	if k == unreading { // there are many
		return reaction / 5
	}
	return reaction
}

// deed is what a client did to the transport.
type deed struct {
	kind       kind
	words      string
	at         time.Time
	isOutdated bool // bytes were sent behind a quiet one, or a later deed was done
}

// end is the first sign of an end, and what was received before.
type end struct {
	at, unread, received   time.Time
	strongCause, weakCause deed
}

// Open opens a connection to an address with dial, and records what becomes of it. A nil Record records nothing.
func (r *Record) Open(ctx context.Context, address string, dial Dial) (net.Conn, error) {
	if r == nil {
		return dial(ctx)
	}
	nc, err := dial(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		if IsConnRefused(err) {
			r.noteEnd()
		}
		return nil, err
	}
	if r.dials == nil {
		r.dials, r.waiting, r.firstDeeds = map[string]Dial{}, map[*conn]time.Time{}, map[kind][]time.Time{}
	}
	r.dials[address], r.ended = dial, nil
	r.openCount++
	r.aliveCount++
	c := &conn{Conn: nc, record: r, greets: r.Greets || r.openCount > max(r.maxOpen, 1)}
	r.newest = c
	d := deed{kind: opening, words: fmt.Sprintf("a client opened a connection, in addition to %d others", r.openCount-1)}
	r.note(d, r.openCount > max(r.maxOpen, manyConnections))
	r.maxOpen = max(r.maxOpen, r.openCount)
	return c, nil
}

// HasOpened reports whether a connection was opened, be it one that has ended.
func (r *Record) HasOpened() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.dials) > 0
}

// LossReason returns why it may be that a forwarder before the target has ended, and not the server: nothing accepts
// connections at any address of the target any more, and the last deed was nothing that a server gets. It is empty if
// that is not so. It blocks until the addresses were dialled.
func (r *Record) LossReason(ctx context.Context) string {
	if r == nil {
		return ""
	}
	if !r.IsGone(ctx) {
		return ""
	}
	r.mu.Lock()
	r.noteEnd() // unless there was one before
	e := r.ended
	r.mu.Unlock()
	causes := e.causes()
	if causes == "" {
		return ""
	}
	reason := "the connection to the target was lost: nothing accepts connections at its address any longer. Last, " +
		causes
	if e.unread.After(e.at.Add(-moment)) {
		reason += "; commands were in progress at that moment"
	}
	return reason + "; a forwarder (ssh -L, kubectl port-forward) may have ended"
}

// IsGone reports whether nothing accepts connections any more at any address to which one was opened. It blocks until
// they were dialled, 5 s at most. It is false of a nil Record.
func (r *Record) IsGone(ctx context.Context) bool {
	if !r.HasOpened() {
		return false
	}
	r.mu.Lock()
	dials := maps.Clone(r.dials)
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, dial := range dials {
		nc, err := dial(ctx)
		if err == nil {
			_ = nc.Close()
		}
		if !IsConnRefused(err) {
			return false
		}
	}
	return true
}

// causes returns the deeds that may be why an end came, where no bytes are as likely to be; empty if there are none.
func (e *end) causes() string {
	isStrong, isWeak := e.isCausedBy(e.strongCause), e.isCausedBy(e.weakCause) && !e.weakCause.isOutdated
	switch {
	case isStrong && isWeak && e.weakCause.kind != e.strongCause.kind:
		return e.strongCause.words + ", and then " + e.weakCause.words
	case isStrong:
		return e.strongCause.words
	case isWeak:
		return e.weakCause.words
	}
	return ""
}

// isCausedBy reports whether the end may be that of a forwarder because of a deed.
func (e *end) isCausedBy(d deed) bool {
	until := d.at.Add(d.kind.reactionTime())
	return d.words != "" && e.at.Sub(d.at) <= moment && !e.received.After(until) && !e.unread.After(until)
}

// note keeps a deed, unless all has ended before it, or forwarders have borne others of its kind. The lock is held.
func (r *Record) note(d deed, isStrong bool) {
	if d.at = time.Now(); r.ended != nil {
		return
	}
	if !isStrong {
		if d.kind == opening && r.weakCause.kind == leaving && !r.weakCause.isOutdated &&
			d.at.Sub(r.weakCause.at) <= reaction {
			d.words = r.weakCause.words + ", and then " + d.words
		}
		r.weakCause = d
		return
	}
	if r.isHarmless(d.kind) || d.kind == unreading && r.isHarmless(resetting) {
		return
	}
	if done := r.firstDeeds[d.kind]; len(done) < enoughDeeds[d.kind] {
		r.firstDeeds[d.kind] = append(done, d.at)
	}
	r.strongCause, r.weakCause.isOutdated = d, true
}

// isOpening reports whether it is not known what becomes of the connection that was opened last: what was sent on
// another one meanwhile need not be the cause of an end. The lock is held.
func (r *Record) isOpening() bool {
	return r.weakCause.kind == opening && !r.newest.hasReceived
}

// isHarmless reports whether it is known that deeds of a kind end nothing. The lock is held.
func (r *Record) isHarmless(k kind) bool {
	n, done := enoughDeeds[k], r.firstDeeds[k]
	return n > 0 && len(done) == n && r.received.Sub(done[n-1]) > k.reactionTime()
}

// noteEnd keeps the first sign of an end. The lock is held.
func (r *Record) noteEnd() {
	if r.ended != nil {
		return
	}
	r.ended = &end{at: time.Now(), unread: r.lastSent(), received: r.received, strongCause: r.strongCause,
		weakCause: r.weakCause}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// IsConnRefused reports whether an error of a dialler means that nothing listens.
func IsConnRefused(err error) bool {
	const onWindows = syscall.Errno(10061) // WSAECONNREFUSED, which errors.Is does not take for ECONNREFUSED
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, onWindows)
}
