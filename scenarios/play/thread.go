package play

import (
	"context"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// thread plays steps one after the other. The script has one, a repetition
// one for each worker.
type thread struct {
	*play
	scope   *scenarios.Scope
	ownConn *ownConn                         // of the thread's unnamed connection, if it has one of its own
	trial   func(s scenarios.Step, r Result) // takes the results instead of the play, inside eventually
	block   *scenarios.Block
}

// ownConn is the connection of a worker, which may be replaced.
type ownConn struct{ c *conn }

// interruptError is the error of a play whose ctx is done.
func interruptError(ctx context.Context, s scenarios.Step) error {
	return fmt.Errorf("line %d: %w", s.Place().Line, context.Cause(ctx))
}

// ownConns returns the connections that no other thread uses at the same time.
func (th *thread) ownConns() []*conn {
	if th.ownConn != nil {
		return []*conn{th.ownConn.c}
	}
	return th.namedConns()
}

func (th *thread) steps(ctx context.Context, steps []scenarios.Step) error {
	for i, s := range steps {
		if ctx.Err() != nil {
			return interruptError(ctx, s)
		}
		if _, sends := s.(*scenarios.Send); sends {
			th.keepAlive(ctx) // a script can be busy for as long as another one waits
		}
		err := th.step(ctx, s)
		_, expects := s.(*scenarios.Expect)
		if expects || err != nil || i == len(steps)-1 { // a reply that is there already is for the line that expects it
			th.fileLapses(s.Place())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// step plays a step.
func (th *thread) step(ctx context.Context, s scenarios.Step) error {
	switch s := s.(type) {
	case *scenarios.Expect:
		return th.expect(ctx, s)
	case *scenarios.Silence:
		return th.silence(ctx, s)
	case *scenarios.Connect:
		return th.connect(ctx, s)
	case *scenarios.Send:
		return th.send(ctx, s)
	case *scenarios.Operate:
		return th.operate(ctx, s)
	case *scenarios.Block:
		return th.playBlock(ctx, s)
	}
	return nil
}

// note records a result, in the trial if there is one.
func (th *thread) note(s scenarios.Step, r Result) {
	if th.trial != nil {
		th.trial(s, r)
		return
	}
	th.play.note(s, th.doubt(r))
}

// fail records that a set-up step did not work and stops the script.
func (th *thread) fail(s scenarios.Step, expected, got string) error {
	th.note(s, Result{Pos: s.Place(), Outcome: Mismatched, Setup: true, Expected: expected, Got: got})
	return errStop
}

// renderer fills in names with the values of the thread.
func (th *thread) renderer() *scenarios.Renderer {
	state := func(conn string) session.State {
		th.mu.Lock()
		defer th.mu.Unlock()
		if c := th.conns[conn]; c != nil {
			return c.state
		}
		return nil
	}
	return &scenarios.Renderer{Grammar: th.grammar(), Scope: th.scope, Password: th.Password, State: state}
}

// idle waits until a moment, and keeps the consumers alive meanwhile.
func (th *thread) idle(ctx context.Context, deadline time.Time) error {
	for {
		pause := min(time.Until(deadline), time.Second)
		if pause <= 0 {
			return nil
		}
		if !machine.Sleep(ctx, pause) {
			return fmt.Errorf("waiting: %w", context.Cause(ctx))
		}
		th.keepAlive(ctx)
	}
}

// pauseBetween gives a segment time to arrive alone; without it the kernels on
// the way would join what the script has cut.
func pauseBetween(s *scenarios.Send) time.Duration {
	if s.Bytewise {
		return time.Millisecond
	}
	return 20 * time.Millisecond
}

// silentConns returns the connections on which nothing may be received.
func (th *thread) silentConns(ctx context.Context, s *scenarios.Silence) ([]*conn, error) {
	if len(s.Conns) == 0 {
		return th.ownConns(), nil
	}
	var conns []*conn
	for _, name := range s.Conns {
		c, err := th.conn(ctx, name)
		if err != nil {
			return nil, th.noConnection(ctx, s, scenarios.Raw, err)
		}
		conns = append(conns, c)
	}
	return conns, nil
}
