package conformance

import (
	"context"
	"fmt"
	"time"
)

// What a quick run may take, so that it comes to its end on whatever server.
const (
	// QuickWait is the longest wait of a check that a quick selection picks.
	QuickWait = 5 * time.Second
	// QuickPatience is how long a quick run waits for what the specification calls
	// eventual: a server may look every few seconds only for what is due.
	QuickPatience = 15 * time.Second
	// QuickCheck is what a check may take in a quick run.
	QuickCheck = time.Minute
	// QuickRun is how long a quick run begins checks, for each repetition. With a limit of
	// checks at a time what they have to wait comes on top.
	QuickRun = 2 * time.Minute
)

// patience returns that of one play, and whether it may end what might still come.
func (on Setup) patience() (limit time.Duration, hasty bool) {
	if !on.Quick || on.Patience > 0 && on.Patience <= QuickPatience {
		return on.Patience, on.Quick
	}
	return QuickPatience, true
}

// limit returns ctx for one play: in a quick run it ends.
func (on Setup) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if !on.Quick {
		return context.WithCancel(ctx)
	}
	cause := fmt.Errorf("a quick run gives a check no more than %v", QuickCheck)
	return context.WithTimeoutCause(ctx, QuickCheck, cause)
}

// tooLate returns why a quick run begins no more checks, or nothing.
func (s *runState) tooLate() string {
	limit := QuickRun
	if s.runner.Parallel > 0 {
		for _, check := range s.described {
			limit += check.Wait / time.Duration(s.runner.Parallel)
		}
	}
	limit = limit.Truncate(time.Second) * time.Duration(s.repeat)
	if !s.runner.Quick || time.Since(s.start) < limit {
		return ""
	}
	return fmt.Sprintf("a quick run begins no more checks after %v", limit)
}
