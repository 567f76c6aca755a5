package ledger

import (
	"sync/atomic"
	"time"
)

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
