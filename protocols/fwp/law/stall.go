package law

import (
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// A server that serves one command at a time keeps all others waiting while a FETCH waits for a job. A server may as
// well be slow: it may take its time for a password, for a refusal, or stop now and then.

const (
	// replyGap is how close to each other two replies are that the end of one wait brings.
	replyGap = 300 * time.Millisecond

	// slowCommand is how long a command takes on a server that is slow without the company of a FETCH.
	slowCommand = 500 * time.Millisecond
)

// isStalled reports whether a reply waited for the end of a FETCH of another connection.
func (w *World) isStalled(c *Conn, k *call, a model.Answer, now time.Time) bool {
	took := now.Sub(k.at)
	switch {
	case a == model.Refused, k.Verb == fwp.HELLO, k.wasHalted:
		return false
	case !k.hasOtherFetch && !w.hasOtherFetch(c) && !w.wakeTime.After(k.at):
		if k.Verb != fwp.FETCH {
			w.maxCommandTime = max(w.maxCommandTime, took)
		}
		return false
	case w.isSlow() || took <= time.Second+w.Slack:
		return false
	}
	return !w.wakeTime.Before(k.at) && now.Sub(w.wakeTime) <= replyGap+w.Slack || w.isBlocked(c, now)
}

// isSlow reports whether the server is slow without the company of a FETCH.
func (w *World) isSlow() bool { return w.maxCommandTime > slowCommand+w.Slack }

// isBlocked reports whether a FETCH of another connection has waited for as long as it may, and its answer may have
// been sent.
func (w *World) isBlocked(c *Conn, now time.Time) bool {
	return w.anyConn(func(other *Conn) bool {
		k := other.call
		return other != c && k != nil && k.Verb == fwp.FETCH && now.Sub(k.at) >= model.ShortestBlock
	})
}
