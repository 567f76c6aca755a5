package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTimers changes wakes at random and holds the heap against a sorted list.
func TestTimers(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var heap timers
	links := make([]Link, 50)
	for range 20_000 {
		k := &links[random.IntN(len(links))]
		heap.set(k, time.Duration(random.IntN(30)))
		var wakes []time.Duration
		for i := range links {
			if links[i].wake != 0 {
				wakes = append(wakes, links[i].wake)
			}
		}
		require.Len(t, heap, len(wakes))
		if len(wakes) == 0 {
			require.Zero(t, heap.next())
			require.False(t, heap.isDue(time.Hour))
			continue
		}
		earliest := slices.Min(wakes)
		require.Equal(t, earliest, heap.next())
		require.True(t, heap.isDue(earliest))
		require.False(t, heap.isDue(earliest-1))
	}
}

func BenchmarkTimers(b *testing.B) {
	b.ReportAllocs()
	var heap timers
	links := make([]Link, 10_000)
	for i := range links {
		heap.set(&links[i], time.Duration(i+1))
	}
	now := time.Duration(len(links))
	for i := 0; b.Loop(); i++ {
		now++
		heap.set(&links[i%len(links)], now) // as a limit on the time of a reply moves on
	}
}
