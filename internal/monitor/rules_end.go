package monitor

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// endRules are about END, and about what a client does when a connection is lost.
func endRules() []Rule {
	return []Rule{
		{
			Breach: LineAfterEnd, Goal: "a client sent END",
			on: append(on(Line), on(Closed)...), check: func(l *look) judgement {
				if l.conn == nil || l.conn.end == nil {
					return aside()
				}
				if l.Kind == Closed {
					return right()
				}
				return wrong([]Moment{*l.conn.end}, "a line follows END")
			},
		},
		{
			Breach: ClosedWithoutEnd, Goal: "a client ended a connection",
			on: on(Closed), check: checkWithoutEnd,
		},
		{
			Breach: EndWithJobs, Goal: "a worker sent END on its last connection",
			on: slices.Concat(on(Line, fwp.END), on(worker), on(left)), check: checkEndWithJobs,
		},
		{
			Breach: DialWithoutPause, Goal: "a server closed three connections in a row before they were greeted",
			Needs: NeedsProcesses, on: on(Opened), check: func(l *look) judgement {
				p := l.process
				if p == nil || p.failed < 3 {
					return aside()
				}
				pause := l.At - p.lastFail
				return rightIf(pause >= 100*time.Millisecond,
					"the client dials again %.3f s after its connection %d in a row was closed", pause.Seconds(), p.failed)
			},
		},
	}
}

// replaceFor is how long a worker that sends END on its last connection may take to open another one in its place. The
// two go over different connections, so that either may be seen first.
const replaceFor = time.Second

// lastEnd is an END on the last connection of a worker that has jobs without a report.
type lastEnd struct {
	at    time.Duration
	held  Moment // the oldest of the jobs
	jobs  int
	shown Moment
}

// lastEndOf returns the END that a worker has just sent, if it was on its last connection and jobs have no report.
func (w *world) lastEndOf(k *workerState, m Moment) *lastEnd {
	n := k.running()
	if n == 0 || k.inUse() > 0 || w.greets(k.process) {
		return nil
	}
	return &lastEnd{m.At, k.held[0].shown, n, m}
}

// checkEndWithJobs judges END on the last connection of a worker. With jobs in hand it leaves, unless it opens another
// connection in its place.
func checkEndWithJobs(l *look) judgement {
	k := l.worker
	if l.Kind == Line {
		if k == nil || l.conn.end != nil || k.inUse() > 1 || l.world.greets(k.process) || k.running() > 0 {
			return aside()
		}
		return right()
	}
	e := k.lastEnd
	killed := l.isSignalled() && l.process.signal == "KILL"
	if e == nil || killed || l.Kind != left && l.At-e.at <= replaceFor+l.world.slack {
		return aside()
	}
	return wrong([]Moment{e.held, e.shown}, "END while %d jobs have no ACK and no FAIL", e.jobs)
}

// greets reports whether a process has a connection on which it has not greeted yet: it may be one more of its worker.
func (w *world) greets(process int) bool {
	if process == 0 {
		return false
	}
	for _, c := range w.conns {
		if c.process == process && !c.identified {
			return true
		}
	}
	return false
}

// checkWithoutEnd judges a client that closes a connection which still works. One that gives up waiting for a reply, or
// was killed, has no END to send.
func checkWithoutEnd(l *look) judgement {
	c := l.conn
	switch {
	case c == nil || !c.identified:
		return aside()
	case c.end != nil:
		return right()
	case l.By != Client || l.Reset || c.unjudged || len(c.inFlight) > 0:
		return aside()
	case c.refused != nil && l.worker != nil:
		return aside() // error-ends-connection has it
	case l.isSignalled() && l.process.signal == "KILL":
		return aside()
	}
	return wrong([]Moment{c.hello.shown}, "the client closed the connection without END")
}
