package clientrules

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// maxFetchPause is how long a worker with room may wait before its next FETCH.
const maxFetchPause = 10 * time.Second

// enoughFetches is after how many for each of its queues a worker has named them all, whatever their weights.
const enoughFetches = 25

// fetchRules are about FETCH: how often, and from where.
func fetchRules() []Rule {
	fetches := occasionsOf(Line).withVerbs(fwp.FETCH)
	return []Rule{
		{
			BeyondConcurrency, "a worker ran as many jobs as it may", NeedsConcurrency,
			occasionsOf(Reply, workerSecond).withVerbs(fwp.FETCH),
			checkConcurrency,
		},
		{
			FetchIdle, "a worker sent FETCH, or had room and sent none", 0, occasionsOf(Line, workerSecond).withVerbs(fwp.FETCH),
			checkFetchIdle,
		},
		{FetchOtherQueue, "a worker sent FETCH", NeedsQueues, fetches, checkQueues},
		{FetchQueueMissing, "a worker sent 25 FETCHes for each queue", NeedsQueues, fetches, checkAllQueues},
	}
}

// checkConcurrency counts the jobs that a worker holds and has not reported: it runs them, or keeps them from others.
func checkConcurrency(l *observation) judgement {
	k := l.worker
	if k == nil {
		return skip()
	}
	running, limit := k.countRunning(), l.world.cfg.Concurrency
	if l.Kind == workerSecond {
		return passWhere(running == limit)
	}
	jobs := k.unreportedJobs()
	if l.Reply.Kind != fwp.BulkString || len(jobs) < limit {
		return skip()
	}
	return fail(moments(&jobs[0].moment), "a worker with a concurrency of %d has %d jobs", limit, len(jobs)+1)
}

func checkFetchIdle(l *observation) judgement {
	switch {
	case l.worker == nil || l.worker.isIdleReported:
		return skip()
	case l.Kind == Line:
		return pass()
	case isIdle(l):
		return fail(nil, "no FETCH for %.0f s, although only %d of %d jobs are running",
			(l.At - l.worker.lastFetch).Seconds(), l.worker.countRunning(), l.world.concurrency())
	}
	return skip()
}

// concurrency is how many jobs a worker can run at a time at least.
func (w *world) concurrency() int { return max(1, w.cfg.Concurrency) }

// isIdle reports whether a worker has room for a job and has not asked for one for long.
func isIdle(l *observation) bool {
	k, w := l.worker, l.world
	switch {
	case k.countConns() == 0 || k.fetchesInFlight > 0 || k.countRunning() >= w.concurrency():
		return false
	case w.cfg.Concurrency == 0 && (!w.cfg.HasProcesses || k.fetches == 0): // it may not be meant to fetch now
		return false
	case w.isOrdered(k) || k.unknownReply != nil || k.isFetchRefused || k.hasLostConn || l.isSignalled() ||
		k.waitsForServer(l.At):
		return false
	}
	return l.At-max(k.lastFetch, k.stallTime) > maxFetchPause+w.slack
}

func checkQueues(l *observation) judgement {
	for _, queue := range l.Queues() {
		if !slices.Contains(l.configuredQueues(), queue) {
			return fail(nil, "FETCH from the queue %s, which the worker was not configured for", quoteAny(queue))
		}
	}
	return pass()
}

func checkAllQueues(l *observation) judgement {
	k := l.worker
	if k == nil || k.fetches != enoughFetches*len(l.configuredQueues()) {
		return skip()
	}
	for _, queue := range l.configuredQueues() {
		if !k.queues[queue] {
			return fail(nil, "none of %d FETCHes named the queue %s", k.fetches, quoteAny(queue))
		}
	}
	return pass()
}
