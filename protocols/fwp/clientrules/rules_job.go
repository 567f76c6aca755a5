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
	const reported = "a worker reported a job"
	reports, acks, fails := on(Line).of(fwp.ACK, fwp.FAIL), on(Line).of(fwp.ACK), on(Line).of(fwp.FAIL)
	return []Rule{
		{
			JobNotReported, reported + ", or left with one", 0, on(Reply, departed).of(fwp.ACK, fwp.FAIL),
			checkNotReported,
		},
		{JobReportedTwice, reported, 0, reports, checkReportedTwice},
		{ReportUnfetched, reported, 0, reports, checkFetched},
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
		{ErrorEndsConnection, "a command of a worker was refused", 0, on(Line, Closed), checkErrorEnds},
	}
}

// delivery returns the delivery that a report is about, nil if there is none.
func (l *look) delivery() *delivery { return l.world.deliveryFor(l.worker, l.Text("jid")) }

// checkNotReported judges a worker that left in order, of its own accord: it has reported what it fetched. After a
// terminate the rule about that decides.
func checkNotReported(l *look) judgement {
	if l.Kind == Reply {
		return keptWhere(l.asked.report != nil)
	}
	k := l.worker
	crashed := !k.endedLast && !l.world.cfg.Processes // or it was killed: without its process nothing tells
	if k.terminate != nil || k.closedBy != Client || k.lostConn || l.isKilled() || crashed || l.world.isWorkingApart(k) {
		return notApplicable()
	}
	for _, d := range k.unreported() {
		if k.disconnected < d.at+d.reserved {
			return broken(moments(k.lastClose, &d.shown), "the worker left without an ACK or a FAIL for a job")
		}
	}
	return notApplicable()
}

// manyReports is how often a job may be reported whose report was refused, or lost its connection.
const manyReports = 10

func checkReportedTwice(l *look) judgement {
	w, d, jid := l.world, l.delivery(), l.Text("jid")
	switch {
	case l.conn == nil, d == nil && (!w.reported.has(jid) || w.forgotten.has(jid)):
		return notApplicable()
	case d == nil:
		return broken(nil, "a second report for a job whose report was accepted")
	case d.report == nil || (d.refused || d.mayRepeat) && d.reports < manyReports:
		return kept()
	case d.refused:
		return broken(moments(&d.shown, d.report), "report %d for a job whose reports are refused", d.reports+1)
	}
	return broken(moments(&d.shown, d.report), "a second report for a job")
}

func checkFetched(l *look) judgement {
	w := l.world
	jid, is := l.Object["jid"].(string)
	if l.delivery() != nil {
		return kept()
	}
	if l.worker == nil || !is || w.reported.has(jid) || w.forgotten.has(jid) || len(l.worker.held) >= maxHeld {
		return notApplicable()
	}
	return broken(nil, "a report for a job that the worker did not fetch")
}

func checkAckOfFailed(l *look) judgement {
	d := l.delivery()
	switch {
	case d == nil || !d.outcome.Known || l.verb() == fwp.FAIL && !d.outcome.Fails:
		return notApplicable()
	case l.verb() == fwp.ACK && d.outcome.Fails:
		return broken(moments(&d.shown), "ACK for a job of type %s, which fails", quoteAny(d.jobtype))
	}
	return kept()
}

func checkFailOfDone(l *look) judgement {
	d := l.delivery()
	if d == nil || !d.outcome.Known || l.verb() == fwp.ACK && d.outcome.Fails {
		return notApplicable()
	}
	leaves := l.world.terminates(l.worker) || l.isSignalled()
	over := l.At-d.at >= d.reserved*3/4 && d.outcome.Takes > d.reserved*3/4 // its reservation ends
	timeout := l.At-d.at < d.outcome.least() && says(l, "timeout", "timed out", "time out", "time limit", "deadline")
	if l.verb() != fwp.FAIL || d.outcome.Fails || leaves || over || timeout {
		return kept()
	}
	if l.Text("message") == "undef" || says(l, "arity", "undefinedfunction", "number of arguments") {
		return notApplicable() // the program's function for the type takes other numbers of arguments, as in Erlang
	}
	return broken(moments(&d.shown), "FAIL for a job of type %s, which succeeds", quoteAny(d.jobtype))
}

