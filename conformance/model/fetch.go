package model

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

const (
	longest  = 2 * time.Second         // that a FETCH blocks (FWP-FETCH-05)
	shortest = 1500 * time.Millisecond // AMB-29
)

var plainName = regexp.MustCompile(`^[a-z0-9-]+$`)

// fetch says what a FETCH may bring. (FETCH Command)
func (w *World) fetch(c *Conn, k *call, now time.Time) {
	k.queues = strings.Fields(string(k.Command.Args))
	if k.Command.Args == nil {
		k.queues = []string{"default"}
	}
	k.alone = !w.rivals(c, k.queues, true)
	judged := k.allowed == Okay && c.WID != "" && !w.Quiet(c)
	k.allowed = Delivered | Nothing
	if k.clause = firstOf(c.blame, "FWP-FETCH-03"); !judged { // AMB-20, AMB-32
		k.allowed |= Refused
	}
	if k.Command.Args == nil {
		k.clause = "FWP-FETCH-08"
	}
	if !judged || !k.alone {
		return
	}
	for _, q := range k.queues {
		for _, j := range w.In(q, now) {
			if j.Where == Enqueued && !j.Loose {
				k.certain = append(k.certain, j)
			}
		}
	}
	if len(k.certain) > 0 && c.blame == "" && k.Command.Args != nil {
		k.clause = "FWP-FETCH-01"
	}
}

// Quiet tells whether the worker of a connection may have been told to fetch no more.
func (w *World) Quiet(c *Conn) bool {
	is := w.workers[c.WID]
	return c.again || c.State > fwp.Identified || is != nil && is.quiet
}

// rivals tells whether other connections wait for jobs of one of the queues; told
// means that they have to reckon with this one too.
func (w *World) rivals(c *Conn, queues []string, told bool) bool {
	found := false
	for _, other := range w.Conns {
		if other == c || other.call == nil || other.call.Command.Verb != fwp.FETCH {
			continue
		}
		if slices.ContainsFunc(queues, func(q string) bool { return slices.Contains(other.call.queues, q) }) {
			found = true
			if told {
				other.call.certain, other.call.alone = nil, false
			}
		}
	}
	return found
}

// Wanted tells whether a FETCH waits for the jobs of a queue.
func (w *World) Wanted(queue string) bool {
	for _, c := range w.Conns {
		if c.call != nil && c.call.Command.Verb == fwp.FETCH && slices.Contains(c.call.queues, queue) {
			return true
		}
	}
	return false
}

// waits tells whether a FETCH of another connection is under way.
func (w *World) waits(c *Conn) bool {
	for _, other := range w.Conns {
		if other != c && other.call != nil && other.call.Command.Verb == fwp.FETCH {
			return true
		}
	}
	return false
}

// empty judges a FETCH that brought no job.
func (w *World) empty(k *call, now time.Time) *Violation {
	if k.allowed&Refused != 0 {
		return nil
	}
	for _, j := range k.certain {
		if j.Where == Enqueued && !j.Loose {
			clause := j.missing
			if k.Command.Args == nil && clause == "FWP-WU-04" {
				clause = "FWP-FETCH-08"
			}
			return &Violation{Clause: clause, Rule: "missing", JID: j.JID, Expected: w.deliverable(k, now), Got: "$-1", What: "a job that was certainly enqueued did not come"}
		}
	}
	for _, j := range w.In(k.queues[0], now) {
		if k.alone && j.Where == Enqueued && !j.Loose && j.since.After(k.at) && now.Sub(j.since) > instant+w.Slack && now.Sub(k.at) > shortest {
			return &Violation{Clause: "FWP-FETCH-06", Rule: "asleep", Doubtful: true, JID: j.JID, Expected: w.deliverable(k, now), Got: "$-1", What: "a job that was enqueued meanwhile did not wake the FETCH"}
		}
	}
	took := now.Sub(k.at)
	if took < shortest || took > longest+w.Slack+time.Second {
		return &Violation{Clause: "FWP-FETCH-05", Rule: "block", Doubtful: true, Expected: "$-1", Window: [2]time.Duration{shortest, longest + w.Slack}, Got: "$-1 after " + took.String(), What: "a FETCH without a job waits for about 2 s"}
	}
	return nil
}

