package law

import (
	"cmp"
	"encoding/json"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// Job is a work unit as its clients know it.
type Job struct {
	JID, Queue string
	Where      model.Where // it is in one of them
	Unjudged   Reason      // why what happens to it is not judged
	Holder     string      // the worker that holds it
	Retry      int64
	Failures   int
	Came       int // how often it was delivered

	sent      map[string]any
	assumed   map[string]any // values of fields that differ from those: the server's way with this job
	words     []string       // of the name of its queue: several are for a FETCH that names them all (FWP-WU-16)
	since     time.Time      // from then on it was certainly enqueued
	latest    bool           // since is when it had to be enqueued at the latest; when it was is not known
	due       time.Time      // from then on it is certain to be enqueued; zero if that is not known
	held      time.Time      // when it was delivered last
	on        *Conn          // the connection of that
	until     time.Time      // when its reservation ends
	delivered time.Time      // the first time
	failed    time.Time      // when its last FAIL was sent
	failure   map[string]any
	before    map[string]any // the failure before that one
	uncertain bool           // how often it failed is not known
	overdue   bool           // its last reservation has ended
	requeued  bool           // a command that a profile adds may have put it into its queue
	restarted bool           // the server was restarted after the last delivery
	afterStop afterStop      // what is not known of it since the server was stopped
	stops     int            // of the server before it was pushed
	passed    bool           // a FETCH that named its queue first brought a job of another queue
	expired   bool           // a reservation of it has run out, for certain
	asked     time.Time      // when its PUSH was sent
	pushed    time.Time      // when that was answered; zero if it was not
	created   time.Time      // as the server has shown it first
	entered   int            // how many commands were sent until its PUSH was answered
	flushed   int            // how many commands were sent until a FLUSH was carried out
	enqueued  string         // the last enqueued_at that the server sent

	// Clauses that are broken:
	missing   string // if it is not delivered from due on
	reason    string // if it is delivered now
	ackClause string // if an ACK is refused
	badly     bool   // a FAIL of it was refused while it was held
	restart   string // if it does not come back, since there was a restart
	suspect   string // if it is not delivered, since a command was refused while it was enqueued; "" for none
}

// newJob returns the job that a PUSH asks for.
func newJob(f map[string]any) *Job {
	j := &Job{sent: f, Queue: "default", Retry: 25, Where: model.Unborn, missing: "FWP-WU-04"}
	j.JID, _ = f["jid"].(string)
	if q, is := f["queue"].(string); is {
		j.Queue, j.missing = q, "FWP-PUSH-04"
	}
	if j.words = Words(j.Queue); len(j.words) > 1 {
		j.missing = "FWP-WU-16"
	}
	if n, is := integer(f["retry"]); is {
		j.Retry = n
	}
	return j
}

func integer(v any) (int64, bool) {
	n, _ := v.(json.Number)
	i, err := strconv.ParseInt(string(n), 10, 64)
	return i, err == nil
}

// certain reports whether the job is enqueued, and is judged.
func (j *Job) certain() bool { return j.Where == model.Enqueued && j.Unjudged == Judged }

// place returns the index of the queue of the job in a list of queues, negative if it is not there.
func (j *Job) place(queues []string) int {
	return slices.IndexFunc(queues, func(q string) bool { return slices.Contains(j.words, q) })
}

// phrase reports whether the name of the queue has blanks in it, or at its ends.
func (j *Job) phrase() bool { return len(j.words) > 0 && j.words[0] != j.Queue }

// Reservation returns how long a worker may hold the job.
func (j *Job) Reservation() time.Duration {
	n, is := integer(j.sent["reserve_for"])
	if !is {
		n = 1800
	}
	return model.Reservation(n)
}

// unusual is the longest reservation of usual jobs. A server that does not hold a job for longer may have misread it.
const unusual = 12 * time.Hour

// At returns when the job is to be enqueued; zero if it has no such time.
func (j *Job) At() time.Time {
	at, _ := instantOf(j.sent["at"])
	return at
}

// was moves the job: an event has certainly happened to it, in a certain state.
func (j *Job) was(in model.Where, e model.Event) { j.Where, j.reason = in.After(e) }

// mostKept is how many jobs, or salts, are kept where clients come and go for as long as they like.
const mostKept = 100_000

// shares has other plays know the job of a PUSH. The queue counts where no server may have another word for it.
func (w *World) shares(k *call) {
	if k.added != nil {
		for _, job := range k.added.jobs {
			w.shares(job)
		}
	}
	jid, named := k.Fields["jid"].(string)
	if k.Verb != fwp.PUSH || !named {
		return
	}
	queue := ""
	if j := newJob(k.Fields); k.Form == model.Okay && usualQueue.MatchString(j.Queue) {
		queue = j.Queue
	}
	w.Server.Pushes(jid, queue)
}

// pushed follows the answer to a PUSH.
func (w *World) pushed(c *Conn, k *call, a model.Answer, now time.Time) {
	j := newJob(k.Fields)
	if _, named := k.Fields["jid"].(string); !named {
		return
	}
	if old := w.used(j.JID); old != nil { // AMB-33
		old.Unjudged = SameJID
		return
	}
	if j.asked, j.entered = k.at, w.sent; k.beside {
		j.Unjudged = Overlapped
	}
	twice, _ := k.limits()
	if a == model.Okay && (twice || k.allowed != model.Okay && !k.ordinary()) {
		j.Unjudged = Tolerated
	}
	w.keep(j)
	switch {
	case a == model.Refused:
		j.Where, j.reason = model.Gone, "FWP-PUSH-03"
		if w.Protected && c.State == fwp.NotIdentified {
			j.reason = "FWP-AUTH-06"
		}
	case a != model.Okay: // it may be anywhere
		j.Where = model.Gone | model.Unborn.AfterAny(model.Push, model.PushAt)
	default:
		w.taken[j.Queue] = w.taken[j.Queue] || usualQueue.MatchString(j.Queue)
		j.pushed, j.stops = now, w.stops
		j.enter(now, w.Patience)
		w.existing[j.Queue] = w.existing[j.Queue] || j.Where == model.Enqueued && !k.beside
		w.mayHaveTaken(j, now)
	}
}

// used returns the job that was pushed with a jid before; nil if there is none, or if a FLUSH has certainly removed it.
// (FLUSH Command)
func (w *World) used(jid string) *Job {
	j := w.Jobs[jid]
	if j != nil && j.flushed > 0 && j.Where == model.Gone && j.Unjudged == Judged {
		return nil
	}
	return j
}

// keep adds a job to those that are known.
func (w *World) keep(j *Job) {
	if w.Shared {
		if j.Unjudged = Unseen; len(w.Jobs) > mostKept {
			w.Jobs, w.queues = map[string]*Job{}, map[string][]*Job{}
		}
	}
	if slices.ContainsFunc(w.wrongJobs, func(args string) bool { return strings.Contains(args, j.JID) }) {
		j.Unjudged = cmp.Or(j.Unjudged, SameJID) // it may be the one that comes
	}
	if j.phrase() && !slices.Contains(w.phrases, j.Queue) {
		w.phrases = append(w.phrases, j.Queue)
	}
	w.Jobs[j.JID] = j
	w.queues[j.Queue] = append(w.queues[j.Queue], j)
}

// ordinary reports whether a PUSH that a server might have declined asks for a job like
// any other once it is taken.
func (k *call) ordinary() bool {
	f, queue := k.Fields, k.text("queue")
	words := Words(queue)
	return k.Named || len(k.text("jid")) > 64 || len(words) > 0 && words[0] != queue || len(k.Args) >= 16<<10 ||
		f["failure"] != nil || k.smallLetters() ||
		f["enqueued_at"] != nil || !within(f["reserve_for"], 60, 1<<31)
}

var plainName = regexp.MustCompile(`^[a-z0-9-]+$`)

// enter gives the job its first state. (FWP-STATE-04, FWP-WU-06, AMB-36)
func (j *Job) enter(now time.Time, patience time.Duration) {
	at, _ := j.sent["at"].(string)
	t, err := number.ParseTime(at)
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

// advance takes the job to a later time. (AMB-01b, AMB-38)
func (j *Job) advance(now time.Time, patience time.Duration) {
	if j.Where&model.Working != 0 && !j.overdue && !now.Before(j.until) && j.until.After(j.held) {
		j.expire(patience)
	}
	if j.Where != model.Enqueued && !j.due.IsZero() && !now.Before(j.due) {
		j.Where, j.since, j.latest, j.due = model.Enqueued, j.due, true, time.Time{}
	}
}

// expire ends the reservation. Whether the server has noticed that is not known.
func (j *Job) expire(patience time.Duration) {
	end := model.Expired(j.Retry, j.Failures)
	after, _ := model.Working.After(end)
	j.Where |= after
	if end == model.Expire && j.Failures < judgedReturns && j.due.IsZero() && !j.uncertain {
		j.due, j.missing = j.until.Add(patience*time.Duration(1+j.Failures)), cmp.Or(j.restart, j.ackClause, "FWP-STATE-07")
	}
	certain := j.Where&^(after|model.Dead|model.Gone) == model.Working && !j.uncertain && j.Holder != ""
	j.overdue, j.expired = true, j.expired || certain
	j.uncertain, j.failure = true, nil
}

// taken records the job's delivery to a worker by a FETCH: the reservation begins with the delivery, which is after the
// FETCH was sent, and before the job has arrived.
func (j *Job) taken(c *Conn, k *call, now time.Time) {
	j.was(model.Enqueued, model.Fetch)
	j.Came++
	j.Holder, j.held, j.until, j.due, j.ackClause = c.WID, now, k.at.Add(j.Reservation()), time.Time{}, ""
	j.badly, j.on = false, c
	if c.helloAgain { // of which worker it is, is not known (AMB-09)
		j.Holder = ""
	}
	j.restarted = false
	j.overdue, j.latest = false, false
	if j.delivered.IsZero() {
		j.delivered = now
	}
}

// mayBeTaken allows that the job was delivered to a client that has left. (AMB-38)
func (j *Job) mayBeTaken(now time.Time, patience time.Duration) {
	if j.Where&model.Enqueued == 0 {
		return
	}
	j.held, j.until, j.Holder, j.overdue = now, now.Add(j.Reservation()), "", false
	after, _ := model.Enqueued.After(model.Fetch)
	if j.Where |= after; j.Retry > 0 && j.Failures == 0 && j.Where&(model.Gone|model.Dead) == 0 && !j.uncertain {
		j.due = j.until.Add(patience)
	} else {
		j.due = time.Time{}
	}
	j.uncertain = true
}

// fail moves the job to where its retries send it. (Work units, retry)
func (j *Job) fail(k *call, now time.Time, patience time.Duration) {
	e := model.Failed(j.Retry, j.Failures)
	j.Failures++
	j.failed, j.before, j.failure, j.due = k.at, j.failure, k.Fields, time.Time{}
	if j.uncertain {
		j.Where = model.Working.AfterAny(anyFailure...)
		return
	}
	j.was(model.Working, e)
	if e != model.Fail {
		return
	}
	j.restart, j.missing = "", "FWP-STATE-09"
	if _, is := j.sent["retry"]; !is {
		j.missing = "FWP-RETRY-04"
	} else if j.Retry == 1 {
		j.missing = "FWP-WU-07"
	}
	if j.Failures <= judgedReturns {
		j.due = now.Add(patience)
	}
}

// judgedReturns is how often a job must come back within the patience (AMB-38). Servers wait longer after each failure,
// and how long is not laid down.
const judgedReturns = 2

var anyFailure = []model.Event{model.Fail, model.FailLast, model.FailZero, model.FailDead}

// abandonedFetch is a FETCH whose client left while it waited.
type abandonedFetch struct {
	queues []string
	until  time.Time
}

// mayHaveTaken allows that an abandoned FETCH has taken the job.
func (w *World) mayHaveTaken(j *Job, now time.Time) {
	w.abandoned = slices.DeleteFunc(w.abandoned, func(f abandonedFetch) bool { return now.After(f.until) })
	for _, f := range w.abandoned {
		if j.place(f.queues) >= 0 {
			j.mayBeTaken(now, w.Patience)
		}
	}
}

// unjudge stops judging jobs.
func unjudge(jobs iter.Seq[*Job], why Reason) {
	for j := range jobs {
		j.Unjudged = why
	}
}
