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
	anything   = success + timeout + refusal
)

// concerns reports whether a command is about a job.
func (k *call) concerns(j *job) bool {
	if k.malformed {
		return false
	}
	return k.ID == j.ID || k.ID == "" && slices.Contains(k.Names, j.Name()) || k.Verb == workq.InspectQueues ||
		k.Verb == workq.InspectServer
}

// carry returns how things may stand when a command has been carried out, at some time before now, on a job that was in
// a configuration; nothing if it cannot have been.
func (j *job) carry(k *call, c config, now time.Time) []config {
	if k.sent.After(j.until(c)) {
		return nil
	}
	done := c.after(k, now)
	switch {
	case c.state == open:
		return []config{done(open, anything)}
	case k.Verb == workq.Lease && !j.leasable(c):
		return nil
	case k.Verb == workq.Lease:
		return []config{done(leased, success, func(n *config) { n.attempts++ })}
	case k.adds():
		return j.carryAdd(k, c, done)
	case k.Verb == workq.Result && c.goneSince(k.sent): // what is answered to those who wait is open
		return []config{done(c.state, notFound+timeout)}
	case !c.there() && k.ID != "":
		return []config{done(c.state, notFound, func(n *config) { n.unfound = n.state == deleted })}
	}
	switch k.Verb {
	case workq.Complete, workq.Fail:
		return j.carryEnd(k, c, done)
	case workq.Delete:
		return j.carryDelete(done)
	case workq.Result:
		return j.carryResult(k, c, now, done)
	}
	return []config{done(c.state, success)}
}

// soon is how close to the end of a wait something may happen that should have ended it.
const soon = 300 * time.Millisecond

// doing makes a configuration in which a command has been carried out.
type doing func(s state, replies string, change ...func(*config)) config

// after returns what makes the configurations that a command may leave behind, by now, where it finds this one.
func (c config) after(k *call, now time.Time) doing {
	return func(s state, replies string, change ...func(*config)) config {
		n := c
		if s != c.state {
			n.state, n.from, n.to, n.expired, n.timed = s, later(k.sent, c.from), now, false, false
		}
		for _, f := range change {
			f(&n)
		}
		before := c
		before.met = nil
		n.met = append(slices.Clone(c.met), meet{k, replies, &before})
		return n
	}
}

// there reports whether the job was added, and is not deleted.
func (c config) there() bool { return c.state != absent && c.state != deleted }

// goneSince reports whether the job may have been there at a time, and is deleted.
func (c config) goneSince(at time.Time) bool { return c.state == deleted && !c.to.Before(at) }

// carryAdd is carry for a command that adds a job. A second one adds nothing, and may be answered in any way.
// (WQ-AMB-02) One that a client has deleted is not there any more, and the command is no second one. Whether the id of
// a job that is gone because of its time may come again is open: what it adds then is a new job.
func (j *job) carryAdd(k *call, c config, done doing) []config {
	lapsed := c.state == deleted && c.timed
	switch {
	case c.removed(), c.gone() && k.Verb != workq.Run && slices.Contains(k.lapses, j.lapses): // it is about k
	case lapsed, c.state != absent && k.Verb == workq.Run:
		return []config{done(open, anything)}
	case c.state != absent:
		return []config{done(c.state, anything)}
	}
	into := ready
	if k.Verb == workq.Schedule {
		into = scheduled
	}
	added := done(into, success, func(n *config) {
		n.attempts, n.fails, n.result, n.evicted, n.unfound = 0, 0, nil, false, false
		if n.born, n.bornBy = n.from, n.to; into == scheduled {
			due, _ := workq.Time(k.Time) // the reader has checked it
			n.born, n.bornBy = later(due.Add(-skew), n.from), later(due.Add(skew), n.to)
		}
	})
	switch {
	case lapsed:
		return []config{added, done(c.state, anything)}
	case k.beyond():
		return []config{added, done(c.state, errorKinds)}
	}
	return []config{added}
}

// beyond reports whether a command has a value for which the document has no limit, where a server may have one.
func (k *call) beyond() bool {
	const attempts, name, wait = 255, 128, 24 * 60 * 60 * 1000 // what servers are known to take
	return k.MaxFails > attempts || len(k.Name()) > name || k.Wait > wait
}

// carryEnd is carry for complete and fail. A worker may report after its time to run. What a report does to a job
// that no worker has is open. (lease, Special Considerations)
func (j *job) carryEnd(k *call, c config, done doing) []config {
	result := append([]byte{}, k.Block...)
	end := func(s state) config { return done(s, success, func(n *config) { n.result = result }) }
	switch {
	case c.over():
		return append(c.endedAgain(result, done), done(c.state, refusal))
	case c.state != leased && !c.expired:
		return []config{done(open, anything)}
	case k.Verb == workq.Complete:
		return []config{end(completed)}
	}
	fails := func(n config) config { n.fails++; return n }
	if j.Verb == workq.Run || c.fails+1 >= j.MaxFails {
		return []config{fails(end(failed))}
	}
	again := fails(done(ready, success, func(n *config) { n.expired = false }))
	if j.MaxAttempts > 0 && c.attempts >= j.MaxAttempts { // which of the two limits counts is open, but none is left
		return []config{again, fails(end(failed))}
	}
	return []config{again}
}

