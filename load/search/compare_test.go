package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	blocks := PlanBlocks(40, 7)
	assert.Len(t, blocks, 82)
	first := map[string]int{}
	for i, b := range blocks {
		assert.Equal(t, i/2, b.Pair)
		assert.Equal(t, uint64(7+i/2), b.Seed)
		if i%2 == 0 {
			first[b.Side]++
			assert.NotEqual(t, b.Side, blocks[i+1].Side)
		}
	}
	assert.Greater(t, first[A], 10)
	assert.Greater(t, first[B], 10)
	assert.Equal(t, blocks, PlanBlocks(40, 7))
	assert.NotEqual(t, blocks, PlanBlocks(40, 8))
}

// block returns a block of a side that was measured in some minute.
func block(side string, minute int, figures ...results.LoadFigure) results.LoadBlock {
	return results.LoadBlock{
		Side: side, File: fmt.Sprintf("%s%d.json", side, minute), Figures: figures,
		Started: time.Date(2026, 3, 4, 5, minute, 0, 0, time.UTC),
	}
}

func TestPairs(t *testing.T) {
	t.Parallel()
	var turns, behind, lateBlocks []results.LoadBlock
	for i := range 6 {
		turns = append(turns, block(B, 2*i), block(A, 2*i+1))
		behind = append(behind, block(A, i), block(B, 20+i))
		lateBlocks = append(lateBlocks, block(A, i), block(B, i))
	}
	sorted, reason := PairBlocks(turns)
	assert.Empty(t, reason)
	for i, b := range sorted {
		assert.Equal(t, i/2+1, b.Pair)
	}
	sorted, reason = PairBlocks(behind)
	assert.Contains(t, reason, "A0.json and A1.json, both of A, were measured in a row")
	assert.Zero(t, sorted[0].Pair)
	for text, blocks := range map[string][]results.LoadBlock{
		"A0.json and B0.json began at the same time": lateBlocks,
		"there are 1 results of A and 1 of B":        {block(A, 0), block(B, 1)},
		"there are 7 results of A and 6 of B":        append(turns[:12:12], block(A, 30)),
	} {
		_, reason := PairBlocks(blocks)
		assert.Contains(t, reason, text)
	}
}

// timedComparison returns a comparison of pairs in which the time of B is longer by a factor, and the rate is that of A.
func timedComparison(pairs int, factor float64) *results.LoadComparison {
	random := rand.New(rand.NewPCG(3, 4))
	c := &results.LoadComparison{Margin: 0.05, Pairs: pairs}
	for i, b := range PlanBlocks(pairs, 1) {
		rate, wait := 1000+10*random.NormFloat64(), 2e5+2e3*random.NormFloat64()
		if b.Side == B {
			wait *= factor
		}
		newBlock := block(b.Side, i, results.LoadFigure{Metric: "rate", Value: rate},
			results.LoadFigure{Metric: "generator.cpu", Value: 3 * wait},
			results.LoadFigure{Metric: "push.response.p50", Value: wait})
		newBlock.Pair = b.Pair
		c.Blocks = append(c.Blocks, newBlock)
	}
	return c
}

func TestJudgeLoads(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pairs   int
		factor  float64
		primary string
		change  func(c *results.LoadComparison)
		code    int
		rate    string
		wait    string
	}{
		"nothing differs":            {10, 1, "rate", nil, reports.ExitWell, "no change", "no change"},
		"the primary is worse":       {10, 1.2, "push.response.p50", nil, reports.ExitFindings, "no change", "regression"},
		"another is worse":           {10, 1.2, "rate", nil, reports.ExitFindings, "no change", "regression"},
		"the primary is better":      {10, 0.8, "push.response.p50", nil, reports.ExitWell, "no change", "improvement"},
		"near the margin":            {10, 1.05, "push.response.p50", nil, reports.ExitInconclusive, "no change", "differs"},
		"another is near the margin": {10, 1.05, "rate", nil, reports.ExitWell, "no change", "differs"},
		"a void pair": {8, 1, "rate", func(c *results.LoadComparison) { c.Blocks[5].VoidReason = "INVALID" },
			reports.ExitWell, "no change", "no change"},
		"too many void pairs": {6, 1.2, "rate", func(c *results.LoadComparison) { c.Blocks[5].VoidReason = "INVALID" },
			reports.ExitInconclusive, "inconclusive", ""},
		"findings": {6, 1, "rate", func(c *results.LoadComparison) { c.Blocks[5].Findings = 1 },
			reports.ExitLoss, "no change", "no change"},
		"interrupted": {6, 1, "rate", func(c *results.LoadComparison) { c.Blocks, c.Interrupted = c.Blocks[:5], true },
			reports.ExitInterrupted, "inconclusive", ""},
		"no such metric": {6, 1, "push.response.p99", nil, reports.ExitInconclusive, "no change", "no change"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := timedComparison(test.pairs, test.factor)
			if test.change != nil {
				test.change(c)
			}
			Judge(c, []string{test.primary})
			code, words := c.Outcome(reports.ExitOptions{}).Values()
			assert.Equal(t, test.code, code, words)
			got := map[string]string{}
			for _, r := range c.Ratios {
				got[r.Metric] = r.Verdict
			}
			assert.Equal(t, test.rate, got["rate"])
			assert.Equal(t, test.wait, got["push.response.p50"])
			assert.Empty(t, got["generator.cpu"])
		})
	}
}

