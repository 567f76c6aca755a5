package machine

import (
	"context"
	"time"
)

// Sleep blocks for d, or until ctx is done. It reports whether ctx is not done.
func Sleep(ctx context.Context, d time.Duration) bool {
	return Until(ctx.Done(), d) && ctx.Err() == nil
}

// Until blocks for d, or until over is closed. It reports whether the time has passed, as one of 0 or less has.
func Until(over <-chan struct{}, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-over:
		return false
	}
}
