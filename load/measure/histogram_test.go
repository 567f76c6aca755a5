package measure

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newTheirs() *hdrhistogram.Histogram { return hdrhistogram.New(lowest, highest, digits) }

// recorded returns a histogram of the values, and the library's.
func recorded(tb testing.TB, values ...int64) (ours *Histogram, theirs *hdrhistogram.Histogram) {
	tb.Helper()
	ours, theirs = new(Histogram), newTheirs()
	for _, v := range values {
		ours.record(v)
		require.NoError(tb, theirs.RecordValue(v))
	}
	return ours, theirs
}

// sameAsTheirs asserts that a histogram is that of the library, bucket by bucket and figure by figure.
func sameAsTheirs(t *testing.T, ours *Histogram, theirs *hdrhistogram.Histogram) {
	t.Helper()
	var buckets []Bucket
	for _, bar := range theirs.Distribution() {
		if bar.Count > 0 {
			buckets = append(buckets, Bucket(bar))
		}
	}
	require.Equal(t, buckets, slices.Collect(ours.Buckets()))
	require.Equal(t, theirs.TotalCount(), ours.Count())
	require.Equal(t, theirs.Min(), ours.min())
	require.InDelta(t, theirs.Mean(), ours.mean(), 0)
	require.True(t, theirs.Equals(ours.library()))
	require.Equal(t, buckets, slices.Collect(ofLibrary(theirs).Buckets()))
	n := ours.Count()
	for _, rank := range []int64{1, 2, (n + 1) / 2, n - n/100, n} {
		if rank > 0 && rank <= n {
			require.Equal(t, theirs.ValueAtPercentile(float64(rank)/float64(n)*100), ours.at(rank), rank)
		}
	}
}

func TestBucketsAreTheLibrarys(t *testing.T) {
	t.Parallel()
	edges := []int64{0, highest}
	for power := int64(1); power <= highest; power *= 2 {
		for _, v := range []int64{power - 1, power, power + 1, power + power/2 - 1, power + power/2} {
			if v <= highest {
				edges = append(edges, v)
			}
		}
	}
	ours, theirs := recorded(t, edges...)
	sameAsTheirs(t, ours, theirs)
	sameAsTheirs(t, new(Histogram), newTheirs())
}

func TestHistogramsAddUpAsTheLibrarys(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 6))
	sum, theirSum := recorded(t)
	for range 15 {
		values := make([]int64, random.IntN(50))
		for i := range values {
			values[i] = random.Int64N(highest >> random.IntN(40))
		}
		ours, theirs := recorded(t, values...)
		sameAsTheirs(t, ours, theirs)
		before := slices.Collect(ours.Buckets())
		sum.add(ours)
		require.Zero(t, theirSum.Merge(theirs))
		assert.Equal(t, before, slices.Collect(ours.Buckets()), "what is added is not changed")
		sameAsTheirs(t, sum, theirSum)
		if random.IntN(5) == 0 {
			sum.reset()
			theirSum.Reset()
			sameAsTheirs(t, sum, theirSum)
		}
	}
}
