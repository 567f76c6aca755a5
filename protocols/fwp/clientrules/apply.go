package clientrules

import (
	"cmp"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// apply changes the world by an event that the rules have looked at.
func (w *world) apply(l *observation) {
	switch l.Kind {
	case ConnOpen:
		w.conns[l.Conn] = &connState{number: l.Conn, process: l.Process, openTime: l.At}
	case Line, Reply, BrokenReply, ConnClose, LineAfterClose:
		switch {
		case l.conn != nil:
			w.applyToConn(l)
		case l.Kind == Line || l.Kind == LineAfterClose:
			w.applyLineAfterLoss(l)
		}
	case ProcessStart, ProcessSignal, ProcessExit:
		w.applyToProcess(l)
	case ByteLoss:
		w.lose(l)
	case workerSecond:
		w.applySecond(l)
	case Lag:
		w.slack = max(w.slack, w.cfg.Slack+l.Lag)
	}
}

func (w *world) applyToConn(l *observation) {
	switch l.Kind {
	case Line:
		w.applyLine(l)
	case Reply:
		w.applyReply(l)
	case BrokenReply:
		w.lose(l)
	case ConnClose:
		w.applyClose(l)
	}
}

func (w *world) applyToProcess(l *observation) {
	switch p := l.process; {
	case l.Kind == ProcessStart:
		w.processes[l.Process] = &processState{number: l.Process, queues: l.ProcessQueues}
	case p != nil && l.Kind == ProcessSignal:
		p.signal, p.isKilled = cmp.Or(p.signal, l.moment()), p.isKilled || l.Signal == "KILL"
	case p != nil && l.Kind == ProcessExit:
		p.exit = l.moment()
	}
}

func (w *world) applyClose(l *observation) {
	c, k := l.conn, l.conn.worker
	delete(w.conns, c.number)
	for _, cmd := range c.inFlight {
		w.applyLostCommand(k, cmd)
	}
	isClosedByClient := l.Closer == Client && !l.IsReset
	if !isClosedByClient {
		w.applyLostReply(l)
	}
	if p := l.producer(); p != nil {
		p.briefs = p.briefs.add(c, l)
	}
	if k == nil {
		return
	}
	delete(k.conns, c.number)
	k.briefs = k.briefs.add(c, l)
	if !isClosedByClient {
		k.applyLoss(l)
	}
	k.hasClosedWithoutEnd = k.hasClosedWithoutEnd || isClosedByClient && c.end == nil && c.refusal(l.At) == nil &&
		!k.isRefused()
	k.isBeatConnClosed = k.isBeatConnClosed || isClosedByClient && c.beat != nil && *c.beat == *k.beat
	if len(k.conns) == 0 {
		k.disconnectTime, k.lastClose, k.closer, k.hasEndedLast = l.At, l.moment(), l.Closer, c.end != nil
	}
}

// applyLoss deals with a connection that the worker has lost: reports that it may have sent there are not seen.
func (k *workerState) applyLoss(l *observation) {
	k.hasLostConn, k.refusals = true, 0
	if !l.IsUnseenLoss() {
		return
	}
	k.loseReports()
}

// loseReports notes that there may be a report on each of the jobs that the worker holds which was not seen.
func (k *workerState) loseReports() {
	for _, d := range k.jobs {
		d.mayHaveReport = true
	}
}

// applyLineAfterLoss deals with a line on a lost connection: a report there has no reply, and may be repeated.
func (w *world) applyLineAfterLoss(l *observation) {
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

// applyLostCommand deals with a command of a worker, or of another client, whose connection ends before the reply.
func (w *world) applyLostCommand(k *workerState, cmd *command) {
	switch {
	case cmd.report != nil:
		cmd.report.mayRepeat = true
	case cmd.verb == fwp.FETCH && k != nil:
		k.fetchesInFlight = max(0, k.fetchesInFlight-1)
	case cmd.verb == fwp.PUSH && cmd.jid != "":
		w.unansweredPushes.add(cmd.jid)
		w.hasFailedPush = true
	}
}

// applyLostReply deals with a command whose connection was lost so soon after the reply that the client may not have
// read it: for the client it is one without a reply, and a job or an order that the reply brought has not come.
func (w *world) applyLostReply(l *observation) {
	c, cmd := l.conn, l.conn.lastCommand
	switch {
	case cmd == nil || l.At-c.replyTime > w.grace():
	case cmd.verb == fwp.BEAT && c.worker != nil:
		c.worker.forgetOrder(c.replyTime)
	case w.reportedJIDs.has(cmd.jid):
		w.reportedJIDs.drop(cmd.jid)
		w.forgottenJIDs.add(cmd.jid)
	case cmd.verb == fwp.PUSH && w.pushedJIDs.has(cmd.jid):
		w.pushedJIDs.drop(cmd.jid)
		w.unansweredPushes.add(cmd.jid)
	case cmd.delivery != nil:
		cmd.delivery.isUnread = true
	}
}

// forgetOrder forgets what a reply at a time has told the worker.
func (k *workerState) forgetOrder(at time.Duration) {
	for _, order := range []**Moment{&k.quietReply, &k.okAfterQuiet, &k.terminateReply} {
		if *order != nil && (*order).At == at {
			*order = nil
		}
	}
	if k.order() == nil {
		k.waitingFetches = 0
	}
}

// A connection is kept for long if it carries so many commands, or is open for so long.
const (
	longCommands = 5
	longOpen     = time.Minute
)

// isLong reports whether a connection has been kept for long at a time.
func (c *connState) isLong(at time.Duration) bool {
	return c.commands >= longCommands || at-c.openTime >= longOpen
}

// briefs counts connections in a row that their client ended early, each of which stands in the place of one before.
type briefs struct {
	conns       int
	startTime   time.Duration // when the first of them ended
	commands    int           // commands on them, and on those beside them
	allCommands int           // commands since the row began, on all connections of the client
}

// add returns the count behind the end of one more connection. One that ends behind an error is for another rule.
func (b briefs) add(c *connState, l *observation) briefs {
	switch {
	case !c.isIdentified, l.Closer != Client && c.end == nil, c.lastError != nil:
		return b
	case c.worker != nil && c.pushes > 0 && c.pushes == c.commands: // what its jobs push is their own affair
		return b
	case c.isLong(l.At):
		return briefs{}
	case b.conns == 0:
		b.startTime = l.At
	case c.openTime < b.startTime: // a pool that is closed is one connection
		b.conns--
	}
	b.conns, b.commands = b.conns+1, b.commands+c.commands
	return b
}

// applySecond keeps what the rules have reported, and whether the server kept a worker waiting.
func (w *world) applySecond(l *observation) {
	k := l.worker
	if k.waitsForServer(l.At) {
		k.stallTime = l.At
	}
	k.isSilenceReported = k.isSilenceReported || w.isSilent(k)
	k.isIdleReported = k.isIdleReported || isIdle(l)
	k.isStayReported = k.isStayReported || overstays(l)
	k.areJobsLeftReported = k.areJobsLeftReported || isTerminateOver(l)
	if e := k.lastEnd; e != nil && (k.countConns() > 0 || w.isGreeting(k.process) || l.At-e.end.At > replaceTime+w.slack) {
		k.lastEnd = nil // it has another connection, or was judged
	}
}

// lose forgets a connection: bytes were lost, or the client may take a reply for that to another command. What it does
// from now on may be right, and so may what its worker does, and others of its process, on any connection.
func (w *world) lose(l *observation) {
	delete(w.conns, l.Conn)
	if l.Worker == "" || w.lostWIDs.has(l.Worker) {
		return
	}
	w.lostWIDs.add(l.Worker)
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
