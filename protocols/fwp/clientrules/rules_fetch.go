package clientrules

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// fetchIdle is how long a worker with room may wait before its next FETCH.
const fetchIdle = 10 * time.Second

// enoughFetches is after how many for each of its queues a worker has named them all, whatever their weights.
const enoughFetches = 25

// fetchRules are about FETCH: how often, and from where.
func fetchRules() []Rule {
	fetches := on(Line).of(fwp.FETCH)
	return []Rule{
		{
			BeyondConcurrency, "a worker ran as many jobs as it may", NeedsConcurrency, on(Reply, second).of(fwp.FETCH),
			checkConcurrency,
		},
		{
			FetchIdle, "a worker sent FETCH, or had room and sent none", 0, on(Line, second).of(fwp.FETCH), checkIdle,
		},
		{FetchOtherQueue, "a worker sent FETCH", NeedsQueues, fetches, checkQueues},
		{FetchQueueMissing, "a worker sent 25 FETCHes for each queue", NeedsQueues, fetches, checkAllQueues},
	}
}

// checkConcurrency counts the jobs that a worker holds and has not reported: it runs them, or keeps them from others.
func checkConcurrency(l *look) judgement {
	k := l.worker
	if k == nil {
		return notApplicable()
	}
	running, limit := k.running(), l.world.cfg.Concurrency
	if l.Kind == second {
		return keptWhere(running == limit)
	}
	jobs := k.unreported()
	if l.Reply.Kind != fwp.BulkString || len(jobs) < limit {
		return notApplicable()
	}
	return broken(moments(&jobs[0].shown), "a worker with a concurrency of %d has %d jobs", limit, len(jobs)+1)
}

func checkIdle(l *look) judgement {
	switch {
	case l.worker == nil || l.worker.idleReported:
		return notApplicable()
	case l.Kind == Line:
		return kept()
	case isIdle(l):
		return broken(nil, "no FETCH for %.0f s, although only %d of %d jobs are running",
			(l.At - l.worker.lastFetch).Seconds(), l.worker.running(), l.world.concurrency())
	}
	return notApplicable()
}

// concurrency is how many jobs a worker can run at a time at least.
func (w *world) concurrency() int { return max(1, w.cfg.Concurrency) }

// isIdle reports whether a worker has room for a job and has not asked for one for long.
func isIdle(l *look) bool {
	k, w := l.worker, l.world
	switch {
	case k.inUse() == 0 || k.fetchesInFlight > 0 || k.running() >= w.concurrency():
		return false
	case w.cfg.Concurrency == 0 && (!w.cfg.Processes || k.fetches == 0): // it may not be meant to fetch now
		return false
	case w.isOrdered(k) || k.unknown != nil || k.fetchRefused || k.lostConn || l.isSignalled() || k.waitsForServer(l.At):
		return false
	}
	return l.At-max(k.lastFetch, k.stalled) > fetchIdle+w.slack
}

func checkQueues(l *look) judgement {
	for _, queue := range l.Queues() {
		if !slices.Contains(l.told(), queue) {
			return broken(nil, "FETCH from the queue %s, which the worker was not configured for", quoteAny(queue))
		}
	}
	return kept()
}

func checkAllQueues(l *look) judgement {
	k := l.worker
	if k == nil || k.fetches != enoughFetches*len(l.told()) {
		return notApplicable()
	}
	for _, queue := range l.told() {
		if !k.queues[queue] {
			return broken(nil, "none of %d FETCHes named the queue %s", k.fetches, quoteAny(queue))
		}
	}
	return kept()
}
