package law

import (
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// Watch has a law judge all connections of one play. It receives everything as it happens, from whichever goroutine, and
// passes it on to the law one by one, in an order in which the server can have done it. It is safe for concurrent use.
//
// What it cannot follow ends the judging of the play: bytes that are more or less than one command, a message that no
// command asked for, and an introduction that is refused. The player judges these itself.
type Watch struct {
	mu    sync.Mutex
	law   Law
	of    Definition
	conns []*Conn
	found []Seen
	open  bool // what follows is not judged
}

// Seen is a violation with the place where it showed.
type Seen struct {
	Violation
	Conn  string
	At    time.Time // of the message
	Timed bool      // its premise is a span of time
	Alone bool      // it is about a value in the message, whatever was sent before
}

// NewWatch returns a Watch of a play that has not begun.
func NewWatch(d Definition, t Terms) *Watch { return &Watch{law: d.Start(t), of: d} }

// Dialed records a new connection, and returns its observer.
func (w *Watch) Dialed(name string) session.Observer {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &Conn{watch: w, name: name, number: len(w.conns)}
	if w.of.Greets {
		c.under = []command{{at: time.Now()}}
	}
	w.conns = append(w.conns, c)
	w.law.Open(c.number, time.Now())
	return c
}

// Operated records what an operator is about to do. A restart and a kill end all connections.
func (w *Watch) Operated(action scenarios.Need, client, state string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if action != scenarios.NeedSignals {
		for _, c := range w.conns {
			c.end()
		}
	}
	w.law.Operated(action, client, state)
}

// Found returns what was found, in its order. Messages that still wait for others are judged before.
func (w *Watch) Found() []Seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		c.judge(true)
	}
	return w.found
}

// settle judges the messages that have waited for what was just judged.
func (w *Watch) settle() {
	for again := true; again; {
		again = false
		for _, c := range w.conns {
			again = c.judge(false) || again
		}
	}
}

// give ends the judging of the play.
func (w *Watch) give() { w.open = true }

// note keeps a violation.
func (w *Watch) note(c *Conn, v *Violation, at time.Time, several bool) {
	timed := w.of.Rules[v.Rule].Traits&Timed != 0
	if w.open || timed && several { // when the command was begun is not known
		return
	}
	w.found = append(w.found, Seen{
		Violation: *v, Conn: c.name, At: at, Timed: timed,
		Alone: w.of.Rules[v.Rule].Traits&(OfField|AtGreeting) != 0,
	})
	if v.JID != "" && w.of.Rules[v.Rule].Traits&JobStays == 0 {
		w.law.Unjudge(v.JID)
	}
}
