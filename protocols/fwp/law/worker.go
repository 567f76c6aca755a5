package law

import (
	"fmt"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// worker is what is known about a worker id.
type worker struct {
	identity string // hostname, pid and labels
	quiet    bool   // it may know that it should not fetch (AMB-32)
	flushed  bool   // the server may have forgotten it
	mixed    bool   // it was accepted with another identity (AMB-10)
	signal   string // the state that an operator has ordered
	notified bool   // an answer has had the order
	knows    bool   // the worker has confirmed the order
	gone     bool   // its last connection has ended since the order
	reported bool   // a BEAT had a state of its own
	orders   int    // those of operators, when it has sent a BEAT last

	ended  int            // the number of commands when a connection of it ended with END last; zero: none has
	served map[string]int // the same when it was served last, by verb
}

func identity(f map[string]any) string { return fmt.Sprint(f["hostname"], f["pid"], f["labels"]) }

// hello sets what may be answered to a HELLO that is not malformed. (HELLO Command)
func (w *World) hello(c *Conn, k *call) {
	k.take(c, model.For(c.State, fwp.HELLO, w.greeting(k)))
	if w.Protected && c.Hi.Protected {
		w.password(c, k)
	} else if w.Shared && c.Hi.Protected { // the password is not known
		k.allowed |= model.Refused
	}
}

func (w *World) greeting(k *call) model.Case {
	wid, worker := k.Fields["wid"].(string)
	known := w.workers[wid]
	switch {
	case known != nil && (known.mixed || known.identity != identity(k.Fields)):
		return model.ChangedWorker
	case k.Form != model.Okay:
		return model.Usual
	case !worker:
		return model.NoWorker
	case known != nil:
		return model.KnownWorker
	}
	return model.Usual
}

// identified follows a HELLO that was accepted.
func (w *World) identified(c *Conn, k *call) {
	c.State, c.earlier, c.Beat = fwp.Identified, "", k.at
	if hash := k.text("pwdhash"); hash != "" {
		w.hashes = append(w.hashes, hash)
	}
	if wid := w.introduced(k); wid != "" {
		c.WID = wid
	}
}

// introduced records the identity of a worker, and returns its id.
func (w *World) introduced(k *call) (wid string) {
	wid = k.text("wid")
	switch known := w.workers[wid]; {
	case wid == "":
	case known == nil:
		w.workers[wid] = &worker{identity: identity(k.Fields)}
	default:
		known.mixed = known.mixed || known.identity != identity(k.Fields)
	}
	return wid
}

// beat returns the case of a BEAT. (BEAT Command)
func (w *World) beat(c *Conn, k *call) model.Case {
	wid := k.text("wid")
	is := w.workers[wid]
	own := k.Fields["current_state"] != nil
	if is != nil {
		is.reported = is.reported || own
	}
	switch {
	case c.WID == "" || wid == "" || w.Shared: // FWP-BEAT-05 does not cover them; and operators are not seen
		return model.OtherWorker
	case is == nil:
		return model.UnknownWorker
	case wid != c.WID || c.helloAgain || k.Form != model.Okay || is.flushed:
		return model.OtherWorker
	case is.signal == "":
		return w.unsignalled(is)
	case is.knows || is.gone || own:
		is.knows = true
		return model.Confirmed
	}
	k.Should = is.notified // AMB-30
	return model.Ordered
}

// unsignalled returns the case of a BEAT of a worker that no operator has ordered anything. What another one was
// ordered it may not get with its next BEAT; what it gets later, the server has ordered by itself (AMB-39).
func (w *World) unsignalled(is *worker) model.Case {
	next := is.orders < w.orders
	is.orders = w.orders
	switch {
	case is.reported:
		return model.Reported
	case next && !is.notified:
		return model.OtherOrdered
	}
	return model.Usual
}

// Signal records that an operator orders a worker to be quiet or to terminate. A worker
// that must terminate already may be told either.
func (w *World) Signal(wid, state string) {
	w.orders++
	for _, c := range w.Conns {
		if k := c.call; k != nil && k.Verb == fwp.BEAT && k.Fields["wid"] == wid { // it may be answered before or after that
			k.allowed |= model.Notified | model.Okay
		}
	}
	switch is := w.workers[wid]; {
	case is == nil:
	case is.signal == "terminate":
		is.knows = true
	default:
		is.signal, is.quiet, is.notified = state, true, false
		is.knows, is.gone = false, !w.connected(wid)
	}
}

// connected reports whether a worker certainly has a connection.
func (w *World) connected(wid string) bool {
	return w.some(func(c *Conn) bool { return c.WID == wid && !c.helloAgain })
}

// deserted reports whether a worker was not served a verb since one of its connections has ended: what is refused then
// is refused because of that. (FWP-HELLO-11)
func (w *World) deserted(c *Conn, verb string) bool {
	is := w.workers[c.WID]
	return is != nil && is.ended > 0 && is.served[verb] < is.ended
}

// refusing returns the clause that a refusal breaks of a command that has to be served. What was done to the job of a
// report is likelier than what the end of a connection did to another one.
func (w *World) refusing(c *Conn, k *call) string {
	if c.earlier == "" && k.clause != "FWP-END-05" && w.deserted(c, k.Verb) {
		return "FWP-HELLO-11"
	}
	return k.clause
}

// attended records that a worker was served a verb, or has ended a connection.
func (w *World) attended(c *Conn, verb string) {
	is := w.workers[c.WID]
	switch {
	case is == nil:
	case verb == fwp.END:
		is.ended = w.sent
	case is.served == nil:
		is.served = map[string]int{verb: w.sent}
	default:
		is.served[verb] = w.sent
	}
}

// left records that a connection of a worker has ended: a server may forget its state with the last one.
func (w *World) left(wid string) {
	if is := w.workers[wid]; is != nil && !w.connected(wid) {
		is.gone = true
	}
}

// stated judges the state in a reply to a BEAT: one that an operator has ordered, or that the worker has reported.
func (w *World) stated(k *call, r fwp.Reply) *law.Violation {
	state := r.State()
	is := w.workers[k.text("wid")]
	known := state == "quiet" || state == "terminate"
	open := is == nil || is.signal == "" || is.knows
	if k.Fields["current_state"] == state || known && (open || is.signal == state) {
		return nil
	}
	v := &law.Violation{Clause: k.own, Rule: "state", Got: Text(r), What: "the state is not one that was ordered"}
	v.Expected = `${"state":"quiet"} | ${"state":"terminate"} | +{"state":"quiet"} | +{"state":"terminate"}`
	if is != nil && is.signal != "" {
		v.Expected = fmt.Sprintf(`${"state":%[1]q} | +{"state":%[1]q}`, is.signal)
	}
	return v
}

// notified records which workers may know of an order.
func (w *World) notified(k *call, a model.Answer) {
	if is := w.workers[k.text("wid")]; is != nil && (k.Fields["current_state"] != nil || a == model.Notified) {
		is.quiet, is.notified = true, is.notified || a == model.Notified
	}
}

// Quiet reports whether the worker of a connection may know that it must not fetch.
func (w *World) Quiet(c *Conn) bool {
	is := w.workers[c.WID]
	return c.helloAgain || c.State > fwp.Identified || is != nil && is.quiet
}
