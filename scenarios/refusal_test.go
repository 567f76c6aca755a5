package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheRefusalClosestToTheLimitIsKept(t *testing.T) {
	t.Parallel()
	type at struct{ own, all int }
	for name, test := range map[string]struct {
		refusals []at
		want     at
	}{
		"one":                       {[]at{{3, 5}}, at{3, 5}},
		"fewer were open":           {[]at{{3, 5}, {2, 4}}, at{2, 4}},
		"more were open":            {[]at{{2, 4}, {3, 5}}, at{2, 4}},
		"as many were open":         {[]at{{2, 4}, {1, 4}}, at{2, 4}},
		"read when all were closed": {[]at{{4, 4}, {0, 0}}, at{4, 4}},
		"alone at first":            {[]at{{0, 0}, {4, 4}}, at{4, 4}},
		"always alone":              {[]at{{0, 3}, {0, 2}}, at{0, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d door
			for _, r := range test.refusals {
				d.in = r.own
				d.refuse("no", r.all)
			}
			assert.Equal(t, Refusal{Got: "no", Own: test.want.own, All: test.want.all}, *d.one)
		})
	}
}
