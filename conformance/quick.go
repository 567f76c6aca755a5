package conformance

import (
	"context"
	"fmt"
	"time"
)

// The limits of a quick run, so that it ends soon on every server.
const (
	// QuickWait is the longest wait of a check that a quick selection picks.
	QuickWait = 5 * time.Second
	// QuickPatience is how long a quick run waits for what the specification calls
	// eventual: a server may look for jobs that are due only every few seconds.
	QuickPatience = 15 * time.Second
	// QuickCheck is what a check may take in a quick run.
	QuickCheck = time.Minute
)

// errQuickCheck is the end of a play that took too long for a quick run.
var errQuickCheck = fmt.Errorf("a quick run gives a check no more than %v", QuickCheck)

// patience returns the patience of one play, and whether the play may cut waits short.
func (on Setup) patience() (limit time.Duration, cutShort bool) {
	if !on.Quick || on.Patience > 0 && on.Patience <= QuickPatience {
		return on.Patience, on.Quick
	}
	return QuickPatience, true
}

// limit returns the ctx of one play: in a quick run it has a timeout.
func (on Setup) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if !on.Quick {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, QuickCheck, errQuickCheck)
}
