package suite

import (
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/protocols/workq"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
)

// The kinds of replies that a command may have.
const (
	success    = string(rune(workqsession.OK))
	notFound   = string(rune(workqsession.NotFound))
	timeout    = string(rune(workqsession.Timeout))
	errorKinds = string(rune(workqsession.ClientError)) + string(rune(workqsession.ServerError))
	refusal    = errorKinds + notFound
	anyKind    = success + timeout + refusal
)

// concerns reports whether a command is about a job.
func (k *call) concerns(j *job) bool {
	if k.isMalformed {
		return false
	}
	return k.ID == j.ID || k.ID == "" && slices.Contains(k.Names, j.Name()) || k.Verb == workq.InspectQueues ||
		k.Verb == workq.InspectServer
}

// apply returns how things may stand when a command has been carried out, at some time before now, on a job that was in
// a configuration; nothing if it cannot have been.
func (j *job) apply(k *call, c possibleState, now time.Time) []possibleState {
	if k.sentAt.After(j.latestEnd(c)) {
		return nil
	}
	done := c.transition(k, now)
	switch {
	case c.state == unknown:
		return []possibleState{done(unknown, anyKind)}
	case k.Verb == workq.Lease && !j.isLeasable(c):
		return nil
	case k.Verb == workq.Lease:
		return []possibleState{done(leased, success, func(n *possibleState) { n.attempts++ })}
	case k.addsJob():
		return j.applyAdd(k, c, done)
	case k.Verb == workq.Result && c.isDeletedSince(k.sentAt): // what is answered to those who wait is open
		return []possibleState{done(c.state, notFound+timeout)}
	case !c.exists() && k.ID != "":
		return []possibleState{done(c.state, notFound, func(n *possibleState) { n.wasNotFound = n.state == deleted })}
	}
	switch k.Verb {
	case workq.Complete, workq.Fail:
		return j.applyEnd(k, c, done)
	case workq.Delete:
		return j.applyDelete(done)
	case workq.Result:
		return j.applyResult(k, c, now, done)
	}
	return []possibleState{done(c.state, success)}
}

// waitMargin is how close to the end of a wait something may happen that should have ended it.
const waitMargin = 300 * time.Millisecond

// transition makes a configuration in which a command has been carried out.
type transition func(s state, replies string, change ...func(*possibleState)) possibleState

// transition returns what makes the configurations that a command may leave behind, by now, where it finds this one.
func (c possibleState) transition(k *call, now time.Time) transition {
	return func(s state, replies string, change ...func(*possibleState)) possibleState {
		n := c
		if s != c.state {
			n.state, n.from, n.to, n.isExpired, n.isTimed = s, maxTime(k.sentAt, c.from), now, false, false
		}
		for _, f := range change {
			f(&n)
		}
		view := c
		view.encounters = nil
		n.encounters = append(slices.Clone(c.encounters), encounter{k, replies, &view})
		return n
	}
}

// exists reports whether the job was added, and is not deleted.
func (c possibleState) exists() bool { return c.state != absent && c.state != deleted }

// isDeletedSince reports whether the job may have been there at a time, and is deleted.
func (c possibleState) isDeletedSince(at time.Time) bool {
	return c.state == deleted && !c.to.Before(at)
}

