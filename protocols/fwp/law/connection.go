package law

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// Conn is a connection as its client knows it. (Client Lifecycle)
type Conn struct {
	State    fwp.State
	WID      string // of its accepted HELLO, "" for a client that is no worker
	Hi       fwp.Hi
	Opened   time.Time     // zero if that is not known
	Arriving time.Duration // from the first byte of the last reply to its last
	Greeted  bool          // HI was received
	Unjudged Reason        // why what it answers is not judged
	Commands int
	Decided  law.Decided // by the last reply
	Job      string      // that the last reply brought, "" for none
	Beat     time.Time   // when the last BEAT or HELLO was sent that was accepted

	call        *call
	refused     []string  // queues of the last FETCH that was refused
	refusedAt   int       // among all commands
	refusedWhen time.Time // when that was
	earlier     string    // the clause by which a command is served in spite of earlier commands
	shut        bool      // half-closed by the client
	mayEnd      bool      // the server may close it at any time: behind a refusal before HELLO, or a FLUSH (AMB-11)
	informed    bool      // an INFO was served
	helloAgain  bool      // a second HELLO was accepted: which worker it is now is not known (AMB-09)
}

// call is a command whose reply is awaited.
type call struct {
	Line
	at      time.Time
	allowed model.Answer
	own     string   // the clause about the command by itself
	before  bool     // clause is about an earlier command
	clause  string   // the one that a wrong answer breaks, which may be about an earlier command
	queues  []string // that it may take jobs from, "default" by itself; nil for what is no FETCH
	certain []*Job   // that were enqueued, and could go to no other client, when a FETCH was sent
	alone   bool     // no other client was fetching from its queues when it was sent
	order   int      // among all commands
	kind    model.Case
	company bool           // a FETCH of another client was under way when it was sent
	beside  bool           // another command that is about the same was under way: either may have been carried out first
	paused  bool           // a queue that it names may have been paused meanwhile
	added   *addition      // nil for a command of the specification
	stood   bool           // nothing has passed for some time while it was under way
	came    map[string]any // of the JSON object that the reply brought; nil for none
}

// allow returns a command with the answers that it may get on a connection.
func (w *World) allow(c *Conn, l Line, now time.Time) *call {
	k := &call{Line: l, at: now, order: w.sent, company: w.waits(c), allowed: l.Form, own: l.Clause, clause: l.Clause}
	_, known := model.About(l.Verb)
	early := c.State == fwp.NotIdentified
	if k.queues = l.fetches(); k.queues != nil { // a server may take any form of it for a FETCH
		k.alone = !w.rivals(c, k.queues, true)
	}
	switch {
	case w.adds(&l):
		w.add(c, k, now)
	case c.Unjudged != Judged, !known && w.Shared: // an extension
		k.allowed = model.Anything
	case !known, early && l.Clause == "FWP-FRAME-09": // as the grammar says
	case early && l.Verb != fwp.HELLO:
		if k.tooEarly(w.Protected); l.Form == model.Refused {
			k.kind = model.Malformed
		}
	case l.Form == model.Refused:
		if k.kind = model.Malformed; l.Verb == fwp.HELLO && !early { // what a second one means is open (AMB-09)
			k.allowed = model.Either
		}
	case early:
		w.hello(c, k)
	default:
		w.serve(c, k, now)
	}
	return k
}

// tooEarly sets what may be answered to a command before HELLO.
func (k *call) tooEarly(protected bool) {
	kind := model.Usual
	if protected {
		kind = model.Protected
	}
	r := model.For(fwp.NotIdentified, k.Verb, kind)
	k.allowed, k.own, k.clause, k.Should = r.May, r.Clause, r.Clause, false
}

// take sets what may be answered by a rule of the model, and by what the grammar leaves open.
func (k *call) take(c *Conn, r model.Rule) {
	open := k.Form & model.Refused
	k.kind, k.allowed = r.Case, r.May|open
	if open == 0 || r.Case != model.Usual {
		k.own, k.clause = r.Clause, r.Clause
	}
	const served = model.Okay | model.Data | model.Delivered
	if k.allowed&model.Refused == 0 && r.May&served != 0 {
		k.clause, k.before = cmp.Or(c.earlier, k.clause), c.earlier != ""
	}
}

// serve sets what may be answered to a command that is not malformed, of a client that has greeted.
func (w *World) serve(c *Conn, k *call, now time.Time) {
	kind, jid := model.Usual, k.text("jid")
	switch k.Verb {
	case fwp.PUSH:
		if w.used(jid) != nil {
			kind = model.UsedJID
		}
	case fwp.FETCH:
		w.fetch(c, k, now)
		return
	case fwp.ACK, fwp.FAIL:
		w.report(c, k, w.Jobs[jid], now)
		return
	case fwp.BEAT:
		kind = w.beat(c, k)
	}
	k.take(c, model.For(c.State, k.Verb, kind))
	switch {
	case k.Verb != fwp.INFO:
	case !w.informed: // its documented replies have an error: a server need not serve it at all
		k.clause, k.before, k.allowed = k.own, false, k.allowed|model.Refused
	case c.Commands > 100 && c.informed:
		k.clause, k.before = "FWP-LINK-03", true
	}
}

