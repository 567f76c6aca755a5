package clientrules

import (
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// endRules are about END.
func endRules() []Rule {
	return []Rule{
		{LineAfterEnd, "a client sent END", 0, occasionsOf(Line, ConnClose), checkLineAfterEnd},
		{ClosedWithoutEnd, "a client ended a connection", 0, occasionsOf(ConnClose), checkClosedWithoutEnd},
		{
			EndWithJobs, "a worker sent END on its last connection", 0,
			occasionsOf(Line, workerSecond, workerDeparture).withVerbs(fwp.END),
			checkEndWithJobs,
		},
	}
}

func checkLineAfterEnd(l *observation) judgement {
	if l.conn == nil || l.conn.end == nil {
		return skip()
	}
	return failIf(l.Kind == Line, moments(l.conn.end), "a line follows END")
}

// checkClosedWithoutEnd judges a client that closes a connection which still works. One that gives up waiting for a
// reply, or was killed, has no END to send.
func checkClosedWithoutEnd(l *observation) judgement {
	c := l.conn
	switch {
	case c == nil || !c.isIdentified:
		return skip()
	case c.end != nil:
		return pass()
	case l.Closer != Client || l.IsReset || len(c.inFlight) > 0 || c.hasLateReply || l.isKilled():
		return skip()
	case c.lastError != nil && l.worker != nil:
		return skip() // error-ends-connection has it
	}
	return fail(moments(&c.hello.moment), "the client closed the connection without END")
}

// replaceTime is how long a worker that sends END on its last connection may take to open another one in its place. The
// two go over different connections, so that either may be seen first.
const replaceTime = time.Second

// lastEnd is an END on the last connection of a worker that has jobs without a report.
type lastEnd struct {
	end       Moment
	oldestJob Moment // of the jobs
	jobs      int
}

// lastEndOf returns the END that a worker has just sent, if it was on its last connection and jobs have no report.
func (w *world) lastEndOf(k *workerState, end Moment) *lastEnd {
	jobs := k.unreportedJobs()
	if len(jobs) == 0 || k.countConns() > 0 || w.isGreeting(k.process) {
		return nil
	}
	return &lastEnd{end, jobs[0].moment, len(jobs)}
}

// checkEndWithJobs judges END on the last connection of a worker. With jobs in hand it leaves, unless it opens another
// connection in its place.
func checkEndWithJobs(l *observation) judgement {
	k := l.worker
	if l.Kind == Line {
		return passWhere(k != nil && l.conn.end == nil && k.countConns() <= 1 && !l.world.isGreeting(k.process) &&
			k.countRunning() == 0)
	}
	e := k.lastEnd
	if e == nil || l.isKilled() || l.Kind != workerDeparture && l.At-e.end.At <= replaceTime+l.world.slack {
		return skip()
	}
	return fail(moments(&e.oldestJob, &e.end), "END while %s had no ACK and no FAIL", text.Count(e.jobs, "job"))
}

// isGreeting reports whether a process has a connection on which it has not greeted yet: it may be one more of its
// worker.
func (w *world) isGreeting(process int) bool {
	return process != 0 && anyValue(w.conns, func(c *connState) bool { return c.process == process && !c.isIdentified })
}
