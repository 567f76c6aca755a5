package law

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
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
	if k.before { // an earlier command is no likelier reason than something that was done to this job
		k.clause, k.before = k.own, false
	}
	if j != nil && j.restarted {
		k.allowed |= model.Refused
	}
	switch {
	case kind == model.NotHeld, k.allowed != model.Okay:
	case now.Sub(j.held) > 20*time.Second, j.ackClause == "" && j.Reservation() > unusual:
		k.clause, k.before = "FWP-WU-05", true
	case j.on.State == fwp.Ended: // an END leaves it with the worker, who may report it on another connection
		k.clause, k.before = "FWP-END-05", true
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
	j := w.Jobs[k.text("jid")]
	if j == nil || c.State == fwp.NotIdentified {
		return
	}
	if a == model.Okay {
		w.said(k)
	}
	switch {
	case a == model.Refused:
		if k.Verb == fwp.FAIL && k.allowed&model.Refused != 0 {
			j.ackClause, j.badly = "FWP-FAIL-02", true
		}
	case j.Where&^(model.Gone|model.Dead) == 0: // there is nothing left of it that could fail
	case a != model.Okay || !j.with(c) || k.allowed&model.Okay == 0:
		j.mayBeReported(k)
	case k.Verb == fwp.ACK:
		w.kept(j.ackClause)
		j.was(model.Working, model.Ack)
		w.Server.Ends(j.JID, j.reason)
		j.sent, j.assumed, j.failure, j.before = nil, nil, nil, nil // a long run has many
	default:
		j.fail(k, now, w.Patience)
	}
}

// kept records that a job which was held when a FLUSH was refused is held still: that FLUSH has removed none.
func (w *World) kept(clause string) {
	if !strings.HasPrefix(clause, "FWP-FLUSH-") {
		return
	}
	for _, j := range w.Jobs {
		if j.ackClause == clause {
			j.ackClause = ""
		}
	}
}

// lost follows a command that will never be answered.
func (w *World) lost(c *Conn, k *call, now time.Time) {
	if k.Verb == fwp.FLUSH {
		unjudge(maps.Values(w.Jobs), PerhapsGone)
	}
	if k.added != nil {
		_ = w.applied(c, k, 0, nil, now) // nothing came that could be wrong
		return
	}
	if !k.follows(c) {
		w.Unfollowed(k.bytes(), Disallowed, now)
		return
	}
	switch k.Verb {
	case fwp.PUSH:
		w.pushed(c, k, 0, now)
	case fwp.ACK, fwp.FAIL:
		w.reported(c, k, 0, now)
	}
	w.overtook(k, now)
	w.abandon(k.queues, now)
}

// abandon allows that a FETCH which will never be answered takes a job, or has taken one. There is none of no queues.
func (w *World) abandon(queues []string, now time.Time) {
	if queues == nil {
		return
	}
	w.abandoned = append(w.abandoned, abandonedFetch{queues, now.Add(2 * model.LongestBlock)})
	for _, j := range w.Jobs {
		if j.place(queues) >= 0 {
			j.advance(now, w.Patience)
			j.mayBeTaken(now, w.Patience)
		}
	}
}

// expired allows that a job is reported in vain whose reservation may have ended before the server read that, or which
// another worker has reported meanwhile.
func (w *World) expired(c *Conn, k *call, now time.Time) {
	j := w.Jobs[k.text("jid")]
	if j == nil || k.Verb != fwp.ACK && k.Verb != fwp.FAIL {
		return
	}
	if j.advance(now, w.Patience); !j.heldBy(c) {
		k.allowed |= model.Refused
	}
}

// Unfollowed records bytes that were sent or received, and that are not followed: what they have done to the jobs that
// they name is not known, nor which jobs they have taken.
func (w *World) Unfollowed(all []byte, why Reason, now time.Time) {
	var text strings.Builder // with names without their escapes
	text.Write(all)
	for line := range bytes.Lines(all) {
		l := Line{Command: fwp.SplitCommand(bytes.TrimSpace(line))}
		if w.Adds != nil && w.Adds(strings.ToUpper(l.Verb)) {
			w.unsure()
			w.unknownJobs = true
			unjudge(maps.Values(w.Jobs), Beyond)
		}
		w.abandon(l.fetches(), now)
		if at := bytes.IndexByte(line, '{'); at >= 0 {
			fmt.Fprint(&text, number.Object(bytes.TrimSpace(line[at:])))
		}
	}
	for _, j := range w.Jobs {
		if strings.Contains(text.String(), j.JID) {
			j.Unjudged = cmp.Or(j.Unjudged, why)
		}
	}
}

// follows reports whether the effect of a command is followed.
func (k *call) follows(c *Conn) bool {
	return c.Unjudged == Judged && (k.Form != model.Refused || k.Fields != nil)
}

// bytes returns the line of a command.
func (k *call) bytes() []byte { return append([]byte(k.Verb+" "), k.Args...) }
