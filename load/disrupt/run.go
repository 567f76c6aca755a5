package disrupt

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
)

// Target is what is disrupted.
type Target interface {
	// Begin begins a disruption, blocks until it has, and returns what ends it. The error is a [SkippedError] if this
	// machine does not allow it. What ends it may be there with an error, too, and is called then.
	Begin(ctx context.Context, d Disruption) (end func(context.Context) error, err error)
}

// SkippedError reports a disruption that this machine does not allow.
type SkippedError struct{ Reason string }

// Error returns why.
func (e *SkippedError) Error() string { return "skipped: " + e.Reason }

// Watch is called at the beginning and at the end of each disruption, by one goroutine. Err is why it could not be
// done, or not ended.
type Watch interface {
	NoteBegin(d Disruption)
	NoteEnd(d Disruption, err error)
}

// endTimeout is how long the end of a disruption may take: a server may have to read its store.
const endTimeout = 2 * time.Minute

// Run does the disruptions of a schedule, each when its time has come, counted from now. It blocks until the last one
// has ended. When ctx is done it ends the present one at once, and begins no more. One that cannot be begun is passed
// over; after one that cannot be ended there is none.
func Run(ctx context.Context, schedule []Disruption, target Target, watch Watch) {
	start := time.Now()
	for _, d := range schedule {
		if !machine.Sleep(ctx, d.At-time.Since(start)) {
			return
		}
		watch.NoteBegin(d)
		end, beginErr := target.Begin(ctx, d)
		if beginErr == nil {
			machine.Sleep(ctx, d.Length)
		}
		var err error
		if end != nil {
			err = endDisruption(ctx, end)
		}
		watch.NoteEnd(d, cmp.Or(err, beginErr))
		if err != nil {
			return
		}
	}
}

// endDisruption ends a disruption, whether ctx is done or not.
func endDisruption(ctx context.Context, end func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), endTimeout,
		fmt.Errorf("it took more than %v", endTimeout))
	defer cancel()
	return end(ctx)
}
