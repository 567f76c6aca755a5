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

// allowReport sets what may be answered to an ACK or FAIL that is not malformed. (ACK Command, FAIL Command)
func (w *World) allowReport(c *Conn, k *call, j *Job, now time.Time) {
	kind := model.NotHeld
	if j != nil {
		if j.advance(now, w.Patience); j.isHeldBy(c) && !c.hasSecondHello {
			kind = model.Usual
		}
	}
	k.applyRule(c, model.FindRule(c.State, k.Verb, kind))
	if k.isEarlierClause { // an earlier command is no likelier reason than something that was done to this job
		k.clause, k.isEarlierClause = k.ownClause, false
	}
	if j != nil && j.wasRestarted {
		k.answers |= model.Refused
	}
	switch {
	case kind == model.NotHeld, k.answers != model.Okay:
	case now.Sub(j.lastDelivery) > 20*time.Second, j.ackClause == "" && j.Reservation() > usualReservation:
		k.clause, k.isEarlierClause = "FWP-WU-05", true
	case j.conn.State == fwp.Ended: // an END leaves it with the worker, who may report it on another connection
		k.clause, k.isEarlierClause = "FWP-END-05", true
	case j.ackClause != "":
		k.clause, k.isEarlierClause = j.ackClause, true
	}
}

// isHeldBy reports whether the client of a connection holds the job for certain.
func (j *Job) isHeldBy(c *Conn) bool { return j.Unjudged == Judged && j.wasDeliveredTo(c) }

// wasDeliveredTo reports whether the job was delivered to the client of a connection last, and nothing has come of it
// since.
func (j *Job) wasDeliveredTo(c *Conn) bool {
	return j.States == model.Working && j.Holder == c.WID && c.WID != ""
}

// followUnknownReport follows an ACK or a FAIL whose effect is not known.
func (j *Job) followUnknownReport(k *call) {
	_, j.deliveryClause = model.Working.After(model.Ack)
	if j.States |= model.Absent; k.Verb == fwp.FAIL {
		j.States |= model.Working.AfterAny(failEvents...)
	}
	j.dueTime, j.isUncertain = time.Time{}, true
}

// followReport follows the answer to an ACK or FAIL. (FWP-ACK-02, FWP-STATE-06)
func (w *World) followReport(c *Conn, k *call, a model.Answer, now time.Time) {
	j := w.Jobs[k.text("jid")]
	if j == nil || c.State == fwp.NotIdentified {
		return
	}
	if a == model.Okay {
		w.keepTexts(k)
	}
	switch {
	case a == model.Refused:
		if k.Verb == fwp.FAIL && k.answers&model.Refused != 0 {
			j.ackClause, j.refusedWhileHeld = "FWP-FAIL-02", true
		}
	case j.States&^(model.Absent|model.Dead) == 0: // there is nothing left of it that could fail
	case a != model.Okay || !j.wasDeliveredTo(c) || k.answers&model.Okay == 0:
		j.followUnknownReport(k)
	case k.Verb == fwp.ACK:
		w.acquitFlush(j.ackClause)
		j.applyEvent(model.Working, model.Ack)
		w.Server.EndJob(j.JID, j.deliveryClause)
		j.pushFields, j.assumedFields, j.failure, j.earlierFailure = nil, nil, nil, nil // a long run has many
	default:
		j.fail(k, now, w.Patience)
	}
}

// acquitFlush records that a job which was held when a FLUSH was refused is held still: that FLUSH has removed none.
func (w *World) acquitFlush(clause string) {
	if !strings.HasPrefix(clause, "FWP-FLUSH-") {
		return
	}
	for _, j := range w.Jobs {
		if j.ackClause == clause {
			j.ackClause = ""
		}
	}
}

// followLoss follows a command that will never be answered.
func (w *World) followLoss(c *Conn, k *call, now time.Time) {
	if k.Verb == fwp.FLUSH {
		unjudge(maps.Values(w.Jobs), PerhapsFlushed)
	}
	if k.added != nil {
		_ = w.followAdded(c, k, 0, nil, now) // nothing came that could be wrong
		return
	}
	if !k.isFollowed(c) {
		w.RecordUnfollowed(k.bytes(), Disallowed, now)
		return
	}
	switch k.Verb {
	case fwp.PUSH:
		w.followPush(c, k, 0, now)
	case fwp.ACK, fwp.FAIL:
		w.followReport(c, k, 0, now)
	}
	w.followFetch(k, now)
	w.abandon(k.queues, now)
}

// abandon allows that a FETCH which will never be answered takes a job, or has taken one. There is none of no queues.
func (w *World) abandon(queues []string, now time.Time) {
	if queues == nil {
		return
	}
	w.abandonedFetches = append(w.abandonedFetches, abandonedFetch{queues, now.Add(2 * model.LongestBlock)})
	for _, j := range w.Jobs {
		if j.queueIndex(queues) >= 0 {
			j.advance(now, w.Patience)
			j.allowDelivery(now, w.Patience)
		}
	}
}

// allowExpired allows that a job is reported in vain whose reservation may have ended before the server read that, or
// which another worker has reported meanwhile.
func (w *World) allowExpired(c *Conn, k *call, now time.Time) {
	j := w.Jobs[k.text("jid")]
	if j == nil || k.Verb != fwp.ACK && k.Verb != fwp.FAIL {
		return
	}
	if j.advance(now, w.Patience); !j.isHeldBy(c) {
		k.answers |= model.Refused
	}
}

// RecordUnfollowed records bytes that were sent or received, and that are not followed: what they have done to the jobs
// that they name is not known, nor which jobs they have taken.
func (w *World) RecordUnfollowed(all []byte, reason Reason, now time.Time) {
	var text strings.Builder // with names without their escapes
	text.Write(all)
	for line := range bytes.Lines(all) {
		l := Line{Command: fwp.SplitCommand(bytes.TrimSpace(line))}
		if w.HasExtensionVerb != nil && w.HasExtensionVerb(strings.ToUpper(l.Verb)) {
			w.forgetQueues()
			w.hasUnknownJobs = true
			unjudge(maps.Values(w.Jobs), PerhapsMoved)
		}
		w.abandon(l.fetchQueues(), now)
		if at := bytes.IndexByte(line, '{'); at >= 0 {
			fmt.Fprint(&text, number.Object(bytes.TrimSpace(line[at:])))
		}
	}
	for _, j := range w.Jobs {
		if strings.Contains(text.String(), j.JID) {
			j.Unjudged = cmp.Or(j.Unjudged, reason)
		}
	}
}

// isFollowed reports whether the effect of a command is followed.
func (k *call) isFollowed(c *Conn) bool {
	return c.Unjudged == Judged && (k.Form != model.Refused || k.Fields != nil)
}

// bytes returns the line of a command.
func (k *call) bytes() []byte { return append([]byte(k.Verb+" "), k.Args...) }
