package ledger

import (
	"sync"
	"sync/atomic"
	"time"
)

// Ledger is the account of one run's jobs. All methods are safe for concurrent use; those that are called for each job
// neither lock nor allocate, except for a new chunk every 65,536 jobs.
//
// A job is identified by its number k, counted from 0 without large gaps. It takes three bits: two for its state and
// one for whether its push was confirmed, and a quarter of one for when it was pushed; refused and doubtful pushes
// take one bit more for each job nearby. So ten million jobs take less than 5 MB, and every count is exact: nothing
// is sampled or dropped.
//
// # The states of a job
//
// Unseen: no worker has got it. Held: a worker has it. May return: a worker had it, and the server may deliver it again
// (after a fail with retries left, an ack or fail without a reply, the end of a connection or of a reservation).
// Settled: an ack was confirmed, or a fail after which it is not delivered again.
//
//	                | unseen      | held        | may return  | settled
//	Delivered       | held: First | held: Twice | held: Again | settled: Returned
//	MayReturn       | -           | may return  | may return  | settled
//	Failed, returns | -           | may return  | may return  | settled
//	Failed for good | -           | settled     | settled     | settled
//	Acked           | -           | settled     | settled     | settled
//
// A report on a job that was never delivered (-) is a mistake of the caller, and changes nothing.
//
// # What the table means
//
// The push is separate from the states, because its reply races with the delivery: a job can be delivered, and even
// settled, before its push is confirmed. A push without a reply (Doubtful) may or may not have been accepted: its job
// may be delivered, and is not missing if it is not. A job whose push was refused must not be delivered: if it is, it
// is a foreign job, although the worker may continue with it.
//
// MayReturn must be called before the server can know about it: before a fail is sent, not when it is confirmed,
// because another worker may have the job before the reply has been read. So a server that delivers a job again in time
// is not taken for one that delivers it twice. When a worker has the job again, a second delivery is Twice again, until
// that worker is done with it or it may return once more. An ack that is confirmed late settles the job, whichever
// worker has it.
//
// The caller knows how often a job may fail before it must not be delivered again (Failed).
//
// # Missing and lost
//
// A job is missing if its push was confirmed and no worker has got it. During the run that is the backlog. When the
// queues have been drained there is one reason that is not the server's bug: a fetch that ended without a reply may
// have taken one job. Jobs missing beyond the number of those are lost.
type Ledger struct {
	// Often read and rarely written; the ring separates their cache lines from those of the counters.
	chunks atomic.Pointer[[]*chunk]        // copied when it grows
	queues atomic.Pointer[[]*atomic.Int64] // greatest job delivered, by queue; copied when it grows
	grow   sync.Mutex                      // held while chunks or queues are replaced

	recent ring
	stops  stops
	clock  bounds

	last, sent              atomic.Int64 // greatest job sent, -1 before the first; how many
	refused                 atomic.Int64
	failed, forGood         atomic.Int64
	redelivered, duplicated atomic.Int64
	returned, outOfOrder    atomic.Int64
	fetchesLost             atomic.Int64
	reportsLost             atomic.Int64
	foreign                 [Flaws]atomic.Int64

	findings findings
}

// New returns an empty Ledger.
func New() *Ledger {
	l := new(Ledger)
	l.chunks.Store(new([]*chunk))
	l.queues.Store(new([]*atomic.Int64))
	l.last.Store(-1)
	l.stops.any.Store(-1)
	l.stops.kills.Store(-1)
	l.clock.reset()
	return l
}

// Sent books that the push of job k is sent at the time at. It must be called before the server can have read the push,
// and be followed by exactly one of Pushed, Refused and Doubtful. k is 0 or more, and may leave out numbers.
func (l *Ledger) Sent(k int64, at time.Duration) {
	c := l.find(k)
	if c == nil {
		l.addChunk(k)
		c = l.find(k)
	}
	if first := &c.sent[k%chunkJobs/blockJobs]; first.Load() == 0 {
		first.CompareAndSwap(0, int64(at)+1)
	}
	l.sent.Add(1)
	l.recent.put(k, at)
	raise(&l.last, k)
}

// SentAt returns the time at which the push of job k was sent, rounded down to a microsecond, if k is one of the last
// 65,536 numbers that were sent.
func (l *Ledger) SentAt(k int64) (time.Duration, bool) { return l.recent.get(k) }

// PushedAt returns when the push of job k was sent: exactly for the jobs of SentAt, and for others when the first of
// 256 jobs was that are next to it.
func (l *Ledger) PushedAt(k int64) (time.Duration, bool) {
	at, known := l.SentAt(k)
	if c := l.find(k); !known && c != nil {
		first := c.sent[k%chunkJobs/blockJobs].Load()
		at, known = time.Duration(first-1), first > 0
	}
	return at, known
}

// Pushed books that the push of job k was confirmed. The job may have been delivered by then.
func (l *Ledger) Pushed(k int64) {
	if c := l.find(k); c != nil {
		c.accepted.set(k % chunkJobs)
	}
}

