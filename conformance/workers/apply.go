package workers

import (
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// apply changes the world by an event that the rules have looked at.
func (w *world) apply(l *look) {
	switch l.Kind {
	case Opened:
		w.conns[l.Conn] = &connState{number: l.Conn, process: l.Process, opened: l.At}
	case Line, Reply, Broken, Closed:
		if l.conn != nil {
			w.applyToConn(l)
		}
	case Started, Signalled, Exited:
		w.applyToProcess(l)
	case Lost:
		w.applyLost(l)
	case second:
		w.applySecond(l)
	case Lag:
		w.slack = max(w.slack, w.cfg.Slack+l.Late)
	}
}

func (w *world) applyToConn(l *look) {
	switch l.Kind {
	case Line:
		w.applyLine(l)
	case Reply:
		w.applyReply(l)
	case Broken:
		l.conn.unmatched = true
	case Closed:
		w.applyClose(l)
	}
}

func (w *world) applyToProcess(l *look) {
	switch p := l.process; {
	case l.Kind == Started:
		w.processes[l.Process] = &processState{number: l.Process, queues: l.Told}
	case p != nil && l.Kind == Signalled && p.signalled == nil:
		p.signalled, p.signal = l.moment(), l.Signal
	case p != nil && l.Kind == Exited:
		p.exited = l.moment()
	}
}

func (w *world) applyClose(l *look) {
	c, k := l.conn, l.conn.worker
	delete(w.conns, c.number)
	for _, cmd := range c.inFlight {
		w.applyUnanswered(k, cmd)
	}
	byItself := l.By == Client && !l.Reset
	if !byItself {
		w.applyUnread(l)
	}
	if p := l.process; p != nil {
		p.briefs = p.briefs.with(c, l.By)
	}
	if k == nil {
		return
	}
	delete(k.conns, c.number)
	k.briefs = k.briefs.with(c, l.By)
	if !byItself {
		k.lostConn, k.refusals = true, 0
	}
	k.closesWithoutEnd = k.closesWithoutEnd || byItself && c.end == nil && c.refusal(l.At) == nil && !k.isRefused()
	k.beatClosed = k.beatClosed || byItself && c.beat != nil && *c.beat == *k.beat
	if len(k.conns) == 0 {
		k.disconnected, k.lastClose, k.closedBy, k.endedLast = l.At, l.moment(), l.By, c.end != nil
	}
}

// applyUnanswered deals with a command of a worker, or of another client, whose connection ends before the reply.
func (w *world) applyUnanswered(k *workerState, cmd *command) {
	switch {
	case cmd.report != nil:
		cmd.report.mayRepeat = true
	case cmd.verb == fwp.FETCH && k != nil:
		k.fetchesInFlight = max(0, k.fetchesInFlight-1)
	case cmd.verb == fwp.PUSH && cmd.jid != "":
		w.unansweredPush.add(cmd.jid)
	}
}

// applyUnread deals with a command whose connection was lost so soon after the reply that the client may not have read
// it: for the client it is one without a reply, and a job or an order that the reply brought has not come.
func (w *world) applyUnread(l *look) {
	c, cmd := l.conn, l.conn.answered
	switch {
	case cmd == nil || l.At-c.replied > w.grace():
	case cmd.verb == fwp.BEAT && c.worker != nil:
		c.worker.forgetOrder(c.replied)
	case w.reported.has(cmd.jid):
		w.reported.drop(cmd.jid)
		w.forgotten.add(cmd.jid)
	case cmd.verb == fwp.PUSH && w.pushed.has(cmd.jid):
		w.pushed.drop(cmd.jid)
		w.unansweredPush.add(cmd.jid)
	case cmd.brought != nil:
		cmd.brought.unread = true
	}
}

// forgetOrder forgets what a reply at a time has told the worker.
func (k *workerState) forgetOrder(at time.Duration) {
	for _, order := range []**Moment{&k.quiet, &k.unquieted, &k.terminate} {
		if *order != nil && (*order).At == at {
			*order = nil
		}
	}
}

// briefs counts connections in a row that their client ended after one command, or after one job.
type briefs struct {
	conns   int
	carried int // commands on them
	sent    int // commands since the row began, on all connections of the client
}

// with returns the count behind the end of one more connection.
func (b briefs) with(c *connState, by Side) briefs {
	switch {
	case !c.identified || by != Client && c.end == nil:
		return b
	case c.commands <= 1, c.fetches == 1 && c.commands == 1+c.reports: // a FETCH and what is reported of its job
		return briefs{b.conns + 1, b.carried + c.commands, b.sent}
	}
	return briefs{}
}

// applySecond keeps what the rules have reported, and whether the server kept a worker waiting.
func (w *world) applySecond(l *look) {
	k := l.worker
	if k.waitsForServer(l.At) {
		k.stalled = l.At
	}
	k.silenceReported = k.silenceReported || w.isSilent(k)
	k.idleReported = k.idleReported || isIdle(l)
	k.stayReported = k.stayReported || overstays(l)
	k.jobsLeftReported = k.jobsLeftReported || isTerminateOver(l)
	if e := k.lastEnd; e != nil && (k.inUse() > 0 || w.isGreeting(k.process) || l.At-e.end.At > replaceFor+w.slack) {
		k.lastEnd = nil // it has another connection, or was judged
	}
}

// applyLost forgets the worker of a connection that has lost bytes, with all its connections.
func (w *world) applyLost(l *look) {
	delete(w.conns, l.Conn)
	if l.worker == nil {
		return
	}
	for number := range l.worker.conns {
		delete(w.conns, number)
	}
	w.forget(l.worker)
}