// deliverable writes what a FETCH may bring now.
func (w *World) deliverable(k *call, now time.Time) string {
	var all []string
	certain := false
	for i, q := range k.queues {
		if slices.Contains(k.queues[:i], q) {
			continue
		}
		for _, j := range w.In(q, now) {
			if j.Where&Enqueued != 0 {
				all = append(all, fmt.Sprintf("${%q:%q}", "jid", j.JID))
			}
			certain = certain || j.Where == Enqueued && !j.Loose
		}
		if certain {
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
func (w *World) delivered(c *Conn, k *call, text []byte, now time.Time) *Violation {
	f := object(text)
	jid, _ := f["jid"].(string)
	j := w.Jobs[jid]
	if j == nil {
		if w.strange || slices.Contains(k.queues, "default") && !w.Alone {
			return nil
		}
		return &Violation{Clause: "FWP-FETCH-01", Rule: "unknown", JID: jid, Expected: w.deliverable(k, now), Got: "a job that nobody pushed"}
	}
	j.settle(now, w.Patience)
	if k.order <= j.flushed { // it may have come before the FLUSH that was answered first
		j.Loose = true
	}
	v := w.misplaced(c, k, j, now)
	if v == nil {
		v = w.untimely(c, k, j, now)
	}
	if v == nil && !j.Loose && j.sent != nil {
		v = j.differs(f, now)
	}
	j.enqueued, _ = f["enqueued_at"].(string)
	if j.taken(c, now); c.WID != "" {
		w.working[c.WID] = append(w.working[c.WID], j)
	}
	return v
}

// misplaced judges whether the job may be delivered at all, and here.
func (w *World) misplaced(c *Conn, k *call, j *Job, now time.Time) *Violation {
	v := &Violation{JID: j.JID}
	index := slices.Index(k.queues, j.Queue)
	switch {
	case j.Loose:
		return nil
	case index < 0 && w.rivals(c, []string{j.Queue}, false):
		v.Clause, v.Rule, v.What = "FWP-RESP-06", "swapped", "the job belongs to a queue for which another connection asked"
	case index < 0 && k.Command.Args == nil:
		v.Clause, v.Rule, v.What = "FWP-FETCH-08", "queue", "the job belongs to another queue than default"
	case index < 0:
		v.Clause, v.Rule, v.What = "FWP-FETCH-04", "queue", "the job belongs to a queue that was not asked for"
	case j.Where&Enqueued == 0:
		v.Clause, v.Rule, v.What = j.reason, "delivered", "the job must not be delivered now"
		if j.Where == Working && now.Sub(j.held) > 15*time.Second {
			v.Clause = "FWP-WU-05"
			if n, is := number(j.sent["reserve_for"]); is && n < 60 {
				v.Clause = "FWP-WU-05b"
			}
		}
	case j.Where == Retries|Enqueued && j.Failures > 0 && now.Sub(j.failed) < soonest:
		v.Clause, v.Rule, v.What, v.Expected = "FWP-STATE-06", "delivered", "the job has just failed", "$-1"
	default:
		if v = k.passed(v, index); v == nil {
			return nil
		}
	}
	v.Expected, v.Got = firstOf(v.Expected, w.deliverable(k, now)), fmt.Sprintf("${%q:%q}", "jid", j.JID)
	return v
}

// passed judges whether a job that should have come first was passed over.
func (k *call) passed(v *Violation, index int) *Violation {
	for _, o := range k.certain {
		if o.Where == Enqueued && !o.Loose && slices.Index(k.queues, o.Queue) < index {
			v.Clause, v.Rule, v.What, v.JID = "FWP-FETCH-04", "order", "a queue that was named before had a job", o.JID
			return v
		}
	}
	return nil
}

// untimely judges when a job came. (FWP-STATE-04, FWP-FETCH-06)
func (w *World) untimely(c *Conn, k *call, j *Job, now time.Time) *Violation {
	v := &Violation{Rule: "late", Doubtful: true, JID: j.JID, Window: [2]time.Duration{0, instant + w.Slack}}
	limit := instant + w.Slack
	switch {
	case j.Loose || k.allowed&Refused != 0:
		return nil
	case slices.Contains(k.certain, j) && now.Sub(k.at) > limit:
		v.Clause, v.What = "FWP-STATE-04", "the job was there when the FETCH was sent"
		if k.company || w.waits(c) {
			v.Clause, v.What = "FWP-FETCH-06", "while a FETCH of another connection waited, this one was not served"
		}
	case k.alone && j.since.After(k.at) && j.Where == Enqueued && j.Queue == k.queues[0] && now.Sub(j.since) > limit:
		v.Clause, v.What = "FWP-FETCH-06", "the job came while the FETCH waited"
	default:
		return nil
	}
	v.Got, v.Expected = "a job after "+now.Sub(k.at).String(), w.deliverable(k, now)
	return v
}
