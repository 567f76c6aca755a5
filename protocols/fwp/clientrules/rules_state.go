package clientrules

import (
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// terminateLimit is how long a worker may stay connected after the order to terminate.
const terminateLimit = 30 * time.Second

// stateRules are about quiet and terminate.
func stateRules() []Rule {
	fetchesAndSeconds, fetchesAndDepartures := occasionsOf(Line, workerSecond).withVerbs(fwp.FETCH),
		occasionsOf(Line, workerSecond, workerDeparture).withVerbs(fwp.FETCH)
	return []Rule{
		{FetchAfterQuiet, "a worker was told to be quiet, or reported it", 0, fetchesAndSeconds, checkFetchAfterQuiet},
		{FetchAfterTerminate, "a worker was told to terminate, or reported it", 0, fetchesAndDepartures,
			checkFetchAfterTerminate},
		{StateIgnored, "a worker was told to be quiet or to terminate, and left, or 5 s passed", 0, fetchesAndDepartures,
			checkStateIgnored},
		{Unquieted, "a quiet worker's BEAT was answered with OK", 0, fetchesAndSeconds, checkUnquieted},
		{QuietExit, "a worker was quiet for 15 s, or ended", NeedsProcesses, occasionsOf(workerSecond, ProcessExit),
			checkQuietExit},
		{
			TerminateJobLeft, "a worker was told to terminate while it held a job", 0,
			occasionsOf(workerSecond, workerDeparture),
			checkTerminateJobLeft,
		},
		{TerminateStays, "a worker was told to terminate", 0, occasionsOf(workerSecond, workerDeparture),
			checkTerminateStays},
		{
			UnknownWorker, "a worker's BEAT was refused because the server does not know its wid", 0, fetchesAndDepartures,
			checkUnknownWorker,
		},
	}
}

func checkFetchAfterQuiet(l *observation) judgement {
	if l.worker == nil || l.worker.terminateReply != nil {
		return skip()
	}
	return checkFetchAfter(l, l.worker.quietReply, "quiet")
}

func checkFetchAfterTerminate(l *observation) judgement {
	if l.worker == nil {
		return skip()
	}
	return checkFetchAfter(l, l.worker.terminateReply, "terminate")
}

// checkFetchAfter judges a FETCH after the reply that ordered a state. Where no reply did so, and a BEAT said that a
// signal has, its current_state counts. A FETCH on another connection may have been under way, so what is sent within
// the time to act is let pass. The goal is reached when that time is over, or the worker has left.
func checkFetchAfter(l *observation, order *Moment, state string) judgement {
	k, text := l.worker, "FETCH %.3f s after the reply to BEAT said %s"
	if order == nil && k.claimedState == state && k.order() == nil {
		order, text = k.claim, "FETCH %.3f s after a BEAT with the current_state %s"
	}
	switch {
	case order == nil, l.Kind == Line && l.world.mayCross(k, l.conn, order, l.At):
		return skip()
	case l.Kind == workerSecond && l.At <= order.At+l.world.grace():
		return skip()
	}
	return failIf(l.Kind == Line, moments(order), text, (l.At - order.At).Seconds(), state)
}

func checkStateIgnored(l *observation) judgement {
	if l.worker == nil || l.worker.order() == nil {
		return skip()
	}
	order := l.worker.order()
	if l.Kind != Line {
		return passWhere(l.Kind == workerDeparture || l.At-order.At > 5*time.Second)
	}
	if l.worker.fetchesAfterOrder == 0 || l.world.mayCross(l.worker, l.conn, order, l.At) {
		return skip()
	}
	return fail(moments(order), "the worker keeps fetching, as if BEAT had been answered with OK")
}

func checkUnquieted(l *observation) judgement {
	k := l.worker
	switch {
	case k == nil || k.quietReply == nil || k.okAfterQuiet == nil || l.At <= k.okAfterQuiet.At+l.world.grace():
		return skip()
	case l.Kind == workerSecond:
		return pass()
	case !l.conn.isBound() || k.fetchesAfterOrder > 0 && l.At-k.okAfterQuiet.At > time.Minute:
		return skip() // it never stopped, which is the subject of another rule
	}
	return fail(moments(k.quietReply, k.okAfterQuiet), "the worker was quiet, and fetches again")
}

func checkQuietExit(l *observation) judgement {
	k := l.worker
	if k == nil || k.quietReply == nil || k.terminateReply != nil || l.isSignalled() {
		return skip()
	}
	if k.isCutOff() {
		return skip() // a state is one of a connection, and the server has closed the last one
	}
	if l.Kind == workerSecond {
		return passWhere(len(k.conns) > 0 && l.At-k.quietReply.At > 15*time.Second)
	}
	return fail(moments(k.quietReply), "the process of a quiet worker ended without a signal or a terminate")
}

// isCutOff reports whether the server has closed the last connection of a worker, which had not sent END on it.
func (k *workerState) isCutOff() bool {
	return len(k.conns) == 0 && k.closer == Server && !k.hasEndedLast
}

// isTerminateOver reports whether the time is over in which a worker has to leave after the order to terminate.
func isTerminateOver(l *observation) bool {
	k := l.worker
	return k.terminateReply != nil && l.At-k.terminateReply.At > terminateLimit+l.world.slack
}

// overstays reports whether a worker has not left in time after terminate.
func overstays(l *observation) bool { return isTerminateOver(l) && l.worker.countConns() > 0 }

// checkTerminateJobLeft judges the jobs that a worker holds at the order to terminate: each has its report by the
// limit, or before the worker leaves.
func checkTerminateJobLeft(l *observation) judgement {
	k := l.worker
	if k.terminateReply == nil || k.jobsAtTerminate == 0 || k.areJobsLeftReported || l.Kind != workerDeparture &&
		!isTerminateOver(l) {
		return skip()
	}
	jobs := k.unreportedJobs()
	switch {
	case k.countRunning() > 0 && (k.isCutOff() || !isTerminateOver(l) && l.world.isWorkingOffline(k)):
		return skip()
	case len(jobs) > 0:
		return fail(moments(k.terminateReply, &jobs[0].moment), "%d of its jobs got neither FAIL nor ACK", len(jobs))
	}
	return passWhere(k.countRunning() == 0)
}

func checkTerminateStays(l *observation) judgement {
	k := l.worker
	switch {
	case k.terminateReply == nil || k.isStayReported:
		return skip()
	case l.Kind == workerDeparture:
		return pass()
	case !overstays(l):
		return skip()
	}
	return fail(moments(k.terminateReply), "still connected %.0f s after terminate",
		(l.At - k.terminateReply.At).Seconds())
}

// maxUnknownFetches is how often a worker may fetch that the server does not know, before it greets again.
const maxUnknownFetches = 9

func checkUnknownWorker(l *observation) judgement {
	k := l.worker
	switch {
	case k == nil || k.unknownReply == nil || l.At <= k.unknownReply.At+l.world.grace():
		return skip()
	case l.Kind != Line:
		return pass()
	case k.unknownFetches != maxUnknownFetches:
		return skip()
	}
	return fail(moments(k.unknownReply), "since then the worker fetched %d times, without a HELLO", k.unknownFetches+1)
}
