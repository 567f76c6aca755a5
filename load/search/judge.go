package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/load/results"
)

// maxMorePairs is how many more pairs are advised at most.
const maxMorePairs = 1000

// serverCPU is the CPU time of the server for each arrival.
const serverCPU = "server.cpu"

// Primary returns the metrics that decide unless the user declares others: how much a closed loop carries, or how long
// an open loop makes its users wait for the command op; and the CPU time of the server for each arrival if both servers
// are started for the comparison, because it is far less noisy.
func Primary(isOpenLoop bool, op string, hasServerCPU bool) []string {
	all := []string{"rate"}
	if isOpenLoop {
		all = []string{op + ".response.p99"}
	}
	if hasServerCPU {
		all = append(all, serverCPU)
	}
	return all
}

// Judge fills in c.Ratios from c.Blocks and c.Margin: the primary metrics first, which decide by their intervals, and
// then the others, which have a regression or an improvement only if they also pass the correction of Holm. A metric
// counts in those pairs in which both blocks have it, and is left out if they are too few and it decides nothing.
// Without pairs (c.NoVerdict) the ratios are those of the medians.
func Judge(c *results.LoadComparison, primary []string) {
	c.Ratios = nil
	for _, metric := range metrics(c.Blocks, primary) {
		r := results.LoadRatio{Metric: metric, IsPrimary: slices.Contains(primary, metric)}
		if c.NoVerdict != "" {
			r.A, r.B = median(values(c.Blocks, A, metric)), median(values(c.Blocks, B, metric))
			if r.A > 0 && r.B > 0 {
				r.Ratio = r.B / r.A
				c.Ratios = append(c.Ratios, r)
			}
			continue
		}
		if pairs, bounds := pairsOf(c.Blocks, metric); len(pairs) >= MinPairs || r.IsPrimary && len(pairs) > 0 {
			c.Ratios = append(c.Ratios, ratioOf(r, pairs, bounds, c))
		}
	}
	if c.NoVerdict == "" {
		correct(c.Ratios)
	}
	for i := range c.Ratios {
		if c.StopReason != "" { // which says by itself how many pairs it takes
			c.Ratios[i].MorePairs = 0
		}
	}
}

// ratioOf returns the ratio of a metric in some pairs.
func ratioOf(
	r results.LoadRatio, pairs []Pair, bounds []LowerBound, c *results.LoadComparison,
) results.LoadRatio {
	var a, b []float64
	for _, p := range pairs {
		a, b = append(a, p.A), append(b, p.B)
	}
	e := EffectOf(pairs, bounds...)
	r.A, r.B, r.Pairs = median(a), median(b), len(pairs)
	r.Ratio, r.P = e.Ratio, e.P
	if e.Pairs >= MinPairs {
		r.Low, r.High, r.Confidence = e.Low, e.High, e.Confidence
		if c.AA {
			r.Floor = e.Floor()
		}
	}
	if results.HasNoVerdict(r.Metric) {
		return r
	}
	higherIsBetter, margin := results.HigherIsBetter(r.Metric), c.MarginOf(r.Metric, r.A)
	verdict := e.Judge(higherIsBetter, margin)
	if e.Pairs >= MinPairs {
		r.NeededPairs = e.NeededPairs(margin)
	}
	if r.Verdict = string(verdict); verdict == Inconclusive {
		r.MorePairs = e.MorePairs(higherIsBetter, margin, maxMorePairs)
	}
	return r
}

// correct adjusts p: of the primary metrics for their number, and of the others for the number of families, because the
// percentiles of the same times say the same thing several times. It takes back what does not hold after that, and
// tells what differs although its size is not settled.
func correct(ratios []results.LoadRatio) {
	families := map[string][]*results.LoadRatio{}
	var names []string
	for i := range ratios {
		r := &ratios[i]
		if r.Verdict == "" || r.High == 0 {
			continue
		}
		name := family(r)
		if families[name] == nil {
			names = append(names, name)
		}
		families[name] = append(families[name], r)
	}
	for _, primary := range []bool{true, false} {
		chosen := slices.DeleteFunc(slices.Clone(names),
			func(name string) bool { return families[name][0].IsPrimary != primary })
		var ps []float64
		for _, name := range chosen {
			var familyPs []float64
			for _, r := range families[name] {
				familyPs = append(familyPs, r.P)
			}
			ps = append(ps, Simes(familyPs))
		}
		for i, p := range Holm(ps) {
			for _, r := range families[chosen[i]] {
				adjust(r, max(p, r.P))
			}
		}
	}
}