// A server may have no room for a further queue that holds jobs, or for a further job in a queue, if there are as many.
// (AMB-14)
const (
	manyQueues = 16
	manyJobs   = 1000
)

// crowded reports whether a command is a PUSH of one job, or for one queue, more than a server may have room for.
func (w *World) crowded(k *call) bool {
	if k.Verb != fwp.PUSH {
		return false
	}
	live := func(j *Job) bool { return j.Where&^(model.Gone|model.Dead) != 0 }
	held := 0
	for _, j := range w.queues[newJob(k.Fields).Queue] {
		if live(j) {
			held++
		}
	}
	if held > 0 {
		return held >= manyJobs
	}
	filled := 0
	for _, jobs := range w.queues {
		if slices.ContainsFunc(jobs, live) {
			filled++
		}
	}
	return filled >= manyQueues
}

// moved follows what a reply means for the connection.
func (w *World) moved(c *Conn, k *call, a model.Answer, r fwp.Reply, now time.Time) {
	before := c.State
	if a != model.Refused {
		w.attended(c, k.Verb)
	}
	switch {
	case a == model.Refused: // FWP-STATE-12
	case k.Verb == fwp.END && k.Form == model.Refused: // it may have been carried out
		c.Unjudged = Disallowed
	default:
		c.State = c.State.Next(k.Verb, r)
	}
	if k.Form == model.Okay && a&k.allowed&^model.Refused != 0 { // earlier commands have done no harm
		c.earlier = ""
	}
	switch {
	case a != model.Refused:
		w.accepted(c, k, a, before)
	case k.allowed&model.Refused != 0:
		c.earlier, c.mayEnd = "FWP-STATE-12", c.mayEnd || before == fwp.NotIdentified
		if queues := k.fetches(); queues != nil {
			c.refused, c.refusedAt, c.refusedWhen = queues, k.order, now
		}
		for _, q := range k.fetches() { // if a job does not come, it was taken
			for _, j := range w.queues[q] {
				if j.Where == model.Enqueued {
					j.suspect = "FWP-STATE-12"
				}
			}
		}
	}
}

// accepted follows what a command means for the connection that was not refused.
func (w *World) accepted(c *Conn, k *call, a model.Answer, before fwp.State) {
	switch {
	case k.Verb == fwp.BEAT:
		c.Beat = k.at
		w.notified(k, a)
	case k.Verb == fwp.INFO:
		c.informed = a == model.Data
		w.informed = w.informed || c.informed
	case k.Verb == fwp.HELLO && before != fwp.NotIdentified:
		c.earlier = "FWP-HELLO-08"
		if a == model.Okay {
			c.helloAgain = true
			w.introduced(k)
		}
	case a != model.Okay:
	case k.Verb == fwp.HELLO && k.allowed&model.Okay != 0:
		w.identified(c, k)
	case k.Verb == fwp.FLUSH:
		c.earlier = "FWP-FLUSH-04"
		for _, worker := range w.workers {
			worker.flushed = true
		}
		for _, other := range w.Conns {
			other.mayEnd = true
		}
	case k.Verb == fwp.FAIL, k.Verb == fwp.ACK:
		c.earlier = "FWP-STATE-10"
	}
}

// closed judges that the server ended a connection; k is the command that it has not
// answered, nil for none.
func (w *World) closed(c *Conn, k *call, now time.Time) *law.Violation {
	v := &law.Violation{Rule: "closed", Expected: "an open connection", Got: "<close>", Unasked: k == nil}
	switch {
	case w.mayClose(c, k):
		return nil
	case k != nil && k.Verb == fwp.END && k.allowed == model.Refused: // it was carried out
		v.Clause, v.Rule, v.Expected = k.clause, "reply", model.Refused.String()
	case k != nil && k.needsError(c): // AMB-11
		v.Clause, v.Rule, v.Expected = k.clause, "no-error", model.Refused.String()
		v.What = "a command that must be refused was not answered before the end of the connection"
		switch {
		case v.Clause == "FWP-AUTH-06": // that is about what takes effect
			v.Clause = "FWP-STATE-01"
		case strings.HasPrefix(v.Clause, "FWP-AUTH-"): // the HELLO was declined, only not with an error
			v.Clause = "FWP-HELLO-04"
		}
	case c.State == fwp.Identified && c.WID != "" && now.Sub(c.Beat) < model.BeatEvery && !w.Quiet(c): // AMB-23
		v.Clause = "FWP-STATE-13"
	default: // AMB-11, AMB-34, AMB-37
		return nil
	}
	if k != nil {
		v.Place = place(k, v.Got)
	}
	return v
}

// mayClose reports whether the server may end a connection, whatever it was sent: it may have been stopped.
func (w *World) mayClose(c *Conn, k *call) bool {
	return w.Shared || c.mayEnd && c.WID == "" || k != nil && k.allowed&model.Ended != 0
}

// needsError reports whether the server must send an error before it ends the connection.
// It may do so behind an earlier error, however late, and to a client that is slow to send
// HELLO. (AMB-11, AMB-34)
func (k *call) needsError(c *Conn) bool {
	_, known := model.About(k.Verb)
	slow := !c.Opened.IsZero() && k.at.Sub(c.Opened) > time.Second
	early := known && c.State == fwp.NotIdentified && c.Greeted
	return early && k.allowed == model.Refused && !slow
}
