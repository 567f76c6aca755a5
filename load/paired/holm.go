package paired

import (
	"cmp"
	"slices"
)

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
