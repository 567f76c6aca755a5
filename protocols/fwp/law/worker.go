package law

import (
	"fmt"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// worker is what is known about a worker id.
type worker struct {
	identity       string // hostname, pid and labels
	isQuiet        bool   // it may know that it should not fetch (AMB-32)
	mayBeUnknown   bool   // the server may have forgotten it, or never have taken its HELLO
	isMixed        bool   // it was accepted with another identity (AMB-10)
	signal         string // the state that an operator has ordered
	isNotified     bool   // an answer has had the order
	hasConfirmed   bool   // the worker has confirmed the order
	isDisconnected bool   // its last connection has ended since the order
	hasReported    bool   // a BEAT had a state of its own
	orders         int    // those of operators, when it has sent a BEAT last

	endOrder     int            // the number of commands when a connection of it ended with END last; zero: none has
	servedOrders map[string]int // the same when it was served last, by verb
}

func identity(f map[string]any) string { return fmt.Sprint(f["hostname"], f["pid"], f["labels"]) }

// allowHello sets what may be answered to a HELLO that is not malformed. (HELLO Command)
func (w *World) allowHello(c *Conn, k *call) {
	k.applyRule(c, model.FindRule(c.State, fwp.HELLO, w.helloCase(k)))
	if w.Protected && c.Hi.Protected {
		w.allowPassword(c, k)
	} else if w.Shared && c.Hi.Protected { // the password is not known
		k.answers |= model.Refused
	}
}

func (w *World) helloCase(k *call) model.Case {
	wid, isWorker := k.Fields["wid"].(string)
	record := w.workers[wid]
	switch {
	case record != nil && (record.isMixed || record.identity != identity(k.Fields)):
		return model.ChangedWorker
	case k.Form != model.Okay:
		return model.Usual
	case !isWorker:
		return model.NoWorker
	case record != nil:
		return model.KnownWorker
	}
	return model.Usual
}

// followHello follows a HELLO that was accepted. Of one that should have been refused it is open whether the server
// knows the worker.
func (w *World) followHello(c *Conn, k *call) {
	if wid := k.text("wid"); k.answers&model.Okay == 0 {
		if wid != "" && w.workers[wid] == nil {
			w.workers[wid] = &worker{identity: identity(k.Fields), isMixed: true, mayBeUnknown: true}
		}
		return
	}
	c.State, c.earlierClause, c.LastBeat = fwp.Identified, "", k.at
	if hash := k.text("pwdhash"); hash != "" {
		w.hashes = append(w.hashes, hash)
	}
	if wid := w.recordWorker(k); wid != "" {
		c.WID = wid
	}
}

// recordWorker records the identity of a worker, and returns its id.
func (w *World) recordWorker(k *call) (wid string) {
	wid = k.text("wid")
	switch record := w.workers[wid]; {
	case wid == "":
	case record == nil:
		w.workers[wid] = &worker{identity: identity(k.Fields)}
	default:
		record.isMixed = record.isMixed || record.identity != identity(k.Fields)
	}
	return wid
}

// beatCase returns the case of a BEAT. (BEAT Command)
func (w *World) beatCase(c *Conn, k *call) model.Case {
	wid := k.text("wid")
	record := w.workers[wid]
	hasState := k.Fields["current_state"] != nil
	if record != nil {
		record.hasReported = record.hasReported || hasState
	}
	switch {
	case c.WID == "" || wid == "" || w.Shared: // FWP-BEAT-05 does not cover them; and operators are not seen
		return model.OtherWorker
	case record == nil:
		return model.UnknownWorker
	case wid != c.WID || c.hasSecondHello || k.Form != model.Okay || record.mayBeUnknown:
		return model.OtherWorker
	case record.signal == "":
		return w.unorderedCase(record)
	case record.hasConfirmed || record.isDisconnected || hasState:
		record.hasConfirmed = true
		return model.Confirmed
	}
	k.IsRecommendation = record.isNotified // AMB-30
	return model.Ordered
}

// unorderedCase returns the case of a BEAT of a worker that no operator has ordered anything. What another one was
// ordered it may not get with its next BEAT; what it gets later, the server has ordered by itself (AMB-39).
func (w *World) unorderedCase(record *worker) model.Case {
	isNext := record.orders < w.orders
	record.orders = w.orders
	switch {
	case record.hasReported:
		return model.Reported
	case isNext && !record.isNotified:
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
			k.answers |= model.Notified | model.Okay
		}
	}
	switch record := w.workers[wid]; {
	case record == nil:
	case record.signal == "terminate":
		record.hasConfirmed = true
	default:
		record.signal, record.isQuiet, record.isNotified = state, true, false
		record.hasConfirmed, record.isDisconnected = false, !w.isConnected(wid)
	}
}

