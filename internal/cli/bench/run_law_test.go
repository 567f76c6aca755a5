package bench

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/reports"
)

// The first connections of each kind are judged.
func TestSample(t *testing.T) {
	t.Parallel()
	config := load.Config{Protocol: registry.Default().Wire(registry.WireConfig{})}
	judgeSample(&config, registry.Default(), "")
	for _, worker := range []string{"w", ""} {
		for i := range sampleConnections + 2 {
			assert.Equal(t, i < sampleConnections, config.Tap(worker) != nil, "connection %d of %q", i, worker)
		}
	}
	assert.Empty(t, config.Findings())
}

// A bug that the account of the jobs cannot see is a finding of the law, with its clause and the exit code of others.
func TestTheLawJudgesASample(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"": "", "job-created-at-missing": "FWP-WU-10"} {
		var bugs []registry.Bug
		if name != "" {
			bug, err := registry.Default().BugNamed(name)
			require.NoError(t, err)
			bugs = append(bugs, bug)
		}
		server, err := registry.Default().Start(registry.Config{Bugs: bugs})
		require.NoError(t, err)
		code, out := runBench("run", "--producers", "1", "--consumers", "1", "--rate", "200/s", "--duration", "200ms",
			"--warmup", "0s", "--url", server.URL, "--no-progress")
		server.Close()
		if want == "" {
			assert.NotContains(t, out, "of the model")
			continue
		}
		assert.Equal(t, reports.ExitLoss, code, out)
		assert.Contains(t, out, "of the model in a sample ("+want+")")
	}
}

// restarter restarts a server.
type restarter struct{ *fakes.Server }

// Begin implements [disrupt.Target].
func (r restarter) Begin(context.Context, disrupt.Disruption) (func(context.Context) error, error) {
	return func(context.Context) error { return r.Up() }, r.Down(false)
}

// A server that is stopped may refuse what it gets until it is gone, and what it refuses otherwise is a figure of the
// whole run. Connections of the time behind the stop are judged, too.
func TestASampleOfARestartedServer(t *testing.T) {
	t.Parallel()
	assert.Empty(t, restartFindings(t, func(*fakes.Event) {}))
	assert.Empty(t, restartFindings(t, func(e *fakes.Event) {
		if e.Point == fakes.Checked && e.Command.Verb == "PUSH" && e.Conn.ID > 10 {
			e.Err = errors.New("not any more")
		}
	}))
	assert.Equal(t, []string{"law/field FWP-WU-10"}, restartFindings(t, func(e *fakes.Event) {
		if e.Point == fakes.Delivered && e.Conn.ID > 10 {
			e.Object.Delete("created_at")
		}
	}))
}

// killer stops a server in another way than it was to: what ends that is there with an error.
type killer struct{ end func(context.Context) error }

// Begin implements [disrupt.Target].
func (k killer) Begin(context.Context, disrupt.Disruption) (func(context.Context) error, error) {
	return k.end, errors.New("it was killed")
}

// A server that had to be killed is started again, also if the law listens.
func TestASampleOfAServerThatHadToBeKilled(t *testing.T) {
	t.Parallel()
	for _, end := range []func(context.Context) error{nil, func(context.Context) error { return nil }} {
		config := load.Config{Protocol: registry.Default().Wire(registry.WireConfig{}), Disrupt: killer{end}}
		judgeSample(&config, registry.Default(), "")
		got, err := config.Disrupt.Begin(t.Context(), disrupt.Disruption{Action: target.Restart})
		require.EqualError(t, err, "it was killed")
		assert.Equal(t, end == nil, got == nil)
	}
}

// restartFindings returns what the law finds in a load on a server that is restarted, in virtual time.
func restartFindings(t *testing.T, hook func(*fakes.Event)) (found []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		server := fakes.NewServer(fakes.Config{RefusalTime: 200 * time.Millisecond, Hook: hook, Listen: place.Listen})
		defer server.Close()
		config := load.Config{
			Workload: plan.Workload{
				Producers: 5, Consumers: 5, Rate: 20, Warmup: plan.Duration(time.Second),
				Duration: plan.Duration(20 * time.Second), Drain: plan.Duration(time.Minute),
			},
			Run: load.NewRunName(), CoarseTimers: true, Protocol: registry.Default().Wire(registry.WireConfig{}),
			Dial:     place.Dial,
			Schedule: []disrupt.Disruption{{Action: target.Restart, At: 5 * time.Second, Length: time.Second}},
			Disrupt:  restarter{server},
		}
		judgeSample(&config, registry.Default(), "")
		report := load.Run(t.Context(), config).Report
		assert.NotZero(t, report.Disruptions.List[0].Took)
		for _, f := range config.Findings() {
			found = append(found, f.Breach+" "+f.Clause)
		}
	})
	return found
}
