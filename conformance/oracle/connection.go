package oracle

import (
	"time"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/fwp"
)

// Conn is a connection as its client knows it. (Client Lifecycle)
type Conn struct {
	State    fwp.State
	WID      string // of its accepted HELLO, "" for a client that is no worker
	Hi       fwp.Hi
	Opened   time.Time // when it began, zero if nobody has said so
	Greeted  bool      // HI came
	Loose    bool      // what it answers is not judged any more (AMB-06)
	Commands int
	Beat     time.Time // of the last BEAT or HELLO that was accepted

	call  *call
	blame string // the clause that tells why a legal command should still be served
	shut  bool   // half-closed by the client
	again bool   // a second HELLO was accepted: who knows which worker it is now (AMB-09)
}

// call is a command whose reply is awaited.
type call struct {
	Line
	at      time.Time
	allowed model.Answer
	own     string // the clause that rules the command by itself
	clause  string // the one that a wrong answer breaks, which may be about what came before
	queues  []string
	certain []*Job // that were there, and nobody else may have, when a FETCH was sent
	alone   bool   // nobody else was fetching when it was sent
	order   int    // among all commands
	company bool   // a FETCH of somebody else was under way when it was sent
}

// allow says how a command may be answered on a connection.
func (w *World) allow(c *Conn, l Line, now time.Time) *call {
	k := &call{Line: l, at: now, order: w.sent, company: w.waits(c), allowed: l.Form, own: l.Clause, clause: l.Clause}
	_, known := model.About(l.Verb)
	early := c.State == fwp.NotIdentified
	switch {
	case c.Loose:
		k.allowed = model.Anything
	case !known, early && l.Clause == "FWP-FRAME-09": // as the grammar says
	case early && l.Verb != fwp.HELLO:
		k.tooEarly(w.Protected)
	case l.Form == model.Refused:
	case early:
		w.hello(c, k)
	default:
		w.serve(c, k, now)
	}
	return k
}

// tooEarly rules a command that comes before HELLO.
func (k *call) tooEarly(protected bool) {
	kind := model.Usual
	if protected {
		kind = model.Protected
	}
	r := model.For(fwp.NotIdentified, k.Verb, kind)
	k.allowed, k.own, k.clause, k.Should = r.May, r.Clause, r.Clause, false
}

// take rules a command: by the model, and by what the grammar leaves open.
func (k *call) take(c *Conn, r model.Rule) {
	open := k.Form & model.Refused
	k.allowed = r.May | open
	if open == 0 || r.Case != model.Usual {
		k.own, k.clause = r.Clause, r.Clause
	}
	const served = model.Okay | model.Data | model.Delivered
	if k.allowed&model.Refused == 0 && r.May&served != 0 {
		k.clause = firstOf(c.blame, k.clause)
	}
}

// serve rules a command that is not malformed, of a client that has greeted.
func (w *World) serve(c *Conn, k *call, now time.Time) {
	jid, _ := k.Fields["jid"].(string)
	job := w.Jobs[jid]
	kind := model.Usual
	switch k.Verb {
	case fwp.PUSH:
		if job != nil {
			kind = model.UsedJID
		}
	case fwp.FETCH:
		w.fetch(c, k, now)
		return
	case fwp.ACK, fwp.FAIL:
		w.report(c, k, job, now)
		return
	case fwp.BEAT:
		kind = w.beat(c, k)
	}
	k.take(c, model.For(c.State, k.Verb, kind))
	if k.Verb == fwp.INFO && c.Commands > 100 {
		k.clause = "FWP-LINK-03"
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// moved follows what a reply means for the connection.
func (w *World) moved(c *Conn, k *call, a model.Answer, r fwp.Reply, now time.Time) {
	before := c.State
	switch {
	case a == model.Refused: // FWP-STATE-12
	case k.Verb == fwp.END && k.Form == model.Refused: // who knows whether it was carried out
		c.Loose = true
	default:
		c.State = c.State.Next(k.Verb, r)
	}
	if k.Form == model.Okay && a&k.allowed&^model.Refused != 0 { // what came before has done no harm
		c.blame = ""
	}
	switch {
	case a == model.Refused && k.allowed&model.Refused != 0:
		c.blame = "FWP-STATE-12"
	case k.Verb == fwp.HELLO && before != fwp.NotIdentified:
		c.blame = "FWP-HELLO-08"
		if a == model.Okay {
			c.again = true
			w.introduced(k)
		}
	case k.Verb == fwp.HELLO && a == model.Okay && k.allowed&model.Okay != 0:
		w.identified(c, k, now)
	case k.Verb == fwp.FLUSH && a == model.Okay:
		c.blame = "FWP-FLUSH-04"
		for _, is := range w.workers {
			is.flushed = true
		}
	case a == model.Okay && (k.Verb == fwp.FAIL || k.Verb == fwp.ACK):
		c.blame = "FWP-STATE-10"
	case k.Verb == fwp.BEAT && a != model.Refused:
		c.Beat = now
		w.signalled(k, a)
	}
}

// mute tells whether the end of the connection came in the place of an error. A client
// that takes its time before HELLO may be closed for that. (AMB-11, AMB-34)
func (k *call) mute(c *Conn) bool {
	_, known := model.About(k.Verb)
	slow := !c.Opened.IsZero() && k.at.Sub(c.Opened) > time.Second
	return known && c.State == fwp.NotIdentified && c.Greeted && k.allowed == model.Refused && !slow
}
