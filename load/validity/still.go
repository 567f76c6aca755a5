package validity

import (
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/load/results"
)

const (
	lookEvery = 20 * time.Millisecond
	stillFrom = 200 * time.Millisecond // a shorter pause is the scheduler's
	stillKept = 100
)

// stillness watches whether the process stands still: stopped, frozen, on a machine that sleeps or has no CPU for it.
// It looks at the clock every 20 ms, and finds holes between its looks. What the process computed itself meanwhile is
// no hole: then it was busy.
type stillness struct {
	start  time.Time
	asleep func() time.Duration
	used   func() time.Duration // CPU time of the process

	last  look // of the goroutine while it looks
	holes []results.Hole
	over  chan struct{}
	ended sync.WaitGroup
}

// look is what a look saw.
type look struct {
	at           time.Time
	asleep, used time.Duration
}

func newStillness(start time.Time) *stillness {
	return &stillness{start: start, asleep: machine.Asleep, used: func() time.Duration {
		user, system, _ := processTimes()
		return user + system
	}}
}

// begin begins to look, and forgets what was found before.
func (s *stillness) begin() {
	s.last, s.holes, s.over = s.now(), nil, make(chan struct{})
	s.ended.Go(func() {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for {
			select {
			case <-s.over:
				return
			case <-ticker.C:
				s.found(s.now())
			}
		}
	})
}

// end ends the looks, and returns what they have found.
func (s *stillness) end() []results.Hole {
	close(s.over)
	s.ended.Wait()
	s.found(s.now()) // the goroutine may not have had its turn since the hole
	return s.holes
}

func (s *stillness) now() look { return look{time.Now(), s.asleep(), s.used()} }

// found compares a look with the one before.
func (s *stillness) found(now look) {
	before := s.last
	s.last = now
	hole := now.at.Sub(before.at) + max(0, now.asleep-before.asleep)
	if hole > stillFrom && now.used-before.used < hole/2 && len(s.holes) < stillKept {
		s.holes = append(s.holes, results.Hole{At: before.at.Sub(s.start), For: hole})
	}
}
