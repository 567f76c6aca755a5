package clientrules

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

func (w *world) applyReply(l *observation) {
	c := l.conn
	if l.IsGreeting {
		c.greeting = l.moment()
		if hi, err := fwp.ParseHi(l.Reply); err == nil {
			c.hi, c.hasUnknownHiField = &hi, hasUnknownField(l.Reply.Text)
		}
		return
	}
	if len(c.inFlight) == 0 {
		w.lose(l)
		return
	}
	cmd := c.inFlight[0]
	c.inFlight = slices.Delete(c.inFlight, 0, 1)
	c.lastCommand, c.replyTime = cmd, l.At
	c.lastError, c.errorVerb, c.hasLateReply = nil, "", l.At-cmd.moment.At > longWait
	if l.IsError() {
		c.lastError, c.errorVerb = l.moment(), cmd.verb
	}
	switch cmd.verb {
	case fwp.HELLO:
		w.applyHelloReply(l, cmd)
	case fwp.FETCH:
		cmd.delivery = w.applyFetchReply(l)
	case fwp.ACK, fwp.FAIL:
		w.applyReportReply(l, cmd)
	case fwp.BEAT:
		if c.worker != nil {
			c.worker.applyBeatReply(l)
			c.hasOrder = c.hasOrder || fwp.Identified.Next(fwp.BEAT, l.Reply) != fwp.Identified
		}
	case fwp.PUSH:
		switch {
		case l.IsError():
			w.hasFailedPush = true
		case isOK(l.Reply) && cmd.hasJID:
			w.pushedJIDs.add(cmd.jid)
			w.unansweredPushes.drop(cmd.jid)
		}
	}
}

// hasUnknownField reports whether the text of a HI has a field beside v, i and s.
func hasUnknownField(hi []byte) bool {
	for name := range object(bytes.TrimPrefix(hi, []byte("HI "))) {
		if name != "v" && name != "i" && name != "s" {
			return true
		}
	}
	return false
}

func isOK(r fwp.Reply) bool { return r.Kind == fwp.SimpleString && string(r.Text) == "OK" }

// applyHelloReply takes the reply to a HELLO.
func (w *world) applyHelloReply(l *observation, cmd *command) {
	c := l.conn
	if !isOK(l.Reply) {
		switch {
		case !l.IsError(): // the client may take it for OK
			w.lose(l)
		case !c.isIdentified:
			c.declineReply = l.moment()
		}
		return
	}
	c.isIdentified, c.declineReply = true, nil
	if cmd.hello.wid == "" || c.worker != nil {
		return
	}
	k := w.workers[cmd.hello.wid]
	if w.isReplacedBy(k, l.process) {
		k = nil
	}
	if w.lostWIDs.has(cmd.hello.wid) || k == nil && len(w.workers) >= maxWorkers {
		delete(w.conns, c.number)
		return
	}
	if k == nil {
		w.workerCount++
		k = &workerState{
			number: w.workerCount, wid: cmd.hello.wid, process: c.process, hello: cmd.hello, conns: map[int]*connState{},
		}
		w.workers[k.wid] = k
	}
	if len(k.conns) == 0 {
		k.lastFetch, k.hello = l.At, cmd.hello
		if !w.isWorkingOffline(k) {
			k.connectTime, k.isSilenceReported = l.At, false
		}
	}
	k.conns[c.number], c.worker = c, k
	k.unknownReply, k.unknownFetches, k.lastEnd = nil, 0, nil
}

// applyBeatReply takes the reply to a worker's BEAT.
func (k *workerState) applyBeatReply(l *observation) {
	k.beatReplyTime = l.At
	switch state := fwp.Identified.Next(fwp.BEAT, l.Reply); {
	case state == fwp.Quiet && k.quietReply == nil:
		k.quietReply = l.moment()
	case state == fwp.Terminating && k.terminateReply == nil:
		k.terminateReply, k.jobsAtTerminate = l.moment(), k.countRunning()
	case k.order() != nil && isOK(l.Reply) && k.okAfterQuiet == nil:
		k.okAfterQuiet = l.moment()
	}
	if !l.IsError() {
		k.unknownReply, k.refusals = nil, 0
		return
	}
	k.hasLostConn, k.refusals = true, min(2, k.refusals+1)
	if strings.Contains(strings.ToLower(string(l.Reply.Text)), "unknown") {
		k.unknownReply, k.unknownFetches = l.moment(), 0
	}
}

const defaultReservation = 1800 * time.Second

// reservation is for how long a server keeps the job for the worker that has fetched it.
func (j *Job) reservation() time.Duration {
	if j.ReserveFor == nil || *j.ReserveFor < minReservation || *j.ReserveFor >= 1<<31 {
		return defaultReservation
	}
	return time.Duration(*j.ReserveFor) * time.Second
}

// applyFetchReply takes the reply to a FETCH, and returns the delivery that it is, nil if it is none. A client without
// a worker id holds no job.
func (w *world) applyFetchReply(l *observation) *delivery {
	k, j := l.conn.worker, l.Job
	if k != nil {
		k.fetchesInFlight = max(0, k.fetchesInFlight-1)
		k.lastFetch, k.isFetchRefused = l.At, l.IsError()
	}
	if j == nil {
		if l.Reply.Kind == fwp.BulkString { // its jid may be empty
			w.forgottenJIDs.add("")
		}
		return nil
	}
	if k != nil && (len(k.jobs) >= maxHeld || len(w.jobs) >= maxJobs) {
		w.forgottenJIDs.add(j.JID)
		return nil
	}
	w.reportedJIDs.drop(j.JID)
	if k == nil {
		return nil
	}
	d := &delivery{
		jid: j.JID, jobtype: shortenName(j.Type), worker: k, at: l.At, moment: l.Moment(), reservation: j.reservation(),
	}
	if w.cfg.Outcome != nil {
		d.outcome = w.cfg.Outcome(j.Type, j.Args)
	}
	k.jobs = append(k.jobs, d)
	w.jobs[d.jid] = append(w.jobs[d.jid], d)
	return d
}

// applyReportReply takes the reply to an ACK or a FAIL.
func (w *world) applyReportReply(l *observation, cmd *command) {
	d := cmd.report
	if d == nil {
		return
	}
	if l.IsError() {
		d.isRefused = true
		return
	}
	w.reportedJIDs.add(d.jid)
	w.dropJob(d)
	for _, o := range w.jobs[d.jid] { // its reservation was over, and it was delivered again: one report may be for both
		if o.worker == d.worker && o.report == nil {
			o.report, o.mayRepeat = &cmd.moment, true
		}
	}
	d.worker.jobs = slices.DeleteFunc(d.worker.jobs, func(o *delivery) bool { return o == d })
	if d.worker.fetchesInFlight == 0 {
		d.worker.lastFetch = l.At
	}
}
