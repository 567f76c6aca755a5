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
				l.Sent(k, time.Duration(k))
				if k%100 != 13 && k%100 != 14 && k%100 != 15 { // 13 gets lost, 14 is refused, 15 was never accepted
					queue <- k // before its confirmation
				}
				switch k % 100 {
				case 14, 16: // 16 is refused, and delivered nevertheless
					l.Refused(k)
				case 15, 17: // 17 gets no reply, and is delivered
					l.Doubtful(k)
				default:
					l.Pushed(k)
				}
			}
		})
	}
	var kinds [5]atomic.Int64
	deliver := func(k int64) { kinds[l.Delivered(k, int(k%5))].Add(1) }
	for range workers {
		working.Go(func() {
			for k := range queue {
				deliver(k)
				switch k % 10 {
				case 1: // fails, comes back, is done
					l.MayReturn(k)
					l.Failed(k, true)
					deliver(k)
					l.Acked(k)
				case 2: // dies
					l.Failed(k, false)
				case 5: // comes twice
					deliver(k)
					l.Acked(k)
					l.Acked(k)
				case 8: // waits for its retry
					l.Failed(k, true)
				case 9: // is at work
				default:
					l.Acked(k)
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

	share := func(of int64, rests ...int64) (n int64) {
		for k := range int64(jobs) {
			if slices.Contains(rests, k%of) {
				n++
			}
		}
		return n
	}
	got := l.Count(true)
	want := Counts{
		Sent: jobs, Refused: share(100, 14, 16), Doubtful: share(100, 15, 17),
		Pushed: jobs - share(100, 14, 15, 16, 17), Delivered: jobs - share(100, 13, 14, 15),
		Dead: share(10, 2), Held: share(10, 9), Waiting: share(10, 8),
		InDoubt: share(100, 15), Missing: share(100, 13), Lost: share(100, 13),
		Failed: share(10, 1, 2, 8), Redelivered: share(10, 1),
		Duplicated: share(10, 5) - share(100, 15), Foreign: share(100, 16), Flawed: [Flaws]int64{WasRefused: share(100, 16)},
		OutOfOrder: got.OutOfOrder, // depends on who is first
	}
	want.Acked = want.Delivered - want.Dead - want.Held - want.Waiting
	assert.Equal(t, want, got)
	assert.Equal(t, []int64{want.Delivered, want.Redelivered, want.Duplicated, 0},
		[]int64{kinds[First].Load(), kinds[Again].Load(), kinds[Twice].Load(), kinds[Stray].Load()})
	for k := range l.Missing() {
		assert.EqualValues(t, 13, k%100)
	}
}

// TestOneOfManyIsFirst: all get the same job at once.
func TestOneOfManyIsFirst(t *testing.T) {
	t.Parallel()
	l := New()
	for k := range int64(200) {
		l.Sent(k, 0)
		var first, twice atomic.Int64
		var all sync.WaitGroup
		all.Go(func() { l.Refused(k) })
		for range 6 {
			all.Go(func() {
				if l.Delivered(k, 0) == First {
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
