package bench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/agents"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

// A run without a server says why, and to whom that is due.
func TestTheReportOfARunWithoutAServer(t *testing.T) {
	t.Parallel()
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	refused := errors.New("connection refused")
	for name, test := range map[string]struct {
		ctx  context.Context
		err  error
		code int
	}{
		"the target":  {t.Context(), refused, reports.ExitUnreachable},
		"the suite":   {t.Context(), &program.InternalError{Cause: refused}, reports.ExitInternal},
		"the user":    {interrupted, refused, reports.ExitInterrupted},
		"user, suite": {interrupted, &program.InternalError{Cause: refused}, reports.ExitInterrupted},
	} {
		l := notReached(test.ctx, &load.Config{Run: "k3v9q2", Seed: 7}, time.Now(), test.err)
		code, _ := l.Outcome()
		assert.Equal(t, test.code, code, name)
		assert.Equal(t, "k3v9q2", l.Run)

		var over bool
		var internal, unreachable string
		assert.True(t, brokenOff(l, &over, &internal, &unreachable), name)
		assert.Equal(t, test.code == reports.ExitInterrupted, over, name)
		assert.Equal(t, test.code == reports.ExitInternal, internal != "", name)
		assert.Equal(t, test.code == reports.ExitUnreachable, unreachable != "", name)
	}
	invalid := &results.Load{Phases: []results.Phase{{Name: "measure"}}}
	assert.False(t, brokenOff(invalid, nil, nil, nil), "a series goes on after a run that is INVALID")
}

// What an agent ends with says whether the coordinator has its report.
func TestTheExitCodesOfAnAgent(t *testing.T) {
	t.Parallel()
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	var log strings.Builder
	p := process{program.Process{Name: "fwpbench", Err: &log,
		LookupEnv: func(string) (string, bool) { return "", false }}}
	for _, test := range []struct {
		ctx  context.Context
		err  error
		want error
	}{
		{t.Context(), nil, nil},
		{t.Context(), agents.ErrSilent, program.Exit(reports.ExitInconclusive)},
		{t.Context(), agents.ErrNotRun, program.Exit(reports.ExitInconclusive)},
		{t.Context(), errors.New("refused"), program.Exit(reports.ExitUnreachable)},
		{interrupted, nil, program.Exit(reports.ExitInterrupted)},
		{interrupted, errors.New("quiet"), program.Exit(reports.ExitInterrupted)},
	} {
		assert.Equal(t, test.want, p.ended(test.ctx, test.err))
	}
	assert.Contains(t, log.String(), "refused")
	assert.NotContains(t, log.String(), "quiet", "who interrupts knows why")
}

// The metric that decides is about what the load is about.
func TestTheMetricThatDecides(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		"preset: roundtrip":        "rate",
		"preset: push\nrate: 10":   "push.response.p99",
		"preset: churn\nrate: 10":  "connect.response.p99",
		"preset: roundtrip\nrate:": "",
	} {
		w, err := workload.Parse("a.yaml", []byte(settings))
		if want == "" {
			require.Error(t, err)
			continue
		}
		require.NoError(t, err, settings)
		assert.Equal(t, []string{want}, new(compareOptions).decisive(w), settings)
		given := compareOptions{primary: []string{"ack.response.p50"}}
		assert.Equal(t, given.primary, given.decisive(w), "the user's go first")
	}
}

// A side has the plan of its blocks if they all have one.
func TestThePlanOfASide(t *testing.T) {
	t.Parallel()
	s := saves{plans: []string{"a", "b", "a", "c"}}
	for _, side := range []string{"A", "B", "A", "B"} {
		s.blocks = append(s.blocks, results.LoadBlock{Side: side})
	}
	assert.Equal(t, "a", s.plan("A"))
	assert.Empty(t, s.plan("B"), "they are of two loads")
	assert.Empty(t, s.plan("C"))
}

