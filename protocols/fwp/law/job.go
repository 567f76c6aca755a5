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
	States     model.States // it is in one of them
	Unjudged   Reason       // why what happens to it is not judged
	Holder     string       // the worker that holds it
	Retry      int64
	Failures   int
	Deliveries int // how often it was delivered

	pushFields     map[string]any
	assumedFields  map[string]any // values of fields that differ from those: the server's way with this job
	words          []string       // of the name of its queue: several are for a FETCH that names them all (FWP-WU-16)
	enqueuedSince  time.Time      // from then on it was certainly enqueued
	isDeadline     bool           // since is when it had to be enqueued at the latest; when it was is not known
	dueTime        time.Time      // from then on it is certain to be enqueued; zero if that is not known
	lastDelivery   time.Time      // when it was delivered last
	conn           *Conn          // the connection of that
	reservationEnd time.Time      // when its reservation ends
	firstDelivery  time.Time      // the first time
	failTime       time.Time      // when its last FAIL was sent
	failure        map[string]any
	earlierFailure map[string]any // the failure before that one
	isUncertain    bool           // how often it failed is not known
	isOverdue      bool           // its last reservation has ended
	isRequeued     bool           // a command that an extension adds may have put it into its queue
	wasRestarted   bool           // the server was restarted after the last delivery
	stopState      stopState      // what is not known of it since the server was stopped
	stops          int            // of the server before it was pushed
	isPassedOver   bool           // a FETCH that named its queue first brought a job of another queue
	hasExpired     bool           // a reservation of it has run out, for certain
	pushTime       time.Time      // when its PUSH was sent
	answerTime     time.Time      // when that was answered; zero if it was not
	createdAt      time.Time      // as the server has shown it first
	pushOrder      int            // how many commands were sent until its PUSH was answered
	flushOrder     int            // how many commands were sent until a FLUSH was carried out
	enqueuedAt     string         // the last enqueued_at that the server sent

	// Clauses that are broken:
	missingClause    string // if it is not delivered from due on
	deliveryClause   string // if it is delivered now
	ackClause        string // if an ACK is refused
	refusedWhileHeld bool   // a FAIL of it was refused while it was held
	restartClause    string // if it does not come back, since there was a restart
	suspectClause    string // if it is not delivered, since a command was refused while it was enqueued; "" for none
}

// newJob returns the job that a PUSH asks for.
func newJob(f map[string]any) *Job {
	j := &Job{pushFields: f, Queue: "default", Retry: 25, States: model.Unborn, missingClause: "FWP-WU-04"}
	j.JID, _ = f["jid"].(string)
	if q, ok := f["queue"].(string); ok {
		j.Queue, j.missingClause = q, "FWP-PUSH-04"
	}
	if j.words = Words(j.Queue); len(j.words) > 1 {
		j.missingClause = "FWP-WU-16"
	}
	if n, ok := integer(f["retry"]); ok {
		j.Retry = n
	}
	return j
}

func integer(v any) (int64, bool) {
	n, _ := v.(json.Number)
	i, err := strconv.ParseInt(string(n), 10, 64)
	return i, err == nil
}

// isCertain reports whether the job is enqueued, and is judged.
func (j *Job) isCertain() bool { return j.States == model.Enqueued && j.Unjudged == Judged }

// queueIndex returns the index of the queue of the job in a list of queues, negative if it is not there.
func (j *Job) queueIndex(queues []string) int {
	return slices.IndexFunc(queues, func(q string) bool { return slices.Contains(j.words, q) })
}

// isPhrase reports whether the name of the queue has blanks in it, or at its ends.
func (j *Job) isPhrase() bool { return len(j.words) > 0 && j.words[0] != j.Queue }

// Reservation returns how long a worker may hold the job.
func (j *Job) Reservation() time.Duration {
	n, ok := integer(j.pushFields["reserve_for"])
	if !ok {
		n = 1800
	}
	return model.Reservation(n)
}

// usualReservation is the longest reservation of usual jobs. A server that does not hold a job for longer may have
// misread it.
const usualReservation = 12 * time.Hour

// At returns when the job is to be enqueued; zero if it has no such time.
func (j *Job) At() time.Time {
	at, _ := parseInstant(j.pushFields["at"])
	return at
}

// applyEvent moves the job: an event has certainly happened to it, in a certain state.
func (j *Job) applyEvent(in model.States, e model.Event) { j.States, j.deliveryClause = in.After(e) }

// storeLimit is how many jobs, or salts, are kept where clients come and go for as long as they like.
const storeLimit = 100_000

