package fakes

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

func paceVariations() []Variation {
	return []Variation{
		variation("pace-far-away", "Link Level",
			"everything takes 30 ms longer",
			away(30*time.Millisecond)),
		varying("pace-jitter", "Link Level", "everything takes up to 300 ms longer", jitter),
		variation("pace-slow-push", "PUSH Command",
			"a PUSH takes 400 ms",
			when(Judged, fwp.PUSH, func(e *Event) {
				if e.Err == nil {
					e.Delay = 400 * time.Millisecond
				}
			})),
		variation("pace-bytes", "Link Level",
			"replies come in segments of a byte",
			on(Writing, func(e *Event) {
				// more than a line and the head of a bulk string shows nothing new
				if e.Chunk, e.Pause = 1, time.Microsecond; len(e.Bytes) > 2000 {
					e.Chunk = len(e.Bytes) / 20
				}
			})),
	}
}

// away puts a server at a distance: whatever it says comes so much later.
func away(d time.Duration) func(*Event) {
	return on(Writing, func(e *Event) { e.Delay = d })
}

// jitter draws the same delays in every run, although not for the same commands.
func jitter() func(*Event) {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	return on(Writing, func(e *Event) {
		mu.Lock()
		defer mu.Unlock()
		e.Delay = time.Duration(random.Int64N(int64(300 * time.Millisecond)))
	})
}