// Refused books that the server replied to the push of job k with an error.
func (l *Ledger) Refused(k int64) {
	c := l.find(k)
	if c == nil {
		return
	}
	l.refused.Add(1)
	lazily(&c.refused).set(k % chunkJobs)
	if c.seen(k % chunkJobs) {
		l.refusedAndDelivered(c, k)
	}
}

// Doubtful books that the push of job k got no reply: the server may have accepted it or not.
func (l *Ledger) Doubtful(k int64) {
	if c := l.find(k); c != nil {
		lazily(&c.doubtful).set(k % chunkJobs)
	}
}

// Delivered books that a worker got job k from the queue with that index (negative if it is not known), and returns the
// kind of the delivery.
func (l *Ledger) Delivered(k int64, queue int) Kind {
	c := l.find(k)
	if c == nil || k > l.last.Load() {
		l.flawed(Finding{Flaw: NotOurs, K: k, What: "delivered, and never pushed"})
		return Stray
	}
	kind := kinds[c.apply(k%chunkJobs, delivered)]
	if denied := c.denied.Load(); denied != nil {
		denied.clear(k % chunkJobs)
	}
	switch kind {
	case First:
		l.order(k, queue)
		if r := c.refused.Load(); r != nil && r.has(k%chunkJobs) {
			l.refusedAndDelivered(c, k)
		}
	case Again:
		l.redelivered.Add(1)
	case Returned:
		if l.stops.forgave(k, &l.stops.returned) {
			break
		}
		l.returned.Add(1)
		l.findings.addTwice(k, &l.findings.kept.Returned)
	default:
		if l.stops.forgave(k, &l.stops.twice) {
			break
		}
		l.duplicated.Add(1)
		l.findings.addTwice(k, &l.findings.kept.Twice)
	}
	return kind
}

// Acked books that an ack of job k was confirmed.
func (l *Ledger) Acked(k int64) {
	if c := l.find(k); c != nil {
		c.apply(k%chunkJobs, acked)
	}
}

// Failed books that a fail of job k was confirmed, and whether the job will be delivered again. If it will, MayReturn
// must have been called before the fail was sent.
func (l *Ledger) Failed(k int64, willReturn bool) {
	c := l.find(k)
	if c == nil {
		return
	}
	l.failed.Add(1)
	if willReturn {
		c.apply(k%chunkJobs, returns)
		return
	}
	if was := c.apply(k%chunkJobs, failedForGood); was == held || was == mayReturn {
		l.forGood.Add(1)
	}
}

// MayReturn books that the server may deliver job k again from now on: a fail that leaves retries is about to be sent,
// an ack or fail got no reply, the worker's connection has ended, or the reservation has run out.
func (l *Ledger) MayReturn(k int64) {
	if c := l.find(k); c != nil {
		c.apply(k%chunkJobs, returns)
	}
}

// Foreign books a delivery with a flaw. jid is as received, empty if there was none; what describes the flaw.
func (l *Ledger) Foreign(flaw Flaw, jid, what string) {
	l.flawed(Finding{Flaw: flaw, K: -1, JID: jid, What: what})
}

func (l *Ledger) flawed(f Finding) {
	l.foreign[f.Flaw].Add(1)
	l.findings.addForeign(f)
}

// FetchLost books that a fetch ended without a reply. The server may have delivered one job to it.
func (l *Ledger) FetchLost() { l.fetchesLost.Add(1) }

// ReportLost books that an ack or a fail ended without a reply. The server may have carried it out.
func (l *Ledger) ReportLost() { l.reportsLost.Add(1) }

// Denied books that the server answered an ack or a fail of job k with an error: the job has not ended for it, and
// comes again when its reservation is over.
func (l *Ledger) Denied(k int64) {
	if c := l.find(k); c != nil {
		lazily(&c.denied).set(k % chunkJobs)
	}
}

// refusedAndDelivered is called by Refused or by Delivered, or by both if they race. The one that clears the bit books
// the finding.
func (l *Ledger) refusedAndDelivered(c *chunk, k int64) {
	if c.refused.Load().clear(k % chunkJobs) {
		l.flawed(Finding{Flaw: WasRefused, K: k, What: "refused and delivered nevertheless"})
	}
}

// order counts a first delivery after that of a later job of its queue.
func (l *Ledger) order(k int64, queue int) {
	if queue < 0 {
		return
	}
	queues := *l.queues.Load()
	if queue >= len(queues) {
		queues = l.addQueues(queue)
	}
	if !raise(queues[queue], k) {
		l.outOfOrder.Add(1)
	}
}

// raise makes v at least k, and reports whether it was not greater before.
func raise(v *atomic.Int64, k int64) bool {
	for {
		old := v.Load()
		if old > k {
			return false
		}
		if v.CompareAndSwap(old, k) {
			return true
		}
	}
}
