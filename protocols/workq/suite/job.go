package suite

import (
	"bytes"
	"reflect"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// state is that of a job.
type state uint8

const (
	absent state = iota // it was not added yet
	ready
	leased
	completed
	failed
	scheduled
	deleted // also by its time to live
	unknown // what becomes of it is not known any more: any reply may come
)

// possibleState is one way in which things may stand with a job. A job has several where it cannot be known which is
// true: around a moment at which time changes it, and while commands about it are under way.
type possibleState struct {
	state           state
	attempts, fails uint64
	result          []byte    // of the worker; nil if there is none
	isExpired       bool      // its last lease ended with its time to run
	from, to        time.Time // between which it came into its state
	callCount       int       // commands that had been sent by then
	bornLatest      time.Time // its time to live began between bornEarliest and this
	bornEarliest    time.Time
	isTimed         bool        // a span of time is the reason that it is in no other state
	isEvicted       bool        // its time to live was over before it had ended
	wasNotFound     bool        // it was asked for by its id, and was not there
	encounters      []encounter // what commands under way have met that may have been carried out already
}

// encounter is what a command finds where it is carried out. replies are the kinds of those that it may have; view is
// how the job is then.
type encounter struct {
	call    *call
	replies string
	view    *possibleState
}

// call is a command under way.
type call struct {
	workq.Command
	// from 1: two calls differ, even where they have the same bytes and were sent at one reading of the clock
	number      int
	bytes       []byte
	isMalformed bool
	badPart     string    // the argument or flag for which it is malformed, empty for another reason
	sentAt      time.Time // no part of it is carried out before
	isPipelined bool      // another command was under way on the connection
	clause      string    // the clause by which it is taken, where its reply is judged
	lapseKeys   []string  // the keys in [law.Server.SetLapse] of the jobs that it may add
}

// addsJob reports whether the command adds a job.
func (k *call) addsJob() bool {
	return k.Verb == workq.Add || k.Verb == workq.Schedule || k.Verb == workq.Run
}

// job is what a law knows of a job: the command that has added it, and how things may stand.
type job struct {
	workq.Command
	possibleStates []possibleState
	createdAt      string // as inspect has shown it first
	isCleaned      bool   // it was deleted behind the play
	// the payload of the last command that would add another one with its id; nil if there was none
	secondPayload []byte
	orderBreach   orderBreach // by a lease

	sentAt, answeredAt time.Time  // when the command was sent, and when it was answered
	lapseKey           string     // its key, as call.lapses has it
	clock              *law.Clock // of the server
}

// isSecond reports whether a payload is that of a command that should have added nothing.
func (j *job) isSecond(payload []byte) bool {
	return j.secondPayload != nil && bytes.Equal(payload, j.secondPayload) && !bytes.Equal(payload, j.Block)
}

// maxLife is more than any job lives or runs.
const maxLife = 10 * 365 * 24 * time.Hour

// maxLateness is by how much a server may be late with what is due. The document gives no tolerance; scripts have this
// one.
const maxLateness = 2 * time.Second

// skew is how far the clock of a server may be from ours, for times that are written.
const skew = time.Second

func milliseconds(n uint64) time.Duration {
	return time.Duration(min(n, uint64(maxLife/time.Millisecond))) * time.Millisecond //nolint:gosec // ten years
}

// isLeasable reports whether a worker may get the job. (add, max-attempts)
func (j *job) isLeasable(c possibleState) bool {
	return c.state == ready && (j.MaxAttempts == 0 || c.attempts < j.MaxAttempts)
}

// next returns what time makes of a configuration: the earliest moment and the latest one; false if nothing.
func (j *job) next(c possibleState) (next possibleState, from, to time.Time, ok bool) {
	next = c
	switch c.state {
	case scheduled:
		dueTime, _ := workq.Time(j.Time) // the reader has checked it
		next.state, from, to = ready, maxTime(dueTime.Add(-skew), c.from), maxTime(dueTime.Add(skew), c.to)
	case leased:
		run := milliseconds(j.TTR)
		from, to = c.from.Add(run), c.to.Add(run)
		switch {
		case j.Verb == workq.Run: // its client gets -TIMEOUT; what becomes of the job is open
			next.state = unknown
		case j.MaxAttempts > 0 && c.attempts >= j.MaxAttempts:
			next.state, next.result = failed, nil
		default:
			next.state, next.isExpired = ready, true
		}
	default:
		if c.state != ready || j.Verb != workq.Run {
			return c, from, to, false
		}
		next.state = unknown // its client may have given up, and has not been told yet
		from, to = c.from.Add(milliseconds(j.Wait)), c.to.Add(maxLife)
	}
	next.from, next.to = from, to.Add(maxLateness)
	return next, from, next.to, true
}

// lifeEnd returns between which moments the time to live is over; false for a job that has none, or is not there.
func (j *job) lifeEnd(c possibleState) (from, to time.Time, ok bool) {
	if c.state == absent || c.state == deleted || c.state == unknown || j.Verb == workq.Run {
		return from, to, false
	}
	life := milliseconds(j.TTL)
	return c.bornEarliest.Add(life), c.bornLatest.Add(life + maxLateness), true
}

// lapse returns what time may have made of a configuration by now, without what it still may be.
func (j *job) lapse(c possibleState, now time.Time) (all []possibleState) {
	if next, from, to, ok := j.next(c); ok && !now.Before(from) {
		next.isTimed, next.to = true, minTime(to, now)
		all = append(all, next)
	}
	if from, to, ok := j.lifeEnd(c); ok && !now.Before(from) {
		c.isEvicted = !c.hasEnded()
		c.state, c.isTimed, c.from, c.to = deleted, true, from, minTime(to, now)
		all = append(all, c)
	}
	return all
}

// latestEnd returns when a configuration is over at the latest.
func (j *job) latestEnd(c possibleState) time.Time {
	end := c.to.Add(maxLife)
	if c.to.IsZero() {
		end = end.AddDate(9999, 0, 0)
	}
	if _, _, to, ok := j.next(c); ok {
		end = to
	}
	if _, to, ok := j.lifeEnd(c); ok {
		end = minTime(end, to)
	}
	return end
}

// follow widens the configurations by all that may have happened by now: what time does, and the commands under way in
// any order. callCount is how many commands were sent so far. It returns false if the configurations are too many.
func (j *job) follow(pendingCalls []*call, callCount int, now time.Time) bool {
	const limit = 400
	add := func(from, next possibleState) {
		if next.state != from.state {
			next.callCount = callCount
		}
		j.add(next)
	}
	for i := 0; i < len(j.possibleStates); { // what is added on the way has its turn, too
		c := j.possibleStates[i]
		i++
		for _, n := range j.lapse(c, now) {
			add(c, n)
		}
		for _, k := range pendingCalls {
			if c.encounter(k) == nil {
				for _, n := range j.apply(k, c, now) {
					add(c, n)
				}
			}
		}
		if len(j.possibleStates) > limit {
			return false
		}
	}
	return true
}

// prune drops the configurations that are over.
func (j *job) prune(now time.Time) {
	rest := slices.DeleteFunc(slices.Clone(j.possibleStates),
		func(c possibleState) bool { return now.After(j.latestEnd(c)) })
	if len(rest) > 0 {
		j.possibleStates = rest
	}
}

// add adds a configuration that is not there yet; one that differs in its calls alone is there.
func (j *job) add(c possibleState) {
	for i, o := range j.possibleStates {
		if o.callCount = c.callCount; o.state == c.state && o.from.Equal(c.from) && o.to.Equal(c.to) &&
			reflect.DeepEqual(o, c) {
			j.possibleStates[i].callCount = max(j.possibleStates[i].callCount, c.callCount)
			return
		}
	}
	j.possibleStates = append(j.possibleStates, c)
}

// precedes reports whether the configuration was there for certain when a command was sent. Much may happen at one
// reading of a clock.
func (c possibleState) precedes(k *call) bool {
	return c.to.Before(k.sentAt) || c.to.Equal(k.sentAt) && c.callCount < k.number && !k.isPipelined
}

// unjudge ends the judging of the job.
func (j *job) unjudge() { j.possibleStates = []possibleState{{state: unknown}} }

// isAlways reports whether something holds however things stand.
func (j *job) isAlways(fits func(possibleState) bool) bool {
	return !slices.ContainsFunc(j.possibleStates, func(c possibleState) bool { return !fits(c) })
}

// mayBe reports whether the job may be in a state.
func (j *job) mayBe(s state) bool {
	return slices.ContainsFunc(j.possibleStates, func(c possibleState) bool { return c.state == s })
}

// isRemoved reports whether a client has deleted the job, rather than time.
func (c possibleState) isRemoved() bool { return c.state == deleted && !c.isTimed }

// isGone reports whether the job is certainly not there any more, whatever has deleted it.
func (c possibleState) isGone() bool { return c.isRemoved() || c.state == deleted && c.wasNotFound }

func (c possibleState) hasEnded() bool { return c.state == completed || c.state == failed }

func minTime(a, b time.Time) time.Time { return slices.MinFunc([]time.Time{a, b}, time.Time.Compare) }
func maxTime(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }
