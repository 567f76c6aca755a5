package law

import (
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// A server that serves one command at a time keeps all others waiting while a FETCH waits for a job. A server may as
// well be slow: it may take its time for a password, for a refusal, or stop now and then.

const (
	// together is how close to each other two replies are that the end of one wait brings.
	together = 300 * time.Millisecond

	// longAlone is how long a command takes on a server that is slow without the company of a FETCH.
	longAlone = 500 * time.Millisecond
)

// stalled reports whether a reply waited for the end of a FETCH of another connection.
func (w *World) stalled(c *Conn, k *call, a model.Answer, now time.Time) bool {
	took := now.Sub(k.at)
	switch {
	case a == model.Refused, k.Verb == fwp.HELLO, k.stood:
		return false
	case !k.company && !w.waits(c) && !w.woken.After(k.at):
		if k.Verb != fwp.FETCH {
			w.pace = max(w.pace, took)
		}
		return false
	case w.slow() || took <= time.Second+w.Slack:
		return false
	}
	return !w.woken.Before(k.at) && now.Sub(w.woken) <= together+w.Slack || w.blocked(c, now)
}

// slow reports whether the server is slow without the company of a FETCH.
func (w *World) slow() bool { return w.pace > longAlone+w.Slack }

// blocked reports whether a FETCH of another connection has waited for as long as it may, and its answer may have been
// sent.
func (w *World) blocked(c *Conn, now time.Time) bool {
	return w.some(func(other *Conn) bool {
		k := other.call
		return other != c && k != nil && k.Verb == fwp.FETCH && now.Sub(k.at) >= model.ShortestBlock
	})
}
