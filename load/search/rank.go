package search

import (
	"cmp"
	"math"
	"slices"
)

// sums returns how many of the 2^n ways to choose some of these ranks have each sum. They are whole numbers up to
// 2^53, and beyond that good to 15 digits.
func sums(ranks []int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([]float64, total+1)
	ways[0] = 1
	reached := 0
	for _, r := range ranks {
		reached += r
		for sum := reached; sum >= r; sum-- {
			ways[sum] += ways[sum-r]
		}
	}
	return ways
}

// depth returns how many of the least and of the greatest Walsh averages of n values lie outside of the interval that
// holds their centre with a probability of at least 1-alpha, and that probability. If there are too few values for
// that, none lie outside, and the probability is less.
func depth(n int, alpha float64) (k int, confidence float64) {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	all := math.Exp2(float64(n))
	ways := sums(ranks)
	tail := ways[0] / all
	for k+1 < len(ways)/2 && tail+ways[k+1]/all <= alpha/2 {
		k++
		tail += ways[k] / all
	}
	return k, 1 - 2*tail
}

// signedRank returns the two-sided p of the signed-rank test that the centre of the values is 0. Values of the same
// size share the mean of their ranks; a 0 takes a rank and has no sign (Pratt). The distribution is that of these
// ranks, so it is exact in both cases.
func signedRank(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	var ranks []int // twice the rank, so that a mean of two is whole
	positive := 0
	for first := 0; first < len(sorted); {
		last := first
		for last+1 < len(sorted) && isSameSize(sorted[last+1], sorted[first]) {
			last++
		}
		for _, v := range sorted[first : last+1] {
			doubleRank := first + last + 2
			if v != 0 {
				ranks = append(ranks, doubleRank)
			}
			if v > 0 {
				positive += doubleRank
			}
		}
		first = last + 1
	}
	ways, all := sums(ranks), math.Exp2(float64(len(ranks)))
	lowerTail, upperTail := 0.0, 0.0
	for sum, n := range ways {
		if sum <= positive {
			lowerTail += n / all
		}
		if sum >= positive {
			upperTail += n / all
		}
	}
	return min(1, 2*min(lowerTail, upperTail))
}

// isSameSize reports whether two values are of the same size, but for the error of the last digits of a logarithm.
func isSameSize(a, b float64) bool {
	a, b = math.Abs(a), math.Abs(b)
	return math.Abs(a-b) <= 1e-12*max(a, b)
}
