package emqpworker_test

import (
	"context"
	"testing"
	"time"

	"github.com/fwpsuite/fwp/conformance/emqpworker"
	"github.com/fwpsuite/fwp/conformance/workers/situations"
	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/internal/suitetest"
	"github.com/fwpsuite/fwp/zmtp"
)

// A program that is no worker, or takes no job, passes nothing.
func TestUselessWorkers(t *testing.T) {
	t.Parallel()
	dials := func(act func(context.Context, *zmtp.Dealer)) suitetest.Worker {
		return func(ctx context.Context, e situations.Environment, dial suitetest.Dial) int {
			for ctx.Err() == nil {
				if nc, err := dial(ctx, "tcp", e.URL[len("emqp://"):]); err == nil && act == nil {
					nc.Close()
				} else if err == nil {
					if dealer, err := zmtp.NewDealer(ctx, nc, zmtp.Config{}); err == nil {
						act(ctx, dealer)
						dealer.Close()
					}
				}
				time.Sleep(100 * time.Millisecond)
			}
			return 0
		}
	}
	send := func(messages ...emqp.Message) suitetest.Worker {
		return dials(func(ctx context.Context, d *zmtp.Dealer) {
			for _, m := range messages {
				_ = d.Send(ctx, m.Frames()...)
			}
			for _, err := d.Receive(ctx); err == nil; _, err = d.Receive(ctx) {
			}
		})
	}
	for name, program := range map[string]suitetest.Worker{
		"ends at once":         func(context.Context, situations.Environment, suitetest.Dial) int { return 0 },
		"connects and closes":  dials(nil),
		"sends nothing":        send(),
		"heartbeats only":      send(emqp.Heartbeat("1", time.Now())),
		"informs and no more":  send(emqp.InformWorker("1", emqp.Queue{Weight: 1, Name: "fwp-high"})),
		"is ready and no more": send(emqp.InformWorker("1", emqp.Queue{Weight: 1, Name: "fwp-high"}), emqp.Ready("2")),
		"is a client":          send(emqp.Request("1", "fwp-high", nil, `["fwp.ok"]`)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suitetest.UselessWorker(t, emqpworker.Side(), program)
		})
	}
}
