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

// StartedServer is a server that a [Starter] started. It is the [Operator] of its Server, which sees to it that what is
// done takes effect. Its methods may be called by many goroutines at once.
type StartedServer struct {
	Server Server

	starter *Starter
	place   Place
	ports   reservation // of its ports
	control Operator    // of the user's; may be nil
	output  *lastLines
	tell    func(format string, args ...any)

	mu         sync.Mutex // held during an action
	running    *RunningProgram
	wasStopped bool  // it was asked to end, and does not serve again yet
	failure    error // why it did not start again, or was not seen to stop, so that nothing more is done to it
}

// readyInterval is the time between two looks at whether a server is ready.
const readyInterval = 20 * time.Millisecond

// tellPause is the time between two messages that a server is not ready.
const tellPause = 5 * time.Second

// begin runs the command and waits until the server is ready, when there is room for that.
func (i *StartedServer) begin(ctx context.Context) error {
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
func (i *StartedServer) run(ctx context.Context) error {
	if i.isOccupied(ctx) {
		return &UnseenError{Action: Start, Serves: true, Advice: launcherAdvice, Output: i.output.lines(),
			Reason: "something serves at " + i.Server.Address.HostPort() + " before the command was run"}
	}
	now, err := supervise(i.starter.Supervisor, i.place.expand(i.starter.Command), i.place.environment(), i.output)
	if err != nil {
		return err
	}
	i.running = now
	i.starter.Log.noteStart(i.place.Port, RedactCommand(i.starter.Value))
	meter := new(machine.Meter)
	if err := i.await(ctx, meter); err != nil {
		return err
	}
	now.order(servesOrder)
	return i.checkAlive(ctx)
}

// await waits until the server is ready: for the patience of the starter, and longer by what the lag of this machine
// meanwhile may explain, which it measures. A wait that is long is told.
func (i *StartedServer) await(ctx context.Context, meter *machine.Meter) error {
	patience := i.starter.Patience
	if patience <= 0 {
		patience = startPatience
	}
	begun := time.Now()
	limit := func() time.Duration { return patience + machine.Grace(meter.Lag(begun), patience) }
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	go meter.Run(ctx)
	go func() {
		for remaining := limit(); machine.Sleep(ctx, remaining); {
			if remaining = limit() - time.Since(begun); remaining <= 0 {
				give(fmt.Errorf("it was not ready within %v (--start-timeout)", limit().Round(100*time.Millisecond)))
			}
		}
	}()
	var refused error
	for next := begun.Add(tellPause); ; {
		if err := i.checkReady(ctx); err == nil {
			return nil
		} else if ctx.Err() == nil || refused == nil {
			refused = err
		}
		if now := time.Now(); now.After(next) && ctx.Err() == nil {
			next = now.Add(tellPause)
			if err := i.reportWait(ctx, now.Sub(begun), limit()-now.Sub(begun), refused); err != nil {
				return err
			}
		}
		select {
		case <-i.running.done:
			return &StartError{Cause: fmt.Errorf("it ended (%s)", i.running.ExitStatus()), Output: i.output.lines()}
		case <-ctx.Done():
			return &StartError{Cause: fmt.Errorf("%w: %w", context.Cause(ctx), refused), Output: i.output.lines()}
		case <-time.After(readyInterval):
		}
	}
}

// reporterKey is where the context has what tells the user of a long wait.
type reporterKey struct{}

// WithReporter returns a copy of ctx with which a start that takes long is told.
func WithReporter(ctx context.Context, tell func(format string, args ...any)) context.Context {
	return context.WithValue(ctx, reporterKey{}, tell)
}

// reporterOf returns what tells the user; it does nothing if there is no one.
func reporterOf(ctx context.Context) func(format string, args ...any) {
	if f, ok := ctx.Value(reporterKey{}).(func(string, ...any)); ok {
		return f
	}
	return func(string, ...any) {}
}

// checkReady asks the server whether it serves.
func (i *StartedServer) checkReady(ctx context.Context) error {
	if i.starter.Ready != nil {
		return i.starter.Ready(ctx, &i.Server)
	}
	nc, err := i.Server.Dial(ctx)
	if err != nil {
		return err
	}
	return nc.Close()
}

// reportWait tells of a wait that is long. The error says why it is in vain.
func (i *StartedServer) reportWait(ctx context.Context, since, remaining time.Duration, refused error) error {
	if i.starter.Foreign != nil {
		if reason := i.starter.Foreign(ctx, &i.Server); reason != "" {
			return &StartError{Cause: fmt.Errorf("%w; %s", refused, reason), Output: i.output.lines()}
		}
	}
	if i.starter.starts.isWorthReport(since) {
		reporterOf(ctx)("waiting for the server of --start: not ready after %v, %v left: %v",
			since.Round(time.Second), remaining.Round(time.Second), refused)
	}
	return nil
}

// Can implements [Operator].
func (i *StartedServer) Can(action Action) bool {
	switch action {
	case Stop, Kill, KillServer, Start, Pause, Resume:
		return true
	}
	return action != Restart && i.control != nil && i.control.Can(action)
}

// Do implements [Operator]. What the user's command can do, it does; else it is done to the processes of the server.
func (i *StartedServer) Do(ctx context.Context, action Action, wid string) error {
	if action == Quiet || action == Terminate {
		if i.control == nil {
			return fmt.Errorf("%s: no command was given", action)
		}
		return i.control.Do(ctx, action, wid)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.failure != nil:
		return i.failure
	case action == Start:
		return i.restart(ctx)
	case action == Pause || action == Resume:
		if !i.runControl(ctx, action) {
			i.running.order(groupOrder + groupSignals[action] + "\n")
		}
		return nil
	}
	return i.stop(ctx, action)
}

var groupSignals = map[Action]string{Pause: "STOP", Resume: "CONT"}

// runControl has the user's command do an action, and reports whether it did.
func (i *StartedServer) runControl(ctx context.Context, action Action) bool {
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
func (i *StartedServer) stop(ctx context.Context, action Action) error {
	i.wasStopped = true
	timedOut := false
	select {
	case <-i.running.done: // it has ended by itself
		return nil
	default:
	}
	control := action
	if action == KillServer { // a container ends with its server
		control = Kill
	}
	switch {
	case i.runControl(ctx, control):
		timer := time.NewTimer(effectTimeout)
		defer timer.Stop()
		select {
		case <-i.running.done:
		case <-timer.C:
			timedOut = true
		}
	case action == KillServer:
		i.running.order(killServerOrder)
		<-i.running.done
	}
	i.running.end(action != Stop || timedOut)
	switch {
	case timedOut:
		return &UnseenError{Action: action,
			Reason: fmt.Sprintf("the server did not stop: the command of --control ended, and "+
				"that of --start still ran after %v", effectTimeout), Output: i.output.lines(), Advice: launcherAdvice}
	case action == Stop && i.running.Code() == killedCode:
		return &UnseenError{Action: action, Reason: fmt.Sprintf("it did not end within %v of SIGTERM, and was killed",
			stopGrace),
			Output: i.output.lines(), Advice: "an orderly stop was not tested; if a shell runs the server, write `exec` " +
				"in front of it, so that it gets the signal"}
	}
	return nil
}

// killedCode is the exit code of a supervisor that had to kill something.
const killedCode = 128 + 9

// restart starts a server that was stopped.
func (i *StartedServer) restart(ctx context.Context) error {
	select {
	case <-i.running.done:
	default:
		return nil // it runs
	}
	err := i.begin(ctx)
	if failed, ok := errors.AsType[*StartError](err); ok {
		failed.HadServed, failed.StartsEmpty = true, ctx.Err() == nil && i.servesEmpty(ctx)
		if failed.StartsEmpty { // what was in the way may have gone by itself in the meantime
			restartErr := i.begin(ctx)
			if second, ok := errors.AsType[*StartError](restartErr); ok {
				second.HadServed, second.StartsEmpty = true, true
			}
			err = restartErr
		}
	}
	if i.wasStopped = err != nil; err != nil && ctx.Err() == nil {
		i.failure = err
	}
	return err
}

// servesEmpty reports whether another server by the same command serves, in an empty folder. It has the same ports,
// since what a start meets besides its data, such as a container of that name, goes by them.
func (i *StartedServer) servesEmpty(ctx context.Context) bool {
	dir, err := os.MkdirTemp("", folderPrefix+"*")
	if err != nil {
		return false
	}
	place := i.place
	place.Dir = dir
	other := i.starter.newServer(ctx, place, nil)
	defer other.End()
	return other.begin(ctx) == nil
}

// Failure returns why the server did not start again after it was stopped, or was not seen to stop; nil if it did.
func (i *StartedServer) Failure() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.failure
}

// setFailure keeps why a server was not seen to stop that still serves.
func (i *StartedServer) setFailure(err *UnseenError) {
	if err.Serves && err.Action != Pause {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.failure = err
	}
}

// Replace has the next start be one of another server at the same place: by the command, the environment and the Ready
// of s.
func (i *StartedServer) Replace(s *Starter) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.starter = s
	i.Server.Address.Backend = s.backend(i.place)
	i.Server.Probe.Ready = s.Ready
	i.operate()
}

