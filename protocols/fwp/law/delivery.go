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

// deliverable returns what a FETCH may bring now, as an S: line expects it.
func (w *World) deliverable(k *call, now time.Time) string {
	var all []string
	certain := false
	queues := slices.Concat(w.phrased(k.queues), k.queues)
	for i, q := range queues {
		if slices.Contains(queues[:i], q) {
			continue
		}
		here := false
		for _, j := range w.In(q, now) {
			if j.Where&model.Enqueued != 0 {
				all = append(all, fmt.Sprintf("${%q:%q}", "jid", j.JID))
			}
			here = here || j.certain() && w.paused[q] == 0
		}
		certain = certain || here
		if here && slices.Contains(k.queues, q) { // what is behind it has to wait
			break
		}
	}
	if len(all) > 8 {
		return "$"
	}
	if !certain {
		all = append(all, "$-1")
	}
	return strings.Join(all, " | ")
}

// delivered judges a job that a FETCH brought.
func (w *World) delivered(c *Conn, k *call, now time.Time) *law.Violation {
	f := k.came
	j := w.Jobs[k.brought()]
	if j == nil {
		return w.stranger(k, f, now)
	}
	j.advance(now, w.Patience)
	if k.order <= j.flushed { // it may have come before the FLUSH that was answered first
		j.Unjudged = PerhapsGone
	}
	queue, _ := f["queue"].(string)
	v := w.misplaced(c, k, j, queue, now)
	w.survived(j, now)
	w.acquit(j)
	if v == nil {
		v = w.fromPaused(k, j)
	}
	if v == nil {
		v = w.untimely(c, k, j, now)
	}
	if v == nil && (j.Unjudged == Judged || j.Unjudged == Unseen) && j.sent != nil {
		v = w.differs(j, f, now)
	}
	j.enqueued, _ = f["enqueued_at"].(string)
	if j.taken(c, k, now); c.WID != "" && !w.Shared {
		w.working[c.WID] = append(w.working[c.WID], j)
	}
	return v
}

// stranger judges a job that no client of the play has pushed.
func (w *World) stranger(k *call, f map[string]any, now time.Time) *law.Violation {
	jid, _ := f["jid"].(string)
	queue, _ := f["queue"].(string)
	v := &law.Violation{JID: jid, Expected: w.deliverable(k, now)}
	switch j, known := w.Server.Job(jid); {
	case known && j.Queue != "" && !slices.Contains(k.queues, j.Queue):
		v.Clause, v.Rule = k.wrongQueue(queue)
		v.Got = "a job that another check has pushed to another queue"
	case known && j.Clause != "":
		v.Clause, v.Rule, v.Got = j.Clause, "delivered", "a job of another check, which had ended"
	case known, w.unknownJobs, w.Shared, slices.Contains(k.queues, "default"): // there may be jobs of other clients
		return nil
	default:
		v.Clause, v.Rule, v.Got = "FWP-FETCH-01", "unknown", "a job that no client pushed"
	}
	return v
}

// wrongQueue returns the clause and the rule that are broken if a job of a queue comes that the FETCH does not name, by
// the queue that it shows: one that is named is not the queue of its PUSH.
func (k *call) wrongQueue(shown string) (clause, rule string) {
	switch {
	case slices.Contains(k.queues, shown):
		return "FWP-WU-04", "field"
	case k.Args == nil:
		return "FWP-FETCH-08", "queue"
	}
	return "FWP-FETCH-04", "queue"
}

// misplaced judges whether the job may be delivered at all, and here. It shows a queue.
func (w *World) misplaced(c *Conn, k *call, j *Job, queue string, now time.Time) *law.Violation {
	v := &law.Violation{JID: j.JID}
	index := j.place(k.queues)
	switch {
	case k.misnamed(v, j):
	case j.Unjudged == Tolerated && index < 0 && len(j.words) == 1: // whatever else is odd about it
		w.elsewhere(v, c, k, j, queue)
	case j.Unjudged != Judged:
		return nil
	case index < 0:
		w.elsewhere(v, c, k, j, queue)
	case j.Where&model.Enqueued == 0:
		v.Clause, v.Rule, v.What = j.reason, "delivered", "the job must not be delivered now"
		if j.Where == model.Working {
			j.reservationEnds(v, now)
		}
		if j.badly { // it may have ended the work on the job all the same
			v.Own, v.Clause = v.Clause, "FWP-FAIL-02"
		}
	case j.justFailed(now) && !j.requeued:
		v.Clause, v.Rule, v.What, v.Expected = "FWP-STATE-06", "delivered", "the job has just failed", "$-1"
	default:
		if v = k.passed(v, j, index); v == nil {
			return nil
		}
	}
	v.Expected, v.Got = cmp.Or(v.Expected, w.deliverable(k, now)), fmt.Sprintf("${%q:%q}", "jid", j.JID)
	return v
}