// Six pairs cannot carry a verdict on several metrics at a time: 2 in 64 is too likely for two of them.
func TestHolmTakesBack(t *testing.T) {
	t.Parallel()
	c := timedComparison(6, 1.3)
	for i := range c.Blocks {
		b := &c.Blocks[i]
		b.Figures = append(b.Figures, results.LoadFigure{Metric: "ack.response.p50", Value: b.Figures[2].Value})
	}
	Judge(c, []string{"rate"})
	code, words := c.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitWell, code, words)
	for _, r := range c.Ratios[1:] {
		if r.Verdict != "" {
			assert.Equal(t, "inconclusive", r.Verdict)
			assert.InDelta(t, 2*r.P, r.Holm, 1e-12)
		}
	}
}

func TestNoVerdictWithoutPairs(t *testing.T) {
	t.Parallel()
	c := timedComparison(6, 2)
	c.Blocks, c.NoVerdict = c.Blocks[:2], "there is one of each"
	Judge(c, []string{"rate"})
	code, words := c.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitInconclusive, code)
	assert.Equal(t, "no verdict: there is one of each", words)
	assert.InDelta(t, 2, c.Ratios[2].Ratio, 0.1)
	assert.Zero(t, c.Ratios[2].High)
}

func TestNoiseFloor(t *testing.T) {
	t.Parallel()
	c := timedComparison(10, 1)
	c.AA = true
	Judge(c, []string{"rate"})
	code, words := c.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitWell, code, words)
	assert.Positive(t, c.Ratios[0].Floor)
	c.Margin = c.Ratios[0].Floor / 2
	Judge(c, []string{"rate"})
	code, words = c.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitInconclusive, code)
	assert.Contains(t, words, "is above the margin")
}

// noisyComparison returns a comparison on a busy machine: rates and times have a noise of their own in each block, the
// percentiles of one kind of time share theirs, and the CPU time of the server for each arrival has less of it. More
// is the factor by which B costs more CPU, and slower the one by which its pushes take longer.
func noisyComparison(random *rand.Rand, pairs int, cpuFactor, timeFactor float64) *results.LoadComparison {
	c := &results.LoadComparison{Margin: 0.05, Pairs: pairs}
	for i, b := range PlanBlocks(pairs, random.Uint64()) {
		noise := func(spread float64) float64 { return math.Exp(spread * random.NormFloat64()) }
		cpu, wait := 1e5*noise(0.085), 2e5*noise(0.1)
		if b.Side == B {
			cpu, wait = cpu*cpuFactor, wait*timeFactor
		}
		figures := []results.LoadFigure{{Metric: "rate", Value: 1000 * noise(0.27)}, {Metric: "server.cpu", Value: cpu}}
		for _, p := range []string{"p50", "p90", "p99", "p99.9"} {
			figures = append(figures, results.LoadFigure{Metric: "push.response." + p, Value: wait * noise(0.02)})
		}
		for _, op := range []string{"ack", "fetch.found"} {
			opNoise := noise(0.1)
			for _, p := range []string{"p50", "p99"} {
				figures = append(figures, results.LoadFigure{Metric: op + ".response." + p, Value: 1e5 * opNoise * noise(0.02)})
			}
		}
		newBlock := block(b.Side, i, figures...)
		newBlock.Pair = b.Pair
		c.Blocks = append(c.Blocks, newBlock)
	}
	Judge(c, Primary(false, "push", true))
	return c
}

// TestAComparisonDecides simulates comparisons of 60 short blocks on a busy machine: a server with itself is no
// regression, and hardly ever differs; one that is 10 % slower is found; and percentiles do not drown each other.
func TestAComparisonDecides(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12))
	trials := golden.Sample(40, 1000)
	share := func(pairs int, cpuFactor, timeFactor float64, match func(*results.LoadRatio) bool) float64 {
		count := 0
		for range trials {
			if slices.ContainsFunc(noisyComparison(random, pairs, cpuFactor, timeFactor).Ratios, func(r results.LoadRatio) bool { return match(&r) }) {
				count++
			}
		}
		return float64(count) / float64(trials)
	}
	verdict := func(v string) func(*results.LoadRatio) bool {
		return func(r *results.LoadRatio) bool { return r.Verdict == v }
	}
	slack := 2.5 * math.Sqrt(0.05*0.95/float64(trials))
	assert.Zero(t, share(60, 1, 1, verdict("regression")), "of nothing")
	assert.LessOrEqual(t, share(60, 1, 1, func(r *results.LoadRatio) bool { return r.IsPrimary && r.Verdict == "differs" }),
		0.05+slack)
	assert.LessOrEqual(t, share(60, 1, 1, func(r *results.LoadRatio) bool { return !r.IsPrimary && r.Verdict == "differs" }),
		0.05+slack)
	assert.GreaterOrEqual(t, share(60, 1.1, 1, verdict("regression")), 0.8, "10 % more CPU")
	assert.GreaterOrEqual(t, share(60, 1, 1.15, func(r *results.LoadRatio) bool {
		return r.Metric == "push.response.p50" && (r.Verdict == "differs" || r.Verdict == "regression")
	}), 0.9, "pushes that take 15 % longer")
}

