package scenarios

import (
	"context"
	"errors"
	"strings"
	"time"
)

// operate asks the target for what no client can do.
func (l *lane) operate(ctx context.Context, s *Operate) error {
	wid, err := l.text(nil, s.Worker, false)
	if err != nil {
		return l.fail(s, "a worker id", err.Error())
	}
	action := orWord(s.State, string(s.Action))
	l.rec.add(time.Now(), "", "--", strings.TrimSpace("the operator: "+action+" "+wid), s.Pos)
	if s.Action == NeedSignals {
		err = l.signal(ctx, wid, s.State)
	} else {
		err = l.bounce(ctx, s.Action)
	}
	if err != nil && ctx.Err() != nil {
		return interrupted(ctx, s)
	}
	if err != nil {
		return l.fail(s, action, err.Error())
	}
	return nil
}

func (l *lane) signal(ctx context.Context, wid, state string) error {
	t, ok := l.Target.(Signaller)
	if !ok {
		return errNotOffered
	}
	return t.Signal(ctx, wid, state)
}

var errNotOffered = errors.New("the target does not offer it")

func orWord(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// bounce restarts or kills the target and waits until it serves again. The
// connections of the script end with it, for which the server is not blamed.
func (l *lane) bounce(ctx context.Context, how Need) error {
	for _, c := range l.open() {
		c.excused.Store(true)
	}
	err := errNotOffered
	if t, ok := l.Target.(Restarter); ok && how == NeedRestart {
		err = t.Restart(ctx)
	}
	if t, ok := l.Target.(Killer); ok && how == NeedKill {
		err = t.Kill(ctx)
	}
	if err != nil {
		return err
	}
	_, err = l.untilAlive(ctx, l.Patience, nil)
	return err
}
