package judge

import (
	"math"
	"strconv"
	"strings"
)

// beyondNeeded is how many values have to lie beyond a percentile for it to decide something: with fewer, one stall of
// a machine is the percentile.
const beyondNeeded = 5

// leastArrivals is how many arrivals a rate needs: with fewer, one of them is more than 1 % of all.
const leastArrivals = 100

// Needed returns how many arrivals a run needs for a verdict on its rate and on these thresholds: a p99 needs 500.
func Needed(thresholds []Threshold) int64 {
	needed := int64(leastArrivals)
	for _, t := range thresholds {
		_, stat, _ := strings.Cut(t.Metric, ".p9") // push.response.p99.9
		if rank, err := strconv.ParseFloat("9"+stat, 64); stat != "" && err == nil {
			needed = max(needed, int64(math.Ceil(beyondNeeded/(1-rank/100)-1e-6)))
		}
	}
	return needed
}
