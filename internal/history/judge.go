package history

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Judge returns what a conforming server cannot have done, in the order in which it
// began: nothing if h can be explained. It takes time in proportion to the number of
// events, and does not change h. A job with too many overlapping calls to try their
// orders is undecided.
//
// Every event has an interval, from its call to its return, and took effect at some
// instant within it. A finding holds for every choice of those instants. A call
// without a reply stays open for ever: whether and when it took effect is never
// guessed. What the protocol leaves open is not a finding:
//
//   - a jid that is pushed twice is not evaluated (AMB-33);
//   - an ACK or FAIL of a client that does not hold the job may be answered either way,
//     and may have an effect or none (AMB-21);
//   - a reservation that ran out may count as a failure or not, and the job may wait
//     for any time (AMB-01b, AMB-38);
//   - no order within a queue is required (AMB-27);
//   - the evaluation of a job ends at a restart or a kill, except for its loss over an
//     orderly restart (FWP-STATE-08).
func Judge(h *History) []Finding { return Examine(h).Findings }

// Examine is Judge with the number of jobs whose end is known, and the undecided ones.
func Examine(h *History) Report {
	j := judge{index: newIndex(h)}
	for n := range j.index.jids {
		j.judgeJob(n)
	}
	for _, name := range slices.Sorted(maps.Keys(j.index.queues)) {
		q := j.index.queues[name]
		j.judgeMissing(q)
		q.closeWindows()
	}
	for _, c := range j.choices {
		j.judgeOrder(c)
	}
	j.pairSwapped()
	slices.SortStableFunc(j.report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Events[0], b.Events[0]), cmp.Compare(a.Breach, b.Breach), cmp.Compare(a.JID, b.JID))
	})
	return j.report
}

// judge collects the findings.
type judge struct {
	index  *index
	report Report

	life   life // of the present job
	search search

	choices []choice // they are evaluated when the windows of all jobs are known
	strays  []stray  // jobs that were delivered from a queue that was not named
}

// judgeJob evaluates all rules about one job.
func (j *judge) judgeJob(n int) {
	l, x := &j.life, j.index
	l.read(x, n)
	if l.push != nil {
		j.report.Jobs++
	}
	switch {
	case l.isPushedAgain:
		j.undecided("its jid was pushed more than once")
		return
	case l.push == nil:
		j.judgeStranger(n)
		return
	case l.push.Outcome == Refused:
		j.report.Settled++
		j.judgeRefused(n)
		return
	}
	before := len(j.report.Findings)
	j.judgePlaces(n)
	j.judgeSequence()
	if len(j.report.Findings) == before {
		j.judgeAbsence()
	}
	j.conclude(before)
	if len(j.report.Findings) == before {
		l.keepWindow(x)
	}
}

// conclude counts the job as settled, or records why its end is not known.
func (j *judge) conclude(before int) {
	l := &j.life
	switch {
	case len(j.report.Findings) > before || l.isSettled && !l.isTangled:
		j.report.Settled++
	case l.isTangled:
		j.undecided("too many of its calls overlap")
	case !l.push.hasReply():
		j.undecided("its PUSH has no reply")
		j.report.Undecided[len(j.report.Undecided)-1].Unsent = !l.isTouched
	case l.stopEvent >= 0:
		j.undecided("the server was restarted or killed")
	case !j.index.history.Drained:
		j.undecided("the queues were not drained")
	default:
		j.undecided("the run did not wait for it, or a call without a reply may have moved it")
	}
}

func (j *judge) undecided(reason string) {
	j.report.Undecided = append(j.report.Undecided, Undecided{JID: j.life.jid, Reason: reason})
}

// find adds a finding about the job, or about none if jid is empty.
func (j *judge) find(breach Breach, jid, detail string, events ...int32) {
	f := Finding{Breach: breach, JID: jid, Description: text.Printable(detail)} // it quotes the server
	slices.Sort(events)
	for _, e := range slices.Compact(events) {
		f.Events = append(f.Events, int(e))
	}
	j.report.Findings = append(j.report.Findings, f)
}

// addBreaches adds other breaches to the last finding.
func (j *judge) addBreaches(breaches ...Breach) {
	f := &j.report.Findings[len(j.report.Findings)-1]
	f.Or = append(f.Or, breaches...)
}
