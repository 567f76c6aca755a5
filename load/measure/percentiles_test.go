package measure

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPercentilesAsText(t *testing.T) {
	t.Parallel()
	r := NewRecorder()
	for _, us := range []int{100, 200, 200, 400} { // exact to 1 µs at these sizes
		r.Job(ToFetched, 0, time.Duration(us)*time.Microsecond)
	}
	var out strings.Builder
	require.NoError(t, WritePercentiles(&out, r.Take(1), FlowSeries(ToFetched)))
	assert.Equal(t, `       Value     Percentile TotalCount 1/(1-Percentile)

       0.100 0.000000000000          1           1.00
       0.100 0.100000000000          1           1.11
       0.100 0.200000000000          1           1.25
       0.200 0.300000000000          3           1.43
       0.200 0.400000000000          3           1.67
       0.200 0.500000000000          3           2.00
       0.200 0.550000000000          3           2.22
       0.200 0.600000000000          3           2.50
       0.200 0.650000000000          3           2.86
       0.200 0.700000000000          3           3.33
       0.200 0.750000000000          3           4.00
       0.400 0.775000000000          4           4.44
       0.400 1.000000000000          4
#[Mean    =        0.225, StdDeviation   =        0.109]
#[Max     =        0.400, Total count    =            4]
#[Buckets =           23, SubBuckets     =         2048]
`, out.String())
}

func TestPercentilesOfNothing(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, WritePercentiles(&out, new(Set), FlowSeries(ToFetched)))
	assert.Equal(t, `       Value     Percentile TotalCount 1/(1-Percentile)

#[Mean    =        0.000, StdDeviation   =        0.000]
#[Max     =        0.000, Total count    =            0]
#[Buckets =           23, SubBuckets     =         2048]
`, out.String())
}

// TestPercentilesRise: the plotter draws nonsense if they do not, and the last line holds everything.
func TestPercentilesRise(t *testing.T) {
	t.Parallel()
	set := newFilledSet(100_000)
	var out strings.Builder
	require.NoError(t, WritePercentiles(&out, set, SeriesOf(Push, Response)))
	lines := regexp.MustCompile(`(?m)^ +([0-9.]+) ([0-9.]+) +(\d+)`).FindAllStringSubmatch(out.String(), -1)
	require.Greater(t, len(lines), 50)
	var value, percentile float64
	var count int64
	for _, line := range lines {
		v, _ := strconv.ParseFloat(line[1], 64)
		p, _ := strconv.ParseFloat(line[2], 64)
		n, _ := strconv.ParseInt(line[3], 10, 64)
		assert.GreaterOrEqual(t, v, value)
		assert.Greater(t, p+1e-15, percentile)
		assert.GreaterOrEqual(t, n, count)
		value, percentile, count = v, p, n
	}
	assert.InDelta(t, 1, percentile, 0)
	assert.EqualValues(t, 100_000, count)
}
