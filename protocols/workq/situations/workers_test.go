package situations_test

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fakeworkqworker "github.com/fwpsuite/fwp/fakes/workq/worker"
	"github.com/fwpsuite/fwp/internal/proof/suitetest"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	workqsituations "github.com/fwpsuite/fwp/protocols/workq/situations"
	"github.com/fwpsuite/fwp/reports"
)

// A program that is no worker, or takes no job, passes nothing.
func TestUselessWorkers(t *testing.T) {
	t.Parallel()
	dials := func(act func(*conn)) suitetest.Worker {
		return func(ctx context.Context, e fwpsituations.Environment, dial suitetest.Dial) int {
			for ctx.Err() == nil {
				if nc, err := dial(ctx, "tcp", e.URL[len("workq://"):]); err == nil {
					stop := context.AfterFunc(ctx, func() { nc.Close() })
					act(&conn{nc})
					stop()
					nc.Close()
				}
				time.Sleep(100 * time.Millisecond)
			}
			return 0
		}
	}
	for name, program := range map[string]suitetest.Worker{
		"ends at once":        func(context.Context, fwpsituations.Environment, suitetest.Dial) int { return 0 },
		"connects and closes": dials(func(*conn) {}),
		"sends nothing":       dials(func(c *conn) { c.reads() }),
		"sends no command":    dials(func(c *conn) { c.writes("PING\r\n"); c.reads() }),
		"asks only":           dials(func(c *conn) { c.writes("inspect server\r\n"); c.reads() }),
		"leases another name": dials(func(c *conn) { c.writes("lease another 1000\r\n"); c.reads() }),
		"leases and no more":  dials(func(c *conn) { c.writes("lease fwp.ok fwp.fail fwp.echo fwp.sleep 1000\r\n"); c.reads() }),
		"adds jobs": dials(func(c *conn) {
			c.writes("add 6ba7b810-9dad-41d1-80b4-00c04fd430c4 fwp.ok 1000 1000 0\r\n\r\n")
			c.reads()
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suitetest.UselessWorker(t, workqsituations.Side(), program)
		})
	}
}

// splitConn is a connection of a program that sends all it has in two parts.
type splitConn struct{ net.Conn }

func (c splitConn) Write(p []byte) (n int, err error) {
	if n, err = c.Conn.Write(p[:len(p)/2]); err == nil {
		var m int
		m, err = c.Conn.Write(p[n:])
		n += m
	}
	return n, err
}

// How a worker's bytes are cut has no influence.
func TestCommandsInParts(t *testing.T) {
	t.Parallel()
	report, err := suitetest.PlayWorker(t, workqsituations.Side(),
		func(ctx context.Context, e fwpsituations.Environment, dial suitetest.Dial) int {
			return fakeworkqworker.Run(ctx, fakeworkqworker.Config{
				URL: e.URL, Concurrency: e.Concurrency,
				Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
					nc, err := dial(ctx, network, addr)
					return splitConn{nc}, err
				},
			})
		})
	require.NoError(t, err)
	suitetest.CheckPasses(t, report)
}

// A line that does not end is no block that is too short.
func TestLineWithoutEnd(t *testing.T) {
	t.Parallel()
	report, err := suitetest.PlayWorker(t, workqsituations.Side(),
		func(ctx context.Context, e fwpsituations.Environment, dial suitetest.Dial) int {
			for _, text := range []string{"lease fwp.ok 1000\r\n", "lease fwp.ok"} {
				nc, err := dial(ctx, "tcp", e.URL[len("workq://"):])
				if err != nil {
					return 1
				}
				defer nc.Close()
				(&conn{nc}).writes(text)
			}
			<-ctx.Done()
			return 0
		}, "jobs/many")
	require.NoError(t, err)
	red, _ := suitetest.BrokenClauses(report)
	assert.Contains(t, red, "WORKQ-CLI-05")
	assert.NotContains(t, red, "WORKQ-CLI-07")
}

// A report that comes so late that the job was leased again is not one of a job that has just begun.
func TestLateReport(t *testing.T) {
	t.Parallel()
	report, err := suitetest.PlayWorker(t, workqsituations.Side(),
		func(ctx context.Context, e fwpsituations.Environment, dial suitetest.Dial) int {
			var once sync.Once
			return fakeworkqworker.Run(ctx, fakeworkqworker.Config{
				URL: e.URL, Concurrency: e.Concurrency, Dial: dial, Hook: func(e *fakeworkqworker.Event) {
					if e.Point == fakeworkqworker.Ran && e.Name == "fwp.sleep" && e.TTR == 5*time.Second {
						once.Do(func() { time.Sleep(2500 * time.Millisecond) }) // virtual
					}
				},
			})
		}, "ttr/within")
	require.NoError(t, err)
	red, _ := suitetest.BrokenClauses(report)
	assert.Empty(t, red)
}

// A worker that leases no job of some name is not blamed for it.
func TestWorkerWithoutAName(t *testing.T) {
	t.Parallel()
	report, err := suitetest.PlayWorker(t, workqsituations.Side(),
		func(ctx context.Context, e fwpsituations.Environment, dial suitetest.Dial) int {
			return fakeworkqworker.Run(ctx, fakeworkqworker.Config{
				URL: e.URL, Concurrency: e.Concurrency, Dial: dial, Names: []string{"fwp.ok", "fwp.fail", "fwp.sleep"},
			})
		})
	require.NoError(t, err)
	for _, c := range report.Checks {
		assert.Empty(t, c.Findings, c.ID)
	}
}

// A worker that reads payloads in a form of its own alone works jobs in that form, up to the largest.
func TestTemplate(t *testing.T) {
	t.Parallel()
	side := workqsituations.Side()
	side.Job = "v1 {name}:{args}"
	reads := func(e *fakeworkqworker.Event) {
		if e.Point == fakeworkqworker.Delivered {
			var ok bool
			e.Block, ok = bytes.CutPrefix(e.Block, []byte("v1 "+e.Name+":"))
			e.Exit = e.Exit || !ok
		}
	}
	worker := func(ctx context.Context, e fwpsituations.Environment, dial suitetest.Dial) int {
		return fakeworkqworker.Run(ctx, fakeworkqworker.Config{
			URL: e.URL, Concurrency: e.Concurrency, Dial: dial, Hook: reads,
		})
	}
	report, err := suitetest.PlayWorker(t, side, worker)
	require.NoError(t, err)
	for _, c := range report.Checks {
		assert.Equal(t, reports.Pass, c.Verdict, "%s: %s %v", c.ID, c.Cause, c.Findings)
	}
	side.Job = ""
	report, err = suitetest.PlayWorker(t, side, worker, "jobs/many")
	require.NoError(t, err)
	assert.NotEqual(t, reports.Pass, report.Checks[0].Verdict)
}