// shareJob has other plays know the job of a PUSH. The queue counts where no server may have another word for it.
func (w *World) shareJob(k *call) {
	if k.added != nil {
		for _, job := range k.added.jobs {
			w.shareJob(job)
		}
	}
	jid, hasJID := k.Fields["jid"].(string)
	if k.Verb != fwp.PUSH || !hasJID {
		return
	}
	queue := ""
	if j := newJob(k.Fields); k.Form == model.Okay && usualQueue.MatchString(j.Queue) {
		queue = j.Queue
	}
	w.Server.AddJob(jid, queue)
}

// followPush follows the answer to a PUSH.
func (w *World) followPush(c *Conn, k *call, a model.Answer, now time.Time) {
	j := newJob(k.Fields)
	if _, hasJID := k.Fields["jid"].(string); !hasJID {
		return
	}
	if old := w.usedJob(j.JID); old != nil { // AMB-33
		old.Unjudged = SameJID
		return
	}
	if j.pushTime, j.pushOrder = k.at, w.commands; k.hasOverlap {
		j.Unjudged = Overlapped
	}
	hasDuplicate, _ := k.limits()
	if a == model.Okay && (hasDuplicate || k.answers != model.Okay && !k.isOrdinary()) {
		j.Unjudged = Tolerated
	}
	w.addJob(j)
	switch {
	case a == model.Refused:
		j.States, j.deliveryClause = model.Absent, "FWP-PUSH-03"
		if w.Protected && c.State == fwp.NotIdentified {
			j.deliveryClause = "FWP-AUTH-06"
		}
	case a != model.Okay: // it may be anywhere
		j.States = model.Absent | model.Unborn.AfterAny(model.Push, model.PushAt)
	default:
		w.acceptedQueues[j.Queue] = w.acceptedQueues[j.Queue] || usualQueue.MatchString(j.Queue)
		j.answerTime, j.stops = now, w.stops
		j.enter(now, w.Patience)
		w.existingQueues[j.Queue] = w.existingQueues[j.Queue] || j.States == model.Enqueued && !k.hasOverlap
		w.allowAbandoned(j, now)
	}
}

// usedJob returns the job that was pushed with a jid before; nil if there is none, or if a FLUSH has certainly removed
// it. (FLUSH Command)
func (w *World) usedJob(jid string) *Job {
	j := w.Jobs[jid]
	if j != nil && j.flushOrder > 0 && j.States == model.Absent && j.Unjudged == Judged {
		return nil
	}
	return j
}

// addJob adds a job to those that are known.
func (w *World) addJob(j *Job) {
	if w.Shared {
		if j.Unjudged = PerhapsTaken; len(w.Jobs) > storeLimit {
			w.Jobs, w.queues = map[string]*Job{}, map[string][]*Job{}
		}
	}
	if slices.ContainsFunc(w.wrongJobs, func(args string) bool { return strings.Contains(args, j.JID) }) {
		j.Unjudged = cmp.Or(j.Unjudged, SameJID) // it may be the one that comes
	}
	if j.isPhrase() && !slices.Contains(w.phrases, j.Queue) {
		w.phrases = append(w.phrases, j.Queue)
	}
	w.Jobs[j.JID] = j
	w.queues[j.Queue] = append(w.queues[j.Queue], j)
}

// isOrdinary reports whether a PUSH that a server might have declined asks for a job like
// any other once it is taken.
func (k *call) isOrdinary() bool {
	f, queue := k.Fields, k.text("queue")
	words := Words(queue)
	return k.HasUnusualQueue || len(k.text("jid")) > 64 || len(words) > 0 && words[0] != queue || len(k.Args) >= 16<<10 ||
		f["failure"] != nil || k.hasSmallLetters() ||
		f["enqueued_at"] != nil || !inRange(f["reserve_for"], 60, 1<<31)
}

var plainName = regexp.MustCompile(`^[a-z0-9-]+$`)

// enter gives the job its first state. (FWP-STATE-04, FWP-WU-06, AMB-36)
func (j *Job) enter(now time.Time, patience time.Duration) {
	at, _ := j.pushFields["at"].(string)
	t, err := number.ParseTime(at)
	j.enqueuedSince = now
	switch {
	case err != nil:
		j.applyEvent(model.Unborn, model.Push)
		return
	case t.After(now.Add(-time.Minute)):
		j.applyEvent(model.Unborn, model.PushAt)
		j.missingClause, j.dueTime = "FWP-STATE-11", t.Add(patience)
		if _, offset := t.Zone(); offset != 0 { // that may have been misread
			j.missingClause = "FWP-WU-06"
		}
	default:
		j.applyEvent(model.Unborn, model.Push)
		j.missingClause = "FWP-WU-06"
	}
	switch {
	case len(j.words) > 1:
		j.missingClause = "FWP-WU-16"
	case !plainName.MatchString(j.Queue):
		j.missingClause = "FWP-PUSH-04"
	}
}