// adjust sets the adjusted p of a ratio, and its verdict to what holds with that.
func adjust(r *results.LoadRatio, p float64) {
	settled := r.Verdict == string(Regression) || r.Verdict == string(Improvement)
	switch {
	case p > 0.05 && settled && !r.IsPrimary:
		r.Verdict = string(Inconclusive)
	case p <= 0.05 && r.Verdict == string(Inconclusive) && r.Pairs >= MinPairs:
		r.Verdict = string(Differs)
	}
	if !r.IsPrimary || r.Verdict == string(Differs) {
		r.Holm = p
	}
}

// family names what a metric is a percentile of; each primary metric is a family of its own.
func family(r *results.LoadRatio) string {
	if at := strings.Index(r.Metric, ".p"); at > 0 && !r.IsPrimary {
		return r.Metric[:at]
	}
	return r.Metric
}

// HopelessReason returns why a comparison of so many pairs will not be conclusive: none of its first pairs counts, or
// their noise asks for many times as many for each of its primary metrics. It is empty if that is not so, or there are
// too few pairs to say.
func HopelessReason(c *results.LoadComparison, primary []string) string {
	if last := len(c.Blocks) - 1; last >= 0 && c.Blocks[last].Pair >= voidPairs && c.ValidPairs() == 0 {
		reason := cmp.Or(c.Blocks[last].VoidReason, c.Blocks[last-1].VoidReason)
		return fmt.Sprintf("none of the first %d pairs counts: %s", c.Blocks[last].Pair, reason)
	}
	var needs []string
	for _, metric := range primary {
		pairs, _ := pairsOf(c.Blocks, metric)
		e, margin := EffectOf(pairs), c.MarginOf(metric, median(values(c.Blocks, A, metric)))
		if e.Pairs < minNoisePairs || e.NeededPairs(margin) <= hopelessFactor*c.Pairs {
			return ""
		}
		needs = append(needs, fmt.Sprintf("%s about %d", metric, e.NeededPairs(margin)))
	}
	return fmt.Sprintf("a margin of %.3g %% needs many more pairs on this machine: %s", 100*c.Margin,
		strings.Join(needs, ", "))
}

const (
	voidPairs      = 5  // pairs of which none counts, which is then no accident
	minNoisePairs  = 10 // pairs from which on the noise is known well enough
	hopelessFactor = 5  // times as many pairs as are asked for
)

// metrics returns the metrics of blocks, the primary ones first.
func metrics(blocks []results.LoadBlock, primary []string) []string {
	all := slices.Clone(primary)
	for _, b := range blocks {
		for _, f := range b.Figures {
			if !slices.Contains(all, f.Metric) {
				all = append(all, f.Metric)
			}
		}
	}
	return all
}

// pairsOf returns what both blocks of each pair measured of a metric, without the pairs that are void, and which of
// that are lower bounds.
func pairsOf(blocks []results.LoadBlock, metric string) (pairs []Pair, bounds []LowerBound) {
	type measured struct {
		Pair
		bounds LowerBound
	}
	byPair := map[int]*measured{}
	var order []int
	void := map[int]bool{}
	for _, b := range blocks {
		if b.Pair == 0 {
			continue
		}
		void[b.Pair] = void[b.Pair] || b.VoidReason != ""
		p := byPair[b.Pair]
		if p == nil {
			p = new(measured)
			byPair[b.Pair] = p
			order = append(order, b.Pair)
		}
		if b.Side == A {
			p.A, p.bounds.A = figure(b, metric)
		} else {
			p.B, p.bounds.B = figure(b, metric)
		}
	}
	for _, n := range order {
		if p := byPair[n]; !void[n] && p.A > 0 && p.B > 0 {
			pairs, bounds = append(pairs, p.Pair), append(bounds, p.bounds)
		}
	}
	return pairs, bounds
}

// figure returns a metric of a block, 0 if it has none, and whether it is a lower bound.
func figure(b results.LoadBlock, metric string) (value float64, isLowerBound bool) {
	for _, f := range b.Figures {
		if f.Metric == metric {
			return f.Value, f.IsLowerBound
		}
	}
	return 0, false
}

// values returns a metric of all blocks of a side that are not void.
func values(blocks []results.LoadBlock, side, metric string) (all []float64) {
	for _, b := range blocks {
		if v, _ := figure(b, metric); b.Side == side && b.VoidReason == "" && v > 0 {
			all = append(all, v)
		}
	}
	return all
}

// median returns the median of values, 0 without any.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return middle(slices.Sorted(slices.Values(values)))
}
