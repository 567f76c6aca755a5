package zmtp

import (
	"errors"
	"fmt"
	"time"
)

// Config has the settings of a socket. The zero Config works.
type Config struct {
	Identity   string        // announced in READY; empty: none is announced
	Properties Metadata      // announced beside Socket-Type and Identity; one of them may be Socket-Type itself
	Limits     Limits        // of what peers send
	Handshake  time.Duration // the longest that greeting and READY may take; 10 s if zero

	// InPieces sends the first 11 octets of the greeting, and the rest when the version of the peer is known. (Version
	// Negotiation)
	InPieces bool

	// Ping is the time after which a PING is sent if nothing was received meanwhile; 0: none is sent. Timeout is how
	// long a PING may remain without any traffic behind it, three times Ping if zero; TTL is the time to live that it
	// announces. (Connection Heartbeating)
	Ping, Timeout, TTL time.Duration

	// The high-water marks: how many messages of one peer wait to be received, and to be written, 1000 each if zero.
	// While as many wait to be received, nothing is read from that peer. (28/REQREP)
	ReceiveHWM, SendHWM int

	// Memory is how many octets of messages wait in the queues of one direction, of all peers of the socket together;
	// 64 MiB if zero. A single message may be larger.
	Memory int
}

func (c Config) orDefault() Config {
	defaultTo(&c.Handshake, 10*time.Second)
	defaultTo(&c.Timeout, 3*c.Ping)
	defaultTo(&c.ReceiveHWM, 1000)
	defaultTo(&c.SendHWM, 1000)
	defaultTo(&c.Memory, 64<<20)
	return c
}

func defaultTo[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// metadata is what a socket of a type tells in READY.
func (c Config) metadata(socket string) Metadata {
	var m Metadata
	if _, own := c.Properties.Get(SocketType); !own {
		m = append(m, Property{SocketType, []byte(socket)})
	}
	if c.Identity != "" {
		m = append(m, Property{Identity, []byte(c.Identity)})
	}
	return append(m, c.Properties...)
}

// Errors of sockets.
var (
	ErrClosed  = errors.New("zmtp: the socket is closed")
	ErrFull    = errors.New("zmtp: the queue of the peer is full")   // the message is not sent (28/REQREP)
	ErrUnknown = errors.New("zmtp: no peer has that identity")       // the message is not sent (28/REQREP)
	ErrTaken   = errors.New("zmtp: another peer has the identity")   // the connection is closed
	ErrSilent  = errors.New("zmtp: the peer is silent after a PING") // for Config.Timeout, or its own time to live
)

// PeerError is the ERROR with which a peer declined the connection. It is not worth trying again with the
// same settings. (Error Handling)
type PeerError struct{ Reason string }

// Error returns the reason that the peer gave.
func (e *PeerError) Error() string {
	return fmt.Sprintf("the peer declined the connection: %q", e.Reason)
}

// MismatchError is a peer that speaks the protocol but does not fit: another mechanism, or a socket type
// that cannot talk to ours. (Version Negotiation, The Socket-Type Property)
type MismatchError struct {
	What, Ours, Theirs string
}

// Error returns what does not fit.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("the peer's %s %q does not fit ours, %q", e.What, e.Theirs, e.Ours)
}

// Peer is what is known of the other end of a connection.
type Peer struct {
	Version  Version
	Metadata Metadata
}
