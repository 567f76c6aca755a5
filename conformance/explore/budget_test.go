package explore_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/explore"
)

func TestDivide(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, test := range map[string]struct {
		total, shrinking     time.Duration
		explore, shrink, end time.Duration
	}{
		"the shares":        {40 * s, 20 * s, 25 * s, 35 * s, 40 * s},
		"a long one":        {1000 * s, 20 * s, 970 * s, 990 * s, 1000 * s},
		"nothing is shrunk": {1000 * s, 0, 990 * s, 990 * s, 1000 * s},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				now := time.Now()
				b := explore.Divide(test.total, test.shrinking)
				assert.Equal(t, explore.Budget{
					Explore: now.Add(test.explore), Shrink: now.Add(test.shrink), End: now.Add(test.end),
				}, b)
			})
		})
	}
	assert.Zero(t, explore.Divide(0, s), "no limit")
}

func TestShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := explore.Budget{Shrink: time.Now().Add(time.Minute)}
		assert.Equal(t, 20*time.Second, b.Share(2, 20*time.Second), "no more than one may take")
		assert.Equal(t, 15*time.Second, b.Share(4, 20*time.Second), "its part")
		assert.Equal(t, time.Minute, b.Share(1, 0))
		b.Shrink = time.Now().Add(-time.Hour)
		assert.Equal(t, time.Duration(1), b.Share(1, 0), "zero would be no limit")
	})
	assert.Zero(t, explore.Budget{}.Share(3, 0))
}
