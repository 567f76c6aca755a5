package ledger

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestCountsAreExactUnderConcurrency has producers and workers that meet on the same words all the time, and knows
// from each job's number what becomes of it.
func TestCountsAreExactUnderConcurrency(t *testing.T) {
	t.Parallel()
	const producers, workers, jobs = 8, 8, 2*chunkJobs + 1000
	l := New()
	queue := make(chan int64, 256)
	var pushing, working, counting sync.WaitGroup
	for p := range int64(producers) {
		pushing.Go(func() {
			for k := p; k < jobs; k += producers {
				l.BookSent(k, time.Duration(k))
				if k%100 != 13 && k%100 != 14 && k%100 != 15 { // 13 gets lost, 14 is refused, 15 was never accepted
					queue <- k // before its confirmation
				}
				switch k % 100 {
				case 14, 16: // 16 is refused, and delivered nevertheless
					l.BookRefusal(k)
				case 15, 17: // 17 gets no reply, and is delivered
					l.BookDoubt(k)
				default:
					l.BookPush(k)
				}
			}
		})
	}
	var kinds [5]atomic.Int64
	deliver := func(k int64) { kinds[l.BookDelivery(k, int(k%5))].Add(1) }
	for range workers {
		working.Go(func() {
			for k := range queue {
				deliver(k)
				switch k % 10 {
				case 1: // fails, comes back, is done
					l.BookReturnable(k)
					l.BookFail(k, true)
					deliver(k)
					l.BookAck(k)
				case 2: // dies
					l.BookFail(k, false)
				case 5: // comes twice
					deliver(k)
					l.BookAck(k)
					l.BookAck(k)
				case 8: // waits for its retry
					l.BookFail(k, true)
				case 9: // is at work
				default:
					l.BookAck(k)
				}
			}
		})
	}
	stop := make(chan struct{})
	counting.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				l.Count(false)
			}
		}
	})
	pushing.Wait()
	close(queue)
	working.Wait()
	close(stop)
	counting.Wait()

	share := func(modulus int64, rests ...int64) (n int64) {
		for k := range int64(jobs) {
			if slices.Contains(rests, k%modulus) {
				n++
			}
		}
		return n
	}
	got := l.Count(true)
	want := Counts{
		Sent: jobs, Refused: share(100, 14, 16), Doubtful: share(100, 15, 17),
		Pushed: jobs - share(100, 14, 15, 16, 17), Delivered: jobs - share(100, 13, 14, 15),
		Dead: share(10, 2), HeldJobs: share(10, 9), Waiting: share(10, 8),
		InDoubt: share(100, 15), Missing: share(100, 13), LostJobs: share(100, 13),
		Failed: share(10, 1, 2, 8), Redelivered: share(10, 1),
		Duplicated: share(10, 5) - share(100, 15), Foreign: share(100, 16), Flawed: [Flaws]int64{RefusedJob: share(100, 16)},
		OutOfOrder: got.OutOfOrder, // depends on who is first
	}
	want.Acked = want.Delivered - want.Dead - want.HeldJobs - want.Waiting
	assert.Equal(t, want, got)
	assert.Equal(t, []int64{want.Delivered, want.Redelivered, want.Duplicated, 0},
		[]int64{kinds[FirstDelivery].Load(), kinds[Redelivery].Load(), kinds[Duplicate].Load(), kinds[Stray].Load()})
	for k := range l.Missing() {
		assert.EqualValues(t, 13, k%100)
	}
}

// TestConcurrentDeliveries: all get the same job at once.
func TestConcurrentDeliveries(t *testing.T) {
	t.Parallel()
	l := New()
	for k := range int64(200) {
		l.BookSent(k, 0)
		var first, twice atomic.Int64
		var all sync.WaitGroup
		all.Go(func() { l.BookRefusal(k) })
		for range 6 {
			all.Go(func() {
				if l.BookDelivery(k, 0) == FirstDelivery {
					first.Add(1)
				} else {
					twice.Add(1)
				}
			})
		}
		all.Wait()
		assert.Equal(t, []int64{1, 5}, []int64{first.Load(), twice.Load()})
	}
	assert.EqualValues(t, 200, l.Count(true).Foreign, "each of the refused jobs is told once")
}

// TestRingIsNeverHalfWritten: a time belongs to its job, or is not there.
func TestRingIsNeverHalfWritten(t *testing.T) {
	t.Parallel()
	var r ring
	var all sync.WaitGroup
	for p := range int64(4) {
		all.Go(func() {
			for i := range int64(5000) {
				k := i*ringSize + p%2 // two writers, the same places
				r.put(k, time.Duration(k)*time.Microsecond)
				if at, ok := r.get(k); ok {
					assert.Equal(t, time.Duration(k)*time.Microsecond, at)
				}
			}
		})
	}
	all.Wait()
}
