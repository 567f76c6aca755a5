package results_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/formats"
	"github.com/fwpsuite/fwp/reports/page"
)

// comparedLoads is a comparison with a regression, in which a pair is void.
func comparedLoads() *results.LoadComparison {
	began := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	c := &results.LoadComparison{
		Head:    reports.Head{Version: "fwpbench 0.1.0", StartTime: began, Took: 6 * time.Minute, Seed: 42},
		Machine: soundLoad().Machine,
		A:       results.ComparedLoad{Name: "tcp://old:7419", Plan: "50 producers and 50 workers"},
		B:       results.ComparedLoad{Name: "tcp://new:7419", Plan: "50 producers and 50 workers"},
		Margin:  0.05, Pairs: 7,
	}
	for i := range 16 {
		b := results.LoadBlock{
			Side: "A", Pair: i / 2, Run: fmt.Sprintf("run%d", i), Seed: uint64(42 + i/2),
			Started: began.Add(time.Duration(i) * 23 * time.Second),
			Took:    23 * time.Second,
			Figures: []results.LoadFigure{
				{Metric: "rate", Value: 8300 + float64(i)}, {Metric: "push.response.p50", Value: 120_000 + float64(i)},
			},
		}
		if i%2 == 1 {
			b.Side, b.Figures[1].Value = "B", 140_000
		}
		if i == 7 {
			b.VoidReason = "INVALID: push was sent late \x1b[2J"
		}
		c.Blocks = append(c.Blocks, b)
	}
	c.Ratios = []results.LoadRatio{
		{"rate", true, 8307, 8308, 6, 1.0001, 0.998, 1.002, 0.969, 0.69, 0, "no change", 0, 0, 0},
		{"push.response.p50", false, 120_007, 140_000, 6, 1.167, 1.15, 1.18, 0.969, 0.031, 0.031, "regression", 0, 0, 0},
		{"ack.response.p99", false, 1.2e6, 1.25e6, 6, 1.04, 0.97, 1.11, 0.969, 0.31, 0.62, "inconclusive", 31, 0, 0},
		{"generator.cpu", false, 24_000, 24_100, 6, 1.004, 0.98, 1.03, 0.969, 0.56, 0, "", 0, 0, 0},
	}
	return c
}

func TestLoadComparisonGolden(t *testing.T) {
	t.Parallel()
	noise := comparedLoads()
	noise.AA, noise.B = true, noise.A
	for i := range noise.Ratios {
		noise.Ratios[i].Floor = 0.021
	}
	unpaired := comparedLoads()
	unpaired.NoVerdict = "a.json and b.json, both of A, were measured one after the other"
	for i := range unpaired.Ratios {
		r := &unpaired.Ratios[i]
		*r = results.LoadRatio{Metric: r.Metric, IsPrimary: r.IsPrimary, A: r.A, B: r.B, Ratio: r.Ratio}
	}
	for name, c := range map[string]*results.LoadComparison{
		"load-compared": comparedLoads(), "load-compared-noise": noise, "load-compared-apart": unpaired,
		"load-compared-empty": {},
	} {
		var out bytes.Buffer
		out.Write(page.Text(c.Page(reports.PageOptions{}), page.TextOptions{}))
		golden.File(t, "testdata/"+name+".txt.golden", out.Bytes())
	}
	for name, write := range map[string]func(*results.LoadComparison, *bytes.Buffer) error{
		"load-compared.json.golden": func(c *results.LoadComparison, out *bytes.Buffer) error {
			return c.WriteJSON(out, reports.ExitOptions{})
		},
		"load-compared.bench.golden": func(c *results.LoadComparison,
			out *bytes.Buffer) error {
			return c.WriteBenchfmt(out)
		},
		"load-compared.md.golden": func(c *results.LoadComparison, out *bytes.Buffer) error {
			out.Write(page.Markdown(c.Page(reports.PageOptions{Verbose: true}), page.MarkdownOptions{}))
			return nil
		},
		"load-compared.junit.xml.golden": func(c *results.LoadComparison, out *bytes.Buffer) error {
			s := c.Suite(reports.ExitOptions{})
			junit, err := formats.JUnit(&s)
			out.Write(junit)
			return err
		},
	} {
		var out bytes.Buffer
		require.NoError(t, write(comparedLoads(), &out))
		golden.File(t, "testdata/"+name, out.Bytes())
	}
}

func TestLoadComparisonIsReadBack(t *testing.T) {
	t.Parallel()
	var out, rewrite bytes.Buffer
	require.NoError(t, comparedLoads().WriteJSON(&out, reports.ExitOptions{}))
	c, err := results.ReadLoadComparison(out.Bytes())
	require.NoError(t, err)
	require.NoError(t, c.WriteJSON(&rewrite, reports.ExitOptions{}))
	assert.Equal(t, out.String(), rewrite.String())
	_, err = results.ReadLoad(out.Bytes())
	require.ErrorContains(t, err, `its schema is "fwpbench-compare/1", and "fwpbench/2" is needed`)
	_, err = results.ReadLoad([]byte("{"))
	require.ErrorContains(t, err, "not a report in JSON")

	out.Reset()
	require.NoError(t, soundLoad().WriteJSON(&out, reports.ExitOptions{}))
	l, err := results.ReadLoad(out.Bytes())
	require.NoError(t, err)
	assert.Equal(t, results.BlockOf(soundLoad(), "A", 1), results.BlockOf(l, "A", 1))
}

