package oracle

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/fwp"
)

// World is what clients know of a server from what they have sent it and what came
// back. Make one with [NewWorld]. It is not safe for concurrent use.
type World struct {
	Protected bool          // the server asks for a password
	Password  string        // the right one
	Alone     bool          // nobody else uses the server, its queue default included
	Patience  time.Duration // for what the specification calls eventual; 150 s if zero
	Slack     time.Duration // by which a reply may be late for reasons of the network

	Conns map[int]*Conn
	Jobs  map[string]*Job

	workers map[string]*worker
	queues  map[string][]*Job
	phrases []string          // names of queues that have several words
	working map[string][]*Job // by worker
	hashes  []string
	salts   map[string]bool
	ghosts  []ghost
	sent    int  // commands
	strange bool // a PUSH was taken that should not have been: who knows what is in the queues
}

// NewWorld returns a world in which nothing has happened yet.
func NewWorld() *World {
	return &World{Patience: model.Patience, Conns: map[int]*Conn{}, Jobs: map[string]*Job{},
		workers: map[string]*worker{}, queues: map[string][]*Job{}, working: map[string][]*Job{}, salts: map[string]bool{}}
}

// Violation is something that no reading of the specification allows.
type Violation struct {
	Clause   string
	Rule     string // the rule of the model; two violations of one rule may have different clauses
	JID      string // the job that it is about, if it is about one
	Expected string // as an S: line of a script says it
	Got      string
	What     string           // in words, where Expected does not say it all
	Window   [2]time.Duration // in which the reply must come, if it is about that
	Doubtful bool             // another fault of the server, which shows otherwise later, may be why
	Should   bool             // the clause only recommends what is broken here
}

// Error says what was expected and what came.
func (v *Violation) Error() string {
	return fmt.Sprintf("%s: expected %s, got %s (%s)", v.Clause, v.Expected, v.Got, v.What)
}

// Open lets a connection begin.
func (w *World) Open(conn int) { w.Conns[conn] = &Conn{} }

// Greet judges the first reply of a connection. (Not Identified State)
func (w *World) Greet(conn int, r fwp.Reply) *Violation {
	c := w.Conns[conn]
	c.Greeted = true
	text, named := strings.CutPrefix(string(r.Text), "HI ")
	f := object([]byte(text))
	salt, salted := f["s"].(string)
	rounds, counted := number(f["i"])
	c.Hi = fwp.Hi{Salt: salt, Iterations: int(rounds), Protected: salted && counted}
	v := &Violation{Rule: "greeting", Expected: `+HI {"v":2}`, Got: string(r.Kind) + string(r.Text)}
	switch {
	case r.Kind == fwp.ErrorReply: // a limit of connections
		return nil
	case r.Kind != fwp.SimpleString || !named || f == nil || !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}"):
		v.Clause = "FWP-HI-02"
	case f["v"] != json.Number("2"):
		v.Clause = "FWP-HI-03"
	default:
		return w.challenge(c, f, v)
	}
	return v
}

// challenge judges the fields of a HI that are for passwords; v is filled in. (Required
// Fields for Protected Server)
func (w *World) challenge(c *Conn, f map[string]any, v *Violation) *Violation {
	_, some := f["i"]
	_, salted := f["s"].(string)
	_, counted := number(f["i"])
	const both = `+HI {"v":2,"i":int(1..),"s":string}`
	switch {
	case some && !counted || f["s"] != nil && !salted:
		v.Clause, v.Expected = "FWP-HI-05", both
	case w.Protected && !c.Hi.Protected:
		v.Clause, v.Expected = "FWP-HI-04", both
	case !w.Protected && (some || f["s"] != nil):
		v.Clause, v.Expected = "FWP-HI-04", `+HI {"v":2,"i":absent,"s":absent}`
	case w.Protected && w.salts[c.Hi.Salt]:
		v.Clause, v.Rule, v.What = "FWP-AUTH-05", "salt", "the salt of an earlier connection came again"
	default:
		w.salts[c.Hi.Salt] = true
		return nil
	}
	return v
}