// operate makes the user's commands those of the starter.
func (i *StartedServer) operate() {
	if i.control = nil; i.starter.NewOperator != nil {
		i.control = i.starter.NewOperator(i.place)
	}
}

// Ended reports whether the server has ended although nothing asked it to, how, and the last
// lines that it printed.
func (i *StartedServer) Ended() (status string, output []string, hasEnded bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	select {
	case <-i.running.done:
		return i.running.ExitStatus(), i.output.lines(), !i.wasStopped
	default:
		return "", nil, false
	}
}

// printTime is how long a server gets to print why it has closed a connection or was silent.
const printTime = 50 * time.Millisecond

// Output returns what the server printed from one time to another and in the moment behind it, in few lines: see
// [lastLines]. It blocks until that moment is over.
func (i *StartedServer) Output(from, to time.Time) []string {
	to = to.Add(printTime)
	time.Sleep(time.Until(to))
	return i.output.linesBetween(from, to)
}

// PID returns the process id of the process above the server and all that it started.
func (i *StartedServer) PID() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.running.pid
}

// End stops the server, with everything that it started, and removes its folder. It blocks
// until all have ended. What still serves then is told: see [WithReporter].
func (i *StartedServer) End() {
	i.mu.Lock()
	defer i.mu.Unlock()
	ctx := context.Background()
	if i.running != nil {
		i.running.end(false)
		i.output.finish()
		i.starter.Log.tell(i.tell)
	}
	if i.isOccupied(ctx) && i.runControl(ctx, Kill) {
		for until := time.Now().Add(effectTimeout); i.isOccupied(ctx) && time.Now().Before(until); {
			machine.Sleep(ctx, readyInterval)
		}
	}
	if i.isOccupied(ctx) {
		i.tell("still running: the command of --start left a server at %s: stop it yourself; its folder was %s",
			i.Server.Address.HostPort(), i.place.Dir)
	}
	removeDir(i.place.Dir)
	i.ports.Close()
}

// ErrNoSupervisor reports that this machine cannot run a command below a supervisor.
var ErrNoSupervisor = errors.New("cannot run a command")
