package validity

import "github.com/fwpsuite/fwp/load/results"

// minThresholdTail is how many values have to lie beyond a percentile for it to decide something: with fewer, one stall
// of a machine is the percentile.
const minThresholdTail = 5

// minArrivals is how many arrivals a rate needs: with fewer, one of them is more than 1 % of all.
const minArrivals = 100

// NeededArrivals returns how many arrivals a run needs for a verdict on its rate and on these thresholds: a p99 needs
// 500.
func NeededArrivals(thresholds []Threshold) int64 {
	arrivals := int64(minArrivals)
	for _, t := range thresholds {
		if p, ok := results.PercentileIn(t.Metric); ok && p > 50 {
			arrivals = max(arrivals, p.Needs(minThresholdTail))
		}
	}
	return arrivals
}