// advance takes the job to a later time. (AMB-01b, AMB-38)
func (j *Job) advance(now time.Time, patience time.Duration) {
	if j.States&model.Working != 0 && !j.isOverdue && !now.Before(j.reservationEnd) &&
		j.reservationEnd.After(j.lastDelivery) {
		j.expire(patience)
	}
	if j.States != model.Enqueued && !j.dueTime.IsZero() && !now.Before(j.dueTime) {
		j.States, j.enqueuedSince, j.isDeadline, j.dueTime = model.Enqueued, j.dueTime, true, time.Time{}
	}
}

// expire ends the reservation. Whether the server has noticed that is not known.
func (j *Job) expire(patience time.Duration) {
	end := model.ExpiryEvent(j.Retry, j.Failures)
	after, _ := model.Working.After(end)
	j.States |= after
	if end == model.Expire && j.Failures < returnLimit && j.dueTime.IsZero() && !j.isUncertain {
		j.dueTime, j.missingClause = j.reservationEnd.Add(patience*time.Duration(1+j.Failures)),
			cmp.Or(j.restartClause, j.ackClause, "FWP-STATE-07")
	}
	isCertain := j.States&^(after|model.Dead|model.Absent) == model.Working && !j.isUncertain && j.Holder != ""
	j.isOverdue, j.hasExpired = true, j.hasExpired || isCertain
	j.isUncertain, j.failure = true, nil
}

// deliver records the job's delivery to a worker by a FETCH: the reservation begins with the delivery, which is after
// the FETCH was sent, and before the job has arrived.
func (j *Job) deliver(c *Conn, k *call, now time.Time) {
	j.applyEvent(model.Enqueued, model.Fetch)
	j.Deliveries++
	j.Holder, j.lastDelivery, j.reservationEnd, j.dueTime, j.ackClause = c.WID, now, k.at.Add(j.Reservation()),
		time.Time{}, ""
	j.refusedWhileHeld, j.conn = false, c
	if c.hasSecondHello { // of which worker it is, is not known (AMB-09)
		j.Holder = ""
	}
	j.wasRestarted = false
	j.isOverdue, j.isDeadline = false, false
	if j.firstDelivery.IsZero() {
		j.firstDelivery = now
	}
}

// allowDelivery allows that the job was delivered to a client that has left. (AMB-38)
func (j *Job) allowDelivery(now time.Time, patience time.Duration) {
	if j.States&model.Enqueued == 0 {
		return
	}
	j.lastDelivery, j.reservationEnd, j.Holder, j.isOverdue = now, now.Add(j.Reservation()), "", false
	after, _ := model.Enqueued.After(model.Fetch)
	if j.States |= after; j.Retry > 0 && j.Failures == 0 && j.States&(model.Absent|model.Dead) == 0 && !j.isUncertain {
		j.dueTime = j.reservationEnd.Add(patience)
	} else {
		j.dueTime = time.Time{}
	}
	j.isUncertain = true
}

// fail moves the job to where its retries send it. (Work units, retry)
func (j *Job) fail(k *call, now time.Time, patience time.Duration) {
	e := model.FailEvent(j.Retry, j.Failures)
	j.Failures++
	j.failTime, j.earlierFailure, j.failure, j.dueTime = k.at, j.failure, k.Fields, time.Time{}
	if j.isUncertain {
		j.States = model.Working.AfterAny(failEvents...)
		return
	}
	j.applyEvent(model.Working, e)
	if e != model.Fail {
		return
	}
	j.restartClause, j.missingClause = "", "FWP-STATE-09"
	if _, ok := j.pushFields["retry"]; !ok {
		j.missingClause = "FWP-RETRY-04"
	} else if j.Retry == 1 {
		j.missingClause = "FWP-WU-07"
	}
	if j.Failures <= returnLimit {
		j.dueTime = now.Add(patience)
	}
}

// returnLimit is how often a job must come back within the patience (AMB-38). Servers wait longer after each failure,
// and how long is not laid down.
const returnLimit = 2

var failEvents = []model.Event{model.Fail, model.FailLast, model.FailZero, model.FailDead}

// abandonedFetch is a FETCH whose client left while it waited.
type abandonedFetch struct {
	queues []string
	until  time.Time
}

// allowAbandoned allows that an abandoned FETCH has taken the job.
func (w *World) allowAbandoned(j *Job, now time.Time) {
	w.abandonedFetches = slices.DeleteFunc(w.abandonedFetches, func(f abandonedFetch) bool { return now.After(f.until) })
	for _, f := range w.abandonedFetches {
		if j.queueIndex(f.queues) >= 0 {
			j.allowDelivery(now, w.Patience)
		}
	}
}

// unjudge stops judging jobs.
func unjudge(jobs iter.Seq[*Job], reason Reason) {
	for j := range jobs {
		j.Unjudged = reason
	}
}
