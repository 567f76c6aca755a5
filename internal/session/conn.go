package session

import (
	"cmp"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Config has the settings of a conversation.
type Config struct {
	Timeout    time.Duration  // the longest that a write takes and that an answer is waited for; 10 s if zero
	OnReceived func(Received) // called with everything that is received, in order, before it can be taken; may be nil
	OnReadEnd  func()         // called when nothing is read any more; may be nil
	Budget     *Budget        // of all connections of a run; nil: the connection has one of its own

	Observer Observer // receives everything that passes; may be nil

	// ToleratesLapses has messages with a Lapse be received as messages. Else they are Broken.
	ToleratesLapses bool

	// Grace returns by how much more than the timeout the peer gets because this machine was late since a moment; nil: by
	// nothing.
	Grace func(since time.Time) time.Duration
}

const defaultTimeout = 10 * time.Second

// Observer receives all that passes on a connection, as it happens. Its methods must not block, and are called by the
// goroutine that writes and by the one that reads.
type Observer interface {
	Sent(all []byte, at time.Time) // before anything of it is written
	Received(r Received)           // before it can be taken
	Ended(ending Ending)           // from our side, wholly or by half
}

// Conn is a connection with one conversation. Its methods must not be called by two
// goroutines at a time.
//
// It has one goroutine that reads all the time. The one that uses it writes with [Conn.Write], receives with
// [Conn.Peek] and [Conn.Take], and ends a wait with [Conn.GiveUp], which returns what is known of an unfinished
// message.
type Conn struct {
	nc     net.Conn
	config Config
	text   func(Message) string
	state  State

	incoming chan Received
	closing  chan struct{} // closed when nothing more is taken
	reading  sync.WaitGroup

	allowance *allowance
	untaken   atomic.Int64 // bytes of the messages in incoming

	next     *Received // taken from incoming, not yet used up
	obsolete int       // ends of earlier waits that the reader still reports, to be ignored
	ending   Ending    // how the connection ended, as far as was taken
	writeErr error     // why nothing more can be written
	times    times

	waived int // missing answers to commands sent by Aside
}

// times are those of the last write, and of the last answer.
type times struct{ began, sent, answered time.Time }

// New returns a Conn on a fresh network connection and starts to read. The Conn
// owns nc from then on; it must be ended with [Conn.End] or [Conn.Leave].
func New(nc net.Conn, p Codec, config Config) *Conn {
	config.Timeout = cmp.Or(config.Timeout, defaultTimeout)
	now := time.Now()
	c := &Conn{nc: nc, config: config, text: p.Text, incoming: make(chan Received, 64), closing: make(chan struct{}),
		times: times{began: now, sent: now}}
	c.allowance = newAllowance(config.Budget, c.closing)
	from := &timedReader{Reader: nc, allowance: c.allowance}
	reader, state := p.Begin(from)
	c.state = state
	if config.ToleratesLapses {
		reader.TolerateLapses()
	}
	c.reading.Go(func() {
		if config.OnReadEnd != nil {
			defer config.OnReadEnd()
		}
		c.readAll(reader, from)
	})
	return c
}

// State returns what the protocol knows of the conversation.
func (c *Conn) State() State { return c.state }

// Status returns the state of the conversation, after what was taken so far. A missing
// answer to a command sent by [Conn.Aside] is not owed.
func (c *Conn) Status() Status {
	status := c.state.Status()
	status.OwedMessages -= c.waived
	return status
}

// Ending returns how the connection ended, as far as was taken; NotEnded if it has not.
func (c *Conn) Ending() Ending { return c.ending }

// WriteError returns why nothing more can be written, nil if there is no such reason.
func (c *Conn) WriteError() error { return c.writeErr }

// LastWrite returns when the last write began and when it was done. Before the
// first both are when the connection was opened.
func (c *Conn) LastWrite() (began, done time.Time) { return c.times.began, c.times.sent }

// HasAnswered reports whether the peer has answered anything.
func (c *Conn) HasAnswered() bool { return !c.times.answered.IsZero() }
