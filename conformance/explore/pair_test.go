package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A violation on a connection that has ended on the other server is a difference; where the other server is gone, it is
// not known what that would have answered.
func TestViolationsWithoutCounterpart(t *testing.T) {
	t.Parallel()
	on := opening{conn: 1, opened: 2}
	for gone, want := range map[bool]int{false: 1, true: 0} {
		broken := event{on: on, parts: []string{"${}"}, violation: &Violation{Clause: "RETRY-04"}}
		x := &pair{
			plays:  [2]*play{{dead: gone}, {}},
			queues: [2]map[opening][]event{{}, {on: {broken}}},
		}
		all := x.unmatched(on)
		require.Len(t, all, want, gone)
		for _, d := range all {
			assert.Equal(t, "<nothing more>", d.Sides[0].Reply)
			assert.Equal(t, "RETRY-04", d.Sides[1].Violation.Clause)
		}
	}
}