// isConnected reports whether a worker certainly has a connection.
func (w *World) isConnected(wid string) bool {
	return w.anyConn(func(c *Conn) bool { return c.WID == wid && !c.hasSecondHello })
}

// hasLostService reports whether a worker was not served a verb since one of its connections has ended: what is refused
// then is refused because of that. (FWP-HELLO-11)
func (w *World) hasLostService(c *Conn, verb string) bool {
	record := w.workers[c.WID]
	return record != nil && record.endOrder > 0 && record.servedOrders[verb] < record.endOrder
}

// refusalClause returns the clause that a refusal breaks of a command that has to be served. What was done to the job
// of a report is likelier than what the end of a connection did to another one.
func (w *World) refusalClause(c *Conn, k *call) string {
	if c.earlierClause == "" && k.clause != "FWP-END-05" && w.hasLostService(c, k.Verb) {
		return "FWP-HELLO-11"
	}
	return k.clause
}

// followService records that a worker was served a verb, or has ended a connection.
func (w *World) followService(c *Conn, verb string) {
	record := w.workers[c.WID]
	switch {
	case record == nil:
	case verb == fwp.END:
		record.endOrder = w.commands
	case record.servedOrders == nil:
		record.servedOrders = map[string]int{verb: w.commands}
	default:
		record.servedOrders[verb] = w.commands
	}
}

// followDisconnect records that a connection of a worker has ended: a server may forget its state with the last one.
func (w *World) followDisconnect(wid string) {
	if record := w.workers[wid]; record != nil && !w.isConnected(wid) {
		record.isDisconnected = true
	}
}

// judgeState judges the state in a reply to a BEAT: one that an operator has ordered, or that the worker has reported.
func (w *World) judgeState(k *call, r fwp.Reply) *law.Violation {
	state := r.State()
	record := w.workers[k.text("wid")]
	isKnown := state == "quiet" || state == "terminate"
	isOpen := record == nil || record.signal == "" || record.hasConfirmed
	if k.Fields["current_state"] == state || isKnown && (isOpen || record.signal == state) {
		return nil
	}
	v := &law.Violation{Clause: k.ownClause, Rule: "state", Got: Text(r), Detail: "the state is not one that was ordered"}
	v.Expected = `${"state":"quiet"} | ${"state":"terminate"} | +{"state":"quiet"} | +{"state":"terminate"}`
	if record != nil && record.signal != "" {
		v.Expected = fmt.Sprintf(`${"state":%[1]q} | +{"state":%[1]q}`, record.signal)
	}
	return v
}

// followNotice records which workers may know of an order.
func (w *World) followNotice(k *call, a model.Answer) {
	if record := w.workers[k.text("wid")]; record != nil && (k.Fields["current_state"] != nil || a == model.Notified) {
		record.isQuiet, record.isNotified = true, record.isNotified || a == model.Notified
	}
}

// IsQuiet reports whether the worker of a connection may know that it must not fetch.
func (w *World) IsQuiet(c *Conn) bool {
	record := w.workers[c.WID]
	return c.hasSecondHello || c.State > fwp.Identified || record != nil && record.isQuiet
}
