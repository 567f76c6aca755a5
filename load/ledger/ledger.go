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
//	                   | unseen              | held            | may return       | settled
//	BookDelivery       | held: FirstDelivery | held: Duplicate | held: Redelivery | settled: DeliveryAfterEnd
//	BookReturnable     | -                   | may return      | may return       | settled
//	BookFail, returns  | -                   | may return      | may return       | settled
//	BookFail, for good | -                   | settled         | settled          | settled
//	BookAck            | -                   | settled         | settled          | settled
//
// A report on a job that was never delivered (-) is a mistake of the caller, and changes nothing.
//
// # What the table means
//
// The push is separate from the states, because its reply races with the delivery: a job can be delivered, and even
// settled, before its push is confirmed. A push without a reply (BookDoubt) may or may not have been accepted: its
// job may be delivered, and is not missing if it is not. A job whose push was refused must not be delivered: if it is,
// it is a foreign job, although the worker may continue with it.
//
// BookReturnable must be called before the server can know about it: before a fail is sent, not when it is confirmed,
// because another worker may have the job before the reply has been read. So a server that delivers a job again in time
// is not taken for one that delivers it twice. When a worker has the job again, a second delivery is a Duplicate again,
// until that worker is done with it or it may return once more. An ack that is confirmed late settles the job,
// whichever worker has it.
//
// The caller knows how often a job may fail before it must not be delivered again (BookFail).
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
	failed, finalFails      atomic.Int64
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
	l.stops.latest.Store(-1)
	l.stops.kills.Store(-1)
	l.clock.reset()
	return l
}

// BookSent books that the push of job k is sent at the time at. It must be called before the server can have read the
// push, and be followed by exactly one of BookPush, BookRefusal and BookDoubt. k is 0 or more, and may leave out
// numbers.
func (l *Ledger) BookSent(k int64, at time.Duration) {
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
	at, ok := l.SentAt(k)
	if c := l.find(k); !ok && c != nil {
		first := c.sent[k%chunkJobs/blockJobs].Load()
		at, ok = time.Duration(first-1), first > 0
	}
	return at, ok
}

// BookPush books that the push of job k was confirmed. The job may have been delivered by then.
func (l *Ledger) BookPush(k int64) {
	if c := l.find(k); c != nil {
		c.accepted.set(k % chunkJobs)
	}
}

// BookRefusal books that the server replied to the push of job k with an error.
func (l *Ledger) BookRefusal(k int64) {
	c := l.find(k)
	if c == nil {
		return
	}
	l.refused.Add(1)
	loadOrNew(&c.refused).set(k % chunkJobs)
	if c.isDelivered(k % chunkJobs) {
		l.bookRefusedDelivery(c, k)
	}
}

// BookDoubt books that the push of job k got no reply: the server may have accepted it or not.
func (l *Ledger) BookDoubt(k int64) {
	if c := l.find(k); c != nil {
		loadOrNew(&c.doubtful).set(k % chunkJobs)
	}
}

// BookDelivery books that a worker got job k from the queue with that index (negative if it is not known), and returns
// the kind of the delivery.
func (l *Ledger) BookDelivery(k int64, queue int) DeliveryKind {
	c := l.find(k)
	if c == nil || k > l.last.Load() {
		l.addFinding(Finding{Flaw: UnknownJob, Number: k, Description: "delivered, and never pushed"})
		return Stray
	}
	kind := kinds[c.apply(k%chunkJobs, reportDelivery)]
	if denials := c.denials.Load(); denials != nil {
		denials.clear(k % chunkJobs)
	}
	switch kind {
	case FirstDelivery:
		l.checkOrder(k, queue)
		if r := c.refused.Load(); r != nil && r.has(k%chunkJobs) {
			l.bookRefusedDelivery(c, k)
		}
	case Redelivery:
		l.redelivered.Add(1)
	case DeliveryAfterEnd:
		if l.stops.excuses(k, &l.stops.returns) {
			break
		}
		l.returned.Add(1)
		l.findings.addDuplicate(k, &l.findings.list.Returned)
	default:
		if l.stops.excuses(k, &l.stops.duplicates) {
			break
		}
		l.duplicated.Add(1)
		l.findings.addDuplicate(k, &l.findings.list.Duplicates)
	}
	return kind
}

// BookAck books that an ack of job k was confirmed.
func (l *Ledger) BookAck(k int64) {
	if c := l.find(k); c != nil {
		c.apply(k%chunkJobs, reportAck)
	}
}

// BookFail books that a fail of job k was confirmed, and whether the job will be delivered again. If it will,
// BookReturnable must have been called before the fail was sent.
func (l *Ledger) BookFail(k int64, willReturn bool) {
	c := l.find(k)
	if c == nil {
		return
	}
	l.failed.Add(1)
	if willReturn {
		c.apply(k%chunkJobs, reportReturn)
		return
	}
	if before := c.apply(k%chunkJobs, reportFinalFail); before == stateHeld || before == stateReturnable {
		l.finalFails.Add(1)
	}
}

// BookReturnable books that the server may deliver job k again from now on: a fail that leaves retries is about to be
// sent, an ack or fail got no reply, the worker's connection has ended, or the reservation has run out.
func (l *Ledger) BookReturnable(k int64) {
	if c := l.find(k); c != nil {
		c.apply(k%chunkJobs, reportReturn)
	}
}

// BookFlaw books a delivery with a flaw. jid is as received, empty if there was none; description says what is
// wrong.
func (l *Ledger) BookFlaw(flaw Flaw, jid, description string) {
	l.addFinding(Finding{Flaw: flaw, Number: -1, JID: jid, Description: description})
}

func (l *Ledger) addFinding(f Finding) {
	l.foreign[f.Flaw].Add(1)
	l.findings.addForeign(f)
}

// BookFetchLoss books that a fetch ended without a reply. The server may have delivered one job to it.
func (l *Ledger) BookFetchLoss() { l.fetchesLost.Add(1) }

// BookReportLoss books that an ack or a fail ended without a reply. The server may have carried it out.
func (l *Ledger) BookReportLoss() { l.reportsLost.Add(1) }

// BookDenial books that the server answered an ack or a fail of job k with an error: the job has not ended for it, and
// comes again when its reservation is over.
func (l *Ledger) BookDenial(k int64) {
	if c := l.find(k); c != nil {
		loadOrNew(&c.denials).set(k % chunkJobs)
	}
}

// bookRefusedDelivery is called by BookRefusal or by BookDelivery, or by both if they race. The one that clears the bit
// books the finding.
func (l *Ledger) bookRefusedDelivery(c *chunk, k int64) {
	if c.refused.Load().clear(k % chunkJobs) {
		l.addFinding(Finding{Flaw: RefusedJob, Number: k, Description: "refused and delivered nevertheless"})
	}
}

// checkOrder counts a first delivery after that of a later job of its queue.
func (l *Ledger) checkOrder(k int64, queue int) {
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