// The percentiles of one kind of time are one family: that nine metrics were measured does not drown a p of 0.006 that
// four of them share.
func TestFamiliesAreCountedOnce(t *testing.T) {
	t.Parallel()
	var ratios []results.LoadRatio
	for metric, p := range map[string]float64{
		"push.response.p50": 0.006, "push.response.p90": 0.006, "push.response.p99": 0.007, "push.response.p99.9": 0.008,
		"ack.response.p50": 0.5, "ack.response.p99": 0.5, "fetch.found.response.p50": 0.5, "job.fetched.p50": 0.5,
	} {
		ratios = append(ratios, results.LoadRatio{Metric: metric, P: p, Verdict: "inconclusive", High: 1.2, Pairs: 20})
	}
	correct(ratios)
	for _, r := range ratios {
		if strings.HasPrefix(r.Metric, "push") {
			assert.Equal(t, "differs", r.Verdict, r.Metric)
			assert.LessOrEqual(t, r.Holm, 4*0.008, r.Metric)
		} else {
			assert.Equal(t, "inconclusive", r.Verdict, r.Metric)
		}
	}
}

// A comparison whose noise asks for many times as many pairs is stopped, and one with a metric that may decide is not.
func TestHopeless(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(13, 14))
	c := noisyComparison(random, 12, 1, 1)
	c.Margin, c.Pairs = 0.02, 60
	assert.Contains(t, HopelessReason(c, []string{"rate"}), "a margin of 2 % needs many more pairs on this machine: rate "+
		"about ")
	assert.Empty(t, HopelessReason(c, []string{"rate", "push.response.p50"}))
	for stopped, want := range map[string]bool{"": true, "a margin of 2 % needs far more pairs": false} {
		c.StopReason = stopped
		Judge(c, []string{"rate"})
		assert.Equal(t, want, c.Ratios[0].MorePairs != 0, "one number of pairs is told")
	}
	assert.Empty(t, HopelessReason(noisyComparison(random, 9, 1, 1), []string{"rate"}), "too few pairs to say")
	void := &results.LoadComparison{Pairs: 60}
	for pair := 1; pair <= voidPairs; pair++ {
		assert.Empty(t, HopelessReason(void, []string{"rate"}))
		for _, side := range []string{A, B} {
			void.Blocks = append(void.Blocks, results.LoadBlock{Side: side, Pair: pair, VoidReason: "1 finding"})
		}
	}
	assert.Equal(t, "none of the first 5 pairs counts: 1 finding", HopelessReason(void, []string{"rate"}))
}

// Commands without a reply make a figure a lower bound: a comparison takes it for that, and for anything above. A side
// whose commands hang is a regression if the bound shows one, and never equal because its bad blocks are left out.
func TestLowerBoundsAreCompared(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		b                  float64 // of 100 in A
		aIsBound, bIsBound bool    // what is a lower bound, in each second pair
		want               string
		words              string
	}{
		"nothing is open":                 {b: 101, want: "no change"},
		"the bound is a regression":       {b: 140, bIsBound: true, want: "regression"},
		"the bound is no regression":      {b: 101, bIsBound: true, want: "differs", words: "or more"},
		"B seems better, and may be not":  {b: 80, bIsBound: true, want: "inconclusive", words: "or more"},
		"A is open, and B is not worse":   {b: 101, aIsBound: true, want: "not worse", words: "or less"},
		"A is open, and B may be as slow": {b: 140, aIsBound: true, want: "inconclusive", words: "or less"},
		"both are open":                   {b: 101, aIsBound: true, bIsBound: true, want: "inconclusive", words: "any"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &results.LoadComparison{Margin: 0.05, Pairs: 12}
			for pair := 1; pair <= 12; pair++ {
				for side, value := range map[string]float64{A: 100, B: test.b} {
					c.Blocks = append(c.Blocks, results.LoadBlock{Side: side, Pair: pair, Figures: []results.LoadFigure{{
						Metric: "push.response.p99", Value: value + float64(pair)/100,
						IsLowerBound: pair%2 == 0 && (side == A && test.aIsBound || side == B && test.bIsBound),
					}}})
				}
			}
			Judge(c, []string{"push.response.p99"})
			require.Len(t, c.Ratios, 1)
			assert.Equal(t, test.want, c.Ratios[0].Verdict, c.Ratios[0])
			_, words := c.Outcome(reports.ExitOptions{}).Values()
			assert.Contains(t, words, test.words)
		})
	}
}
