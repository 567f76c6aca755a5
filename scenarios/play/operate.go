package play

import (
	"context"
	"errors"
	"strings"

	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/scenarios"
)

// operate asks the target for an action that no client can do.
func (th *thread) operate(ctx context.Context, s *scenarios.Operate) error {
	client, err := th.renderer().Template(s.Worker)
	if err != nil {
		return th.fail(s, "a worker id", err.Error())
	}
	action := string(s.Action)
	th.rec.remark("", strings.TrimSpace("the operator: "+action+" "+client))
	if th.Observer != nil {
		th.Observer.Operated(s.Action, client)
	}
	if s.Action.OnWorker() {
		err = th.signal(ctx, client, action)
	} else {
		err = th.restart(ctx, s.Action)
	}
	if err != nil && ctx.Err() != nil {
		return interruptError(ctx, s)
	}
	if unseen, ok := errors.AsType[unseen](err); ok && unseen.Unseen() {
		if th.Observer != nil && s.Action == target.Restart { // perhaps it was killed: nothing is promised then
			th.Observer.Operated(target.Kill, "")
		}
		return th.stopUnsure(s, s.Place(), nil, action, doubt{SetUp, false, err.Error()})
	}
	if err != nil {
		return th.fail(s, action, err.Error())
	}
	return nil
}

// unseen is an error of a target about something that was done to it and may have had no effect.
type unseen interface {
	error
	Unseen() bool
}

func (th *thread) signal(ctx context.Context, client, state string) error {
	t, ok := th.Target.(Signaller)
	if !ok {
		return errNotOffered
	}
	return t.Signal(ctx, client, state)
}

var errNotOffered = errors.New("the target does not support it")

// excuse records that the server may end all connections.
func (th *thread) excuse() {
	for _, c := range th.namedConns() {
		c.isExcused.Store(true)
	}
}

// restart restarts or kills the target and waits until it serves again. The
// connections of the script end with it, for which the server is not blamed.
func (th *thread) restart(ctx context.Context, action target.Action) error {
	th.excuse()
	err := errNotOffered
	if t, ok := th.Target.(Restarter); ok && action == target.Restart {
		err = t.Restart(ctx)
	}
	if t, ok := th.Target.(Killer); ok && action == target.Kill {
		err = t.Kill(ctx)
	}
	if err != nil {
		return err
	}
	th.Peers.NoteStart()
	_, err = th.awaitServing(ctx, th.Patience, nil)
	return err
}
