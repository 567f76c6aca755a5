package law_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/law"
)

// TestClock has a server write times that are ahead of ours by the seconds of each row, in this order.
func TestClock(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ahead []float64
		took  time.Duration // between the moments within which each was written
		last  bool          // agrees
	}{
		"the first time says how the clock is":   {[]float64{-86400}, 0, true},
		"the same clock":                         {[]float64{3600, 3600.5, 3600}, 0, true},
		"times in whole seconds":                 {[]float64{3600.9, 3600.1, 3600.9}, 0, true},
		"the clocks part":                        {[]float64{3600, 3602}, 0, true},
		"a time before":                          {[]float64{3600, 3596}, 0, false},
		"a time behind":                          {[]float64{3600, 3604}, 0, false},
		"it may have been written long before":   {[]float64{3600, 3604}, 5 * time.Second, true},
		"what agrees narrows what is known":      {[]float64{3600, 3604, 3606, 3596}, 5 * time.Second, false},
		"what does not agree is not learnt from": {[]float64{3600, 7200, 3600}, 0, true},
	} {
		var c law.Clock
		now, agrees := time.Now(), false
		for _, s := range test.ahead {
			now = now.Add(time.Minute)
			agrees = c.Agrees(now.Add(time.Duration(s*float64(time.Second))), now, now.Add(test.took))
		}
		assert.Equal(t, test.last, agrees, name)
	}
	_, _, ok := new(law.Clock).Between(time.Now(), time.Now())
	assert.False(t, ok)
}
