package scenarios

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// thread plays steps one after the other. The script has one; a parallel block
// has one for each connection, a repetition one for each worker.
type thread struct {
	*play
	scope *scope
	own   *ownConn               // of the thread's unnamed connection, if it has one of its own
	side  *string                // the name of the only connection that a thread of a parallel block may touch
	trial func(s Step, r Result) // takes the results instead of the play, inside eventually
	block *Block
}

// ownConn is the connection of a worker, which may be replaced.
type ownConn struct{ c *conn }

// interrupted is the error of a play whose ctx is done.
func interrupted(ctx context.Context, s Step) error {
	return fmt.Errorf("line %d: %w", s.Place().Line, context.Cause(ctx))
}

// sleep waits; it returns false if ctx is done before the time is over.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// mine returns the connections that no other thread uses at the same time.
func (th *thread) mine() []*conn {
	if th.own != nil {
		return []*conn{th.own.c}
	}
	return slices.DeleteFunc(th.open(), func(c *conn) bool { return th.side != nil && c.name != *th.side })
}

func (th *thread) steps(ctx context.Context, steps []Step) error {
	for _, s := range steps {
		if ctx.Err() != nil {
			return interrupted(ctx, s)
		}
		if _, sends := s.(*Send); sends {
			th.keepAlive(ctx, s.Place()) // a script can be busy for as long as another one waits
		}
		if err := th.step(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (th *thread) step(ctx context.Context, s Step) error {
	switch s := s.(type) {
	case *Connect:
		return th.connect(ctx, s)
	case *Send:
		return th.send(ctx, s)
	case *Expect:
		return th.expect(ctx, s)
	case *Silence:
		return th.silence(ctx, s)
	case *Operate:
		return th.operate(ctx, s)
	case *Block:
		return th.playBlock(ctx, s)
	}
	return nil // a barrier: the parallel block has dealt with it
}

// note records a result, in the trial if there is one.
func (th *thread) note(s Step, r Result) {
	if th.trial != nil {
		th.trial(s, r)
		return
	}
	th.play.note(s, th.doubt(r))
}

// fail records that a set-up step did not work and stops the script.
func (th *thread) fail(s Step, expected, got string) error {
	th.note(s, Result{Pos: s.Place(), Outcome: Mismatched, Setup: true, Expected: expected, Got: got})
	return errStop
}
