package situations_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fakeemqpworker "github.com/fwpsuite/fwp/fakes/emqp/worker"
	"github.com/fwpsuite/fwp/internal/base/jobtype"
	"github.com/fwpsuite/fwp/internal/proof/suitetest"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpsituations "github.com/fwpsuite/fwp/protocols/emqp/situations"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/reports"
)

// A program that is no worker, or takes no job, passes nothing.
func TestUselessWorkers(t *testing.T) {
	t.Parallel()
	dials := func(act func(context.Context, *zmtp.Dealer)) suitetest.Worker {
		return func(ctx context.Context, e fwpsituations.Environment, dial suitetest.Dial) int {
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
		"ends at once":         func(context.Context, fwpsituations.Environment, suitetest.Dial) int { return 0 },
		"connects and closes":  dials(nil),
		"sends nothing":        send(),
		"heartbeats only":      send(emqp.Heartbeat("1", time.Now())),
		"informs and no more":  send(emqp.InformWorker("1", emqp.Queue{Weight: 1, Name: "fwp-high"})),
		"is ready and no more": send(emqp.InformWorker("1", emqp.Queue{Weight: 1, Name: "fwp-high"}), emqp.Ready("2")),
		"is a client":          send(emqp.Request("1", "fwp-high", nil, `["fwp.ok"]`)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suitetest.UselessWorker(t, emqpsituations.Side(), program)
		})
	}
}

// eventMQ is how EventMQ's jobmanager reads a job.
const eventMQ = `["run", {"path": "fwpjobs", "callable": "{name}", "args": {args}}]`

// A worker that reads jobs in a form of its own alone works them in that form, and no others.
func TestTemplate(t *testing.T) {
	t.Parallel()
	reads := func(e *fakeemqpworker.Event) {
		if e.Point != fakeemqpworker.Received || e.Command != emqp.REQUEST {
			return
		}
		var job []json.RawMessage
		var run struct {
			Path, Callable string
			Args           []any
		}
		message := &e.Message.Fields[2]
		if json.Unmarshal(*message, &job) != nil || len(job) != 2 || json.Unmarshal(job[1], &run) != nil {
			*message = nil
			return
		}
		assert.Equal(t, "fwpjobs", run.Path)
		*message, _ = json.Marshal(append([]any{run.Callable}, run.Args...))
	}
	play := func(job jobtype.Template, ids ...string) *reports.Report {
		side := emqpsituations.Side()
		side.Job = job
		report, err := suitetest.PlayWorker(t, side,
			func(ctx context.Context, e fwpsituations.Environment, dial suitetest.Dial) int {
				return fakeemqpworker.Run(ctx, fakeemqpworker.Config{
					URL: e.URL, Queues: e.Queues, Concurrency: e.Concurrency, Heartbeat: e.Heartbeat, Dial: dial, Hook: reads,
				})
			}, ids...)
		require.NoError(t, err)
		return report
	}
	for _, c := range play(eventMQ).Checks {
		assert.Equal(t, reports.Pass, c.Verdict, "%s: %s %v", c.ID, c.Cause, c.Findings)
	}
	red, _ := suitetest.BrokenClauses(play("", "jobs/replies", "jobs/retries"))
	assert.Contains(t, red, "EMQP-WRK-07")
}

// The number in the id of a message is not that id.
func TestAcknowledgesANumber(t *testing.T) {
	t.Parallel()
	acknowledges := func(e *fakeemqpworker.Event) {
		if e.Point == fakeemqpworker.Sending && e.Command == emqp.READY {
			e.Preamble = append(e.Preamble, emqp.Ack("ack-"+string(e.Frames[3]), "1").Frames())
		}
	}
	report, err := suitetest.PlayWorker(t, emqpsituations.Side(),
		func(ctx context.Context, e fwpsituations.Environment, dial suitetest.Dial) int {
			return fakeemqpworker.Run(ctx, fakeemqpworker.Config{
				URL: e.URL, Queues: e.Queues, Concurrency: e.Concurrency, Heartbeat: e.Heartbeat, Dial: dial,
				Hook: acknowledges,
			})
		}, "jobs/replies")
	require.NoError(t, err)
	red, _ := suitetest.BrokenClauses(report)
	assert.Contains(t, red, "EMQP-WRK-01")
}

// A worker that goes on when its INFORM is acknowledged alone, whose old connections stay open, begins anew behind a
// silence, as often as there is one.
func TestAwaitsACK(t *testing.T) {
	t.Parallel()
	report, err := suitetest.PlayWorker(t, emqpsituations.Side(),
		func(ctx context.Context, e fwpsituations.Environment, dial suitetest.Dial) int {
			return fakeemqpworker.Run(ctx, fakeemqpworker.Config{
				URL: e.URL, Queues: e.Queues, Concurrency: e.Concurrency, Heartbeat: e.Heartbeat, Dial: dial,
				AwaitsAck: true, LeaveOpen: true,
			})
		}, "loss/silent", "loss/restart")
	require.NoError(t, err)
	suitetest.CheckPasses(t, report)
}
