// Package paired has the statistics of pairs of measurements: how much greater the second one is, how sure that is, and
// whether it is beyond a margin that was declared beforehand. All of it is exact, assumes no distribution but that the
// logarithms of the ratios lie symmetrically around their centre, and knows nothing of loads.
//
// Files, in the order in which they can be read: paired.go (the effect), rank.go (the exact distribution), verdict.go
// (the margin), holm.go (several tests at a time).
package paired

import (
	"math"
	"slices"
)

// Least is the smallest number of pairs from which an interval of 95 % can be had: the chance that all of n pairs
// differ in the same direction though nothing differs is 2 in 2^n, which is 6 % for five and 3 % for six.
const Least = 6

// Pair is what was measured of A and of B, one shortly after the other; both are above 0.
type Pair struct{ A, B float64 }

// Effect is how much greater B is than A, as a ratio.
type Effect struct {
	Pairs int
	// Ratio is the Hodges-Lehmann estimate of the ratio of B to A: the median of the means of any two log-ratios.
	Ratio float64
	// Low and High are the ends of the interval in which the ratio lies with the probability Confidence, which is at least
	// 0.95 if there are Least pairs.
	Low, High, Confidence float64
	// P is the two-sided probability of log-ratios at least as lopsided as these if the ratio were 1, by the exact
	// signed-rank test of Wilcoxon.
	P float64
}

// EffectOf returns the effect in some pairs, the zero Effect without any.
func EffectOf(pairs []Pair) Effect {
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
		Pairs: n, Ratio: math.Exp(median(means)),
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

// median returns the median of values in ascending order.
func median(sorted []float64) float64 {
	n := len(sorted)
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}
