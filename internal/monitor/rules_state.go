package monitor

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// terminateLimit is how long a worker may stay that was told to terminate.
const terminateLimit = 30 * time.Second

// stateRules are about quiet and terminate.
func stateRules() []Rule {
	fetchOrTime := slices.Concat(on(Line, fwp.FETCH), on(worker))
	return []Rule{
		{
			Breach: FetchAfterQuiet, Goal: "a worker was told to be quiet, or reported it",
			on: fetchOrTime, check: func(l *look) judgement {
				if l.worker == nil || l.worker.terminate != nil {
					return aside()
				}
				return afterTold(l, l.worker.quiet, "quiet")
			},
		},
		{
			Breach: FetchAfterTerminate, Goal: "a worker was told to terminate, or reported it",
			on: slices.Concat(fetchOrTime, on(left)), check: func(l *look) judgement {
				if l.worker == nil {
					return aside()
				}
				return afterTold(l, l.worker.terminate, "terminate")
			},
		},
		{
			Breach: StateIgnored, Goal: "a worker was told to be quiet or to terminate, 5 s before",
			on: slices.Concat(fetchOrTime, on(left)), check: func(l *look) judgement {
				if l.worker == nil || l.worker.told() == nil {
					return aside()
				}
				told := l.worker.told()
				if l.Kind != Line {
					return judgement{reached: l.At-told.At > 5*time.Second}
				}
				if l.worker.late == 0 || l.At <= told.At+l.world.grace() {
					return aside()
				}
				return wrong([]Moment{*told}, "the worker fetches on, as if BEAT had been answered with OK")
			},
		},
		{
			Breach: Unquieted, Goal: "a quiet worker's BEAT was answered with OK",
			on: fetchOrTime, check: func(l *look) judgement {
				k := l.worker
				if k == nil || k.unquieted == nil || l.At <= k.unquieted.At+l.world.grace() {
					return aside()
				}
				if l.Kind == worker {
					return right()
				}
				if k.late > 0 && l.At-k.unquieted.At > time.Minute {
					return aside() // it never stopped, which is another rule's
				}
				return wrong(moments(k.quiet, k.unquieted), "the worker was quiet, and fetches again")
			},
		},
		{
			Breach: QuietExit, Goal: "a worker was quiet for 15 s, or ended", Needs: NeedsProcesses,
			on: slices.Concat(on(worker), on(Exited)), check: func(l *look) judgement {
				k := l.worker
				if k == nil || k.quiet == nil || k.terminate != nil || l.isSignalled() {
					return aside()
				}
				if l.Kind == worker {
					return judgement{reached: len(k.conns) > 0 && l.At-k.quiet.At > 15*time.Second}
				}
				return wrong(moments(k.quiet), "the process of a quiet worker ended without a signal or a terminate")
			},
		},
		{
			Breach: TerminateJobLeft, Goal: "a worker was told to terminate while it held a job",
			on: slices.Concat(on(worker), on(left)), check: checkJobLeft,
		},
		{
			Breach: TerminateStays, Goal: "a worker was told to terminate",
			on: slices.Concat(on(worker), on(left)), check: func(l *look) judgement {
				switch {
				case l.worker.terminate == nil || l.worker.stayed:
					return aside()
				case l.Kind == left:
					return right()
				case overstays(l):
					return wrong(moments(l.worker.terminate), "still connected %.0f s after terminate",
						(l.At - l.worker.terminate.At).Seconds())
				}
				return aside()
			},
		},
		{
			Breach: UnknownWorker, Goal: "a worker's BEAT was refused because the server does not know its wid",
			on: slices.Concat(fetchOrTime, on(left)), check: func(l *look) judgement {
				k := l.worker
				if k == nil || k.unknown == nil || l.At <= k.unknown.At+l.world.grace() {
					return aside()
				}
				if l.Kind != Line {
					return right()
				}
				if k.workedOn != manyFetches {
					return aside()
				}
				return wrong(moments(k.unknown), "the worker fetched %d times since, without a HELLO", k.workedOn+1)
			},
		},
	}
}

// manyFetches is how often a worker may fetch that the server does not know, before it greets again.
const manyFetches = 9

// afterTold judges a FETCH after a state reply. A FETCH on another connection may have been under way, so what is sent
// within the time to act is let pass. The goal is reached when that time is over.
func afterTold(l *look, told *Moment, state string) judgement {
	k := l.worker
	if told == nil && k.claimed == state && k.told() == nil {
		return afterClaim(l)
	}
	if told == nil || l.At <= told.At+l.world.grace() {
		return aside()
	}
	if l.Kind != Line {
		return right()
	}
	return wrong([]Moment{*told}, "FETCH %.3f s after the reply to BEAT said %s", (l.At - told.At).Seconds(), state)
}

// afterClaim judges a FETCH after a BEAT whose current_state says that a signal has made the worker fetch no more.
func afterClaim(l *look) judgement {
	claim := l.worker.claims
	if l.At <= claim.At+l.world.grace() {
		return aside()
	}
	if l.Kind != Line {
		return right()
	}
	return wrong([]Moment{*claim}, "FETCH %.3f s after a BEAT with the current_state %s", (l.At - claim.At).Seconds(),
		l.worker.claimed)
}

// overstays reports whether a worker has not left in time after terminate.
func overstays(l *look) bool {
	k := l.worker
	return k.terminate != nil && len(k.conns) > 0 && l.At-k.terminate.At > terminateLimit+l.world.slack
}

// checkJobLeft: what still runs gets its FAIL by the limit, or before the worker leaves.
func checkJobLeft(l *look) judgement {
	k := l.worker
	if k.terminate == nil || k.heldThen == 0 || k.missed {
		return aside()
	}
	over := l.At-k.terminate.At > terminateLimit+l.world.slack
	if l.Kind != left && !over {
		return aside()
	}
	if n := k.running(); n > 0 {
		return wrong(append(moments(k.terminate), k.held[0].shown), "%d of its jobs got no FAIL and no ACK", n)
	}
	return right()
}
