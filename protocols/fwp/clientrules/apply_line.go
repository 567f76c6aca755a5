package clientrules

import (
	"slices"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

func (w *world) applyLine(l *look) {
	c, m := l.conn, l.moment()
	c.lines++
	cmd := &command{verb: l.Command.Verb, shown: *m, jid: l.Text("jid"), wrong: len(l.Wrong) > 0, behind: c.refused}
	_, cmd.hasJID = l.Object["jid"].(string)
	c.refused, c.answered = nil, nil
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
		c.worker.briefs.sent++
	}
	if p != nil {
		p.briefs.sent++
	}
}

// applyHello takes a HELLO, of which the first one of a connection counts.
func (w *world) applyHello(c *connState, cmd *command, h *hello) {
	cmd.hello = h
	_, cmd.compared = w.workers[h.wid]
	if c.hello == nil {
		c.hello = h
	}
}

// applyBeat takes a BEAT that a worker sends.
func (k *workerState) applyBeat(c *connState, m *Moment, state string) {
	isRegular := state == "" && !k.beatHadState
	if k.beats > 0 && isRegular {
		copy(k.gaps[1:], k.gaps[:])
		k.gaps[0], k.beatPause = m.At-k.beat.At, m.At-max(k.beat.At, k.beatReplied)
	}
	c.beat = m
	if k.order() == nil && state != k.claimedState && (state == "quiet" || state == "terminate") {
		k.claim, k.claimedState = m, state
	}
	k.beats++
	k.beat, k.beatClosed, k.beatHadState = m, false, state != ""
	k.lostConn, k.silenceReported = false, false
}

// applyFetch takes a FETCH that a worker sends.
func (k *workerState) applyFetch(w *world, l *look) {
	if order := k.order(); order != nil {
		waited, crosses := w.waited(k, l.conn, order, l.At), w.mayCross(k, l.conn, order, l.At)
		if k.fetchesWaited++; !waited {
			k.fetchesWaited = mostWaiting
		}
		if !crosses {
			k.fetchesAfterOrder++
		}
	}
	k.fetchesInFlight++
	k.fetches++
	k.lastFetch, k.idleReported = l.At, false
	if k.unknown != nil {
		k.fetchesUnknown++
	}
	for _, queue := range l.Queues() {
		if slices.Contains(l.told(), queue) {
			if k.queues == nil {
				k.queues = map[string]bool{}
			}
			k.queues[queue] = true
		}
	}
}

// applyReport takes an ACK or a FAIL that a client sends.
func (w *world) applyReport(l *look, cmd *command) {
	if l.Unread && l.worker != nil {
		l.worker.unsee() // it may be about any of the jobs
	}
	if d := w.deliveryFor(l.worker, cmd.jid); d != nil {
		cmd.report = d
		d.report = &cmd.shown
		d.reports++
	}
}