// reservationEnds sets the clause of a job that was delivered although it was held: after many seconds, or for an
// unusual time, its reserve_for was misread.
func (j *Job) reservationEnds(v *law.Violation, now time.Time) {
	switch n, is := integer(j.sent["reserve_for"]); {
	case now.Sub(j.held) > 15*time.Second && is && n < 60:
		v.Clause = "FWP-WU-05b"
	case now.Sub(j.held) > 15*time.Second:
		v.Clause = "FWP-WU-05"
	case j.Reservation() > unusual:
		v.Own, v.Clause = v.Clause, "FWP-WU-05"
	}
}

// misnamed judges whether a job that must not come stands for one that must, whose jid differs from its own in case or
// in blanks around it only.
func (k *call) misnamed(v *law.Violation, j *Job) bool {
	if j.place(k.queues) >= 0 && j.Where&model.Enqueued != 0 {
		return false
	}
	i := slices.IndexFunc(k.certain, func(o *Job) bool {
		return o != j && o.certain() && strings.EqualFold(strings.TrimSpace(o.JID), strings.TrimSpace(j.JID))
	})
	if i >= 0 {
		v.Clause, v.Rule, v.What = "FWP-FETCH-01", "unknown", "a job whose jid is like it must come"
		k.certain[i].Unjudged = Reported
	}
	return i >= 0
}

// elsewhere is about a job of a queue that the FETCH does not name.
func (w *World) elsewhere(v *law.Violation, c *Conn, k *call, j *Job, shown string) {
	v.Clause, v.Rule = k.wrongQueue(shown)
	v.What = "the job belongs to a queue that was not asked for"
	switch {
	case w.rivals(c, j.words, false):
		v.Clause, v.Rule = "FWP-RESP-06", "swapped"
		v.What = "the job belongs to a queue for which another connection asked"
	case v.Clause == "FWP-WU-04":
		v.What = "the job was pushed to the queue " + j.Queue
	case v.Clause == "FWP-FETCH-08":
		v.What = "the job belongs to another queue than default"
	}
}

// passed judges whether a job was passed over that should have come first: now, or by an earlier FETCH. Whether a job
// was passed over shows when it comes; if it never does, it was lost, and that is for the FETCH that should bring it.
func (k *call) passed(v *law.Violation, j *Job, index int) *law.Violation {
	for _, o := range k.certain {
		o.passed = o.passed || o.certain() && o.place(k.queues[:index]) >= 0
	}
	if !j.passed {
		return nil
	}
	j.passed = false
	v.Clause, v.Rule, v.Doubtful, v.Expected = "FWP-FETCH-04", "order", true, "this job at an earlier FETCH"
	v.What = "its queue was named before that of the job that came then"
	return v
}

// untimely judges when a job came. (FWP-STATE-04, FWP-FETCH-06)
func (w *World) untimely(c *Conn, k *call, j *Job, now time.Time) *law.Violation {
	limit := model.Instant + w.Slack + w.pace
	v := &law.Violation{Rule: "late", Doubtful: true, JID: j.JID, Window: [2]time.Duration{0, limit}}
	switch {
	case k.paused || k.stood || j.Unjudged != Judged || k.allowed&model.Refused != 0:
		return nil
	case slices.Contains(k.certain, j) && now.Sub(k.at)-c.Arriving > limit:
		v.Clause, v.What = "FWP-STATE-04", "the job was there when the FETCH was sent"
		if k.company || w.waits(c) {
			v.Clause, v.What = "FWP-FETCH-06", "while a FETCH of another connection waited, this one was not served"
		}
	case k.alone && !j.latest && j.since.After(k.at) && j.Where == model.Enqueued && j.Queue == k.queues[0] &&
		now.Sub(j.since)-c.Arriving > limit:
		v.Clause, v.What = "FWP-FETCH-06", "the job was enqueued while the FETCH waited"
	default:
		return nil
	}
	v.Got, v.Expected = "a job after "+now.Sub(k.at).String(), w.deliverable(k, now)
	return v
}
