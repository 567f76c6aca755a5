package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
)

// Can reports whether an action can be done to the server. Restart and Kill are a stop and a start.
func (s *Server) Can(action Action) bool {
	switch {
	case s.Operator == nil:
		return false
	case s.Operator.Can(action):
		return true
	}
	return action == Restart && s.Operator.Can(Stop) && s.Operator.Can(Start)
}

// Restart stops the server in order and starts it again. It blocks until that was seen: the error is an [UnseenError]
// if it was not, and a [StartError] if the server did not start again. The server need not accept connections yet.
func (s *Server) Restart(ctx context.Context) error {
	if s.Can(Restart) && !s.Operator.Can(Restart) {
		return s.cycle(ctx, Stop)
	}
	o := s.observe(ctx)
	defer o.close()
	stop := o.watch(ctx)
	err := s.do(ctx, Restart, "")
	stop()
	if err != nil {
		return err
	}
	return s.unseenError(o.awaitStop(ctx, Restart))
}

// Kill kills the server, and starts it again unless something has done that. It is as Restart else.
func (s *Server) Kill(ctx context.Context) error { return s.cycle(ctx, Kill) }

// cycle stops the server and starts it again. One that was not seen to stop is not started.
func (s *Server) cycle(ctx context.Context, action Action) error {
	err := s.Stop(ctx, action)
	unseen, ok := errors.AsType[*UnseenError](err)
	if err != nil && (!ok || unseen.Serves) {
		return err
	}
	return cmp.Or(s.revive(ctx), err)
}

// revive starts a server that was stopped, unless its supervisor does so.
func (s *Server) revive(ctx context.Context) error {
	if !s.Can(Start) {
		return nil
	}
	for until := time.Now().Add(restartTimeout); !s.wasStartedHere() && time.Now().Before(until) &&
		machine.Sleep(ctx, lookInterval); {
		if s.serves(ctx) == nil {
			return nil
		}
	}
	return s.Start(ctx)
}

// Stop stops the server: action is Stop, Kill or KillServer. It blocks until that was seen: no earlier connection is
// open, and nothing serves, or another process does. The error is an [UnseenError] if it was not.
func (s *Server) Stop(ctx context.Context, action Action) error {
	o := s.observe(ctx)
	defer o.close()
	stop := o.watch(ctx)
	err := s.do(ctx, action, "")
	stop()
	if unseen, ok := errors.AsType[*UnseenError](err); err != nil && (!ok || unseen.Serves) {
		return err // it was not done, or not seen last time
	}
	return cmp.Or(s.unseenError(o.awaitStop(ctx, action)), err)
}

// Start starts a server that was stopped, unless it serves already, and blocks until it serves. The error is a
// [StartError] if it does not, and an [UnseenError] if something else serves in its place.
func (s *Server) Start(ctx context.Context) error {
	if s.wasStartedHere() {
		return s.do(ctx, Start, "")
	}
	if s.serves(ctx) == nil {
		return nil
	}
	if err := s.do(ctx, Start, ""); err != nil {
		return err
	}
	patience := cmp.Or(s.Patience, startPatience)
	for until := time.Now().Add(patience); ; {
		err := s.serves(ctx)
		if err == nil {
			return nil
		}
		if time.Now().After(until) || !machine.Sleep(ctx, readyInterval) {
			return &StartError{Cause: fmt.Errorf("it was not ready within %v of its start (--start-timeout): %w",
				patience, err)}
		}
	}
}

// wasStartedHere reports whether a [Starter] started the server.
func (s *Server) wasStartedHere() bool { return s.processes != nil }

// Pause makes the server stand still until Resume. It blocks until nothing answers. The error is an [UnseenError] if
// something does.
func (s *Server) Pause(ctx context.Context) error {
	now := s.instance()
	var o *observer
	if !now.isKnown() { // else a connection would be one that the server counts when it goes on
		o = s.observe(ctx)
		defer o.close()
	}
	if err := s.do(ctx, Pause, ""); err != nil {
		return err
	}
	if now.standsStill(ctx) {
		return nil
	}
	if o == nil {
		o = s.observe(ctx)
		defer o.close()
	}
	return s.unseenError(o.awaitPause(ctx))
}

// Resume ends a Pause. The error is an [UnseenError] if it is seen that the server went on before.
func (s *Server) Resume(ctx context.Context) error {
	now := s.instance()
	hasMoved := now.isKnown() && slices.ContainsFunc(now, holder.moves)
	if err := s.do(ctx, Resume, ""); err != nil || !hasMoved {
		return err
	}
	return s.unseenError(&UnseenError{Action: Pause, Reason: "the server continued before it was resumed", Serves: true})
}

// Signal quiets or terminates a worker: state is "quiet" or "terminate". It blocks until
// that is done.
func (s *Server) Signal(ctx context.Context, wid, state string) error {
	return s.do(ctx, Action(state), wid)
}

func (s *Server) do(ctx context.Context, action Action, wid string) error {
	if s.Operator == nil || !s.Operator.Can(action) {
		return fmt.Errorf("%s: no command was given", action)
	}
	return s.Operator.Do(ctx, action, wid)
}

// unseenError returns what an observer has not seen as an error, with what the command printed and what to do.
func (s *Server) unseenError(e *UnseenError) error {
	if e == nil {
		return nil
	}
	started, ok := s.Operator.(*StartedServer)
	if !ok {
		e.Advice = "does the command act on the server at " + s.Address.HostPort() + ", and not on another one?"
		return e
	}
	e.Output = started.output.lines()
	e.Advice = launcherAdvice
	started.setFailure(e)
	return e
}

// launcherAdvice is what to do about a server that outlives the command that started it.
const launcherAdvice = "the command of --start must be the server itself: write `exec` in front of it. For a " +
	"container, give it a fixed name, as --name fwp-{port}, and add --control 'docker {action} fwp-{port}'"
