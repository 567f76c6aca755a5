package scenarios

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"
)

// operate asks the target for an action that no client can do.
func (th *thread) operate(ctx context.Context, s *Operate) error {
	wid, err := th.text(nil, s.Worker, false)
	if err != nil {
		return th.fail(s, "a worker id", err.Error())
	}
	action := cmp.Or(s.State, string(s.Action))
	th.rec.add(time.Now(), "", "--", strings.TrimSpace("the operator: "+action+" "+wid), s.Pos)
	if s.Action == NeedSignals {
		err = th.signal(ctx, wid, s.State)
	} else {
		err = th.restart(ctx, s.Action)
	}
	if err != nil && ctx.Err() != nil {
		return interrupted(ctx, s)
	}
	if err != nil {
		return th.fail(s, action, err.Error())
	}
	return nil
}

func (th *thread) signal(ctx context.Context, wid, state string) error {
	t, ok := th.Target.(Signaller)
	if !ok {
		return errNotOffered
	}
	th.ledger.Signalled(wid)
	return t.Signal(ctx, wid, state)
}

var errNotOffered = errors.New("the target does not support it")

// bounce restarts or kills the target and waits until it serves again. The
// connections of the script end with it, for which the server is not blamed.
func (th *thread) restart(ctx context.Context, how Need) error {
	for _, c := range th.open() {
		c.excused.Store(true)
	}
	err := errNotOffered
	if t, ok := th.Target.(Restarter); ok && how == NeedRestart {
		err = t.Restart(ctx)
	}
	if t, ok := th.Target.(Killer); ok && how == NeedKill {
		err = t.Kill(ctx)
	}
	if err != nil {
		return err
	}
	_, _, err = th.awaitServing(ctx, th.Patience, nil)
	return err
}
