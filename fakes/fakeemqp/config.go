package fakeemqp

import (
	"time"

	"github.com/fwpsuite/fwp/zmtp"
)

// Config has the settings of a broker. The zero Config works.
type Config struct {
	// Router is for both sockets. Its Joined and Left are the broker's own.
	Router zmtp.RouterConfig

	// Interval is how long the broker sends a worker or scheduler nothing before it sends a HEARTBEAT, 3 s if zero.
	// One from which it has no message for Timeout, three intervals if zero, has disconnected. (Heartbeating)
	Interval, Timeout time.Duration

	// MostWaiting is how many messages wait for workers and schedulers; 100,000 if zero. More are dropped, which
	// Counts tells.
	MostWaiting int

	// Hook is called before each message of a peer is handled, and before each message to one is sent; it may be nil.
	// It is called under the broker's lock and must not call the broker.
	Hook func(e *Event)
}

func (c Config) orDefault() Config {
	if c.Interval <= 0 {
		c.Interval = 3 * time.Second
	}
	if c.Timeout <= 0 {
		c.Timeout = 3 * c.Interval
	}
	if c.MostWaiting <= 0 {
		c.MostWaiting = 100_000
	}
	return c
}

// Role is what a peer is to the broker.
type Role uint8

// The roles. A peer is a Client until its INFORM.
const (
	Client Role = iota
	Worker
	Scheduler
)

// Event is a message before it is handled or sent. A hook may change the fields below Sent.
type Event struct {
	Peer string // its identity
	Role Role
	Sent bool // by the broker, else by the peer

	Frames     [][]byte
	Drop       bool          // the message is not handled, or not sent
	Again      int           // how many times more it is handled or sent
	Delay      time.Duration // until it is sent
	Disconnect bool          // afterwards the connection is closed
	Stay       bool          // the broker goes on although it was sent a DISCONNECT
}
