package monitor

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// jobRules are about ACK and FAIL.
func jobRules() []Rule {
	reports := on(Line, fwp.ACK, fwp.FAIL)
	return []Rule{
		{
			Breach: JobNotReported, Goal: "a worker reported a job, or left with one",
			on: append(on(Reply, fwp.ACK, fwp.FAIL), on(left)...), check: checkNotReported,
		},
		{
			Breach: JobReportedTwice, Goal: "a worker reported a job",
			on: reports, check: func(l *look) judgement {
				d, jid := reported(l)
				switch {
				case d == nil && l.world.reported.has(jid):
					return wrong(nil, "a second report of a job whose report was accepted")
				case d == nil:
					return aside()
				case d.report == nil || (d.refused || d.again) && d.reports < manyReports:
					return right()
				case d.refused:
					return wrong([]Moment{d.shown, *d.report}, "report %d of a job whose reports are refused", d.reports+1)
				}
				return wrong([]Moment{d.shown, *d.report}, "a second report of a job")
			},
		},
		{
			Breach: ReportUnfetched, Goal: "a worker reported a job",
			on: reports, check: func(l *look) judgement {
				d, jid := reported(l)
				w := l.world
				if d == nil && (l.worker == nil || jid == "" || w.reported.has(jid) || w.forgotten.has(jid)) {
					return aside()
				}
				if d == nil && len(l.worker.held) >= maxHeld {
					return aside()
				}
				return rightIf(d != nil, "a report of a job that the worker did not fetch")
			},
		},
		{
			Breach: AckOfFailed, Goal: "a job that succeeds was acknowledged, or one that fails was reported",
			Needs: NeedsOutcomes, on: reports, check: func(l *look) judgement {
				d, _ := reported(l)
				if d == nil || !d.outcome.Known || l.verb() == fwp.FAIL && !d.outcome.Fails {
					return aside()
				}
				if l.verb() == fwp.ACK && d.outcome.Fails {
					return wrong([]Moment{d.shown}, "ACK for a job of type %s, which fails", quoteAny(d.jobtype))
				}
				return right()
			},
		},
		{
			Breach: FailOfDone, Goal: "a job that fails got its FAIL, or one that succeeds was reported",
			Needs: NeedsOutcomes, on: reports, check: func(l *look) judgement {
				d, _ := reported(l)
				if d == nil || !d.outcome.Known || l.verb() == fwp.ACK && d.outcome.Fails {
					return aside()
				}
				leaves := l.world.terminates(l.worker) || l.isSignalled()
				over := l.At-d.at >= d.reserved*3/4 && d.outcome.Takes > d.reserved*3/4 // its reservation ends
				if l.verb() != fwp.FAIL || d.outcome.Fails || leaves || over {
					return right()
				}
				return wrong([]Moment{d.shown}, "FAIL for a job of type %s, which succeeds", quoteAny(d.jobtype))
			},
		},
		{
			Breach: AckEarly, Goal: "a job that takes time was acknowledged", Needs: NeedsOutcomes,
			on: on(Line, fwp.ACK), check: func(l *look) judgement {
				d, _ := reported(l)
				if d == nil || d.outcome.Takes == 0 {
					return aside()
				}
				took := l.At - d.at
				if slices.ContainsFunc(l.world.jobs[d.jid], func(o *delivery) bool { return l.At-o.at >= o.outcome.least() }) {
					return right() // by one of its deliveries, if there are several
				}
				return wrong([]Moment{d.shown}, "ACK %.3f s after the delivery of a job that takes %.3f s",
					took.Seconds(), d.outcome.Takes.Seconds())
			},
		},
		{
			Breach: AckFields, Goal: "a worker sent ACK",
			on: on(Line, fwp.ACK), check: func(l *look) judgement {
				if l.Object == nil {
					return aside() // line-syntax has it
				}
				if _, is := l.Object["jid"].(string); !is {
					return rightIf(false, "ACK: jid is %s, expected a string", fieldText(l.Object, "jid"))
				}
				return rightIf(len(l.Object) == 1, "ACK has %d fields, and jid alone was expected", len(l.Object))
			},
		},
		{
			Breach: FailFields, Goal: "a worker sent FAIL",
			on: on(Line, fwp.FAIL), check: func(l *look) judgement {
				if l.Object == nil {
					return aside()
				}
				return typed(l, func(fwp.Field) bool { return true })
			},
		},
		{
			Breach: FailEmpty, Goal: "a worker sent FAIL",
			on: on(Line, fwp.FAIL), check: func(l *look) judgement {
				if l.Object == nil {
					return aside()
				}
				errtype, _ := l.Object["errtype"].(string)
				message, _ := l.Object["message"].(string)
				return rightIf(errtype != "" || message != "", "FAIL has neither an errtype nor a message")
			},
		},
		{
			Breach: ErrorEndsConnection, Goal: "a command of a worker was refused",
			on: append(on(Line), on(Closed)...), check: checkErrorEnds,
		},
	}
}

// least is how long the execution takes at least, by a clock that is a little fast.
func (o Outcome) least() time.Duration { return o.Takes - max(20*time.Millisecond, o.Takes/20) }

// terminates reports whether a worker was told to terminate, or another one of its process.
func (w *world) terminates(k *workerState) bool {
	if k == nil || k.terminate != nil || k.process == 0 {
		return k != nil && k.terminate != nil
	}
	for _, other := range w.workers {
		if other.process == k.process && other.terminate != nil {
			return true
		}
	}
	return false
}

// manyReports is how often a job may be reported whose report was refused, or lost its connection.
const manyReports = 10

// reported returns the delivery that a report is about, nil if there is none, and the jid.
func reported(l *look) (d *delivery, jid string) {
	jid, _ = l.Object["jid"].(string)
	return l.world.deliveryFor(l.worker, jid), jid
}

// checkNotReported: a worker that left in order, of its own accord, has reported what it fetched. After a terminate the
// rule about that decides.
func checkNotReported(l *look) judgement {
	if l.Kind == Reply {
		return judgement{reached: l.asked.report != nil}
	}
	k := l.worker
	killed := l.isSignalled() && l.process.signal == "KILL"
	crashed := !k.ended && !l.world.cfg.Processes // or it was killed: without its process nothing tells
	if k.terminate != nil || k.closedBy != Client || k.lost || killed || crashed {
		return aside()
	}
	for _, d := range k.held {
		if d.report == nil && k.gone < d.at+d.reserved {
			return wrong(append(moments(k.lastClose), d.shown), "the worker left without an ACK or a FAIL for a job")
		}
	}
	return aside()
}

// checkErrorEnds: an error is the failure of one command. A worker that closes the connection for it, without END and
// without a reason to leave, takes it for more. One that closes connections like that without an error, too, does not.
func checkErrorEnds(l *look) judgement {
	c := l.conn
	if c == nil || l.worker == nil || c.refused == nil || c.refusedVerb == fwp.HELLO || c.refusedVerb == fwp.BEAT {
		return aside()
	}
	switch {
	case l.Kind == Line:
		return right()
	case l.By != Client || l.Reset || c.end != nil || l.worker.told() != nil || l.isSignalled() || l.worker.closes:
		return aside()
	}
	return wrong([]Moment{*c.refused}, "the worker closed the connection after an error reply to %s", c.refusedVerb)
}
