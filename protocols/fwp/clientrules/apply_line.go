package clientrules

import (
	"slices"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

func (w *world) applyLine(l *observation) {
	c, m := l.conn, l.moment()
	c.lines++
	cmd := &command{verb: l.Command.Verb, moment: *m, jid: l.Text("jid"), hasMistakes: len(l.Mistakes) > 0,
		errorBefore: c.lastError}
	_, cmd.hasJID = l.Object["jid"].(string)
	c.lastError, c.lastCommand = nil, nil
	if len(c.inFlight) >= maxInFlight {
		w.lose(l)
		return
	}
	c.inFlight = append(c.inFlight, cmd)
	switch cmd.verb {
	case fwp.HELLO:
		w.applyHello(c, cmd, readHello(l.Object, *m))
		return
	case fwp.END:
		if c.end = m; c.worker != nil {
			c.worker.lastEnd = w.lastEndOf(c.worker, *m)
		}
		return
	case fwp.BEAT:
		if c.worker != nil {
			c.worker.applyBeat(c, m, l.Text("current_state"))
		}
		c.beats++
	case fwp.FETCH:
		c.fetches++
		if c.worker != nil {
			c.worker.applyFetch(w, l)
		}
	case fwp.ACK, fwp.FAIL:
		w.applyReport(l, cmd)
		c.reports++
	case fwp.PUSH:
		c.pushes++
	}
	c.commands++
	c.work(l.process)
}

// work counts a command of a worker and its process.
func (c *connState) work(p *processState) {
	if c.worker != nil {
		c.worker.briefs.allCommands++
	}
	if p != nil {
		p.briefs.allCommands++
	}
}

// applyHello takes a HELLO, of which the first one of a connection counts.
func (w *world) applyHello(c *connState, cmd *command, h *hello) {
	cmd.hello = h
	_, cmd.isCompared = w.workers[h.wid]
	if c.hello == nil {
		c.hello = h
	}
}

// applyBeat takes a BEAT that a worker sends.
func (k *workerState) applyBeat(c *connState, m *Moment, state string) {
	isRegular := state == "" && !k.hasBeatState
	if k.beats > 0 && isRegular {
		copy(k.gaps[1:], k.gaps[:])
		k.gaps[0], k.beatPause = m.At-k.beat.At, m.At-max(k.beat.At, k.beatReplyTime)
	}
	c.beat = m
	if k.order() == nil && state != k.claimedState && (state == "quiet" || state == "terminate") {
		k.claim, k.claimedState = m, state
	}
	k.beats++
	k.beat, k.isBeatConnClosed, k.hasBeatState = m, false, state != ""
	k.hasLostConn, k.isSilenceReported = false, false
}

// applyFetch takes a FETCH that a worker sends.
func (k *workerState) applyFetch(w *world, l *observation) {
	if order := k.order(); order != nil {
		hasWaited, mayCross := w.hasWaited(k, l.conn, order, l.At), w.mayCross(k, l.conn, order, l.At)
		if k.waitingFetches++; !hasWaited {
			k.waitingFetches = maxWaiting
		}
		if !mayCross {
			k.fetchesAfterOrder++
		}
	}
	k.fetchesInFlight++
	k.fetches++
	k.lastFetch, k.isIdleReported = l.At, false
	if k.unknownReply != nil {
		k.unknownFetches++
	}
	for _, queue := range l.Queues() {
		if slices.Contains(l.configuredQueues(), queue) {
			if k.queues == nil {
				k.queues = map[string]bool{}
			}
			k.queues[queue] = true
		}
	}
}

// applyReport takes an ACK or a FAIL that a client sends.
func (w *world) applyReport(l *observation, cmd *command) {
	if l.IsUnread && l.worker != nil {
		l.worker.loseReports() // it may be about any of the jobs
	}
	if d := w.deliveryFor(l.worker, cmd.jid); d != nil {
		cmd.report = d
		d.report = &cmd.moment
		d.reports++
	}
}
