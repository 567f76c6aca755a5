package clientrules

import (
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// jobRules are about ACK and FAIL.
func jobRules() []Rule {
	const goal = "a worker reported a job"
	reports, acks, fails := occasionsOf(Line).withVerbs(fwp.ACK, fwp.FAIL), occasionsOf(Line).withVerbs(fwp.ACK),
		occasionsOf(Line).withVerbs(fwp.FAIL)
	return []Rule{
		{
			JobNotReported, goal + ", or left with one", 0, occasionsOf(Reply, workerDeparture).withVerbs(fwp.ACK, fwp.FAIL),
			checkJobNotReported,
		},
		{JobReportedTwice, goal, 0, reports, checkJobReportedTwice},
		{ReportUnfetched, goal, 0, reports, checkReportUnfetched},
		{
			AckOfFailed, "a job that succeeds was acknowledged, or one that fails was reported", NeedsOutcomes, reports,
			checkAckOfFailed,
		},
		{
			FailOfDone, "a job that fails got its FAIL, or one that succeeds was reported", NeedsOutcomes, reports,
			checkFailOfDone,
		},
		{AckEarly, "a job that takes time was acknowledged", NeedsOutcomes, acks, checkAckEarly},
		{AckFields, "a worker sent ACK", 0, acks, checkAckFields},
		{FailFields, "a worker sent FAIL", 0, fails, checkFailFields},
		{FailEmpty, "a worker sent FAIL", 0, fails, checkFailEmpty},
		{ErrorEndsConnection, "a command of a worker was refused", 0, occasionsOf(Line, ConnClose), checkErrorEndsConnection},
	}
}

// delivery returns the delivery that a report is about, nil if there is none.
func (l *observation) delivery() *delivery { return l.world.deliveryFor(l.worker, l.Text("jid")) }

// checkJobNotReported judges a worker that left in order, of its own accord: it has reported what it fetched. After a
// terminate the rule about that decides.
func checkJobNotReported(l *observation) judgement {
	if l.Kind == Reply {
		return passWhere(l.command.report != nil)
	}
	k := l.worker
	crashed := !k.hasEndedLast && !l.world.cfg.HasProcesses // or it was killed: without its process nothing tells
	if k.terminateReply != nil || k.closer != Client || k.hasLostConn || l.isKilled() || crashed ||
		l.world.isWorkingOffline(k) {
		return skip()
	}
	for _, d := range k.unreportedJobs() {
		if k.disconnectTime < d.at+d.reservation {
			return fail(moments(k.lastClose, &d.moment), "the worker left without an ACK or a FAIL for a job")
		}
	}
	return skip()
}

// maxReports is how often a job may be reported whose report was refused, or lost its connection.
const maxReports = 10

func checkJobReportedTwice(l *observation) judgement {
	w, d, jid := l.world, l.delivery(), l.Text("jid")
	switch {
	case l.conn == nil, d == nil && (!w.reportedJIDs.has(jid) || w.forgottenJIDs.has(jid)):
		return skip()
	case d == nil:
		return fail(nil, "a second report for a job whose report was accepted")
	case d.report == nil || (d.isRefused || d.mayRepeat) && d.reports < maxReports:
		return pass()
	case d.isRefused:
		return fail(moments(&d.moment, d.report), "report %d for a job whose reports are refused", d.reports+1)
	}
	return fail(moments(&d.moment, d.report), "a second report for a job")
}

func checkReportUnfetched(l *observation) judgement {
	w := l.world
	jid, ok := l.Object["jid"].(string)
	if l.delivery() != nil {
		return pass()
	}
	if l.worker == nil || !ok || w.reportedJIDs.has(jid) || w.forgottenJIDs.has(jid) || len(l.worker.jobs) >= maxHeld {
		return skip()
	}
	return fail(nil, "a report for a job that the worker did not fetch")
}

func checkAckOfFailed(l *observation) judgement {
	d := l.delivery()
	switch {
	case d == nil || !d.outcome.IsKnown || l.verb() == fwp.FAIL && !d.outcome.IsFailure:
		return skip()
	case l.verb() == fwp.ACK && d.outcome.IsFailure:
		return fail(moments(&d.moment), "ACK for a job of type %s, which fails", quoteAny(d.jobtype))
	}
	return pass()
}

func checkFailOfDone(l *observation) judgement {
	d := l.delivery()
	if d == nil || !d.outcome.IsKnown || l.verb() == fwp.ACK && d.outcome.IsFailure {
		return skip()
	}
	mayLeave := l.world.terminates(l.worker) || l.isSignalled()
	isReservationOver := l.At-d.at >= d.reservation*3/4 && d.outcome.Duration > d.reservation*3/4 // its reservation ends
	isTimeout := l.At-d.at < d.outcome.minTime() && errorMentions(l, "timeout", "timed out", "time out", "time limit",
		"deadline")
	if l.verb() != fwp.FAIL || d.outcome.IsFailure || mayLeave || isReservationOver || isTimeout {
		return pass()
	}
	if l.Text("message") == "undef" || errorMentions(l, "arity", "undefinedfunction", "number of arguments") {
		return skip() // the program's function for the type takes other numbers of arguments, as in Erlang
	}
	return fail(moments(&d.moment), "FAIL for a job of type %s, which succeeds", quoteAny(d.jobtype))
}

// errorMentions reports whether the error of a FAIL has one of some words: "timeout", where the worker itself has ended
// the job.
func errorMentions(l *observation, words ...string) bool {
	text := strings.ToLower(l.Text("errtype") + " " + l.Text("message"))
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// terminates reports whether a worker, or another one of its process, has the order to terminate.
func (w *world) terminates(k *workerState) bool {
	return w.anyInProcess(k, func(other *workerState) bool { return other.terminateReply != nil })
}

// isOrdered reports whether a worker, or another one of its process, has an order to be quiet or to terminate.
func (w *world) isOrdered(k *workerState) bool {
	return w.anyInProcess(k, func(other *workerState) bool { return other.order() != nil || other.claim != nil })
}

// anyInProcess reports whether a condition holds for a worker, or for another one of its process.
func (w *world) anyInProcess(k *workerState, holds func(*workerState) bool) bool {
	if k == nil || k.process == 0 {
		return k != nil && holds(k)
	}
	return anyValue(w.workers, func(other *workerState) bool { return other.process == k.process && holds(other) })
}

// checkAckEarly judges an ACK by the job's deliveries: it may be about any of them.
func checkAckEarly(l *observation) judgement {
	d := l.delivery()
	if d == nil || d.outcome.Duration == 0 {
		return skip()
	}
	if slices.ContainsFunc(l.world.jobs[d.jid], func(o *delivery) bool { return l.At-o.at >= o.outcome.minTime() }) {
		return pass()
	}
	return fail(moments(&d.moment), "ACK %.3f s after the delivery of a job that takes %.3f s",
		(l.At - d.at).Seconds(), d.outcome.Duration.Seconds())
}

// minTime is how long the execution takes at least, by a clock that is a little fast.
func (o Outcome) minTime() time.Duration { return o.Duration - max(20*time.Millisecond, o.Duration/20) }

func checkAckFields(l *observation) judgement {
	if l.Object == nil {
		return skip() // line-syntax has it
	}
	if _, ok := l.Object["jid"].(string); !ok {
		return fail(nil, "ACK: jid is %s, expected a string", fieldText(l.Object, "jid"))
	}
	return passIf(len(l.Object) == 1, "ACK has %d fields, expected only jid", len(l.Object))
}

func checkFailFields(l *observation) judgement {
	return checkTypes(l, func(model.Field) bool { return true })
}

func checkFailEmpty(l *observation) judgement {
	if l.Object == nil {
		return skip()
	}
	return passIf(l.Text("errtype") != "" || l.Text("message") != "", "FAIL has no errtype and no message")
}

// checkErrorEndsConnection judges what a worker does after an error reply, which is the failure of one command. A
// worker that closes the connection for it, without END and without a reason to leave, takes it for more. One that
// closes connections like that without an error, too, does not.
func checkErrorEndsConnection(l *observation) judgement {
	c, k := l.conn, l.worker
	if c == nil || k == nil {
		return skip()
	}
	refusal := c.refusal(l.At)
	switch {
	case refusal == nil, c.errorVerb == fwp.HELLO, c.errorVerb == fwp.BEAT:
		return skip()
	case l.Kind == Line:
		return pass()
	case l.Closer != Client || l.IsReset || c.end != nil || k.order() != nil || l.isSignalled() || k.hasClosedWithoutEnd:
		return skip()
	}
	return fail(moments(refusal), "the worker closed the connection after an error reply to %s", c.errorVerb)
}

// refusal is the latest reply of a connection, if that is an error and no line followed: or one line, for whose reply
// the client has not waited for long. What it reads may be the rest of the error.
func (c *connState) refusal(now time.Duration) *Moment {
	const limit = time.Second
	if n := len(c.inFlight); c.lastError == nil && n == 1 && now-c.inFlight[0].moment.At < limit {
		return c.inFlight[0].errorBefore
	}
	return c.lastError
}
