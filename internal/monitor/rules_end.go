package monitor

import "time"

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
			on: on(Line, "END"), check: func(l *look) judgement {
				k := l.worker
				if k == nil || l.conn.end != nil || k.inUse() > 1 || l.world.greets(k.process) {
					return aside()
				}
				if n := k.running(); n > 0 {
					return wrong([]Moment{k.held[0].shown}, "END while %d jobs have no ACK and no FAIL", n)
				}
				return right()
			},
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
