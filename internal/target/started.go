package target

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/lag"
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

// begin runs the command and waits until the server is ready.
func (i *Started) begin(ctx context.Context) error {
	now, err := supervise(i.starter.Supervisor, i.place.fill(i.starter.Command),
		append(i.place.environment(), i.starter.Environment...), i.output)
	if err != nil {
		return err
	}
	i.now = now
	patience := i.starter.Patience
	if patience <= 0 {
		patience = startPatience
	}
	ctx, give := context.WithCancelCause(ctx)
	end := time.AfterFunc(patience, func() { give(fmt.Errorf("it does not serve within %v", patience)) })
	defer end.Stop()
	defer give(nil)
	for late, begun := time.Duration(0), time.Now(); ; {
		refused := i.ready(ctx)
		if refused == nil {
			return nil
		}
		asleep := time.Now()
		select {
		case <-now.over:
			return &StartError{fmt.Errorf("it ended (%s)", now.How()), i.output.lines()}
		case <-ctx.Done():
			return &StartError{fmt.Errorf("%w: %w", context.Cause(ctx), refused), i.output.lines()}
		case <-time.After(readyPause):
		}
		if by := time.Since(asleep) - readyPause; by > late && ctx.Err() == nil { // this machine is busy: so is the server
			late = by
			end.Reset(time.Until(begun.Add(patience + lag.Grace(late, patience))))
		}
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
