package engine

import (
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Session is one connection, or only a timer if it is never opened.
//
// A session embeds a [Link], by value, and is used by pointer:
//
//	type worker struct {
//		engine.Link
//		...
//	}
//
// It belongs to the loop that it is first given to, and it is not copied after that.
//
// A session is told what happened and when, and answers with the bytes to send and the instant at which it wants to be
// woken.
type Session interface {
	// Step gets what happened at the instant now, and returns what is to be
	// sent and what comes next. It is pure: the same calls give the same results. It
	// must not block, and it must not keep ev.In or out.
	//
	// send is usually out with bytes appended; out is empty and its memory is
	// borrowed. Empty send: nothing is sent. What is sent while there is no connection
	// is dropped without a word.
	//
	// It is called inside the session's loop, so that it may use that loop's methods
	// and whatever the sessions of the loop share.
	Step(now time.Duration, ev Event, out []byte) (send []byte, next Next)

	// link is given by the embedded Link.
	link() *Link
}

// Kind is what happened.
type Kind uint8

const (
	// Opened: the connection that Open asked for is there.
	Opened Kind = iota + 1
	// Failed: the connection could not be opened, Event.Err is why. The session may
	// be opened again.
	Failed
	// Data: bytes have come. Event.In has them, cut wherever the network cut them; it
	// is never empty, and valid only during the call.
	Data
	// Woken: the session's Wake has come, or it was poked. A session that must
	// know which compares now with the Wake that it asked for.
	Woken
	// Ended: the connection is gone. Event.Err is nil if the peer closed it (or its
	// half of it) in order, and else the error of reading or writing: a reset, mostly.
	// It comes once, after everything that could be read; but a failed write comes at
	// once. What the step still sends is tried, and then the connection is closed. The
	// session may be opened again.
	Ended
)

var kindNames = text.NewEnum("kind", map[Kind]string{
	Opened: "opened", Failed: "failed", Data: "data", Woken: "woken", Ended: "ended",
})

// String returns the name of k in lower case.
func (k Kind) String() string { return kindNames.String(k) }

// Event is one thing that happened to a session.
type Event struct {
	Kind Kind
	In   []byte // Data: what arrived
	Err  error  // Failed, Ended: why
}

// Next is what a session wants after a step.
type Next struct {
	// Wake is the instant of the next Woken. It replaces the earlier one; 0 means none.
	// One that is over comes as soon as the other sessions have had their turn. It holds
	// whether the session has a connection or not.
	Wake time.Duration
	// Close ends the session: what was sent still goes, then the connection is closed,
	// and a dial under way is given up. After it the session gets no more steps, neither
	// by its Wake nor by Poke, unless it is opened again.
	Close bool
	// Reset, beside Close, ends the connection as a client that crashed would: what was
	// sent and has not gone is dropped, and the peer is reset. A connection that cannot
	// do that (no SetLinger, as *net.TCPConn has it) is closed at once.
	Reset bool
	// CloseWrite closes the session's half of the connection when what was sent has gone.
	// The session is stepped with what comes as before; what it sends is dropped. It does
	// nothing on a connection that cannot do that (no CloseWrite).
	CloseWrite bool
}

// Loop is where sessions live. Its methods may be called inside the loop only: in the
// Step of one of its sessions, or in a function that was given to Do. None of them
// blocks, and none of them steps a session before it returns.
type Loop interface {
	// Open dials a connection for s outside the loop, and then steps s with Opened or with
	// Failed. Until then it may be stepped with Woken. s must have no connection and
	// no dial under way; else Open panics.
	Open(s Session)
	// Poke has s stepped with Woken before the loop takes up anything else. Sessions are
	// stepped in the order in which they were poked; one that waits for its step already
	// is not stepped twice.
	Poke(s Session)
	// Offload runs work outside the loop, where it may take its time, and then pokes s.
	// Works of one loop run one after the other, in the order of their calls. What work
	// writes may be read in the step that follows it.
	Offload(s Session, work func())
	// Now reads the clock.
	Now() time.Duration
}

// Engine drives the sessions of its loops until it is closed.
type Engine interface {
	// String returns its name, and what it does without where the system lacks something.
	String() string
	// Loops returns the loops. There is at least one; the number does not change.
	Loops() []Loop
	// Do runs fn inside the given loop, and returns when fn has returned. now is the
	// instant at which fn was called. It must not be called inside a loop. It works after
	// Close too: then nothing else is in the loop, and what fn asks of it is ignored.
	Do(loop int, fn func(now time.Duration))
	// Busy returns for how long the loop has been at work since the start of the engine:
	// steps and the sending within them. It may be called from anywhere.
	Busy(loop int) time.Duration
	// WaitTime estimates for how long what was received for the sessions of the loop has waited until the loop handled it,
	// in all, since the start of the engine, and how often something was received. The portable engine does not know. It
	// may be called from anywhere.
	WaitTime(loop int) (total time.Duration, times int64)
	// Close gives up all dials, closes all connections, sent or not, and returns when
	// nothing of the engine runs any more: it waits for the work that is aside. No session
	// is stepped after it. The error is always nil at present. It must not be called
	// inside a loop; it may be called more than once and by several goroutines.
	Close() error
}

// Link is the engine's part of a session, which embeds it. Its zero value is ready to
// use.
type Link struct {
	session  Session
	conn     *conn         // dialling or there; nil: none
	dialedAt time.Duration // when the latest dial began
	wake     time.Duration // 0: has no place in the loop's timers
	place    int           // in the loop's timers
	isQueued bool          // is in the loop's queue
	isPoked  bool          // is to be stepped with Woken when its turn in the queue comes
	isClosed bool          // its latest step said Close

	// UsesBackend has the session connect to the backend port, if the Config of the engine has one. It is set before the
	// session is first opened.
	UsesBackend bool
}

func (k *Link) link() *Link { return k }

var _ interface{ link() *Link } = (*Link)(nil) // what a Session needs

// DialedAt returns the instant at which the latest dial began, 0 before the first. It
// may be called inside the loop.
func (k *Link) DialedAt() time.Duration { return k.dialedAt }
