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

// patience is that of the run, and whether it may end what might still come.
func (s *session) patience() (limit time.Duration, hasty bool) {
	if !s.Quick || s.Patience > 0 && s.Patience <= QuickPatience {
		return s.Patience, s.Quick
	}
	return QuickPatience, true
}

// quickly is ctx for one check: in a quick run it ends.
func (s *session) quickly(ctx context.Context) (context.Context, context.CancelFunc) {
	if !s.Quick {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, QuickCheck, fmt.Errorf("a quick run gives a check no more than %v", QuickCheck))
}

// tooLate says why a quick run begins no more checks, or nothing.
func (s *session) tooLate() string {
	limit := QuickRun
	if s.Parallel > 0 {
		for _, script := range s.Scripts {
			limit += script.Wait() / time.Duration(s.Parallel)
		}
	}
	limit = limit.Truncate(time.Second) * time.Duration(s.repeat)
	if !s.Quick || time.Since(s.start) < limit {
		return ""
	}
	return fmt.Sprintf("a quick run begins no more checks after %v", limit)
}
