package program

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Interruptible returns a copy of ctx that ends with the first SIGINT or SIGTERM, and a function that releases it. The
// second signal ends the process.
func (p Process) Interruptible(ctx context.Context) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	notify := sync.OnceFunc(func() {
		stop()
		p.Logf("interrupted: the report follows; interrupt again to end at once")
	})
	forget := context.AfterFunc(ctx, notify)
	return ctx, func() {
		if !forget() || ctx.Err() != nil {
			notify()
		}
		stop()
	}
}

// UntilInterrupted returns a copy of ctx that ends with the first SIGINT or SIGTERM, for commands that end in no other
// way, and a function that releases it. The second signal ends the process.
func UntilInterrupted(ctx context.Context) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
