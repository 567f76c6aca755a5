package explore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// What was reproduced already in another form is shrunk for less time; what was not, or is something else, is not.
func TestKnownKindsAreShrunkForLessTime(t *testing.T) {
	t.Parallel()
	const limit = 20 * time.Second
	for name, test := range map[string]struct {
		before Finding
		want   time.Duration
	}{
		"reproduced":     {Finding{Rule: "delivered", Shown: 1}, limit / KnownShare},
		"not reproduced": {Finding{Rule: "delivered"}, limit},
		"another kind":   {Finding{Rule: "missing", Shown: 5}, limit},
		"a crash":        {Finding{Rule: "delivered", Shown: 5, Crash: true}, limit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := exploration{Explorer: &Explorer{Subject: &Subject{}}, result: &Result{Findings: []Finding{test.before}}}
			assert.Equal(t, test.want, x.lessIfKnown(limit, "delivered"))
			assert.Zero(t, x.lessIfKnown(0, "delivered"), "no limit")
		})
	}
}
