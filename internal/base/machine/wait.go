package machine

import (
	"context"
	"time"
)

// Sleep blocks for d, or until ctx is done. It reports whether ctx is not done.
func Sleep(ctx context.Context, d time.Duration) bool {
	return Wait(ctx.Done(), d) && ctx.Err() == nil
}

// Wait blocks for d, or until over is closed. It reports whether the time has passed, as one of 0 or less has.
func Wait(done <-chan struct{}, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
		return false
	}
}
