package law

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// Watch has a law judge all connections of one play. It receives everything as it happens, from whichever goroutine,
// and passes it on to the law one by one, in an order in which the server can have done it. It is safe for concurrent
// use.
//
// What it cannot follow ends the judging of the play: bytes that are more or less than one command, a message that no
// command asked for, and an introduction that is refused. The player judges these itself. The law of a server that
// sends by itself, a [Pusher], gets every event at once, because no message of such a server belongs to a command.
type Watch struct {
	mu        sync.Mutex
	law       Law
	pusher    Pusher // the law, if the server sends by itself; else nil
	of        Definition
	conns     []*Conn // that are open, and some that are over
	dialed    int
	found     []Seen
	alike     map[[2]string]int // violations, by rule and clause
	tell      func(Seen)        // gets what is found, instead of found; may be nil
	shared    bool              // see Terms
	refusals  []refusal         // that are not told yet
	disturbed time.Time         // until when refusals have another reason
	open      string            // why what follows is not judged, "" if it is
	tally     Tally

	due   *Due // what the server has to send
	since time.Time
}

// Seen is a violation with the place where it showed.
type Seen struct {
	Violation
	Conn  string
	At    time.Time // of the message
	Timed bool      // its premise is a span of time
	Alone bool      // it is about a value in the message, whatever was sent before
}

// Unproven reports whether one sight is not enough: the premise is time, or something else may be the reason.
func (s *Seen) Unproven() bool { return s.Timed || s.Doubtful || s.Own != "" }

// NewWatch returns a Watch of a play that has not begun.
func NewWatch(d Definition, t Terms) *Watch {
	w := &Watch{law: d.Start(t), of: d, alike: map[[2]string]int{}, shared: t.Shared}
	w.pusher, _ = w.law.(Pusher)
	return w
}

// Dialed records a new connection, and returns its observer. The name is what [Seen] has; it may be empty.
func (w *Watch) Dialed(name string) session.Observer {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &Conn{watch: w, name: name, number: w.dialed}
	w.dialed++
	if w.of.Greets {
		c.under = []command{{at: time.Now()}}
	}
	w.conns = append(slices.DeleteFunc(w.conns, func(c *Conn) bool { return c.over }), c)
	w.law.Open(c.number, time.Now())
	return c
}

// Operated records what an operator is about to do. A restart and a kill end all connections.
func (w *Watch) Operated(action scenarios.Need, client, state string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if action != scenarios.NeedSignals {
		for _, c := range w.conns {
			c.end(false, time.Now())
		}
	}
	w.law.Operated(action, client, state)
	w.due = nil
}

// Restarted is Operated with a restart.
func (w *Watch) Restarted() { w.Operated(scenarios.NeedRestart, "", "") }

// mostAlike is how many violations of one rule and clause are kept.
const mostAlike = 100

// Found returns what was found, in its order, of many alike the first ones. Messages that still wait for others are
// judged before.
func (w *Watch) Found() []Seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		c.judge(true)
	}
	return w.found
}

// Wrong returns the clause that a message of a connection breaks whatever a line of a script expects there, and what
// was received; two empty texts if the law knows of none. The message is named by the time of its arrival.
func (w *Watch) Wrong(conn string, at time.Time) (clause, got string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range slices.Backward(w.found) {
		if s.Conn == conn && s.At.Equal(at) && w.of.Rules[s.Rule].Traits&Misplaced != 0 {
			return s.Clause, s.Got + "; " + s.What
		}
	}
	return "", ""
}

// dueWithin is how long a server has for what it has to send by itself. The documents of such protocols have no limit.
const dueWithin = 5 * time.Second

// await keeps as a violation what the server has to send, and has not sent until now. It is called before the law gets
// an event, and next after that. What is due when a play ends is not judged.
func (w *Watch) await(now time.Time) {
	for w.due != nil && now.Sub(w.since) > dueWithin {
		if i := slices.IndexFunc(w.conns, func(c *Conn) bool { return c.number == w.due.Conns[0] }); i >= 0 {
			w.note(w.conns[i], &w.due.Missing, now, false)
		}
		w.pusher.Missed(w.due)
		w.next(now)
	}
}

// next records what is due from now on.
func (w *Watch) next(now time.Time) {
	before := w.due
	w.due = w.pusher.Due(now)
	if w.due != nil && (before == nil || before.Missing.JID != w.due.Missing.JID) {
		w.since = now
	}
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

// Tell has everything that is found passed to a function instead of being kept. It must be called before any other
// method, and the function must not call one.
func (w *Watch) Tell(found func(Seen)) { w.tell = found }

// give ends the judging of the play, and says why; of the connection alone where jobs are not judged by all that
// happened to them.
func (w *Watch) give(c *Conn, why string) {
	if w.shared {
		c.end(false, time.Now())
		return
	}
	w.open = cmp.Or(w.open, why)
}

// Tally returns what was counted until now. The caller must not change it.
func (w *Watch) Tally() Tally {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tally
}

// note keeps a violation.
func (w *Watch) note(c *Conn, v *Violation, at time.Time, several bool) {
	timed := w.of.Rules[v.Rule].Traits&Timed != 0
	if w.open != "" || timed && several { // when the command was begun is not known
		return
	}
	w.tally.rule(v.Rule, Rate{Broken: 1, Clauses: map[string]int{v.Clause: 1}})
	seen := Seen{
		Violation: *v, Conn: c.name, At: at, Timed: timed,
		Alone: w.of.Rules[v.Rule].Traits&(OfField|AtGreeting|Misplaced) != 0,
	}
	switch key := [2]string{v.Rule, v.Clause}; {
	case w.tell != nil:
		w.tell(seen)
	case w.alike[key] < mostAlike:
		w.alike[key]++
		w.found = append(w.found, seen)
	}
	if v.JID != "" && w.of.Rules[v.Rule].Traits&JobStays == 0 {
		w.law.Unjudge(v.JID)
	}
}
