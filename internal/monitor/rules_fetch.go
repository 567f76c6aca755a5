package monitor

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// fetchIdle is how long a worker with room may wait before its next FETCH.
const fetchIdle = 10 * time.Second

// enoughFetches is after how many a worker has named each of its queues at least once, whatever their weights.
const enoughFetches = 50

// fetchRules are about FETCH: how often, and from where.
func fetchRules() []Rule {
	return []Rule{
		{
			Breach: BeyondConcurrency, Goal: "a worker ran as many jobs as it may", Needs: NeedsConcurrency,
			on: append(on(Reply, fwp.FETCH), on(worker)...), check: checkConcurrency,
		},
		{
			Breach: FetchIdle, Goal: "a worker sent FETCH, or had room and sent none", Needs: NeedsConcurrency,
			on: append(on(Line, fwp.FETCH), on(worker)...), check: func(l *look) judgement {
				switch {
				case l.worker == nil || l.worker.starved:
					return aside()
				case l.Kind == Line:
					return right()
				case starves(l):
					return wrong(nil, "no FETCH for %.0f s, and %d of %d jobs are running",
						(l.At - l.worker.lastFetch).Seconds(), l.worker.running(), l.world.cfg.Concurrency)
				}
				return aside()
			},
		},
		{
			Breach: FetchOtherQueue, Goal: "a worker sent FETCH", Needs: NeedsQueues,
			on: on(Line, fwp.FETCH), check: func(l *look) judgement {
				for _, queue := range queuesOf(l.Command) {
					if !slices.Contains(l.world.cfg.Queues, queue) {
						return wrong(nil, "FETCH from the queue %s, which the worker was not configured for", quoteAny(queue))
					}
				}
				return right()
			},
		},
		{
			Breach: FetchQueueMissing, Goal: "a worker sent 50 FETCHes", Needs: NeedsQueues,
			on: on(Line, fwp.FETCH), check: func(l *look) judgement {
				k := l.worker
				if k == nil || k.fetches != enoughFetches {
					return aside()
				}
				for _, queue := range l.world.cfg.Queues {
					if !k.queues[queue] {
						return wrong(nil, "none of %d FETCHes named the queue %s", enoughFetches, quoteAny(queue))
					}
				}
				return right()
			},
		},
	}
}

// checkConcurrency: the jobs that a worker holds and has not reported are those that it runs, or keeps from others.
func checkConcurrency(l *look) judgement {
	k := l.worker
	if k == nil {
		return aside()
	}
	running, limit := k.running(), l.world.cfg.Concurrency
	if l.Kind == worker {
		return judgement{reached: running == limit}
	}
	if l.Reply.Kind != fwp.BulkString || running < limit {
		return aside()
	}
	return wrong([]Moment{k.held[0].shown}, "a worker of concurrency %d holds %d jobs", limit, running+1)
}

// starves reports whether a worker has room for a job and has not asked for one for long.
func starves(l *look) bool {
	k, w := l.worker, l.world
	switch {
	case w.cfg.Concurrency == 0 || len(k.conns) == 0 || k.fetching > 0 || k.running() >= w.cfg.Concurrency:
		return false
	case k.told() != nil || k.unknown != nil || k.fetchRefused || k.lost || l.isSignalled() || k.waitsForServer(l.At):
		return false
	}
	return l.At-max(k.lastFetch, k.stalled) > fetchIdle+w.slack
}
