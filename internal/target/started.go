package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
)

// Started is a server that a [Starter] started. It is the [Operator] of its Server, which sees to it that what is done
// takes effect. Its methods may be called by many goroutines at once.
type Started struct {
	Server Server

	starter *Starter
	place   Place
	held    reservation // of its ports
	control Operator    // of the user's; may be nil
	output  *lastLines
	tell    func(format string, args ...any)

	mu      sync.Mutex // held during an action
	now     *Running
	stopped bool  // it was asked to end, and does not serve again yet
	failed  error // why it did not start again, or was not seen to stop, so that nothing more is done to it
}

// readyPause is the time between two looks at whether a server is ready.
const readyPause = 20 * time.Millisecond

// tellPause is the time between two messages that a server is not ready.
const tellPause = 5 * time.Second

// begin runs the command and waits until the server is ready, when there is room for that.
func (i *Started) begin(ctx context.Context) error {
	leave, err := i.starter.starts.enter(ctx)
	if err != nil {
		return &StartError{Cause: err}
	}
	begun, served := time.Now(), time.Duration(0)
	defer func() { leave(served) }()
	if err = i.run(ctx); err == nil {
		served = time.Since(begun)
	}
	return err
}

// run runs the command and waits until the server is ready.
func (i *Started) run(ctx context.Context) error {
	if i.occupied(ctx) {
		return &UnseenError{Action: Start, Serves: true, Advice: launcherAdvice, Output: i.output.lines(),
			Why: "something serves at " + i.Server.Address.HostPort() + " before the command was run"}
	}
	now, err := supervise(i.starter.Supervisor, i.place.fill(i.starter.Command), i.place.environment(), i.output)
	if err != nil {
		return err
	}
	i.now = now
	i.starter.Log.started(i.place.Port, RedactCommand(i.starter.Value))
	meter := new(machine.Meter)
	if err := i.await(ctx, meter); err != nil {
		return err
	}
	now.order(servesOrder)
	return i.alive(ctx)
}