// endedAgain returns how things may stand when a report on a job that has ended was taken: which report counts is open,
// but the job is not processed any more. (inspect job by id, Keys: state)
func (c config) endedAgain(result []byte, done doing) (all []config) {
	states := []state{failed, completed} // the last one is the likeliest
	if c.state == failed {
		slices.Reverse(states)
	}
	for _, s := range states {
		for _, r := range [][]byte{c.result, result} {
			for fails := range uint64(2) {
				all = append(all, done(s, success, func(n *config) { n.result, n.fails = r, n.fails+fails }))
			}
		}
	}
	return all
}

// carryDelete is carry for delete. What becomes of a job that its client waits for is open.
func (j *job) carryDelete(done doing) []config {
	if j.Verb == workq.Run {
		return []config{done(open, anything)}
	}
	return []config{done(deleted, success)}
}

// carryResult is carry for result, which waits until the job has ended. Whether the job of a run stays behind it is
// open.
func (j *job) carryResult(k *call, c config, now time.Time, done doing) []config {
	switch {
	case c.over() && c.result == nil: // no worker has reported anything
		return []config{done(c.state, anything)}
	case c.over() && j.Verb == workq.Run:
		return []config{done(c.state, success+notFound)}
	case c.over():
		return []config{done(c.state, success)}
	case now.Before(k.sent.Add(milliseconds(k.Wait) - soon)):
		return nil
	}
	return []config{done(c.state, timeout)}
}

// metBy returns what a command has met in a configuration, nil if it was not carried out.
func (c config) metBy(k *call) *meet {
	i := slices.IndexFunc(c.met, func(m meet) bool { return m.call == k })
	if i < 0 {
		return nil
	}
	return &c.met[i]
}

// answered keeps the configurations that fit the reply to a command. It changes nothing, and returns false, if there
// are none.
func (j *job) answered(k *call, kind byte, fits func(view *config) bool) bool {
	var left []config
	for _, c := range j.configs {
		m := c.metBy(k)
		if m != nil && strings.IndexByte(m.replies, kind) >= 0 && (fits == nil || m.view.state == open || fits(m.view)) {
			left = append(left, c)
		}
	}
	if len(left) == 0 {
		return false
	}
	j.configs = left
	return true
}

// settle has the jobs that an answered command was about go on without it; of those of a lease one may have come.
func (l *workqLaw) settle(k *call, concerned []*job, came *job, at time.Time) {
	for _, j := range concerned {
		if k.Verb == workq.Lease && j != came {
			j.passedOver(k)
		}
		j.settle(k)
		j.prune(at)
		l.endLapse(j)
	}
}

// settle forgets a command that was answered.
func (j *job) settle(k *call) {
	configs := j.configs
	j.configs = nil
	for _, c := range configs {
		j.add(c.without(k))
	}
}

// passedOver keeps the configurations in which a lease has not taken the job.
func (j *job) passedOver(k *call) {
	j.configs = slices.DeleteFunc(j.configs, func(c config) bool { return c.metBy(k) != nil && c.state != open })
	if len(j.configs) == 0 {
		j.open()
	}
}

// without returns a configuration without what a command has met.
func (c config) without(k *call) config {
	c.met = slices.DeleteFunc(slices.Clone(c.met), func(m meet) bool { return m.call == k })
	if len(c.met) == 0 {
		c.met = nil
	}
	return c
}

// views returns how the job may have been when a command looked.
func (j *job) views(k *call) (all []config) {
	for _, c := range j.configs {
		if m := c.metBy(k); m != nil {
			all = append(all, *m.view)
		}
	}
	return all
}

// MayWait implements [law.Timer]: a run whose job a worker may have waits until its time to run is over, and any
// command as long as it says.
func (l *workqLaw) MayWait(number int, now time.Time) bool {
	c := l.conns[number]
	if c == nil || len(c.asked) == 0 {
		return false
	}
	k := c.asked[0]
	until := k.sent.Add(milliseconds(k.Wait))
	if k.Verb == workq.Run && l.mayBeHeld(k) {
		until = until.Add(milliseconds(k.TTR))
	}
	return now.Before(until)
}

// Awaited implements [law.Timer].
func (l *workqLaw) Awaited(number int) string {
	c := l.conns[number]
	if c == nil || len(c.asked) == 0 {
		return ""
	}
	k := c.asked[0]
	j := l.jobs[k.ID]
	if k.Verb != workq.Run && k.Verb != workq.Result || j == nil || !j.all(config.over) {
		return ""
	}
	return prefix + commandClauses[k.Verb]
}

// mayBeHeld reports whether a worker may have the job of a run.
func (l *workqLaw) mayBeHeld(run *call) bool {
	j := l.jobs[run.ID]
	return j == nil || j.may(leased) || j.may(open) || slices.ContainsFunc(l.under, func(k *call) bool {
		return k.Verb == workq.Lease && slices.Contains(k.Names, j.Name())
	})
}
