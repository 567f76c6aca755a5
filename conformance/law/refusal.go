package law

import (
	"time"

	"github.com/fwpsuite/fwp/internal/session"
)

// refusal is an error that is a violation, unless the server was about to end: then it may refuse whatever it gets.
// Where a law does not see the operators ([Terms.IsShared]), the violation counts when a connection that was open at
// that time is served later, which a server that ends does not do.
type refusal struct {
	conn        *Conn
	violation   *Violation
	at          time.Time
	isPipelined bool

	dialed  int  // how many connections there were
	isAtEnd bool // the server has closed one of them since
}

// keepRefusal keeps a refusal until it is known whether the server was about to end. Of many the first ones are kept.
func (w *Watch) keepRefusal(r refusal) {
	if r.dialed = w.dialed; len(w.refusals) < maxOccurrences && r.at.After(w.disturbedUntil) {
		w.refusals = append(w.refusals, r)
	}
	if r.violation.JID != "" {
		w.law.StopJudging(r.violation.JID)
	}
}

// Disturbed records that what is done to the server on purpose until a time is reason enough for a refusal.
func (w *Watch) Disturbed(until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.disturbedUntil = until
}

// confirmRefusals tells the refusals that were received before a command was sent that a connection of their time has
// served.
func (w *Watch) confirmRefusals(c *Conn, at time.Time) {
	w.release(func(r *refusal) bool { return c.number < r.dialed && at.After(r.at) })
}

// Close tells the refusals behind which the server has closed no connection. Nothing may follow.
func (w *Watch) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.release(func(r *refusal) bool { return !r.isAtEnd })
}

func (w *Watch) release(tell func(*refusal) bool) {
	pending := w.refusals[:0]
	for _, r := range w.refusals {
		if !tell(&r) {
			pending = append(pending, r)
			continue
		}
		w.note(r.conn, r.violation, r.at, r.isPipelined)
	}
	w.refusals = pending
}

// noteEnding records who ended a connection.
func (w *Watch) noteEnding(c *Conn, ending session.Ending) {
	if ending != session.Fin && ending != session.Reset {
		return
	}
	for i := range w.refusals {
		w.refusals[i].isAtEnd = w.refusals[i].isAtEnd || c.number < w.refusals[i].dialed
	}
}