// Sent takes down a command, its line given without CRLF, and returns the clause that
// rules it, whatever came before.
func (w *World) Sent(conn int, line []byte, now time.Time) (clause string) {
	c := w.Conns[conn]
	c.Commands++
	w.sent++
	c.call = w.allow(c, ReadLine(line), now)
	return c.call.own
}

// Expects is the set of answers that the awaited reply may be.
func (w *World) Expects(conn int) model.Answer {
	if k := w.Conns[conn].call; k != nil {
		return k.allowed
	}
	return 0
}

// Replied judges the reply to the command that was sent last, and follows it.
func (w *World) Replied(conn int, r fwp.Reply, now time.Time) (model.Answer, *Violation) {
	c := w.Conns[conn]
	k := c.call
	c.call = nil
	a := answerOf(k.Verb, r)
	v := w.judged(c, k, a, r, now)
	if a&k.allowed == 0 {
		w.unsettle(c, k, a, r.Text, now)
	}
	w.moved(c, k, a, r, now)
	switch {
	case k.Verb == fwp.PUSH && k.Fields != nil && !c.Loose:
		w.pushed(c, k, a, now)
	case (k.Verb == fwp.ACK || k.Verb == fwp.FAIL) && !c.Loose:
		w.reported(c, k, a, now)
	case k.Verb == fwp.FLUSH && a == model.Okay:
		for _, j := range w.Jobs {
			j.flush(w.sent)
		}
	case k.Verb == fwp.FLUSH && a == model.Refused:
		for _, j := range w.Jobs {
			if j.Where == model.Enqueued {
				j.missing = "FWP-FLUSH-03"
			}
			j.suspect = "FWP-FLUSH-03"
		}
	}
	return a, v
}

// unsettle stops judging what a command may have changed that was answered as it must
// not be: one fault is told once.
func (w *World) unsettle(c *Conn, k *call, a model.Answer, text []byte, now time.Time) {
	switch verb := strings.ToUpper(strings.TrimSpace(k.Verb)); {
	case (verb == fwp.ACK || verb == fwp.FAIL) && a == model.Refused:
		jid, _ := k.Fields["jid"].(string)
		if j := w.Jobs[jid]; j != nil {
			j.Loose = true
		}
	case verb == fwp.HELLO && a != model.Refused:
		c.Loose, w.strange = true, true
	case verb == fwp.PUSH && a != model.Refused:
		w.strange = true
	case verb == fwp.FLUSH && a != model.Refused:
		for _, j := range w.Jobs {
			j.Loose = true
		}
	case verb == fwp.FETCH && a != model.Refused:
		w.unsettleQueues(c, k, a, text, now)
	}
}

// unsettleQueues stops judging the jobs that a FETCH may have taken; one that came is held
// now.
func (w *World) unsettleQueues(c *Conn, k *call, a model.Answer, text []byte, now time.Time) {
	for _, q := range append(strings.Fields(string(k.Args)), "default") {
		for _, j := range w.queues[q] {
			j.Loose = true
		}
	}
	jid, _ := object(text)["jid"].(string)
	if j := w.Jobs[jid]; j != nil && a == model.Delivered {
		j.taken(c, now)
	}
}

