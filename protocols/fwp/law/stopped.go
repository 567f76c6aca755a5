package law

import (
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// stopState is what is not known of a job after a stop of the server, until it comes.
type stopState uint8

const (
	stateKnown   stopState = iota
	stateStored            // it was accepted, and has not come since: it is there, perhaps not yet, or lost
	stateUnknown           // it may be in any state that it had before, or lost
)

// RecordRestart records that the server was stopped in good order and started again: all
// connections have ended, and all jobs are still there, but that they are still held is not promised. (FWP-STATE-08)
func (w *World) RecordRestart() {
	clear(w.salts)
	w.forgetQueues()
	for _, j := range w.Jobs {
		if j.wasRestarted = true; plainQueue.MatchString(j.Queue) || j.isPhrase() {
			j.restartClause, j.missingClause = "FWP-STATE-08", "FWP-STATE-08"
		} else { // lost for its name, which must not be, or with the restart, which may be
			j.States, j.dueTime = j.States|model.Absent, time.Time{}
		}
	}
}

// RecordStop is RecordRestart for a server that is stopped on purpose, to see what it keeps: in good order, or killed.
// It may read what it keeps later, and reservations may end with it. A job that has never come must come in the end,
// and as soon as one of its queue has that was there for as many stops, which shows that these are kept, and read. Of a
// kill the specification promises nothing: a job that had come before may be in any state that it had, and what has not
// come may be lost by a server that loses all of it. What stays is what no reading has happen to a job: other contents,
// a delivery before its time, or after a PUSH that was refused. (FWP-STATE-08, FWP-STATE-07, AMB-38)
func (w *World) RecordStop(killed bool, now time.Time) {
	w.RecordRestart()
	w.abandonedFetches = nil
	w.stops++
	for _, j := range w.Jobs {
		j.advance(now, w.Patience)
		j.followStop(killed, now, w.Patience)
	}
}

// followStop follows a stop of the server.
func (j *Job) followStop(killed bool, now time.Time, patience time.Duration) {
	switch {
	// refused, without a reply, or with an unusual name
	case j.Deliveries == 0 && (j.answerTime.IsZero() || j.restartClause == ""):
	case j.Deliveries == 0 && j.States != model.Absent && j.States&^(model.Enqueued|model.Scheduled|model.Absent) == 0:
		switch isCertain := j.States&model.Absent == 0; {
		case killed:
			j.dueTime = time.Time{}
		case isCertain && j.States&model.Scheduled == 0:
			j.dueTime = now.Add(patience)
		}
		j.stopState = stateStored
		j.States |= model.Absent
	case killed:
		j.States |= model.Enqueued | model.Working | model.Retries | model.Dead | model.Absent
		j.stopState, j.isUncertain, j.hasExpired = stateUnknown, true, false
		j.dueTime, j.failure, j.earlierFailure = time.Time{}, nil, nil
	case j.States&model.Working != 0:
		j.States |= model.Enqueued | model.Retries
		j.stopState, j.isUncertain = stateUnknown, true
		j.reservationEnd, j.dueTime = now.Add(j.Reservation()), time.Time{}
		if model.ExpiryEvent(j.Retry, j.Failures) == model.Expire && j.Failures == 0 && j.States&model.Absent == 0 {
			j.dueTime = j.reservationEnd.Add(patience)
		}
	}
}

// followSurvival follows a delivery of a job that the server had before a stop: it has read the queue.
func (w *World) followSurvival(j *Job, now time.Time) {
	if j.stopState != stateStored {
		return
	}
	j.stopState = stateKnown
	for _, other := range w.Jobs {
		switch {
		// an earlier stop lost it
		case other.stopState != stateStored || other.States&model.Absent == 0, other.stops < j.stops:
		case other.States&model.Scheduled != 0: // it is read where the schedule is, sooner or later
			if other.dueTime.IsZero() {
				other.dueTime = now.Add(max(0, other.At().Sub(now)) + w.Patience)
			}
		case other.Queue == j.Queue:
			other.States, other.enqueuedSince, other.dueTime = model.Enqueued, now, time.Time{}
		}
	}
}

// RecordHalt records that nothing has passed between the clients and the server for some time, which is over now: when
// a command under way is answered means nothing, and one whose client has left is only carried out now.
func (w *World) RecordHalt(now time.Time) {
	for _, c := range w.Conns {
		if c.call != nil {
			c.call.wasHalted = true
		}
	}
	for i := range w.abandonedFetches {
		w.abandonedFetches[i].until = now.Add(2 * model.LongestBlock)
	}
}
