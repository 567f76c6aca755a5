package model

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// Where is a set of states that a work unit may be in. (Work unit state diagram)
type Where uint8

// The states.
const (
	Scheduled Where = 1 << iota
	Enqueued
	Working
	Retries
	Dead
	Gone // purged, discarded, or never enqueued
)

// Job is a work unit as its clients know it.
type Job struct {
	JID, Queue string
	Where      Where  // it is in one of them
	Loose      bool   // it is not judged any more (AMB-33)
	Holder     string // the worker that holds it
	Retry      int64
	Failures   int

	sent      map[string]any
	since     time.Time // from then on it was certainly enqueued
	due       time.Time // from then on it is certain to be enqueued; zero: nobody knows
	missing   string    // the clause that says that it must be delivered then
	reason    string    // the clause that says why it must not be delivered
	held      time.Time // when its delivery came
	until     time.Time // when its reservation ends
	suspect   string    // the clause that tells why an ACK should be accepted
	failed    time.Time // when its last FAIL was sent
	failure   map[string]any
	before    map[string]any // the failure before that one
	vague     bool           // how often it failed is not known
	expired   bool           // its reservation has run out, for certain
	flushed   int            // how many commands were sent until a FLUSH was carried out
	over      string         // the clause that says that it outlives a restart, if there was one
	enqueued  string
	delivered time.Time // the first time
}

const (
	soonest = 300 * time.Millisecond // before which no failed job is back (FWP-STATE-06)
	instant = 500 * time.Millisecond // in which a job gets to a waiting worker (FWP-FETCH-14)
)

// newJob is what a PUSH asks for.
func newJob(f map[string]any) *Job {
	j := &Job{sent: f, Queue: "default", Retry: 25, missing: "FWP-WU-04"}
	j.JID, _ = f["jid"].(string)
	if q, is := f["queue"].(string); is {
		j.Queue, j.missing = q, "FWP-PUSH-04"
	}
	if n, is := number(f["retry"]); is {
		j.Retry = n
	}
	return j
}

func number(v any) (int64, bool) {
	n, _ := v.(json.Number)
	i, err := strconv.ParseInt(string(n), 10, 64)
	return i, err == nil
}

// reserve is how long a worker may hold the job. (FWP-WU-05, AMB-17)
func (j *Job) reserve() time.Duration {
	n, is := number(j.sent["reserve_for"])
	if !is {
		n = 1800
	}
	return time.Duration(min(max(n, 60), 1<<31)) * time.Second
}

// pushed takes in the answer to a PUSH.
func (w *World) pushed(c *Conn, k *call, a Answer, now time.Time) {
	j := newJob(k.Fields)
	if _, is := k.Fields["jid"].(string); !is {
		return
	}
	if old := w.Jobs[j.JID]; old != nil { // AMB-33
		old.Loose = true
		return
	}
	w.Jobs[j.JID] = j
	w.queues[j.Queue] = append(w.queues[j.Queue], j)
	j.Loose = a == Okay && k.allowed != Okay && len(k.Command.Args) < 16<<10 && k.Fields["failure"] == nil && k.Fields["enqueued_at"] == nil && within(k.Fields["reserve_for"], 60, 1<<31)
	switch {
	case a == Refused:
		j.Where, j.reason = Gone, "FWP-PUSH-03"
		if w.Protected && c.State == fwp.NotIdentified {
			j.reason = "FWP-AUTH-06"
		}
	case a != Okay: // nobody knows
		j.Where = Scheduled | Enqueued | Gone
	default:
		j.enter(now, w.Patience)
		w.haunt(j, now)
	}
}

// enter lets the job begin its life. (FWP-STATE-04, FWP-WU-06, AMB-36)
func (j *Job) enter(now time.Time, patience time.Duration) {
	at, _ := j.sent["at"].(string)
	t, err := time.Parse(time.RFC3339, at)
	j.Where, j.since = Enqueued, now
	if err != nil {
		return
	}
	if j.missing = "FWP-WU-06"; t.After(now.Add(-time.Minute)) {
		j.Where, j.missing = Scheduled|Enqueued, "FWP-STATE-11"
		j.due = t.Add(patience)
	}
	if !plainName.MatchString(j.Queue) {
		j.missing = "FWP-PUSH-04"
	}
}

// settle lets time pass. (AMB-01b, AMB-38)
func (j *Job) settle(now time.Time, patience time.Duration) {
	if j.Where&Working != 0 && !now.Before(j.until) && j.until.After(j.held) {
		j.Where |= Retries | Enqueued
		if j.Retry <= 0 || int64(j.Failures) >= j.Retry {
			j.Where |= Dead | Gone
		} else if j.Failures == 0 && j.due.IsZero() && !j.vague {
			j.due, j.missing = j.until.Add(patience), firstOf(j.over, firstOf(j.suspect, "FWP-STATE-07"))
		}
		j.expired = j.Where&^(Retries|Enqueued|Dead|Gone) == Working && !j.vague && j.Holder != ""
		j.vague, j.failure = true, nil
	}
	if j.Where != Enqueued && !j.due.IsZero() && !now.Before(j.due) {
		j.Where, j.since, j.due = Enqueued, j.due, time.Time{}
	}
}

// taken is the job's delivery to a worker.
func (j *Job) taken(c *Conn, now time.Time) {
	j.Where, j.Holder, j.held, j.until, j.due = Working, c.WID, now, now.Add(j.reserve()), time.Time{}
	j.reason, j.suspect = "FWP-STATE-05", ""
	if j.delivered.IsZero() {
		j.delivered = now
	}
}

