package ledger

import (
	"iter"
	"math/bits"
	"slices"
	"sync"
)

// Counts is the account at one moment. If nothing is booked meanwhile it is exact, and
//
//	Sent      = Pushed + Refused + Doubtful + Unanswered
//	Delivered = HeldJobs + Waiting + Acked + Dead
type Counts struct {
	// Of pushes.
	Sent       int64 // pushes that went out
	Pushed     int64 // confirmed
	Refused    int64 // replied to with an error
	Doubtful   int64 // ended without a reply
	Unanswered int64 // none of these yet

	// Of jobs.
	Delivered int64 // jobs that a worker got, at least once
	Acked     int64 // jobs settled by an ack
	Dead      int64 // jobs settled by a fail after which they are not delivered again
	HeldJobs  int64 // jobs that a worker has
	Waiting   int64 // jobs that may return: to be retried, or after a lost ack, fail or connection
	InDoubt   int64 // jobs whose push got no reply, and that no worker got
	Missing   int64 // jobs whose push was confirmed, and that no worker got
	LostJobs  int64 // Missing beyond FetchesLost; 0 unless drained

	// Of jobs and deliveries that a stop of the server excuses: see [Ledger.BookStop]. The losses are 0 unless drained.
	LostByKill, LostByRestart int64 // jobs like those of LostJobs, which does not count them
	DuplicatedByStop          int64 // deliveries like those of Duplicated, which does not count them
	ReturnedByStop            int64 // deliveries like those of Returned, which does not count them

	// Of events.
	Failed      int64        // FAILs confirmed
	Redelivered int64        // deliveries of jobs that might return
	Duplicated  int64        // deliveries of jobs that a worker had
	Returned    int64        // deliveries of jobs that were settled
	Foreign     int64        // deliveries of wrong jobs: those whose flaw is not one of time: see Flaw
	Flawed      [Flaws]int64 // deliveries that have a flaw, by flaw
	OutOfOrder  int64        // first deliveries after one of a later job from the same queue
	FetchesLost int64        // fetches that ended without a reply
	ReportsLost int64        // acks and fails that ended without a reply
}

// Count returns the account. isDrained means that all queues are empty, no job is scheduled, and no fetch waits;
// only then lost jobs can be counted. It takes about a millisecond for ten million jobs, and may be called while jobs
// are booked; its parts are then of slightly different moments.
func (l *Ledger) Count(isDrained bool) Counts {
	var t tally
	for _, c := range *l.chunks.Load() {
		if c != nil {
			c.tally(&t)
		}
	}
	counts := Counts{
		Sent: l.sent.Load(), Pushed: t.accepted, Refused: l.refused.Load(), Doubtful: t.doubtful,
		Delivered: t.heldJobs + t.mayReturn + t.settled, Dead: l.finalFails.Load(),
		HeldJobs: t.heldJobs, Waiting: t.mayReturn, InDoubt: t.inDoubt, Missing: t.missing,
		Failed: l.failed.Load(), Redelivered: l.redelivered.Load(),
		Duplicated: l.duplicated.Load(), Returned: l.returned.Load(),
		OutOfOrder: l.outOfOrder.Load(), FetchesLost: l.fetchesLost.Load(), ReportsLost: l.reportsLost.Load(),
		DuplicatedByStop: l.stops.duplicates.Load(), ReturnedByStop: l.stops.returns.Load(),
	}
	for flaw := range l.foreign {
		counts.Flawed[flaw] = l.foreign[flaw].Load()
		if Flaw(flaw) < EarlyJob { // the others are right jobs at a wrong time
			counts.Foreign += counts.Flawed[flaw]
		}
	}
	// While jobs are booked, the parts of a difference are of different moments.
	counts.Acked = max(0, t.settled-counts.Dead)
	counts.Unanswered = max(0, counts.Sent-counts.Pushed-counts.Refused-counts.Doubtful)
	if isDrained {
		l.losses(&counts)
	}
	return counts
}

// Missing goes through the jobs that were confirmed and that no worker has got, in ascending order. It may be stopped
// at any time.
func (l *Ledger) Missing() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i, c := range *l.chunks.Load() {
			if c != nil && !c.missing(int64(i)*chunkJobs, yield) {
				return
			}
		}
	}
}

// missing yields the chunk's missing jobs, and reports whether to continue. base is the number of its first job.
func (c *chunk) missing(base int64, yield func(int64) bool) bool {
	for w := range c.accepted {
		for undelivered := c.accepted[w].Load() &^ c.deliveredWord(w); undelivered != 0; undelivered &= undelivered - 1 {
			if !yield(base + int64(w)*64 + int64(bits.TrailingZeros64(undelivered))) {
				return false
			}
		}
	}
	return true
}

// QueueCounts is a part of the account: of the jobs of one queue.
type QueueCounts struct{ Pushed, Delivered, Missing int64 }

// CountBy counts the jobs by queue, of which there are n; queueOf returns that of job k, and jobs of others are left
// out. It takes some 20 ns for a job.
func (l *Ledger) CountBy(n int, queueOf func(k int64) int) []QueueCounts {
	counts := make([]QueueCounts, n)
	each := func(base int64, jobs uint64, add func(*QueueCounts)) {
		for ; jobs != 0; jobs &= jobs - 1 {
			if q := queueOf(base + int64(bits.TrailingZeros64(jobs))); q >= 0 && q < n {
				add(&counts[q])
			}
		}
	}
	for i, c := range *l.chunks.Load() {
		if c == nil {
			continue
		}
		for w := range c.accepted {
			base := int64(i)*chunkJobs + int64(w)*64
			accepted, delivered := c.accepted[w].Load(), c.deliveredWord(w)
			each(base, accepted, func(q *QueueCounts) { q.Pushed++ })
			each(base, delivered, func(q *QueueCounts) { q.Delivered++ })
			each(base, accepted&^delivered, func(q *QueueCounts) { q.Missing++ })
		}
	}
	return counts
}

// findingLimit is how many findings of each kind are kept. The counts are of all.
const findingLimit = 1000

// Finding is a delivery with a flaw.
type Finding struct {
	Flaw        Flaw
	Number      int64  // the job's number; -1 if it is not known
	JID         string // as received, if Number is not known; empty if there was none
	Description string // such as "refused and delivered nevertheless"
}

// Findings holds the first 1,000 of each kind, in the order of their deliveries.
type Findings struct {
	Duplicates []int64   // jobs delivered to a second worker, once for each such delivery
	Returned   []int64   // jobs delivered after they were settled, the same
	Foreign    []Finding // deliveries with a flaw
}

// findings has a lock, because findings are rare.
type findings struct {
	mu    sync.Mutex
	list  Findings
	flaws [Flaws]int // how many of list.Foreign have the flaw
}

func (f *findings) addDuplicate(k int64, list *[]int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(*list) < findingLimit {
		*list = append(*list, k)
	}
}

func (f *findings) addForeign(finding Finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flaws[finding.Flaw] < findingLimit {
		f.flaws[finding.Flaw]++
		f.list.Foreign = append(f.list.Foreign, finding)
	}
}

// Findings returns a copy of the findings so far. For missing jobs see Missing.
func (l *Ledger) Findings() Findings {
	l.findings.mu.Lock()
	defer l.findings.mu.Unlock()
	return Findings{
		Duplicates: slices.Clone(l.findings.list.Duplicates),
		Returned:   slices.Clone(l.findings.list.Returned),
		Foreign:    slices.Clone(l.findings.list.Foreign),
	}
}
