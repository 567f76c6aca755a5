package load

import (
	"context"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/load/protocol"
)

// operated is what disrupts the target of a run: with commands of the server, and else as the configuration says. It is
// a [disrupt.Target].
type operated struct{ *disrupted }

// Begin implements [disrupt.Target].
func (d operated) Begin(ctx context.Context, what disrupt.Disruption) (func(context.Context) error, error) {
	r := d.run
	switch all := r.jobs.Queues(); {
	case what.Action == disrupt.Requeue:
		return func(context.Context) error { return nil }, d.operate(ctx, protocol.Operation{Requeue: r.jobs.Prefix()})
	case what.Action != disrupt.PauseQueue:
		return r.config.Disrupt.Begin(ctx, what)
	case what.Queue > len(all):
		return nil, fmt.Errorf("there are %d queues", len(all))
	}
	first, number := max(0, what.Queue-1), 1
	if what.Queue == 0 {
		number = len(r.jobs.Queues())
	}
	names, queues := r.jobs.Queues()[first:first+number], make([]int, number)
	for i := range queues {
		queues[i] = first + i
	}
	if err := d.operate(ctx, protocol.Operation{Pause: names}); err != nil {
		return nil, err
	}
	r.shared.Paused(queues, r.now())
	return func(ctx context.Context) error {
		r.shared.Paused(queues, 0)
		return d.operate(ctx, protocol.Operation{Resume: names})
	}, nil
}

// operate has the server do something, and records it.
func (d operated) operate(ctx context.Context, do protocol.Operation) error {
	r := d.run
	operator, can := r.config.Protocol.(protocol.Operator)
	if !can {
		return &disrupt.SkippedError{Why: "the protocol has no command for that"}
	}
	begin := time.Now()
	err := operator.Operate(ctx, r.config.Dial, do)
	if d.calls == nil {
		return err
	}
	e := history.Event{Op: history.Requeue, Outcome: history.OK}
	switch {
	case do.Pause != nil:
		e.Op, e.Queues = history.Pause, do.Pause
	case do.Resume != nil:
		e.Op, e.Queues = history.Resume, do.Resume
	}
	if err != nil {
		e.Outcome = history.Open // it may have had its effect
	}
	e.Call, e.Return = begin.Sub(r.recorder.Begin()), time.Since(r.recorder.Begin())
	d.calls.Add(e)
	return err
}
