package target

import (
	"context"
	"fmt"
)

// Action is something that the operator of a server does to it or to one of its workers.
type Action string

// The actions. Quiet and Terminate are about a worker: its next BEAT is answered with that
// state. Restart is orderly. Kill stops the server without warning and starts it again.
const (
	Quiet     Action = "quiet"
	Terminate Action = "terminate"
	Restart   Action = "restart"
	Kill      Action = "kill"
)

// Operator does what no client can do. Its methods may be called by many goroutines at once.
type Operator interface {
	// Can reports whether the operator knows how to do an action.
	Can(action Action) bool
	// Do does an action and blocks until it is done. wid is the worker id that Quiet and
	// Terminate are about.
	Do(ctx context.Context, action Action, wid string) error
}

// Can reports whether the server's operator knows how to do an action.
func (s *Server) Can(action Action) bool { return s.Operator != nil && s.Operator.Can(action) }

// Restart restarts the server. It blocks until that is done.
func (s *Server) Restart(ctx context.Context) error { return s.do(ctx, Restart, "") }

// Kill kills the server and starts it again. It blocks until that is done.
func (s *Server) Kill(ctx context.Context) error { return s.do(ctx, Kill, "") }

// Signal quiets or terminates a worker: state is "quiet" or "terminate". It blocks until
// that is done.
func (s *Server) Signal(ctx context.Context, wid, state string) error {
	return s.do(ctx, Action(state), wid)
}

func (s *Server) do(ctx context.Context, action Action, wid string) error {
	if !s.Can(action) {
		return fmt.Errorf("%s: no command for it was given", action)
	}
	return s.Operator.Do(ctx, action, wid)
}
