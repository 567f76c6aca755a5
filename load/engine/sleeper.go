package engine

import "time"

// waker has the loop entered when an instant has come, and sometimes earlier.
type waker interface {
	// set changes the instant. It does not block, and is not called after close.
	set(at time.Duration)
	close()
}

// sleeper is a waker for whoever waits for it.
type sleeper interface {
	waker
	// wait blocks until the instant has come, and sometimes less long. It returns false
	// once the sleeper is closed.
	wait() bool
}

// newSleeper returns the most precise sleeper that there is, or a coarse one.
func newSleeper(isCoarse bool, start time.Time) sleeper {
	if !isCoarse {
		if s := newPreciseSleeper(start); s != nil {
			return s
		}
	}
	s := &coarseSleeper{start: start, timer: time.NewTimer(time.Hour), done: make(chan struct{})}
	s.timer.Stop()
	return s
}

// coarseSleeper sleeps by package time.
type coarseSleeper struct {
	start time.Time
	timer *time.Timer
	done  chan struct{}
}

func (s *coarseSleeper) set(at time.Duration) { s.timer.Reset(at - time.Since(s.start)) }

func (s *coarseSleeper) wait() bool {
	select {
	case <-s.timer.C:
		return true
	case <-s.done:
		return false
	}
}

func (s *coarseSleeper) close() {
	s.timer.Stop()
	close(s.done)
}