// A block measures for as long as --block says, unless its workload has stages.
func TestTheLoadOfABlock(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settings         string
		duration, warmup time.Duration
		wrong            string
	}{
		"a closed loop": {"preset: roundtrip", 20 * time.Second, 2 * time.Second, ""},
		"its warm-up":   {"preset: roundtrip\nwarmup: 5s", 20 * time.Second, 5 * time.Second, ""},
		"stages":        {"stages: 3s:10", 0, 0, ""},
		"jobs":          {"jobs: 100", 0, 0, "a block has a length and no number of jobs"},
	} {
		o := compareOptions{loadFlags: newLoadFlags(), block: 20 * time.Second}
		o.given = newCompare(process{}).Flags()
		w, err := workload.Parse("a.yaml", []byte(test.settings))
		require.NoError(t, err, name)
		w, err = o.blockOf(w)
		if test.wrong != "" {
			require.ErrorContains(t, err, test.wrong, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, workload.Duration(test.duration), w.Duration, name)
		assert.Equal(t, workload.Duration(test.warmup), w.Warmup, name)
	}
}

// A target of this machine takes half of its processors.
func TestWhetherAServerIsLocal(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "10.0.0.1": false, "example.com": false,
	} {
		at := program.Endpoint{}
		at.Choice.Address.Host = host
		assert.Equal(t, want, local(at), host)
	}
	ours := program.Endpoint{}
	ours.Choice.Embedded = true
	assert.True(t, local(ours))
	assert.True(t, local(program.Endpoint{Starter: &target.Starter{}}))
}

// The line that starts an agent has the token only if the coordinator drew it.
func TestTheCommandOfAnAgent(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]hub{
		"fwpbench agent nats://a:4222   (with the same FWPBENCH_TOKEN)": {url: "nats://a:4222", given: true},
		"FWPBENCH_TOKEN=t fwpbench agent nats://a:4222":                 {url: "nats://a:4222"},
		"fwpbench agent tls://t@a:4222":                                 {url: "tls://a:4222", server: new(agents.Server)},
	} {
		h.token = "t"
		assert.Equal(t, want, h.command())
	}
}

// Before a run that may leave jobs behind, its user is told which.
func TestJobsThatARunMayLeave(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		"preset: roundtrip":          "",
		"fail_share: 2%\nretry: 0":   "",
		"fail_share: 2%\nretry: 3":   "2 % of the deliveries end in a FAIL, and the server alone decides",
		"fail_share: 10%\nretry: -1": "10 % of the deliveries end in a FAIL, and the server keeps these jobs as dead",
	} {
		w, err := workload.Parse("a.yaml", []byte(settings))
		require.NoError(t, err, settings)
		words := leftovers(&w)
		assert.True(t, strings.HasPrefix(words, want), words)
		assert.Equal(t, want == "", words == "", settings)
	}
}

// A noise floor is one of the same load on the same machine, and below the margin.
func TestTheNoiseFloorOfAMachine(t *testing.T) {
	t.Parallel()
	here := results.Machine{CPU: "x", Cores: 2}
	for want, floor := range map[string]results.LoadComparison{
		"": {AA: true, Machine: here, A: results.ComparedLoad{Plan: "p"},
			Ratios: []results.LoadRatio{{Metric: "rate", Primary: true, Floor: 0.05}, {Metric: "other", Floor: 0.9}}},
		"it compares A with B":                 {Machine: here},
		"it was measured on another machine":   {AA: true, Machine: results.Machine{CPU: "x", Cores: 4}},
		"it was measured with another load: q": {AA: true, Machine: here, A: results.ComparedLoad{Plan: "q"}},
		"--margin 5% is below the noise floor of rate on this machine, 5.1%": {AA: true, Machine: here,
			A: results.ComparedLoad{Plan: "p"}, Ratios: []results.LoadRatio{{Metric: "rate", Primary: true, Floor: 0.051}}},
	} {
		o := compareOptions{floor: t.TempDir() + "/floor.json", margin: "5%", limit: 0.05}
		require.NoError(t, program.ReplaceFile(o.floor, floor.WriteJSON))
		err := o.checkFloor(&results.LoadComparison{Machine: here, A: results.ComparedLoad{Plan: "p"}})
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}