// await waits until the server is ready: for the patience of the starter, and longer by what the lag of this machine
// meanwhile may explain, which it measures. A wait that is long is told.
func (i *Started) await(ctx context.Context, meter *machine.Meter) error {
	patience := i.starter.Patience
	if patience <= 0 {
		patience = startPatience
	}
	begun := time.Now()
	given := func() time.Duration { return patience + machine.Grace(meter.Lag(begun), patience) }
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	go meter.Run(ctx)
	go func() {
		for left := given(); machine.Sleep(ctx, left); {
			if left = given() - time.Since(begun); left <= 0 {
				give(fmt.Errorf("it was not ready within %v (--start-timeout)", given().Round(100*time.Millisecond)))
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
			if err := i.waits(ctx, now.Sub(begun), given(), refused); err != nil {
				return err
			}
		}
		select {
		case <-i.now.over:
			return &StartError{Cause: fmt.Errorf("it ended (%s)", i.now.How()), Output: i.output.lines()}
		case <-ctx.Done():
			return &StartError{Cause: fmt.Errorf("%w: %w", context.Cause(ctx), refused), Output: i.output.lines()}
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

// teller returns what tells the user; it does nothing if there is no one.
func teller(ctx context.Context) func(format string, args ...any) {
	if f, ok := ctx.Value(tellKey{}).(func(string, ...any)); ok {
		return f
	}
	return func(string, ...any) {}
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

// waits tells of a wait that is long. The error says why it is in vain.
func (i *Started) waits(ctx context.Context, since, left time.Duration, refused error) error {
	if i.starter.Foreign != nil {
		if why := i.starter.Foreign(ctx, &i.Server); why != "" {
			return &StartError{Cause: fmt.Errorf("%w; %s", refused, why), Output: i.output.lines()}
		}
	}
	if i.starter.starts.tells(since) {
		teller(ctx)("waiting for the server of --start: not ready after %v, %v left: %v",
			since.Round(time.Second), left.Round(time.Second), refused)
	}
	return nil
}

// Can implements [Operator].
func (i *Started) Can(action Action) bool {
	switch action {
	case Stop, Kill, KillServer, Start, Pause, Resume:
		return true
	}
	return action != Restart && i.control != nil && i.control.Can(action)
}

// Do implements [Operator]. What the user's command can do, it does; else it is done to the processes of the server.
func (i *Started) Do(ctx context.Context, action Action, wid string) error {
	if action == Quiet || action == Terminate {
		if i.control == nil {
			return fmt.Errorf("%s: no command was given", action)
		}
		return i.control.Do(ctx, action, wid)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.failed != nil:
		return i.failed
	case action == Start:
		return i.again(ctx)
	case action == Pause || action == Resume:
		if !i.controlled(ctx, action) {
			i.now.order(groupOrder + groupSignals[action] + "\n")
		}
		return nil
	}
	return i.stop(ctx, action)
}

var groupSignals = map[Action]string{Pause: "STOP", Resume: "CONT"}

// controlled has the user's command do an action, and reports whether it did.
func (i *Started) controlled(ctx context.Context, action Action) bool {
	if i.control == nil || !i.control.Can(action) {
		return false
	}
	err := i.control.Do(ctx, action, "")
	if err != nil {
		_, _ = fmt.Fprintf(i.output, "--control: %v\n", err)
	}
	return err == nil
}

// stop stops the server, and blocks until all that the command has started has ended.
func (i *Started) stop(ctx context.Context, how Action) error {
	i.stopped = true
	late := false
	select {
	case <-i.now.over: // it has ended by itself
		return nil
	default:
	}
	by := how
	if how == KillServer { // a container ends with its server
		by = Kill
	}
	switch {
	case i.controlled(ctx, by):
		timer := time.NewTimer(seenWithin)
		defer timer.Stop()
		select {
		case <-i.now.over:
		case <-timer.C:
			late = true
		}
	case how == KillServer:
		i.now.order(killServerOrder)
		<-i.now.over
	}
	i.now.end(how != Stop || late)
	switch {
	case late:
		return &UnseenError{Action: how, Why: fmt.Sprintf("the server did not stop: the command of --control ended, and "+
			"that of --start still ran after %v", seenWithin), Output: i.output.lines(), Advice: launcherAdvice}
	case how == Stop && i.now.Code() == killedCode:
		return &UnseenError{Action: how, Why: fmt.Sprintf("it did not end within %v of SIGTERM, and was killed", stopGrace),
			Output: i.output.lines(), Advice: "an orderly stop was not tested; if a shell runs the server, write `exec` " +
				"in front of it, so that it gets the signal"}
	}
	return nil
}

// killedCode is the exit code of a supervisor that had to kill something.
const killedCode = 128 + 9

// again starts a server that was stopped.
func (i *Started) again(ctx context.Context) error {
	select {
	case <-i.now.over:
	default:
		return nil // it runs
	}
	err := i.begin(ctx)
	if failed, is := errors.AsType[*StartError](err); is {
		failed.Again, failed.OnlyEmpty = true, ctx.Err() == nil && i.servesEmpty(ctx)
		if failed.OnlyEmpty { // what was in the way may have gone by itself in the meantime
			again := i.begin(ctx)
			if second, is := errors.AsType[*StartError](again); is {
				second.Again, second.OnlyEmpty = true, true
			}
			err = again
		}
	}
	if i.stopped = err != nil; err != nil && ctx.Err() == nil {
		i.failed = err
	}
	return err
}

// servesEmpty reports whether another server by the same command serves, in an empty folder. It has the same ports,
// since what a start meets besides its data, such as a container of that name, goes by them.
func (i *Started) servesEmpty(ctx context.Context) bool {
	dir, err := os.MkdirTemp("", folderPrefix+"*")
	if err != nil {
		return false
	}
	place := i.place
	place.Dir = dir
	other := i.starter.at(ctx, place, nil)
	defer other.End()
	return other.begin(ctx) == nil
}

// Failed returns why the server did not start again after it was stopped, or was not seen to stop; nil if it did.
func (i *Started) Failed() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.failed
}

// stray keeps why a server was not seen to stop that still serves.
func (i *Started) stray(why *UnseenError) {
	if why.Serves && why.Action != Pause {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.failed = why
	}
}

// Replace has the next start be one of another server at the same place: by the command, the environment and the Ready
// of s.
func (i *Started) Replace(s *Starter) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.starter = s
	i.Server.Address.Backend = s.backend(i.place)
	i.Server.Talk.Ready = s.Ready
	i.operate()
}

// operate makes the user's commands those of the starter.
func (i *Started) operate() {
	if i.control = nil; i.starter.Workers != nil {
		i.control = i.starter.Workers(i.place)
	}
}

// Ended reports whether the server has ended although nothing asked it to, how, and the last
// lines that it printed.
func (i *Started) Ended() (how string, output []string, ended bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	select {
	case <-i.now.over:
		return i.now.How(), i.output.lines(), !i.stopped
	default:
		return "", nil, false
	}
}

// printing is how long a server gets to print why it has closed a connection or was silent.
const printing = 50 * time.Millisecond

// Printed returns what the server printed from one time to another and in the moment behind it, in few lines: see
// [lastLines]. It blocks until that moment is over.
func (i *Started) Printed(from, to time.Time) []string {
	to = to.Add(printing)
	time.Sleep(time.Until(to))
	return i.output.between(from, to)
}

// PID returns the process id of the process above the server and all that it started.
func (i *Started) PID() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.now.pid
}

// End stops the server, with everything that it started, and removes its folder. It blocks
// until all have ended. What still serves then is told: see [Telling].
func (i *Started) End() {
	i.mu.Lock()
	defer i.mu.Unlock()
	ctx := context.Background()
	if i.now != nil {
		i.now.end(false)
		i.output.finish()
		i.starter.Log.tell(i.tell)
	}
	if i.occupied(ctx) && i.controlled(ctx, Kill) {
		for until := time.Now().Add(seenWithin); i.occupied(ctx) && time.Now().Before(until); {
			machine.Sleep(ctx, readyPause)
		}
	}
	if i.occupied(ctx) {
		i.tell("still running: the command of --start left a server at %s: stop it yourself; its folder was %s",
			i.Server.Address.HostPort(), i.place.Dir)
	}
	removeDir(i.place.Dir)
	i.held.Close()
}

// ErrNoSupervisor reports that this machine cannot run a command below a supervisor.
var ErrNoSupervisor = errors.New("cannot run a command")
