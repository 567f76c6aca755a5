package ledger

import (
	"slices"
	"sync/atomic"
	"time"
)

// find returns the chunk of job k, nil if no job in it has been sent.
func (l *Ledger) find(k int64) *chunk {
	chunks := *l.chunks.Load()
	if i := uint64(k) / chunkJobs; i < uint64(len(chunks)) {
		return chunks[i]
	}
	return nil
}

// addChunk adds the chunk of job k. A gap in the numbers takes only pointers.
func (l *Ledger) addChunk(k int64) {
	if k < 0 {
		panic("ledger: a job's number is negative")
	}
	l.grow.Lock()
	defer l.grow.Unlock()
	if l.find(k) != nil {
		return
	}
	chunks := slices.Clone(*l.chunks.Load())
	i := int(k / chunkJobs)
	for len(chunks) <= i {
		chunks = append(chunks, nil)
	}
	chunks[i] = new(chunk)
	l.chunks.Store(&chunks)
}

// addQueues adds the queues up to that index.
func (l *Ledger) addQueues(queue int) []*atomic.Int64 {
	l.grow.Lock()
	defer l.grow.Unlock()
	queues := slices.Clone(*l.queues.Load())
	for len(queues) <= queue {
		greatest := new(atomic.Int64)
		greatest.Store(-1)
		queues = append(queues, greatest)
	}
	l.queues.Store(&queues)
	return queues
}

// loadOrNew returns the bitmap at p, and creates it at the first use.
func loadOrNew(p *atomic.Pointer[bitmap]) *bitmap {
	if b := p.Load(); b != nil {
		return b
	}
	p.CompareAndSwap(nil, new(bitmap))
	return p.Load()
}

const (
	ringSize = 1 << 16
	timeBits = 40 // microseconds: 12 days
	timeMask = 1<<timeBits - 1
)

// ring keeps the times of the last jobs. An entry is one word, so that it is never half written: 24 bits of the job's
// number without the bits of its index, and microseconds plus one, so that zero means no entry.
type ring [ringSize]atomic.Uint64

func (r *ring) put(k int64, at time.Duration) {
	us := min(uint64(max(at, 0)/time.Microsecond)+1, timeMask)
	r[k%ringSize].Store(uint64(k)/ringSize<<timeBits | us)
}

func (r *ring) get(k int64) (time.Duration, bool) {
	if k < 0 {
		return 0, false
	}
	entry := r[k%ringSize].Load()
	if entry == 0 || entry>>timeBits != uint64(k)/ringSize {
		return 0, false
	}
	return time.Duration(entry&timeMask-1) * time.Microsecond, true
}
