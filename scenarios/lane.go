package scenarios

import (
	"context"
	"fmt"
	"slices"
)

// lane plays steps one after the other. The script has one; a parallel block
// has one for each connection, a repetition one for each worker.
type lane struct {
	*play
	scope *scope
	own   *seat                  // of the lane's unnamed connection, if it has one of its own
	side  *string                // the name of the only connection that a lane of a parallel block may touch
	trial func(s Step, r Result) // takes the results instead of the play, inside eventually
	block *Block
}

// seat holds the connection of a worker, which may be replaced.
type seat struct{ c *conn }

// interrupted is the error of a play whose ctx is done.
func interrupted(ctx context.Context, s Step) error {
	return fmt.Errorf("line %d: %w", s.Place().Line, context.Cause(ctx))
}

// mine lists the connections that no other lane uses at the same time.
func (l *lane) mine() []*conn {
	if l.own != nil {
		return []*conn{l.own.c}
	}
	return slices.DeleteFunc(l.open(), func(c *conn) bool { return l.side != nil && c.name != *l.side })
}

func (l *lane) steps(ctx context.Context, steps []Step) error {
	for _, s := range steps {
		if ctx.Err() != nil {
			return interrupted(ctx, s)
		}
		if _, sends := s.(*Send); sends {
			l.beat(ctx) // a script can be busy for as long as another one waits
		}
		if err := l.step(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (l *lane) step(ctx context.Context, s Step) error {
	switch s := s.(type) {
	case *Connect:
		return l.connect(ctx, s)
	case *Send:
		return l.send(ctx, s)
	case *Expect:
		return l.expect(ctx, s)
	case *Silence:
		return l.silence(ctx, s)
	case *Operate:
		return l.operate(ctx, s)
	case *Block:
		return l.playBlock(ctx, s)
	}
	return nil // a barrier: the parallel block has dealt with it
}

// note keeps a result, or hands it to the trial.
func (l *lane) note(s Step, r Result) {
	if l.trial != nil {
		l.trial(s, r)
		return
	}
	l.play.note(s, r)
}

// fail notes that a set-up step did not work and stops the script.
func (l *lane) fail(s Step, expected, got string) error {
	l.note(s, Result{Pos: s.Place(), Outcome: Mismatched, Setup: true, Expected: expected, Got: got})
	return errStop
}
