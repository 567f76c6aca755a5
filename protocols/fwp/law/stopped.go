package law

import (
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// afterStop is what is not known of a job after a stop of the server, until it comes.
type afterStop uint8

const (
	known     afterStop = iota
	untouched           // it was accepted, and has not come since: it is there, perhaps not yet, or lost
	anywhere            // it may be in any state that it had before, or lost
)

// Restarted records that the server was stopped in good order and started again: all
// connections have ended, and all jobs are still there, but that they are still held is not promised. (FWP-STATE-08)
func (w *World) Restarted() {
	clear(w.salts)
	w.unsure()
	for _, j := range w.Jobs {
		if j.restarted = true; plainQueue.MatchString(j.Queue) || j.phrase() {
			j.restart, j.missing = "FWP-STATE-08", "FWP-STATE-08"
		} else { // lost for its name, which must not be, or with the restart, which may be
			j.Where, j.due = j.Where|model.Gone, time.Time{}
		}
	}
}

// Stopped is Restarted for a server that is stopped on purpose, to see what it keeps: in good order, or killed. It may
// read what it keeps later, and reservations may end with it. A job that has never come must come in the end, and as
// soon as one of its queue has that was there for as many stops, which shows that these are kept, and read. Of a kill
// the specification promises nothing: a job that had come before may be in any state that it had, and what has not come
// may be lost by a server that loses all of it. What stays is what no reading has happen to a job: other contents, a
// delivery before its time, or after a PUSH that was refused. (FWP-STATE-08, FWP-STATE-07, AMB-38)
func (w *World) Stopped(killed bool, now time.Time) {
	w.Restarted()
	w.abandoned = nil
	w.stops++
	for _, j := range w.Jobs {
		j.advance(now, w.Patience)
		j.stopped(killed, now, w.Patience)
	}
}

// stopped follows a stop of the server.
func (j *Job) stopped(killed bool, now time.Time, patience time.Duration) {
	switch {
	case j.Came == 0 && (j.pushed.IsZero() || j.restart == ""): // refused, without a reply, or with an unusual name
	case j.Came == 0 && j.Where != model.Gone && j.Where&^(model.Enqueued|model.Scheduled|model.Gone) == 0:
		switch certain := j.Where&model.Gone == 0; {
		case killed:
			j.due = time.Time{}
		case certain && j.Where&model.Scheduled == 0:
			j.due = now.Add(patience)
		}
		j.afterStop = untouched
		j.Where |= model.Gone
	case killed:
		j.Where |= model.Enqueued | model.Working | model.Retries | model.Dead | model.Gone
		j.afterStop, j.uncertain, j.expired = anywhere, true, false
		j.due, j.failure, j.before = time.Time{}, nil, nil
	case j.Where&model.Working != 0:
		j.Where |= model.Enqueued | model.Retries
		j.afterStop, j.uncertain = anywhere, true
		j.until, j.due = now.Add(j.Reservation()), time.Time{}
		if model.Expired(j.Retry, j.Failures) == model.Expire && j.Failures == 0 && j.Where&model.Gone == 0 {
			j.due = j.until.Add(patience)
		}
	}
}

// survived follows a delivery of a job that the server had before a stop: it has read the queue.
func (w *World) survived(j *Job, now time.Time) {
	if j.afterStop != untouched {
		return
	}
	j.afterStop = known
	for _, other := range w.Jobs {
		switch {
		case other.afterStop != untouched || other.Where&model.Gone == 0, other.stops < j.stops: // an earlier stop lost it
		case other.Where&model.Scheduled != 0: // it is read where the schedule is, sooner or later
			if other.due.IsZero() {
				other.due = now.Add(max(0, other.At().Sub(now)) + w.Patience)
			}
		case other.Queue == j.Queue:
			other.Where, other.since, other.due = model.Enqueued, now, time.Time{}
		}
	}
}

// Stood records that nothing has passed between the clients and the server for some time, which is over now: when a
// command under way is answered means nothing, and one whose client has left is only carried out now.
func (w *World) Stood(now time.Time) {
	for _, c := range w.Conns {
		if c.call != nil {
			c.call.stood = true
		}
	}
	for i := range w.abandoned {
		w.abandoned[i].until = now.Add(2 * model.LongestBlock)
	}
}
