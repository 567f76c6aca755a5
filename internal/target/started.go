package target

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/lag"
	"github.com/fwpsuite/fwp/internal/wait"
)

// Started is a server that a [Starter] started. It is the [Operator] of its Server.
// Its methods may be called by many goroutines at once.
type Started struct {
	Server Server

	starter *Starter
	place   Place
	held    reservation // of its ports
	workers Operator    // may be nil
	output  *lastLines

	mu  sync.Mutex // held during an action
	now *Running
}

// readyPause is the time between two looks at whether a server is ready.
const readyPause = 20 * time.Millisecond

// tellPause is the time between two messages that a server is not ready.
const tellPause = 5 * time.Second

// begin runs the command and waits until the server is ready.
func (i *Started) begin(ctx context.Context) error {
	now, err := supervise(i.starter.Supervisor, i.place.fill(i.starter.Command),
		append(i.place.environment(), i.starter.Environment...), i.output)
	if err != nil {
		return err
	}
	i.now = now
	meter := new(lag.Meter)
	defer meter.Follow(func() int { return now.pid })()
	return i.await(ctx, meter)
}

// await waits until the server is ready: for the patience of the starter, and longer by what the lag of this machine
// meanwhile may explain, which it measures. A wait that is long is told.
func (i *Started) await(ctx context.Context, meter *lag.Meter) error {
	patience := i.starter.Patience
	if patience <= 0 {
		patience = startPatience
	}
	begun := time.Now()
	given := func() time.Duration { return patience + lag.Grace(meter.Lag(begun), patience) }
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	go meter.Run(ctx)
	go func() {
		for left := given(); wait.Sleep(ctx, left); {
			if left = given() - time.Since(begun); left <= 0 {
				give(fmt.Errorf("it does not serve within %v", given().Round(100*time.Millisecond)))
			}
		}
	}()
	var refused error
	for next := begun.Add(tellPause); ; {
		if err := i.ready(ctx); err == nil {
			return nil
		} else if ctx.Err() == nil || refused == nil {
			refused = err
		}
		if now := time.Now(); now.After(next) && ctx.Err() == nil {
			next = now.Add(tellPause)
			tell(ctx, "waiting for the server that --start started: it does not serve after %v, and has %v: %v",
				now.Sub(begun).Round(time.Second), given().Round(time.Second), refused)
		}
		select {
		case <-i.now.over:
			return &StartError{fmt.Errorf("it ended (%s)", i.now.How()), i.output.lines()}
		case <-ctx.Done():
			return &StartError{fmt.Errorf("%w: %w", context.Cause(ctx), refused), i.output.lines()}
		case <-time.After(readyPause):
		}
	}
}

// tellKey is where the context has what tells the user of a long wait.
type tellKey struct{}

// Telling returns a copy of ctx with which a start that takes long is told.
func Telling(ctx context.Context, tell func(format string, args ...any)) context.Context {
	return context.WithValue(ctx, tellKey{}, tell)
}

func tell(ctx context.Context, format string, args ...any) {
	if f, ok := ctx.Value(tellKey{}).(func(string, ...any)); ok {
		f(format, args...)
	}
}

// ready asks the server whether it serves.
func (i *Started) ready(ctx context.Context) error {
	if i.starter.Ready != nil {
		return i.starter.Ready(ctx, &i.Server)
	}
	nc, err := i.Server.Dial(ctx)
	if err != nil {
		return err
	}
	return nc.Close()
}

// Can implements [Operator].
func (i *Started) Can(action Action) bool {
	return action == Restart || action == Kill || i.workers != nil && i.workers.Can(action)
}

// Do implements [Operator]. Restart and Kill block until the server is ready again; they start
// a server that has ended, too.
func (i *Started) Do(ctx context.Context, action Action, wid string) error {
	if action == Quiet || action == Terminate {
		if i.workers == nil {
			return fmt.Errorf("%s: no command for it was given", action)
		}
		return i.workers.Do(ctx, action, wid)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.now.end(action == Kill)
	return i.begin(ctx)
}

// Ended reports whether the server has ended although nothing asked it to, how, and the last
// lines that it printed.
func (i *Started) Ended() (how string, output []string, ended bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	select {
	case <-i.now.over:
		return i.now.How(), i.output.lines(), true
	default:
		return "", nil, false
	}
}

// PID returns the process id of the process above the server and all that it started.
func (i *Started) PID() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.now.pid
}

// End stops the server, with everything that it started, and removes its folder. It blocks
// until all have ended.
func (i *Started) End() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.now != nil {
		i.now.end(false)
	}
	removeDir(i.place.Dir)
	i.held.Close()
}

// errNoSupervisor reports that a command cannot be run.
var errNoSupervisor = errors.New("cannot run the command of --start")
