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
	maxHoles  = 100
)

// stillness watches whether the process stands still: stopped, frozen, on a machine that sleeps or has no CPU for it.
// It looks at the clock every 20 ms, and finds holes between its looks. What the process computed itself meanwhile is
// no hole: then it was busy.
type stillness struct {
	start   time.Time
	asleep  func() time.Duration
	cpuTime func() time.Duration // CPU time of the process

	last  look // of the goroutine while it looks
	holes []results.Hole
	done  chan struct{}
	group sync.WaitGroup
}

// look is what a look saw.
type look struct {
	at              time.Time
	asleep, cpuTime time.Duration
}

func newStillness(start time.Time) *stillness {
	return &stillness{start: start, asleep: machine.Asleep, cpuTime: func() time.Duration {
		user, system, _ := processTimes()
		return user + system
	}}
}

// begin begins to look, and forgets what was found before.
func (s *stillness) begin() {
	s.last, s.holes, s.done = s.now(), nil, make(chan struct{})
	s.group.Go(func() {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for {
			select {
			case <-s.done:
				return
			case <-ticker.C:
				s.compare(s.now())
			}
		}
	})
}

// end ends the looks, and returns what they have found.
func (s *stillness) end() []results.Hole {
	close(s.done)
	s.group.Wait()
	s.compare(s.now()) // the goroutine may not have had its turn since the hole
	return s.holes
}

func (s *stillness) now() look { return look{time.Now(), s.asleep(), s.cpuTime()} }

// compare compares a look with the one before.
func (s *stillness) compare(now look) {
	before := s.last
	s.last = now
	hole := now.at.Sub(before.at) + max(0, now.asleep-before.asleep)
	if hole > stillFrom && now.cpuTime-before.cpuTime < hole/2 && len(s.holes) < maxHoles {
		s.holes = append(s.holes, results.Hole{At: before.at.Sub(s.start), Length: hole})
	}
}