// applyAdd is apply for a command that adds a job. A second one adds nothing, and may be answered in any way.
// (WQ-AMB-02) One that a client has deleted is not there any more, and the command is no second one. Whether the id of
// a job that is gone because of its time may come again is open: what it adds then is a new job.
func (j *job) applyAdd(k *call, c possibleState, done transition) []possibleState {
	isLapsed := c.state == deleted && c.isTimed
	switch {
	case c.isRemoved(), c.isGone() && k.Verb != workq.Run && slices.Contains(k.lapseKeys, j.lapseKey): // it is about k
	case isLapsed, c.state != absent && k.Verb == workq.Run:
		return []possibleState{done(unknown, anyKind)}
	case c.state != absent:
		return []possibleState{done(c.state, anyKind)}
	}
	target := ready
	if k.Verb == workq.Schedule {
		target = scheduled
	}
	newJob := done(target, success, func(n *possibleState) {
		n.attempts, n.fails, n.result, n.isEvicted, n.wasNotFound = 0, 0, nil, false, false
		if n.bornEarliest, n.bornLatest = n.from, n.to; target == scheduled {
			dueTime, _ := workq.Time(k.Time) // the reader has checked it
			n.bornEarliest, n.bornLatest = maxTime(dueTime.Add(-skew), n.from), maxTime(dueTime.Add(skew), n.to)
		}
	})
	switch {
	case isLapsed:
		return []possibleState{newJob, done(c.state, anyKind)}
	case k.mayExceedLimit():
		return []possibleState{newJob, done(c.state, errorKinds)}
	}
	return []possibleState{newJob}
}

// mayExceedLimit reports whether a command has a value for which the document has no limit, where a server may have
// one.
func (k *call) mayExceedLimit() bool {
	const attempts, name, wait = 255, 128, 24 * 60 * 60 * 1000 // what servers are known to take
	return k.MaxFails > attempts || len(k.Name()) > name || k.Wait > wait
}

// applyEnd is apply for complete and fail. A worker may report after its time to run. What a report does to a job
// that no worker has is open. (lease, Special Considerations)
func (j *job) applyEnd(k *call, c possibleState, done transition) []possibleState {
	result := append([]byte{}, k.Block...)
	end := func(s state) possibleState { return done(s, success, func(n *possibleState) { n.result = result }) }
	switch {
	case c.hasEnded():
		return append(c.secondReport(result, done), done(c.state, refusal))
	case c.state != leased && !c.isExpired:
		return []possibleState{done(unknown, anyKind)}
	case k.Verb == workq.Complete:
		return []possibleState{end(completed)}
	}
	fails := func(n possibleState) possibleState { n.fails++; return n }
	if j.Verb == workq.Run || c.fails+1 >= j.MaxFails {
		return []possibleState{fails(end(failed))}
	}
	retry := fails(done(ready, success, func(n *possibleState) { n.isExpired = false }))
	if j.MaxAttempts > 0 && c.attempts >= j.MaxAttempts { // which of the two limits counts is open, but none is left
		return []possibleState{retry, fails(end(failed))}
	}
	return []possibleState{retry}
}

// secondReport returns how things may stand when a report on a job that has ended was taken: which report counts is
// open, but the job is not processed any more. (inspect job by id, Keys: state)
func (c possibleState) secondReport(result []byte, done transition) (all []possibleState) {
	states := []state{failed, completed} // the last one is the likeliest
	if c.state == failed {
		slices.Reverse(states)
	}
	for _, s := range states {
		for _, r := range [][]byte{c.result, result} {
			for fails := range uint64(2) {
				all = append(all, done(s, success, func(n *possibleState) { n.result, n.fails = r, n.fails+fails }))
			}
		}
	}
	return all
}

// applyDelete is apply for delete. What becomes of a job that its client waits for is open.
func (j *job) applyDelete(done transition) []possibleState {
	if j.Verb == workq.Run {
		return []possibleState{done(unknown, anyKind)}
	}
	return []possibleState{done(deleted, success)}
}

// applyResult is apply for result, which waits until the job has ended. Whether the job of a run stays behind it is
// open.
func (j *job) applyResult(k *call, c possibleState, now time.Time, done transition) []possibleState {
	switch {
	case c.hasEnded() && c.result == nil: // no worker has reported anything
		return []possibleState{done(c.state, anyKind)}
	case c.hasEnded() && j.Verb == workq.Run:
		return []possibleState{done(c.state, success+notFound)}
	case c.hasEnded():
		return []possibleState{done(c.state, success)}
	case now.Before(k.sentAt.Add(milliseconds(k.Wait) - waitMargin)):
		return nil
	}
	return []possibleState{done(c.state, timeout)}
}

