package search

import (
	"cmp"
	"math"
	"slices"
)

// MinPairs is the smallest number of pairs from which an interval of 95 % can be had: the chance that all of n pairs
// differ in the same direction though nothing differs is 2 in 2^n, which is 6 % for five and 3 % for six.
const MinPairs = 6

// Pair is what was measured of A and of B, one shortly after the other; both are above 0.
type Pair struct{ A, B float64 }

// LowerBound says that A or B of a pair was at least that, and may be anything above.
type LowerBound struct{ A, B bool }

// BoundFactor is how many times its lower bound a value may be: far enough to be beyond any margin.
const BoundFactor = 1000

// Effect is how much greater B is than A, as a ratio.
type Effect struct {
	Pairs int
	// Ratio is the Hodges-Lehmann estimate of the ratio of B to A: the median of the means of any two log-ratios.
	Ratio float64
	// Low and High are the ends of the interval in which the ratio lies with the probability Confidence, which is at least
	// 0.95 if there are MinPairs pairs.
	Low, High, Confidence float64
	// P is the two-sided probability of log-ratios at least as lopsided as these if the ratio were 1, by the exact
	// signed-rank test of Wilcoxon.
	P float64
}

// EffectOf returns the effect in some pairs, the zero Effect without any. If some are open, its interval and P are
// those of all that the pairs may be.
func EffectOf(pairs []Pair, bounds ...LowerBound) Effect {
	e, low, high := effectOf(pairs), slices.Clone(pairs), slices.Clone(pairs)
	for i, p := range bounds {
		if p.A {
			low[i].A *= BoundFactor
		}
		if p.B {
			high[i].B *= BoundFactor
		}
	}
	for _, other := range []Effect{effectOf(low), effectOf(high)} {
		e.Low, e.High, e.P = min(e.Low, other.Low), max(e.High, other.High), max(e.P, other.P)
	}
	return e
}

func effectOf(pairs []Pair) Effect {
	n := len(pairs)
	if n == 0 {
		return Effect{}
	}
	logs := make([]float64, n)
	for i, p := range pairs {
		logs[i] = math.Log(p.B / p.A)
	}
	means := walsh(logs)
	k, confidence := depth(n, 0.05)
	return Effect{
		Pairs: n, Ratio: math.Exp(middle(means)),
		Low: math.Exp(means[k]), High: math.Exp(means[len(means)-1-k]), Confidence: confidence,
		P: signedRank(logs),
	}
}

// walsh returns the means of any two of some values, each with itself included, in ascending order.
func walsh(values []float64) []float64 {
	var means []float64
	for i, v := range values {
		for _, w := range values[i:] {
			means = append(means, v/2+w/2)
		}
	}
	slices.Sort(means)
	return means
}

// middle returns the median of values in ascending order.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}

// Holm returns the p-values of several tests, in their order, adjusted so that those below 0.05 hold together: the
// chance that even one of them is wrong is at most 0.05. (Holm 1979)
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted, worst := make([]float64, len(ps)), 0.0
	for rank, i := range order {
		worst = max(worst, float64(len(ps)-rank)*ps[i])
		adjusted[i] = min(1, worst)
	}
	return adjusted
}

// Verdict is what an effect comes to.
type Verdict string

// The verdicts.
const (
	Regression   Verdict = "regression"   // the whole interval is worse than the margin
	Improvement  Verdict = "improvement"  // the whole interval is better than the margin
	NoChange     Verdict = "no change"    // the whole interval is within the margin
	NotWorse     Verdict = "not worse"    // no part of the interval is worse than the margin, and a part is better
	Differs      Verdict = "differs"      // it is not 1 (p), and whether it is beyond the margin is not settled
	Inconclusive Verdict = "inconclusive" // the interval is on both sides of where it would be worse
)

// Judge returns what the effect comes to. A margin of 0.05 holds the ratios from 1/1.05 to 1.05.
// higherIsBetter is set if a greater value is a better one.
func (e Effect) Judge(higherIsBetter bool, margin float64) Verdict {
	low, high := math.Log(e.Low), math.Log(e.High)
	if higherIsBetter { // from here on, more is worse
		low, high = -high, -low
	}
	limit := math.Log1p(margin)
	switch {
	case e.Pairs < MinPairs:
		return Inconclusive
	case low > limit:
		return Regression
	case high < -limit:
		return Improvement
	case high > limit:
		return Inconclusive
	case low < -limit:
		return NotWorse
	}
	return NoChange
}

// MorePairs returns about how many more pairs a verdict needs that is Inconclusive: the width of an interval shrinks
// with the root of their number. It is -1 if they are more than limit, because the ratio is too near to the margin.
func (e Effect) MorePairs(higherIsBetter bool, margin float64, limit int) int {
	if e.Pairs < MinPairs {
		return MinPairs - e.Pairs
	}
	centre, half := math.Log(e.Ratio), math.Log(e.High/e.Low)/2
	if higherIsBetter {
		centre = -centre
	}
	room := math.Abs(math.Log1p(margin) - centre)
	need := float64(e.Pairs) * (half / room) * (half / room)
	if extra := math.Ceil(need) - float64(e.Pairs); extra <= float64(limit) {
		return max(1, int(extra))
	}
	return -1
}

// NeededPairs returns about how many pairs it takes until the half width of the interval is the margin, from the noise
// of these pairs alone: what the effect seems to be has no part in it, so stopping because of it favours no side.
func (e Effect) NeededPairs(margin float64) int {
	half := math.Log(e.High/e.Low) / 2 / math.Log1p(margin)
	return max(MinPairs, int(math.Ceil(float64(e.Pairs)*half*half)))
}

// Simes returns the p-value of a family of tests that are correlated positively, such as those of percentiles of the
// same times: that nothing differs in any of them. (Simes 1986; Sarkar 1998)
func Simes(ps []float64) float64 {
	lowest := 1.0
	for i, p := range slices.Sorted(slices.Values(ps)) {
		lowest = min(lowest, p*float64(len(ps))/float64(i+1))
	}
	return lowest
}

// Floor returns the margin that an effect of A against A shows to be the smallest that can be told from noise: that of
// the end of the interval which is farther from 1.
func (e Effect) Floor() float64 { return max(e.High, 1/e.Low) - 1 }
