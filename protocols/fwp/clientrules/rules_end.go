package clientrules

import (
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// endRules are about END.
func endRules() []Rule {
	return []Rule{
		{LineAfterEnd, "a client sent END", 0, on(Line, Closed), checkAfterEnd},
		{ClosedWithoutEnd, "a client ended a connection", 0, on(Closed), checkWithoutEnd},
		{
			EndWithJobs, "a worker sent END on its last connection", 0, on(Line, second, departed).of(fwp.END),
			checkEndWithJobs,
		},
	}
}

func checkAfterEnd(l *look) judgement {
	if l.conn == nil || l.conn.end == nil {
		return notApplicable()
	}
	return keptUnless(l.Kind == Line, moments(l.conn.end), "a line follows END")
}

// checkWithoutEnd judges a client that closes a connection which still works. One that gives up waiting for a reply, or
// was killed, has no END to send.
func checkWithoutEnd(l *look) judgement {
	c := l.conn
	switch {
	case c == nil || !c.identified:
		return notApplicable()
	case c.end != nil:
		return kept()
	case l.By != Client || l.Reset || len(c.inFlight) > 0 || c.keptWaiting || l.isKilled():
		return notApplicable()
	case c.refused != nil && l.worker != nil:
		return notApplicable() // error-ends-connection has it
	}
	return broken(moments(&c.hello.shown), "the client closed the connection without END")
}

// replaceFor is how long a worker that sends END on its last connection may take to open another one in its place. The
// two go over different connections, so that either may be seen first.
const replaceFor = time.Second

// lastEnd is an END on the last connection of a worker that has jobs without a report.
type lastEnd struct {
	end    Moment
	oldest Moment // of the jobs
	jobs   int
}

// lastEndOf returns the END that a worker has just sent, if it was on its last connection and jobs have no report.
func (w *world) lastEndOf(k *workerState, end Moment) *lastEnd {
	jobs := k.unreported()
	if len(jobs) == 0 || k.inUse() > 0 || w.isGreeting(k.process) {
		return nil
	}
	return &lastEnd{end, jobs[0].shown, len(jobs)}
}

// checkEndWithJobs judges END on the last connection of a worker. With jobs in hand it leaves, unless it opens another
// connection in its place.
func checkEndWithJobs(l *look) judgement {
	k := l.worker
	if l.Kind == Line {
		return keptWhere(k != nil && l.conn.end == nil && k.inUse() <= 1 && !l.world.isGreeting(k.process) &&
			k.running() == 0)
	}
	e := k.lastEnd
	if e == nil || l.isKilled() || l.Kind != departed && l.At-e.end.At <= replaceFor+l.world.slack {
		return notApplicable()
	}
	return broken(moments(&e.oldest, &e.end), "END while %s had no ACK and no FAIL", text.Count(e.jobs, "job"))
}

// isGreeting reports whether a process has a connection on which it has not greeted yet: it may be one more of its
// worker.
func (w *world) isGreeting(process int) bool {
	return process != 0 && some(w.conns, func(c *connState) bool { return c.process == process && !c.identified })
}