// encounter returns what a command has met in a configuration, nil if it was not carried out.
func (c possibleState) encounter(k *call) *encounter {
	i := slices.IndexFunc(c.encounters, func(m encounter) bool { return m.call == k })
	if i < 0 {
		return nil
	}
	return &c.encounters[i]
}

// narrow keeps the configurations that fit the reply to a command. It changes nothing, and returns false, if there
// are none.
func (j *job) narrow(k *call, kind byte, fits func(view *possibleState) bool) bool {
	var rest []possibleState
	for _, c := range j.possibleStates {
		m := c.encounter(k)
		if m != nil && strings.IndexByte(m.replies, kind) >= 0 && (fits == nil || m.view.state == unknown || fits(m.view)) {
			rest = append(rest, c)
		}
	}
	if len(rest) == 0 {
		return false
	}
	j.possibleStates = rest
	return true
}

// settle has the jobs that an answered command was about go on without it; of those of a lease one may have come.
func (l *workqLaw) settle(k *call, jobs []*job, leasedJob *job, at time.Time) {
	for _, j := range jobs {
		if k.Verb == workq.Lease && j != leasedJob {
			j.skip(k)
		}
		j.settle(k)
		j.prune(at)
		l.endLapse(j)
	}
}

// settle forgets a command that was answered.
func (j *job) settle(k *call) {
	configs := j.possibleStates
	j.possibleStates = nil
	for _, c := range configs {
		j.add(c.forget(k))
	}
}

// skip keeps the configurations in which a lease has not taken the job.
func (j *job) skip(k *call) {
	j.possibleStates = slices.DeleteFunc(j.possibleStates,
		func(c possibleState) bool { return c.encounter(k) != nil && c.state != unknown })
	if len(j.possibleStates) == 0 {
		j.unjudge()
	}
}

// forget returns a configuration without what a command has met.
func (c possibleState) forget(k *call) possibleState {
	c.encounters = slices.DeleteFunc(slices.Clone(c.encounters), func(m encounter) bool { return m.call == k })
	if len(c.encounters) == 0 {
		c.encounters = nil
	}
	return c
}

// views returns how the job may have been when a command looked.
func (j *job) views(k *call) (all []possibleState) {
	for _, c := range j.possibleStates {
		if m := c.encounter(k); m != nil {
			all = append(all, *m.view)
		}
	}
	return all
}

// MayWait implements [law.SelfTimed]: a run whose job a worker may have waits until its time to run is over, and any
// command as long as it says.
func (l *workqLaw) MayWait(number int, now time.Time) bool {
	c := l.conns[number]
	if c == nil || len(c.calls) == 0 {
		return false
	}
	k := c.calls[0]
	until := k.sentAt.Add(milliseconds(k.Wait))
	if k.Verb == workq.Run && l.mayBeHeld(k) {
		until = until.Add(milliseconds(k.TTR))
	}
	return now.Before(until)
}

// OverdueClause implements [law.SelfTimed].
func (l *workqLaw) OverdueClause(number int) string {
	c := l.conns[number]
	if c == nil || len(c.calls) == 0 {
		return ""
	}
	k := c.calls[0]
	j := l.jobs[k.ID]
	if k.Verb != workq.Run && k.Verb != workq.Result || j == nil || !j.isAlways(possibleState.hasEnded) {
		return ""
	}
	return prefix + commandClauses[k.Verb]
}

// mayBeHeld reports whether a worker may have the job of a run.
func (l *workqLaw) mayBeHeld(run *call) bool {
	j := l.jobs[run.ID]
	return j == nil || j.mayBe(leased) || j.mayBe(unknown) || slices.ContainsFunc(l.pendingCalls, func(k *call) bool {
		return k.Verb == workq.Lease && slices.Contains(k.Names, j.Name())
	})
}
