package validity

import "github.com/fwpsuite/fwp/load/results"

// beyondNeeded is how many values have to lie beyond a percentile for it to decide something: with fewer, one stall of
// a machine is the percentile.
const beyondNeeded = 5

// leastArrivals is how many arrivals a rate needs: with fewer, one of them is more than 1 % of all.
const leastArrivals = 100

// Needed returns how many arrivals a run needs for a verdict on its rate and on these thresholds: a p99 needs 500.
func Needed(thresholds []Threshold) int64 {
	needed := int64(leastArrivals)
	for _, t := range thresholds {
		if p, is := results.PercentileIn(t.Metric); is && p > 50 {
			needed = max(needed, p.Needs(beyondNeeded))
		}
	}
	return needed
}
