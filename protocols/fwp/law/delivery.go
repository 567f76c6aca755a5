package law

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// expectedDelivery returns what a FETCH may bring now, as an S: line expects it.
func (w *World) expectedDelivery(k *call, now time.Time) string {
	var all []string
	isCertain := false
	queues := slices.Concat(w.phraseQueues(k.queues), k.queues)
	for i, q := range queues {
		if slices.Contains(queues[:i], q) {
			continue
		}
		hasCertain := false
		for _, j := range w.JobsIn(q, now) {
			if j.States&model.Enqueued != 0 {
				all = append(all, fmt.Sprintf("${%q:%q}", "jid", j.JID))
			}
			hasCertain = hasCertain || j.isCertain() && w.pausedQueues[q] == 0
		}
		isCertain = isCertain || hasCertain
		if hasCertain && slices.Contains(k.queues, q) { // what is behind it has to wait
			break
		}
	}
	if len(all) > 8 {
		return "$"
	}
	if !isCertain {
		all = append(all, "$-1")
	}
	return strings.Join(all, " | ")
}

// judgeDelivery judges a job that a FETCH brought.
func (w *World) judgeDelivery(c *Conn, k *call, now time.Time) *law.Violation {
	f := k.object
	j := w.Jobs[k.deliveredJID()]
	if j == nil {
		return w.judgeUnknown(k, f, now)
	}
	j.advance(now, w.Patience)
	if k.order <= j.flushOrder { // it may have come before the FLUSH that was answered first
		j.Unjudged = PerhapsFlushed
	}
	queue, _ := f["queue"].(string)
	v := w.judgePlace(c, k, j, queue, now)
	w.followSurvival(j, now)
	w.acquit(j)
	if v == nil {
		v = w.judgePaused(k, j)
	}
	if v == nil {
		v = w.judgeTime(c, k, j, now)
	}
	if v == nil && (j.Unjudged == Judged || j.Unjudged == PerhapsTaken) && j.pushFields != nil {
		v = w.judgeFields(j, f, now)
	}
	j.enqueuedAt, _ = f["enqueued_at"].(string)
	if j.deliver(c, k, now); c.WID != "" && !w.Shared {
		w.workerJobs[c.WID] = append(w.workerJobs[c.WID], j)
	}
	return v
}

// judgeUnknown judges a job that no client of the play has pushed.
func (w *World) judgeUnknown(k *call, f map[string]any, now time.Time) *law.Violation {
	jid, _ := f["jid"].(string)
	queue, _ := f["queue"].(string)
	v := &law.Violation{JID: jid, Expected: w.expectedDelivery(k, now)}
	switch j, isKnown := w.Server.Job(jid); {
	case isKnown && j.Queue != "" && !slices.Contains(k.queues, j.Queue):
		v.Clause, v.Rule = k.wrongQueue(queue)
		v.Got = "a job that another check has pushed to another queue"
	case isKnown && j.Clause != "":
		v.Clause, v.Rule, v.Got = j.Clause, "delivered", "a job of another check, which had ended"
	case isKnown, w.hasUnknownJobs, w.Shared, slices.Contains(k.queues, "default"): // there may be jobs of other clients
		return nil
	default:
		v.Clause, v.Rule, v.Got = "FWP-FETCH-01", "unknown", "a job that no client pushed"
	}
	return v
}

// wrongQueue returns the clause and the rule that are broken if a job of a queue comes that the FETCH does not name, by
// the queue that it shows: one that is named is not the queue of its PUSH.
func (k *call) wrongQueue(queue string) (clause, rule string) {
	switch {
	case slices.Contains(k.queues, queue):
		return "FWP-WU-04", "field"
	case k.Args == nil:
		return "FWP-FETCH-08", "queue"
	}
	return "FWP-FETCH-04", "queue"
}

// judgePlace judges whether the job may be delivered at all, and here. It shows a queue.
func (w *World) judgePlace(c *Conn, k *call, j *Job, queue string, now time.Time) *law.Violation {
	v := &law.Violation{JID: j.JID}
	index := j.queueIndex(k.queues)
	switch {
	case k.judgeName(v, j):
	case j.Unjudged == Tolerated && index < 0 && len(j.words) == 1: // whatever else is odd about it
		w.setQueueClause(v, c, k, j, queue)
	case j.Unjudged != Judged:
		return nil
	case index < 0:
		w.setQueueClause(v, c, k, j, queue)
	case j.States&model.Enqueued == 0:
		v.Clause, v.Rule, v.Detail = j.deliveryClause, "delivered", "the job must not be delivered now"
		if j.States == model.Working {
			j.setReservationClause(v, now)
		}
		if j.refusedWhileHeld { // it may have ended the work on the job all the same
			v.CommandClause, v.Clause = v.Clause, "FWP-FAIL-02"
		}
	case j.hasJustFailed(now) && !j.isRequeued:
		v.Clause, v.Rule, v.Detail, v.Expected = "FWP-STATE-06", "delivered", "the job has just failed", "$-1"
	default:
		if v = k.judgeOrder(v, j, index); v == nil {
			return nil
		}
	}
	v.Expected, v.Got = cmp.Or(v.Expected, w.expectedDelivery(k, now)), fmt.Sprintf("${%q:%q}", "jid", j.JID)
	return v
}

