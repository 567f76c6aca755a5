package oracle

import (
	"maps"
	"time"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/fwp"
)

// report sets what may be answered to an ACK or FAIL that is not malformed. (ACK Command, FAIL Command)
func (w *World) report(c *Conn, k *call, j *Job, now time.Time) {
	kind := model.NotHeld
	if j != nil {
		if j.advance(now, w.Patience); j.heldBy(c) && !c.helloAgain {
			kind = model.Usual
		}
	}
	k.take(c, model.For(c.State, k.Verb, kind))
	if j != nil && j.restarted {
		k.allowed |= model.Refused
	}
	switch {
	case kind == model.NotHeld, k.allowed != model.Okay:
	case now.Sub(j.held) > 20*time.Second:
		k.clause, k.before = "FWP-WU-05", true
	case j.ackClause != "":
		k.clause, k.before = j.ackClause, true
	}
}

// heldBy reports whether the client of a connection holds the job for certain.
func (j *Job) heldBy(c *Conn) bool { return j.Unjudged == Judged && j.with(c) }

// with reports whether the job was delivered to the client of a connection last, and nothing has come of it since.
func (j *Job) with(c *Conn) bool {
	return j.Where == model.Working && j.Holder == c.WID && c.WID != ""
}

// mayBeReported follows an ACK or a FAIL whose effect is not known.
func (j *Job) mayBeReported(k *call) {
	_, j.reason = model.Working.After(model.Ack)
	if j.Where |= model.Gone; k.Verb == fwp.FAIL {
		j.Where |= model.Working.AfterAny(anyFailure...)
	}
	j.due, j.uncertain = time.Time{}, true
}

// reported follows the answer to an ACK or FAIL. (FWP-ACK-02, FWP-STATE-06)
func (w *World) reported(c *Conn, k *call, a model.Answer, now time.Time) {
	jid, _ := k.Fields["jid"].(string)
	j := w.Jobs[jid]
	if j == nil || c.State == fwp.NotIdentified {
		return
	}
	if a == model.Okay {
		w.said(k)
	}
	switch {
	case a == model.Refused:
		if k.Verb == fwp.FAIL && k.allowed&model.Refused != 0 {
			j.ackClause = "FWP-FAIL-02"
		}
	case j.Where == model.Gone && j.flushed > 0: // there is nothing left of it that could fail
	case a != model.Okay || !j.with(c) || k.allowed&model.Okay == 0:
		j.mayBeReported(k)
	case k.Verb == fwp.ACK:
		j.was(model.Working, model.Ack)
		j.sent, j.assumed, j.failure, j.before = nil, nil, nil, nil // a long run has many
	default:
		j.fail(k, now, w.Patience)
	}
}

// lost follows a command that will never be answered.
func (w *World) lost(c *Conn, k *call, now time.Time) {
	switch k.Verb {
	case fwp.PUSH:
		if k.Fields != nil {
			w.pushed(c, k, 0, now)
		}
	case fwp.ACK, fwp.FAIL:
		w.reported(c, k, 0, now)
	case fwp.FETCH:
		w.overtook(k, now)
		w.abandoned = append(w.abandoned, abandonedFetch{k.queues, now.Add(2 * model.LongestBlock)})
		for _, j := range w.Jobs {
			if j.place(k.queues) >= 0 {
				j.advance(now, w.Patience)
				j.mayBeTaken(now, w.Patience)
			}
		}
	case fwp.FLUSH:
		unjudge(maps.Values(w.Jobs), PerhapsGone)
	}
}
