package law

import (
	"time"

	"github.com/fwpsuite/fwp/internal/session"
)

// refusal is an error that is a violation, unless the server was about to end: then it may refuse whatever it gets.
// Where a law does not see the operators ([Terms.Shared]), the violation counts when a connection that was open at that
// time is served later, which a server that ends does not do.
type refusal struct {
	conn      *Conn
	violation *Violation
	at        time.Time
	several   bool

	dialed int  // how many connections there were
	ended  bool // the server has closed one of them since
}

// hold keeps a refusal until it is known whether the server was about to end. Of many the first ones are kept.
func (w *Watch) hold(r refusal) {
	if r.dialed = w.dialed; len(w.refusals) < mostAlike && r.at.After(w.disturbed) {
		w.refusals = append(w.refusals, r)
	}
	if r.violation.JID != "" {
		w.law.Unjudge(r.violation.JID)
	}
}

// Disturbed records that what is done to the server on purpose until a time is reason enough for a refusal.
func (w *Watch) Disturbed(until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.disturbed = until
}

// served tells the refusals that were received before a command was sent that a connection of their time has served.
func (w *Watch) served(c *Conn, sent time.Time) {
	w.release(func(r *refusal) bool { return c.number < r.dialed && sent.After(r.at) })
}

// Close tells the refusals behind which the server has closed no connection. Nothing may follow.
func (w *Watch) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.release(func(r *refusal) bool { return !r.ended })
}

func (w *Watch) release(tell func(*refusal) bool) {
	held := w.refusals[:0]
	for _, r := range w.refusals {
		if !tell(&r) {
			held = append(held, r)
			continue
		}
		w.note(r.conn, r.violation, r.at, r.several)
	}
	w.refusals = held
}

// endedBy records who ended a connection.
func (w *Watch) endedBy(c *Conn, how session.Ending) {
	if how != session.Fin && how != session.Reset {
		return
	}
	for i := range w.refusals {
		w.refusals[i].ended = w.refusals[i].ended || c.number < w.refusals[i].dialed
	}
}