// setReservationClause sets the clause of a job that was delivered although it was held: after many seconds, or for an
// unusual time, its reserve_for was misread.
func (j *Job) setReservationClause(v *law.Violation, now time.Time) {
	switch n, ok := integer(j.pushFields["reserve_for"]); {
	case now.Sub(j.lastDelivery) > 15*time.Second && ok && n < 60:
		v.Clause = "FWP-WU-05b"
	case now.Sub(j.lastDelivery) > 15*time.Second:
		v.Clause = "FWP-WU-05"
	case j.Reservation() > usualReservation:
		v.CommandClause, v.Clause = v.Clause, "FWP-WU-05"
	}
}

// judgeName judges whether a job that must not come stands for one that must, whose jid differs from its own in case or
// in blanks around it only.
func (k *call) judgeName(v *law.Violation, j *Job) bool {
	if j.queueIndex(k.queues) >= 0 && j.States&model.Enqueued != 0 {
		return false
	}
	i := slices.IndexFunc(k.certainJobs, func(o *Job) bool {
		return o != j && o.isCertain() && strings.EqualFold(strings.TrimSpace(o.JID), strings.TrimSpace(j.JID))
	})
	if i >= 0 {
		v.Clause, v.Rule, v.Detail = "FWP-FETCH-01", "unknown", "a job whose jid is like it must come"
		k.certainJobs[i].Unjudged = Reported
	}
	return i >= 0
}

// setQueueClause is about a job of a queue that the FETCH does not name.
func (w *World) setQueueClause(v *law.Violation, c *Conn, k *call, j *Job, queue string) {
	v.Clause, v.Rule = k.wrongQueue(queue)
	v.Detail = "the job belongs to a queue that was not asked for"
	switch {
	case w.hasRivals(c, j.words, false):
		v.Clause, v.Rule = "FWP-RESP-06", "swapped"
		v.Detail = "the job belongs to a queue for which another connection asked"
	case v.Clause == "FWP-WU-04":
		v.Detail = "the job was pushed to the queue " + j.Queue
	case v.Clause == "FWP-FETCH-08":
		v.Detail = "the job belongs to another queue than default"
	}
}

// judgeOrder judges whether a job was passed over that should have come first: now, or by an earlier FETCH. Whether a
// job was passed over shows when it comes; if it never does, it was lost, and that is for the FETCH that should bring
// it.
func (k *call) judgeOrder(v *law.Violation, j *Job, index int) *law.Violation {
	for _, o := range k.certainJobs {
		o.isPassedOver = o.isPassedOver || o.isCertain() && o.queueIndex(k.queues[:index]) >= 0
	}
	if !j.isPassedOver {
		return nil
	}
	j.isPassedOver = false
	v.Clause, v.Rule, v.Doubtful, v.Expected = "FWP-FETCH-04", "order", true, "this job at an earlier FETCH"
	v.Detail = "its queue was named before that of the job that came then"
	return v
}

// judgeTime judges when a job came. (FWP-STATE-04, FWP-FETCH-06)
func (w *World) judgeTime(c *Conn, k *call, j *Job, now time.Time) *law.Violation {
	limit := model.Instant + w.Slack + w.maxCommandTime
	v := &law.Violation{Rule: "late", Doubtful: true, JID: j.JID, Window: [2]time.Duration{0, limit}}
	switch {
	case k.mayBePaused || k.wasHalted || j.Unjudged != Judged || k.answers&model.Refused != 0:
		return nil
	case slices.Contains(k.certainJobs, j) && now.Sub(k.at)-c.ArrivalTime > limit:
		v.Clause, v.Detail = "FWP-STATE-04", "the job was there when the FETCH was sent"
		if k.hasOtherFetch || w.hasOtherFetch(c) {
			v.Clause, v.Detail = "FWP-FETCH-06", "while a FETCH of another connection waited, this one was not served"
		}
	case k.isAlone && !j.isDeadline && j.enqueuedSince.After(k.at) && j.States == model.Enqueued &&
		j.Queue == k.queues[0] &&
		now.Sub(j.enqueuedSince)-c.ArrivalTime > limit:
		v.Clause, v.Detail = "FWP-FETCH-06", "the job was enqueued while the FETCH waited"
	default:
		return nil
	}
	v.Got, v.Expected = "a job after "+now.Sub(k.at).String(), w.expectedDelivery(k, now)
	return v
}
