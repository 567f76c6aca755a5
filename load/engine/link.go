package engine

import "time"

// Link is the engine's part of a session, which embeds it. Its zero value is ready to
// use.
type Link struct {
	session Session
	conn    *conn         // dialling or there; nil: none
	dialed  time.Duration // when the latest dial began
	wake    time.Duration // 0: has no place in the loop's timers
	place   int           // in the loop's timers
	queued  bool          // is in the loop's queue
	poked   bool          // is to be stepped with Woken when its turn in the queue comes
	over    bool          // its latest step said Close

	// Back has the session connect to the other port of the server, if the engine's Config has one. It is set before
	// the session is first opened.
	Back bool
}

func (k *Link) link() *Link { return k }

var _ interface{ link() *Link } = (*Link)(nil) // what a Session needs

// Dialed returns the instant at which the latest dial began, 0 before the first. It
// may be called inside the loop.
func (k *Link) Dialed() time.Duration { return k.dialed }
