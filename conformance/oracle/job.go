package oracle

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/fwp"
)

// Job is a work unit as its clients know it.
type Job struct {
	JID, Queue string
	Where      model.Where // it is in one of them
	Loose      bool        // it is not judged any more (AMB-33)
	Holder     string      // the worker that holds it
	Retry      int64
	Failures   int

	sent      map[string]any
	words     []string  // of the name of its queue: several are for a FETCH that names them all (FWP-WU-16)
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

// newJob is what a PUSH asks for.
func newJob(f map[string]any) *Job {
	j := &Job{sent: f, Queue: "default", Retry: 25, Where: model.Unborn, missing: "FWP-WU-04"}
	j.JID, _ = f["jid"].(string)
	if q, is := f["queue"].(string); is {
		j.Queue, j.missing = q, "FWP-PUSH-04"
	}
	if j.words = strings.Fields(j.Queue); len(j.words) > 1 {
		j.missing = "FWP-WU-16"
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

// certain tells whether the job is enqueued, and is judged.
func (j *Job) certain() bool { return j.Where == model.Enqueued && !j.Loose }

// place is where the queue of the job stands in a list of queues, negative if it does not.
func (j *Job) place(queues []string) int {
	return slices.IndexFunc(queues, func(q string) bool { return slices.Contains(j.words, q) })
}

// reservation is how long a worker may hold the job.
func (j *Job) reservation() time.Duration {
	n, is := number(j.sent["reserve_for"])
	if !is {
		n = 1800
	}
	return model.Reservation(n)
}

// At is when the job is to be enqueued; zero if it has no such time.
func (j *Job) At() time.Time {
	at, _ := instantOf(j.sent["at"])
	return at
}

// was moves the job: an event has happened to it for certain, in a state for certain.
func (j *Job) was(in model.Where, e model.Event) { j.Where, j.reason = in.After(e) }

// pushed takes in the answer to a PUSH.
func (w *World) pushed(c *Conn, k *call, a model.Answer, now time.Time) {
	j := newJob(k.Fields)
	if _, named := k.Fields["jid"].(string); !named {
		return
	}
	if old := w.Jobs[j.JID]; old != nil { // AMB-33
		old.Loose = true
		return
	}
	w.Jobs[j.JID] = j
	if len(j.words) > 1 && !slices.Contains(w.phrases, j.Queue) {
		w.phrases = append(w.phrases, j.Queue)
	}
	w.queues[j.Queue] = append(w.queues[j.Queue], j)
	j.Loose = a == model.Okay && k.allowed != model.Okay && !k.ordinary()
	switch {
	case a == model.Refused:
		j.Where, j.reason = model.Gone, "FWP-PUSH-03"
		if w.Protected && c.State == fwp.NotIdentified {
			j.reason = "FWP-AUTH-06"
		}
	case a != model.Okay: // nobody knows
		j.Where = model.Gone | model.Unborn.AfterAny(model.Push, model.PushAt)
	default:
		j.enter(now, w.Patience)
		w.haunt(j, now)
	}
}

// ordinary tells whether a PUSH that a server might have declined asks for a job like
// any other once it is taken.
func (k *call) ordinary() bool {
	f := k.Fields
	queue, _ := f["queue"].(string)
	return len(strings.Fields(queue)) > 1 || len(k.Args) >= 16<<10 || f["failure"] != nil || f["enqueued_at"] != nil || !within(f["reserve_for"], 60, 1<<31)
}

var plainName = regexp.MustCompile(`^[a-z0-9-]+$`)

// enter lets the job begin its life. (FWP-STATE-04, FWP-WU-06, AMB-36)
func (j *Job) enter(now time.Time, patience time.Duration) {
	at, _ := j.sent["at"].(string)
	t, err := time.Parse(time.RFC3339, at)
	j.since = now
	switch {
	case err != nil:
		j.was(model.Unborn, model.Push)
		return
	case t.After(now.Add(-time.Minute)):
		j.was(model.Unborn, model.PushAt)
		j.missing, j.due = "FWP-STATE-11", t.Add(patience)
		if _, offset := t.Zone(); offset != 0 { // that may have been misread
			j.missing = "FWP-WU-06"
		}
	default:
		j.was(model.Unborn, model.Push)
		j.missing = "FWP-WU-06"
	}
	switch {
	case len(j.words) > 1:
		j.missing = "FWP-WU-16"
	case !plainName.MatchString(j.Queue):
		j.missing = "FWP-PUSH-04"
	}
}

// settle lets time pass. (AMB-01b, AMB-38)
func (j *Job) settle(now time.Time, patience time.Duration) {
	if j.Where&model.Working != 0 && !now.Before(j.until) && j.until.After(j.held) {
		j.expire(patience)
	}
	if j.Where != model.Enqueued && !j.due.IsZero() && !now.Before(j.due) {
		j.Where, j.since, j.due = model.Enqueued, j.due, time.Time{}
	}
}

// expire lets the reservation have ended, and nobody know whether the server has seen
// that.
func (j *Job) expire(patience time.Duration) {
	end := model.Expired(j.Retry, j.Failures)
	after, _ := model.Working.After(end)
	j.Where |= after
	if end == model.Expire && j.Failures == 0 && j.due.IsZero() && !j.vague {
		j.due, j.missing = j.until.Add(patience), firstOf(j.over, firstOf(j.suspect, "FWP-STATE-07"))
	}
	j.expired = j.Where&^(after|model.Dead|model.Gone) == model.Working && !j.vague && j.Holder != ""
	j.vague, j.failure = true, nil
}

// taken is the job's delivery to a worker.
func (j *Job) taken(c *Conn, now time.Time) {
	j.was(model.Enqueued, model.Fetch)
	j.Holder, j.held, j.until, j.due, j.suspect = c.WID, now, now.Add(j.reservation()), time.Time{}, ""
	if j.delivered.IsZero() {
		j.delivered = now
	}
}

// mayBeTaken opens the possibility that somebody who is not there any more was given
// the job. (AMB-38)
func (j *Job) mayBeTaken(now time.Time, patience time.Duration) {
	if j.Where&model.Enqueued == 0 {
		return
	}
	j.held, j.until, j.Holder = now, now.Add(j.reservation()), ""
	after, _ := model.Enqueued.After(model.Fetch)
	if j.Where |= after; j.Retry > 0 && j.Failures == 0 && j.Where&(model.Gone|model.Dead) == 0 && !j.vague {
		j.due = j.until.Add(patience)
	} else {
		j.due = time.Time{}
	}
	j.vague = true
}

// fail moves the job to where its retries send it. (Work units, retry)
func (j *Job) fail(k *call, now time.Time, patience time.Duration) {
	e := model.Failed(j.Retry, j.Failures)
	j.Failures++
	j.failed, j.before, j.failure, j.due = k.at, j.failure, k.Fields, time.Time{}
	if j.vague {
		j.Where = model.Working.AfterAny(anyFailure...)
		return
	}
	j.was(model.Working, e)
	if e != model.Fail {
		return
	}
	j.over, j.missing = "", "FWP-STATE-09"
	if _, is := j.sent["retry"]; !is {
		j.missing = "FWP-RETRY-04"
	} else if j.Retry == 1 {
		j.missing = "FWP-WU-07"
	}
	if j.Failures == 1 {
		j.due = now.Add(patience)
	}
}

var anyFailure = []model.Event{model.Fail, model.FailLast, model.FailZero, model.FailDead}

// flush takes in that the job was purged.
func (j *Job) flush(sent int) {
	j.was(model.Enqueued, model.Flush)
	j.due, j.flushed = time.Time{}, sent
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
		if j.place(g.queues) >= 0 {
			j.mayBeTaken(now, w.Patience)
		}
	}
}
