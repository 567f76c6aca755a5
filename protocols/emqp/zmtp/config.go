package zmtp

import (
	"errors"
	"fmt"
	"time"
)

// Config has the settings of a socket. The zero value works.
type Config struct {
	Identity   string        // announced in READY; none if empty
	Properties Metadata      // further properties of READY; a Socket-Type here replaces that of the socket
	Limits     Limits        // of the messages and commands of peers
	Handshake  time.Duration // timeout of greeting and READY; 10 s if zero

	// SendInPieces sends the first 11 octets of the greeting, and the rest after the version of the peer was received.
	// (Version Negotiation)
	SendInPieces bool

	// Ping is the time without received octets after which a PING is sent; none is sent if zero. Timeout is the longest
	// time without received octets after a PING; three times Ping if zero. TTL is the time to live in the PING.
	// (Connection Heartbeating)
	Ping, Timeout, TTL time.Duration

	// ReceiveHWM and SendHWM are the high-water marks: the most messages of one peer in a queue; 1000 each if zero.
	// While the receive queue is full, nothing is read from that peer. (28/REQREP)
	ReceiveHWM, SendHWM int

	// Memory is the most octets of messages in all queues of one direction together; 64 MiB if zero. A single message
	// may be larger.
	Memory int
}

func (c Config) withDefaults() Config {
	setDefault(&c.Handshake, 10*time.Second)
	setDefault(&c.Timeout, 3*c.Ping)
	setDefault(&c.ReceiveHWM, 1000)
	setDefault(&c.SendHWM, 1000)
	setDefault(&c.Memory, 64<<20)
	return c
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// metadata is what a socket of a type tells in READY.
func (c Config) metadata(socket string) Metadata {
	var m Metadata
	if _, ok := c.Properties.Get(SocketType); !ok {
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

// PeerError is the error for a peer that refused the connection with the command ERROR. Do not try again with the
// same settings. (Error Handling)
type PeerError struct{ Reason string }

// Error returns the reason that the peer gave.
func (e *PeerError) Error() string {
	return fmt.Sprintf("the peer declined the connection: %q", e.Reason)
}

// MismatchError is the error for a valid peer that does not match: another mechanism, or an incompatible socket type.
// (Version Negotiation, The Socket-Type Property)
type MismatchError struct {
	Field, Ours, Theirs string
}

// Error returns what does not fit.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("the peer's %s %q does not fit ours, %q", e.Field, e.Theirs, e.Ours)
}

// Peer has what the other end of a connection announced.
type Peer struct {
	Version  Version
	Metadata Metadata
}