func TestBlockOf(t *testing.T) {
	t.Parallel()
	names := func(b results.LoadBlock) (all []string) {
		for _, f := range b.Figures {
			all = append(all, f.Metric)
		}
		return all
	}
	l := soundLoad()
	l.Health.ServerCPU = 3 * time.Second
	b := results.BlockOf(l, "B", 3)
	assert.Empty(t, b.VoidReason)
	assert.Equal(t, []string{
		"rate", "server.cpu", "generator.cpu", "push.response.p50", "push.response.p90", "push.response.p99",
		"push.response.p99.9",
		"fetch.found.response.p50", "ack.response.p50", "ack.response.p99", "job.fetched.p50", "job.fetched.p99",
	}, names(b), "a percentile needs 20 values beyond it: 960 FETCHes have no p99")
	overload := overloadedLoad()
	for _, f := range results.BlockOf(overload, "A", 1).Figures {
		assert.Equal(t, f.Metric == "push.response.p90" || f.Metric == "push.response.p99" ||
			f.Metric == "push.response.p99.9", f.IsLowerBound, f.Metric)
	}
	for share, rate := range map[int64]float64{9: 4548, 60: 1999, 100: 1.0 / 120} { // % of the pushes that are refused
		l := soundLoad()
		sent := l.Ops[0].Count
		l.Ops[0].Errors = []results.LoadError{{Kind: "rejected", Count: sent * share / 100}}
		l.Ops[0].Count, l.Rate.Done = sent-sent*share/100, sent-sent*share/100
		l.Rate.Achieved = reports.PerSecond(l.Rate.Done, l.Measured)
		validity.Evaluate(l)
		b := results.BlockOf(l, "B", 1)
		assert.Empty(t, b.VoidReason, "a side that refuses %d %% is judged", share)
		assert.InDelta(t, rate, b.Figures[0].Value, 1)
	}
	invalid := soundLoad()
	invalid.Plan.Overload, invalid.Rate.Dropped = "abort", 1
	validity.Evaluate(invalid)
	assert.Contains(t, results.BlockOf(invalid, "A", 1).VoidReason, "INVALID")
	assert.NotEmpty(t, results.BlockOf(&results.Load{}, "A", 1).VoidReason)
}

// The words of a verdict say what it needs, and those of noise how much of it there is.
func TestTheVerdictsOfAComparison(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*results.LoadComparison)
		code   int
		words  string
	}{
		"a regression": {func(c *results.LoadComparison) { c.Ratios[1].Verdict = "regression" }, reports.ExitFindings,
			"regression: push.response.p50 1.167 (1.15 to 1.18)"},
		"no regression": {func(*results.LoadComparison) {}, reports.ExitWell,
			"no regression: rate 1 (0.998 to 1.002)"},
		"what is not primary may be open": {func(c *results.LoadComparison) { c.Ratios[1].Verdict = "inconclusive" },
			reports.ExitWell, "no regression: rate 1 (0.998 to 1.002)"},
		"the primary one is open": {func(c *results.LoadComparison) {
			c.Ratios[0].Verdict, c.Ratios[0].MorePairs = "inconclusive", 9
		}, reports.ExitInconclusive, "inconclusive: rate 1 (0.998 to 1.002), about 9 more pairs"},
		"too near": {func(c *results.LoadComparison) {
			c.Ratios[0].Verdict, c.Ratios[0].MorePairs = "inconclusive", -1
		}, reports.ExitInconclusive, "inconclusive: rate 1 (0.998 to 1.002), too close to the margin"},
		"no primary": {func(c *results.LoadComparison) { c.Ratios = c.Ratios[1:] }, reports.ExitInconclusive,
			"no verdict: no block has a value for the primary metric"},
		"no verdict": {func(c *results.LoadComparison) { c.NoVerdict = "one after the other" },
			reports.ExitInconclusive, "no verdict: one after the other"},
		"few pairs": {func(c *results.LoadComparison) { c.Blocks = c.Blocks[:12] }, reports.ExitInconclusive,
			"no verdict: 4 valid pairs, and 6 are needed"},
		"findings": {func(c *results.LoadComparison) { c.Blocks[3].Findings = 2 }, reports.ExitLoss,
			"2 findings in the blocks: use fwpbench run on each side for the details"},
		"noise": {func(c *results.LoadComparison) { c.AA, c.Ratios[0].Floor = true, 0.03 }, reports.ExitWell,
			"the noise floor: rate 3 %"},
		"loud noise": {func(c *results.LoadComparison) { c.AA, c.Ratios[0].Floor = true, 0.06 },
			reports.ExitInconclusive, "rate: the noise floor of 6 % is above the margin of 5 %: use longer blocks, more " +
				"pairs or a wider margin"},
		"loud noise of another metric": {func(c *results.LoadComparison) { c.AA, c.Ratios[1].Floor = true, 0.9 },
			reports.ExitWell, "the noise floor: rate 0 %"},
	} {
		c := comparedLoads()
		c.Ratios[1].Verdict = "no change"
		test.change(c)
		code, words := c.Outcome(reports.ExitOptions{}).Values()
		assert.Equal(t, test.code, code, name)
		assert.Equal(t, test.words, words, name)
	}
}
