package check

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
)

// waiting returns checks that wait for so long; their names are "a", "b" and so on.
func waiting(waits ...time.Duration) (checks []conformance.Check) {
	for i, wait := range waits {
		about := conformance.Description{ID: string(rune('a' + i)), Wait: wait}
		checks = append(checks, waitingCheck{about: about})
	}
	return checks
}

// waitingCheck is a check that is never played.
type waitingCheck struct {
	about conformance.Description
	conformance.Check
}

func (c waitingCheck) Describe() conformance.Description { return c.about }

func TestProgress(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		waits            []time.Duration
		repeat, parallel int
		over             string // checks, in their order
		want             string
	}{
		"at the start": {[]time.Duration{80 * time.Second, 0}, 1, 0, "",
			"0 of 2 checks, about 1m 10s left, 10 s so far"},
		"the longest waits": {[]time.Duration{80 * time.Second, 0}, 1, 0, "b",
			"1 of 2 checks, about 1m 10s left, 10 s so far, b"},
		"the longest ended": {[]time.Duration{80 * time.Second, 0}, 1, 0, "a",
			"1 of 2 checks, about 10 s left, 10 s so far, a"},
		"no wait":    {[]time.Duration{0, 0, 0, 0, 0}, 1, 0, "abcd", "4 of 5 checks, about 3 s left, 10 s so far, d"},
		"it is late": {[]time.Duration{5 * time.Second, 0}, 1, 0, "", "0 of 2 checks, 10 s so far"},
		"each twice": {[]time.Duration{80 * time.Second, 0}, 2, 0, "ab",
			"2 of 4 checks, about 1m 10s left, 10 s so far, b"},
		"two at a time": {slices.Repeat([]time.Duration{time.Minute}, 6), 1, 2, "a",
			"1 of 6 checks, about 2m 30s left, 10 s so far, a"},
		"too early to tell": {make([]time.Duration, 11), 1, 0, "a", "1 of 11 checks, 10 s so far, a"},
		"all are over": {[]time.Duration{0, 0}, 1, 0, "ab",
			"2 of 2 checks, 10 s so far, finishing: what is inconclusive is tried again"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newProgress(waiting(test.waits...), test.repeat, test.parallel)
				time.Sleep(10 * time.Second)
				for i, check := range test.over {
					p.over(i+1, p.total, string(check))
				}
				share, parts := p.state()
				assert.Equal(t, test.want, strings.Join(parts, ", "))
				assert.InDelta(t, float64(len(test.over))/float64(p.total), share, 1e-9)
			})
		})
	}
}