// judged holds a reply against what was allowed.
func (w *World) judged(c *Conn, k *call, a model.Answer, r fwp.Reply, now time.Time) *Violation {
	if a&k.allowed == 0 && !c.shut {
		v := &Violation{Clause: k.clause, Rule: "reply", Should: k.Should, Expected: k.allowed.String(), Got: fmt.Sprintf("%.300s", Text(r))}
		switch {
		case a == model.Foreign && k.allowed&^model.Refused != 0:
			v.Clause, v.Rule = firstOf(model.ClauseOf(model.ForeignReply+k.Verb), k.clause), "foreign"
		case a == model.Refused:
			v.Rule = "refused"
		}
		if k.Verb == fwp.FETCH && k.allowed&model.Delivered != 0 {
			v.Expected = w.deliverable(k, now)
		}
		return v
	}
	switch {
	case c.Loose, c.shut && a != model.Delivered:
	case a == model.Delivered:
		return w.delivered(c, k, r.Text, now)
	case a == model.Nothing:
		return w.empty(k, now)
	case now.Sub(k.at) > time.Second+w.Slack && (k.company || w.waits(c)):
		return &Violation{
			Clause: "FWP-FETCH-06", Rule: "stalled", Doubtful: true, Window: [2]time.Duration{0, time.Second},
			Expected: k.allowed.String(), Got: "a reply after " + now.Sub(k.at).String(),
			What: "while a FETCH of another connection waited, this one was not served",
		}
	}
	return nil
}

// Close takes down that a connection is over; byServer means that the client did
// nothing for it. now counts.
func (w *World) Close(conn int, byServer bool, now time.Time) *Violation {
	c := w.Conns[conn]
	delete(w.Conns, conn)
	k := c.call
	if k != nil && !c.Loose {
		w.lost(c, k, now)
	}
	if !byServer || c.Loose || c.shut || c.State == fwp.Ended {
		return nil
	}
	v := &Violation{Rule: "closed", Expected: "an open connection", Got: "<close>"}
	switch {
	case k != nil && k.allowed&model.Ended != 0:
		return nil
	case k != nil && k.Verb == fwp.END && k.allowed == model.Refused: // it was carried out
		v.Clause, v.Rule, v.Expected = k.clause, "reply", model.Refused.String()
	case k != nil && k.mute(c): // AMB-11
		v.Clause, v.Rule, v.Expected = k.clause, "mute", model.Refused.String()
		v.What = "what must be refused was answered by nothing but the end of the connection"
		if v.Clause == "FWP-AUTH-06" { // that is about what takes effect
			v.Clause = "FWP-STATE-01"
		}
	case c.State == fwp.Identified && c.WID != "" && now.Sub(c.Beat) < model.BeatEvery && !w.Quiet(c): // AMB-23
		v.Clause = "FWP-STATE-13"
	default: // AMB-11, AMB-34, AMB-37
		return nil
	}
	return v
}

// Loosen ends the judging of a connection: what it sent is not to be told into
// commands.
func (w *World) Loosen(conn int) { w.Conns[conn].Loose = true }

// Shut takes down that the client has closed its half of a connection: it may be
// answered or not.
func (w *World) Shut(conn int) { w.Conns[conn].shut = true }

// In lists the jobs of a queue that may be there or on their way, in no order that
// means anything to a server.
func (w *World) In(queue string, now time.Time) []*Job {
	all := w.queues[queue]
	kept := all[:0]
	for _, j := range all {
		j.settle(now, w.Patience)
		if j.Where&^(model.Gone|model.Dead) != 0 {
			kept = append(kept, j)
		}
	}
	w.queues[queue] = kept
	return kept
}

// Held lists the jobs that a worker holds for certain, in the order in which it got
// them.
func (w *World) Held(wid string) []*Job {
	kept := w.working[wid][:0]
	for _, j := range w.working[wid] {
		if j.Where == model.Working && j.Holder == wid && !j.Loose {
			kept = append(kept, j)
		}
	}
	if w.working[wid] = kept; len(kept) == 0 {
		delete(w.working, wid)
	}
	return kept
}

// Restarted takes down that the server was stopped in good order and started again: all
// connections are over, and no job is. (FWP-STATE-08)
func (w *World) Restarted() {
	for _, j := range w.Jobs {
		j.over, j.missing = "FWP-STATE-08", "FWP-STATE-08"
	}
}