// mayBeTaken opens the possibility that somebody who is not there any more was given
// the job. (AMB-38)
func (j *Job) mayBeTaken(now time.Time, patience time.Duration) {
	if j.Where&Enqueued == 0 {
		return
	}
	j.held, j.until, j.Holder = now, now.Add(j.reserve()), ""
	if j.Where |= Working; j.Retry > 0 && j.Failures == 0 && j.Where&(Gone|Dead) == 0 && !j.vague {
		j.due = j.until.Add(patience)
	} else {
		j.due = time.Time{}
	}
	j.vague = true
}

// reported takes in the answer to an ACK or FAIL. (FWP-ACK-02, FWP-STATE-06)
func (w *World) reported(c *Conn, k *call, a Answer, now time.Time) {
	jid, _ := k.Fields["jid"].(string)
	j := w.Jobs[jid]
	if j == nil || c.State == fwp.NotIdentified {
		return
	}
	mine := j.Where == Working && j.Holder == c.WID && c.WID != ""
	fail := k.Command.Verb == fwp.FAIL
	switch {
	case a == Refused && fail && k.allowed&Refused != 0:
		j.suspect = "FWP-FAIL-02"
	case a == Refused:
	case a != Okay || !mine || k.allowed&Okay == 0: // it may have had an effect
		j.Where |= Gone
		if j.reason = "FWP-ACK-02"; fail {
			j.Where |= Retries | Dead | Enqueued
		}
		j.due, j.vague = time.Time{}, true
	case !fail:
		j.Where, j.reason, j.sent, j.failure, j.before = Gone, "FWP-ACK-02", nil, nil, nil // a long run has many
	default:
		j.fail(k, now, w.Patience)
	}
}

// fail moves the job to where its retries send it. (Work units, retry)
func (j *Job) fail(k *call, now time.Time, patience time.Duration) {
	j.Failures++
	j.failed, j.before, j.failure, j.due = k.at, j.failure, k.Fields, time.Time{}
	switch {
	case j.vague:
		j.Where = Retries | Enqueued | Dead | Gone
	case j.Retry == 0:
		j.Where, j.reason = Gone, "FWP-RETRY-01"
	case j.Retry < 0:
		j.Where, j.reason = Dead, "FWP-RETRY-02"
	case int64(j.Failures) > j.Retry:
		j.Where, j.reason = Dead, "FWP-RETRY-03"
	default:
		j.Where, j.reason = Retries|Enqueued, "FWP-STATE-06"
		j.missing = "FWP-STATE-09"
		j.over = ""
		if _, is := j.sent["retry"]; !is {
			j.missing = "FWP-RETRY-04"
		} else if j.Retry == 1 {
			j.missing = "FWP-WU-07"
		}
		if j.Failures == 1 {
			j.due = now.Add(patience)
		}
	}
}

// ghost is a FETCH whose client went away while it waited.
type ghost struct {
	queues []string
	until  time.Time
}

// haunt lets a ghost have been given the job.
func (w *World) haunt(j *Job, now time.Time) {
	w.ghosts = slices.DeleteFunc(w.ghosts, func(g ghost) bool { return now.After(g.until) })
	for _, g := range w.ghosts {
		if slices.Contains(g.queues, j.Queue) {
			j.mayBeTaken(now, w.Patience)
		}
	}
}

// Restarted takes down that the server was stopped in good order and started again: all
// connections are over, and no job is. (FWP-STATE-08)
func (w *World) Restarted() {
	for _, j := range w.Jobs {
		j.over, j.missing = "FWP-STATE-08", "FWP-STATE-08"
	}
}

// lost takes in that a command's answer will never come.
func (w *World) lost(c *Conn, k *call, now time.Time) {
	switch k.Command.Verb {
	case fwp.PUSH:
		if k.Fields != nil {
			w.pushed(c, k, 0, now)
		}
	case fwp.ACK, fwp.FAIL:
		w.reported(c, k, 0, now)
	case fwp.FETCH:
		w.ghosts = append(w.ghosts, ghost{k.queues, now.Add(2 * longest)})
		for _, j := range w.Jobs {
			if slices.Contains(k.queues, j.Queue) {
				j.settle(now, w.Patience)
				j.mayBeTaken(now, w.Patience)
			}
		}
	case fwp.FLUSH:
		for _, j := range w.Jobs {
			j.Loose = true
		}
	}
}

// report says how an ACK or FAIL may be answered. (FWP-ACK-04, AMB-20, AMB-21)
func (w *World) report(c *Conn, k *call, j *Job, now time.Time) {
	if j != nil {
		j.settle(now, w.Patience)
	}
	mine := j != nil && !j.Loose && j.Where == Working && j.Holder == c.WID && c.WID != "" && !c.again
	switch {
	case !mine:
		k.allowed = either
		k.clause = map[string]string{fwp.ACK: "FWP-ACK-04", fwp.FAIL: "FWP-FAIL-03"}[k.Command.Verb]
		if c.WID == "" {
			k.clause = "FWP-FETCH-12"
		}
	case k.allowed == Okay && now.Sub(j.held) > 20*time.Second:
		k.clause = "FWP-WU-05"
	case k.allowed == Okay && j.suspect != "":
		k.clause = j.suspect
	case k.allowed == Okay:
		k.clause = firstOf(c.blame, k.clause)
	}
}
