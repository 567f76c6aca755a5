package bench

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// The metric that decides is about what the load is about.
func TestTheMetricThatDecides(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		"preset: roundtrip":        "rate",
		"preset: push\nrate: 10":   "push.response.p99",
		"preset: churn\nrate: 10":  "connect.response.p99",
		"preset: roundtrip\nrate:": "",
	} {
		w, err := plan.Parse("a.yaml", []byte(settings))
		if want == "" {
			require.Error(t, err)
			continue
		}
		require.NoError(t, err, settings)
		assert.Equal(t, []string{want}, new(compareOptions).primaryMetrics([2]*side{{work: w}, {work: w}}), settings)
		options := compareOptions{primary: []string{"ack.response.p50"}}
		assert.Equal(t, options.primary, options.primaryMetrics([2]*side{{work: w}, {work: w}}), "the user's go first")
	}
}

// Blocks are short and many, unless a p99 needs more arrivals, and fill three minutes.
func TestHowManyBlocks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		settings string
		options  compareOptions
		block    time.Duration
		pairs    int
	}{
		{settings: "preset: roundtrip", block: time.Second, pairs: 60},
		{settings: "rate: 500", block: 5 * time.Second, pairs: 16},
		{settings: "rate: 10", block: 250 * time.Second, pairs: 10},
		{settings: "stages: 20s:100", block: 20 * time.Second, pairs: 10},
		{settings: "rate: 500", options: compareOptions{block: time.Second, pairs: 7}, block: time.Second, pairs: 7},
	} {
		w, err := plan.Parse("a.yaml", []byte(test.settings))
		require.NoError(t, err)
		o := test.options
		o.setLength(&w)
		assert.Equal(t, test.block, o.block, test.settings)
		assert.Equal(t, test.pairs, o.pairs, test.settings)
	}
}

// Blocks that take longer than expected are fewer: a comparison ends before its three minutes are over.
func TestWhenTheTimeIsOver(t *testing.T) {
	t.Parallel()
	assert.False(t, timeIsOver(2*time.Second, 0, 0), "the pair that is discarded")
	assert.False(t, timeIsOver(174*time.Second, 57, 57), "a pair takes 3 s")
	assert.True(t, timeIsOver(178*time.Second, 57, 57), "the next one would end behind it")
	assert.False(t, timeIsOver(10*time.Minute, 9, 30), "too few count")

	for arg, want := range map[string]bool{"": true, "--pairs=60": false} {
		o := compareOptions{pairs: 60, primary: []string{"rate"}}
		o.flags = pflag.NewFlagSet("", pflag.ContinueOnError)
		o.flags.Int("pairs", 0, "")
		require.NoError(t, o.flags.Parse(strings.Fields(arg)))
		c := results.LoadComparison{Head: reports.Head{StartTime: time.Now().Add(-defaultTime)}, Pairs: 60}
		for i := range 2 * (minDefaultPairs + 1) {
			c.Blocks = append(c.Blocks, results.LoadBlock{Pair: i / 2})
		}
		assert.Equal(t, want, process{}.isEnough(&o, [2]*side{{}, {}}, &c), arg)
		assert.Equal(t, want, c.Pairs == minDefaultPairs, arg)
	}
}

// A side has the plan of its blocks if they all have one.
func TestThePlanOfASide(t *testing.T) {
	t.Parallel()
	s := resultSet{plans: []string{"a", "b", "a", "c"}}
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
		o.flags = newCompare(process{}).Flags()
		w, err := plan.Parse("a.yaml", []byte(test.settings))
		require.NoError(t, err, name)
		w, err = o.blockWorkload(w)
		if test.wrong != "" {
			require.ErrorContains(t, err, test.wrong, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, plan.Duration(test.duration), w.Duration, name)
		assert.Equal(t, plan.Duration(test.warmup), w.Warmup, name)
	}
}

// A noise floor is one of the same load on the same machine, and below the margin.
func TestTheNoiseFloorOfAMachine(t *testing.T) {
	t.Parallel()
	machine := results.Machine{CPU: "x", Cores: 2}
	for want, floor := range map[string]results.LoadComparison{
		"": {AA: true, Machine: machine, A: results.ComparedLoad{Plan: "p"},
			Ratios: []results.LoadRatio{{Metric: "rate", IsPrimary: true, Floor: 0.05}, {Metric: "other", Floor: 0.9}}},
		"it compares A with B":                 {Machine: machine},
		"it was measured on another machine":   {AA: true, Machine: results.Machine{CPU: "x", Cores: 4}},
		"it was measured with another load: q": {AA: true, Machine: machine, A: results.ComparedLoad{Plan: "q"}},
		"--margin 5% is below the noise floor of rate on this machine, 5.1%": {AA: true, Machine: machine,
			A: results.ComparedLoad{Plan: "p"}, Ratios: []results.LoadRatio{{Metric: "rate", IsPrimary: true, Floor: 0.051}}},
	} {
		o := compareOptions{floor: t.TempDir() + "/floor.json", margin: []string{"5%"}, marginShare: 0.05}
		write := func(w io.Writer) error { return floor.WriteJSON(w, reports.ExitOptions{}) }
		require.NoError(t, shared.ReplaceFile(o.floor, write))
		err := o.checkFloor(&results.LoadComparison{Machine: machine, A: results.ComparedLoad{Plan: "p"}})
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}
