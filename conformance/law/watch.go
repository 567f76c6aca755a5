package law

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/target"
)

// Watch has a law judge all connections of one play. It receives everything as it happens, from whichever goroutine,
// and passes it on to the law one by one, in an order in which the server can have done it. It is safe for concurrent
// use.
//
// What it cannot follow ends the judging of the play: bytes that are more or less than one command, a message that no
// command asked for, and an introduction that is refused. The player judges these itself. The law of a server that
// sends by itself, a [Pusher], gets every event at once, because no message of such a server belongs to a command.
type Watch struct {
	mu             sync.Mutex
	law            Law
	pusher         Pusher // the law, if the server sends by itself; else nil
	definition     Definition
	conns          []*Conn // that are open, and some that are over
	dialed         int
	occurrences    []Occurrence
	counts         map[[2]string]int // violations, by rule and clause
	handle         func(Occurrence)  // gets what is found, instead of occurrences; may be nil
	isShared       bool              // see Terms
	refusals       []refusal         // that are not told yet
	disturbedUntil time.Time         // until when refusals have another reason
	openReason     string            // why what follows is not judged, "" if it is
	tally          Tally

	dueMessage *DueMessage // what the server has to send
	dueSince   time.Time
}

// Occurrence is a violation with the place where it showed.
type Occurrence struct {
	Violation
	Conn         string
	At           time.Time // of the message
	IsTimed      bool      // its premise is a span of time
	IsAboutValue bool      // it is about a value in the message, whatever was sent before
}

// IsUnproven reports whether one sight is not enough: the premise is time, or something else may be the reason.
func (s *Occurrence) IsUnproven() bool { return s.IsTimed || s.Doubtful || s.CommandClause != "" }

// NewWatch returns a Watch of a play that has not begun.
func NewWatch(d Definition, t Terms) *Watch {
	w := &Watch{law: d.Start(t), definition: d, counts: map[[2]string]int{}, isShared: t.IsShared}
	w.pusher, _ = w.law.(Pusher)
	return w
}

// Dialed records a new connection, and returns its observer. The name is what [Occurrence] has; it may be empty.
func (w *Watch) Dialed(name string) session.Observer {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &Conn{watch: w, name: name, number: w.dialed}
	w.dialed++
	if w.definition.Greets {
		c.commands = []command{{at: time.Now()}}
	}
	w.conns = append(slices.DeleteFunc(w.conns, func(c *Conn) bool { return c.hasEnded }), c)
	w.law.Open(c.number, time.Now())
	return c
}

// Operated records what an operator is about to do. A restart and a kill end all connections.
func (w *Watch) Operated(action target.Action, client string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !action.OnWorker() {
		for _, c := range w.conns {
			c.end(false, time.Now())
		}
	}
	w.law.Operated(action, client)
	w.dueMessage = nil
}

// Restarted is Operated with a restart.
func (w *Watch) Restarted() { w.Operated(target.Restart, "") }

// maxOccurrences is how many violations of one rule and clause are kept.
const maxOccurrences = 100

// Occurrences returns what was found, in its order, of many alike the first ones. Messages that still wait for others
// are judged before.
func (w *Watch) Occurrences() []Occurrence {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		c.judge(true)
	}
	return w.occurrences
}

// BrokenClause returns the clause that a message of a connection breaks whatever a line of a script expects there, and
// what was received; two empty texts if the law knows of none. The message is named by the time of its arrival.
func (w *Watch) BrokenClause(conn string, at time.Time) (clause, got string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range slices.Backward(w.occurrences) {
		if s.Conn == conn && s.At.Equal(at) && w.definition.Rules[s.Rule].Traits&Misplaced != 0 {
			return s.Clause, s.Got + "; " + s.Detail
		}
	}
	return "", ""
}

// duePatience is how long a server has for what it has to send by itself. The documents of such protocols have no
// limit.
const duePatience = 5 * time.Second

// fileMissing keeps as a violation what the server has to send, and has not sent until now. It is called before the law
// gets an event, and updateDue after that. What is due when a play ends is not judged.
func (w *Watch) fileMissing(now time.Time) {
	for w.dueMessage != nil && now.Sub(w.dueSince) > duePatience {
		if i := slices.IndexFunc(w.conns, func(c *Conn) bool { return c.number == w.dueMessage.Conns[0] }); i >= 0 {
			w.note(w.conns[i], &w.dueMessage.Missing, now, false)
		}
		w.pusher.Missed(w.dueMessage)
		w.updateDue(now)
	}
}

// updateDue records what is due from now on.
func (w *Watch) updateDue(now time.Time) {
	before := w.dueMessage
	w.dueMessage = w.pusher.NextMessage(now)
	if w.dueMessage != nil && (before == nil || before.Missing.JID != w.dueMessage.Missing.JID) {
		w.dueSince = now
	}
}

// settle judges the messages that have waited for what was just judged.
func (w *Watch) settle() {
	for hasJudged := true; hasJudged; {
		hasJudged = false
		for _, c := range w.conns {
			hasJudged = c.judge(false) || hasJudged
		}
	}
}

// SetHandler has everything that is found passed to a function instead of being kept. It must be called before any
// other method, and the function must not call one.
func (w *Watch) SetHandler(found func(Occurrence)) { w.handle = found }

// giveUp ends the judging of the play, and says why; of the connection alone where jobs are not judged by all that
// happened to them.
func (w *Watch) giveUp(c *Conn, reason string) {
	if w.isShared {
		c.end(false, time.Now())
		return
	}
	w.openReason = cmp.Or(w.openReason, reason)
}

// Tally returns what was counted until now. The caller must not change it.
func (w *Watch) Tally() Tally {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tally
}

// note keeps a violation.
func (w *Watch) note(c *Conn, v *Violation, at time.Time, isPipelined bool) {
	isTimed := w.definition.Rules[v.Rule].Traits&Timed != 0
	if w.openReason != "" || isTimed && isPipelined { // when the command was begun is not known
		return
	}
	w.tally.rule(v.Rule, Rate{Breaches: 1, Clauses: map[string]int{v.Clause: 1}})
	occurrence := Occurrence{
		Violation: *v, Conn: c.name, At: at, IsTimed: isTimed,
		IsAboutValue: w.definition.Rules[v.Rule].Traits&(OfField|AtGreeting|Misplaced) != 0,
	}
	switch key := [2]string{v.Rule, v.Clause}; {
	case w.handle != nil:
		w.handle(occurrence)
	case w.counts[key] < maxOccurrences:
		w.counts[key]++
		w.occurrences = append(w.occurrences, occurrence)
	}
	if v.JID != "" && w.definition.Rules[v.Rule].Traits&JobStays == 0 {
		w.law.StopJudging(v.JID)
	}
}
