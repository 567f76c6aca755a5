package clientrules

import (
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// terminateLimit is how long a worker may stay connected after the order to terminate.
const terminateLimit = 30 * time.Second

// stateRules are about quiet and terminate.
func stateRules() []Rule {
	fetchOrTime, fetchOrLeft := on(Line, second).of(fwp.FETCH), on(Line, second, departed).of(fwp.FETCH)
	return []Rule{
		{FetchAfterQuiet, "a worker was told to be quiet, or reported it", 0, fetchOrTime, checkFetchAfterQuiet},
		{FetchAfterTerminate, "a worker was told to terminate, or reported it", 0, fetchOrLeft, checkFetchAfterTerminate},
		{StateIgnored, "a worker was told to be quiet or to terminate, and left, or 5 s passed", 0, fetchOrLeft,
			checkStateIgnored},
		{Unquieted, "a quiet worker's BEAT was answered with OK", 0, fetchOrTime, checkUnquieted},
		{QuietExit, "a worker was quiet for 15 s, or ended", NeedsProcesses, on(second, Exited), checkQuietExit},
		{
			TerminateJobLeft, "a worker was told to terminate while it held a job", 0, on(second, departed),
			checkJobLeft,
		},
		{TerminateStays, "a worker was told to terminate", 0, on(second, departed), checkStays},
		{
			UnknownWorker, "a worker's BEAT was refused because the server does not know its wid", 0, fetchOrLeft,
			checkUnknownWorker,
		},
	}
}

func checkFetchAfterQuiet(l *look) judgement {
	if l.worker == nil || l.worker.terminate != nil {
		return notApplicable()
	}
	return checkFetchAfter(l, l.worker.quiet, "quiet")
}

func checkFetchAfterTerminate(l *look) judgement {
	if l.worker == nil {
		return notApplicable()
	}
	return checkFetchAfter(l, l.worker.terminate, "terminate")
}

// checkFetchAfter judges a FETCH after the reply that ordered a state. Where no reply did so, and a BEAT said that a
// signal has, its current_state counts. A FETCH on another connection may have been under way, so what is sent within
// the time to act is let pass. The goal is reached when that time is over, or the worker has left.
func checkFetchAfter(l *look, ordered *Moment, state string) judgement {
	k, text := l.worker, "FETCH %.3f s after the reply to BEAT said %s"
	if ordered == nil && k.claimedState == state && k.order() == nil {
		ordered, text = k.claim, "FETCH %.3f s after a BEAT with the current_state %s"
	}
	switch {
	case ordered == nil, l.Kind == Line && l.world.mayCross(k, l.conn, ordered, l.At):
		return notApplicable()
	case l.Kind == second && l.At <= ordered.At+l.world.grace():
		return notApplicable()
	}
	return keptUnless(l.Kind == Line, moments(ordered), text, (l.At - ordered.At).Seconds(), state)
}

func checkStateIgnored(l *look) judgement {
	if l.worker == nil || l.worker.order() == nil {
		return notApplicable()
	}
	ordered := l.worker.order()
	if l.Kind != Line {
		return keptWhere(l.Kind == departed || l.At-ordered.At > 5*time.Second)
	}
	if l.worker.fetchesAfterOrder == 0 || l.world.mayCross(l.worker, l.conn, ordered, l.At) {
		return notApplicable()
	}
	return broken(moments(ordered), "the worker keeps fetching, as if BEAT had been answered with OK")
}

func checkUnquieted(l *look) judgement {
	k := l.worker
	switch {
	case k == nil || k.quiet == nil || k.unquieted == nil || l.At <= k.unquieted.At+l.world.grace():
		return notApplicable()
	case l.Kind == second:
		return kept()
	case !l.conn.isBound() || k.fetchesAfterOrder > 0 && l.At-k.unquieted.At > time.Minute:
		return notApplicable() // it never stopped, which is the subject of another rule
	}
	return broken(moments(k.quiet, k.unquieted), "the worker was quiet, and fetches again")
}

func checkQuietExit(l *look) judgement {
	k := l.worker
	if k == nil || k.quiet == nil || k.terminate != nil || l.isSignalled() {
		return notApplicable()
	}
	if k.isCutOff() {
		return notApplicable() // a state is one of a connection, and the server has closed the last one
	}
	if l.Kind == second {
		return keptWhere(len(k.conns) > 0 && l.At-k.quiet.At > 15*time.Second)
	}
	return broken(moments(k.quiet), "the process of a quiet worker ended without a signal or a terminate")
}

// isCutOff reports whether the server has closed the last connection of a worker, which had not sent END on it.
func (k *workerState) isCutOff() bool {
	return len(k.conns) == 0 && k.closedBy == Server && !k.endedLast
}

// isTerminateOver reports whether the time is over in which a worker has to leave after the order to terminate.
func isTerminateOver(l *look) bool {
	k := l.worker
	return k.terminate != nil && l.At-k.terminate.At > terminateLimit+l.world.slack
}

// overstays reports whether a worker has not left in time after terminate.
func overstays(l *look) bool { return isTerminateOver(l) && l.worker.inUse() > 0 }

// checkJobLeft judges the jobs that a worker holds at the order to terminate: each has its report by the limit, or
// before the worker leaves.
func checkJobLeft(l *look) judgement {
	k := l.worker
	if k.terminate == nil || k.heldAtTerminate == 0 || k.jobsLeftReported || l.Kind != departed && !isTerminateOver(l) {
		return notApplicable()
	}
	jobs := k.unreported()
	switch {
	case k.running() > 0 && (k.isCutOff() || !isTerminateOver(l) && l.world.isWorkingApart(k)):
		return notApplicable()
	case len(jobs) > 0:
		return broken(moments(k.terminate, &jobs[0].shown), "%d of its jobs got neither FAIL nor ACK", len(jobs))
	}
	return keptWhere(k.running() == 0)
}

func checkStays(l *look) judgement {
	k := l.worker
	switch {
	case k.terminate == nil || k.stayReported:
		return notApplicable()
	case l.Kind == departed:
		return kept()
	case !overstays(l):
		return notApplicable()
	}
	return broken(moments(k.terminate), "still connected %.0f s after terminate", (l.At - k.terminate.At).Seconds())
}

// manyFetches is how often a worker may fetch that the server does not know, before it greets again.
const manyFetches = 9

func checkUnknownWorker(l *look) judgement {
	k := l.worker
	switch {
	case k == nil || k.unknown == nil || l.At <= k.unknown.At+l.world.grace():
		return notApplicable()
	case l.Kind != Line:
		return kept()
	case k.fetchesUnknown != manyFetches:
		return notApplicable()
	}
	return broken(moments(k.unknown), "since then the worker fetched %d times, without a HELLO", k.fetchesUnknown+1)
}
