package clientrules

import (
	"cmp"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// apply changes the world by an event that the rules have looked at.
func (w *world) apply(l *look) {
	switch l.Kind {
	case Opened:
		w.conns[l.Conn] = &connState{number: l.Conn, process: l.Process, opened: l.At}
	case Line, Reply, Broken, Closed, AfterClose:
		switch {
		case l.conn != nil:
			w.applyToConn(l)
		case l.Kind == Line || l.Kind == AfterClose:
			w.applyUnanswerable(l)
		}
	case Started, Signalled, Exited:
		w.applyToProcess(l)
	case Lost:
		w.lose(l)
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
		w.lose(l)
	case Closed:
		w.applyClose(l)
	}
}

func (w *world) applyToProcess(l *look) {
	switch p := l.process; {
	case l.Kind == Started:
		w.processes[l.Process] = &processState{number: l.Process, queues: l.Told}
	case p != nil && l.Kind == Signalled:
		p.signalled, p.killed = cmp.Or(p.signalled, l.moment()), p.killed || l.Signal == "KILL"
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
	if p := l.producer(); p != nil {
		p.briefs = p.briefs.with(c, l)
	}
	if k == nil {
		return
	}
	delete(k.conns, c.number)
	k.briefs = k.briefs.with(c, l)
	if !byItself {
		k.applyLoss(l)
	}
	k.closesWithoutEnd = k.closesWithoutEnd || byItself && c.end == nil && c.refusal(l.At) == nil && !k.isRefused()
	k.beatClosed = k.beatClosed || byItself && c.beat != nil && *c.beat == *k.beat
	if len(k.conns) == 0 {
		k.disconnected, k.lastClose, k.closedBy, k.endedLast = l.At, l.moment(), l.By, c.end != nil
	}
}

// applyLoss deals with a connection that the worker has lost: reports that it may have sent there are not seen.
func (k *workerState) applyLoss(l *look) {
	k.lostConn, k.refusals = true, 0
	if !l.IsUnseenLoss() {
		return
	}
	k.unsee()
}

// unsee notes that there may be a report on each of the jobs that the worker holds which was not seen.
func (k *workerState) unsee() {
	for _, d := range k.held {
		d.unseen = true
	}
}

// applyUnanswerable deals with a line on a lost connection: a report there has no reply, and may be repeated.
func (w *world) applyUnanswerable(l *look) {
	if l.Kind == Line { // its HELLO may have come behind the loss
		w.lose(l)
	}
	if l.Command.Verb != fwp.ACK && l.Command.Verb != fwp.FAIL {
		return
	}
	if d := w.deliveryFor(w.workers[l.Worker], l.Text("jid")); d != nil && d.report == nil {
		d.report, d.mayRepeat = l.moment(), true
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
		w.pushFailed = true
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
	if k.order() == nil {
		k.fetchesWaited = 0
	}
}

// A connection is kept for long if it carries so many commands, or is open for so long.
const (
	longCommands = 5
	longOpen     = time.Minute
)

// isLong reports whether a connection has been kept for long at a time.
func (c *connState) isLong(at time.Duration) bool {
	return c.commands >= longCommands || at-c.opened >= longOpen
}

// briefs counts connections in a row that their client ended early, each of which stands in the place of one before.
type briefs struct {
	conns   int
	first   time.Duration // when the first of them ended
	carried int           // commands on them, and on those beside them
	sent    int           // commands since the row began, on all connections of the client
}

// with returns the count behind the end of one more connection. One that ends behind an error is for another rule.
func (b briefs) with(c *connState, l *look) briefs {
	switch {
	case !c.identified, l.By != Client && c.end == nil, c.refused != nil:
		return b
	case c.worker != nil && c.pushes > 0 && c.pushes == c.commands: // what its jobs push is their own affair
		return b
	case c.isLong(l.At):
		return briefs{}
	case b.conns == 0:
		b.first = l.At
	case c.opened < b.first: // a pool that is closed is one connection
		b.conns--
	}
	b.conns, b.carried = b.conns+1, b.carried+c.commands
	return b
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

// lose forgets a connection: bytes were lost, or the client may take a reply for that to another command. What it does
// from now on may be right, and so may what its worker does, and others of its process, on any connection.
func (w *world) lose(l *look) {
	delete(w.conns, l.Conn)
	if l.Worker == "" || w.lost.has(l.Worker) {
		return
	}
	w.lost.add(l.Worker)
	for wid, k := range w.workers {
		if wid != l.Worker && (l.process == nil || l.process.number != k.process) {
			continue
		}
		for number := range k.conns {
			delete(w.conns, number)
		}
		w.forget(k)
	}
}