// says reports whether the error of a FAIL has one of some words: "timeout", where the worker itself has ended the job.
func says(l *look, words ...string) bool {
	text := strings.ToLower(l.Text("errtype") + " " + l.Text("message"))
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// terminates reports whether a worker, or another one of its process, has the order to terminate.
func (w *world) terminates(k *workerState) bool {
	return w.inProcess(k, func(other *workerState) bool { return other.terminate != nil })
}

// isOrdered reports whether a worker, or another one of its process, has an order to be quiet or to terminate.
func (w *world) isOrdered(k *workerState) bool {
	return w.inProcess(k, func(other *workerState) bool { return other.order() != nil || other.claim != nil })
}

// inProcess reports whether a condition holds for a worker, or for another one of its process.
func (w *world) inProcess(k *workerState, holds func(*workerState) bool) bool {
	if k == nil || k.process == 0 {
		return k != nil && holds(k)
	}
	return some(w.workers, func(other *workerState) bool { return other.process == k.process && holds(other) })
}

// checkAckEarly judges an ACK by the job's deliveries: it may be about any of them.
func checkAckEarly(l *look) judgement {
	d := l.delivery()
	if d == nil || d.outcome.Takes == 0 {
		return notApplicable()
	}
	if slices.ContainsFunc(l.world.jobs[d.jid], func(o *delivery) bool { return l.At-o.at >= o.outcome.least() }) {
		return kept()
	}
	return broken(moments(&d.shown), "ACK %.3f s after the delivery of a job that takes %.3f s",
		(l.At - d.at).Seconds(), d.outcome.Takes.Seconds())
}

// least is how long the execution takes at least, by a clock that is a little fast.
func (o Outcome) least() time.Duration { return o.Takes - max(20*time.Millisecond, o.Takes/20) }

func checkAckFields(l *look) judgement {
	if l.Object == nil {
		return notApplicable() // line-syntax has it
	}
	if _, is := l.Object["jid"].(string); !is {
		return broken(nil, "ACK: jid is %s, expected a string", fieldText(l.Object, "jid"))
	}
	return keptIf(len(l.Object) == 1, "ACK has %d fields, expected only jid", len(l.Object))
}

func checkFailFields(l *look) judgement { return checkTypes(l, func(model.Field) bool { return true }) }

func checkFailEmpty(l *look) judgement {
	if l.Object == nil {
		return notApplicable()
	}
	return keptIf(l.Text("errtype") != "" || l.Text("message") != "", "FAIL has no errtype and no message")
}

// checkErrorEnds judges what a worker does after an error reply, which is the failure of one command. A worker that
// closes the connection for it, without END and without a reason to leave, takes it for more. One that closes
// connections like that without an error, too, does not.
func checkErrorEnds(l *look) judgement {
	c, k := l.conn, l.worker
	if c == nil || k == nil {
		return notApplicable()
	}
	refused := c.refusal(l.At)
	switch {
	case refused == nil, c.refusedVerb == fwp.HELLO, c.refusedVerb == fwp.BEAT:
		return notApplicable()
	case l.Kind == Line:
		return kept()
	case l.By != Client || l.Reset || c.end != nil || k.order() != nil || l.isSignalled() || k.closesWithoutEnd:
		return notApplicable()
	}
	return broken(moments(refused), "the worker closed the connection after an error reply to %s", c.refusedVerb)
}

// refusal is the latest reply of a connection, if that is an error and no line followed: or one line, for whose reply
// the client has not waited for long. What it reads may be the rest of the error.
func (c *connState) refusal(now time.Duration) *Moment {
	const short = time.Second
	if n := len(c.inFlight); c.refused == nil && n == 1 && now-c.inFlight[0].shown.At < short {
		return c.inFlight[0].behind
	}
	return c.refused
}
