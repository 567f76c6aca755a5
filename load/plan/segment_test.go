package plan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fwpsuite/fwp/load/plan"
)

func TestParseSegment(t *testing.T) {
	t.Parallel()
	s, err := plan.ParseSegment("2/4")
	require.NoError(t, err)
	assert.Equal(t, plan.Segment{Index: 1, Count: 4}, s)
	assert.Equal(t, "2/4", s.String())
	for text, index := range map[string]int{"@0/4": 0, "@1/4": 1, "@3/4": 3} {
		s, err := plan.ParseSegment(text)
		require.NoError(t, err)
		assert.Equal(t, plan.Segment{Index: index, Count: 4}, s)
	}
	assert.Empty(t, plan.Segment{}.String())
	for _, text := range []string{"", "2", "0/4", "5/4", "2/", "/4", "a/b", "1/0", "1/1001", "-1/4", "2/4/1", "@4/4",
		"@/4", "@-1/4"} {
		_, err := plan.ParseSegment(text)
		require.ErrorContains(t, err, "is not a valid segment", text)
	}
}

// Each thing of the whole belongs to one segment, whose numbers lead back to it.
func TestSegmentsShareEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.IntRange(0, 9).Draw(t, "of")
		n := rapid.Int64Range(0, 100).Draw(t, "n")
		numbers := map[int64]bool{}
		for i := range max(1, parts) {
			s := plan.Segment{Index: i, Count: parts}
			for k := range s.Share(n) {
				number := s.Number(k)
				assert.False(t, numbers[number])
				assert.Equal(t, int64(i), number%int64(s.Parts()))
				numbers[number] = true
			}
			assert.GreaterOrEqual(t, s.Number(s.Share(n)), n)
		}
		assert.Len(t, numbers, int(n))
	})
}

func TestAWorkloadIsSharedByItsConnections(t *testing.T) {
	t.Parallel()
	w := plan.Workload{Producers: 5, Consumers: 3, Connections: 4, Observers: 1, Rate: 100, JobLimit: 7, Prefill: 9}
	sum := w
	sum.Producers, sum.Consumers, sum.Connections, sum.Observers = 0, 0, 0, 0
	for i := range 3 {
		part, err := w.Segment(plan.Segment{Index: i, Count: 3})
		require.NoError(t, err)
		sum.Producers, sum.Consumers = sum.Producers+part.Producers, sum.Consumers+part.Consumers
		sum.Connections, sum.Observers = sum.Connections+part.Connections, sum.Observers+part.Observers
		assert.InDelta(t, float64(w.Rate), float64(part.Rate), 0)
		assert.Equal(t, w.Prefill, part.Prefill)
		assert.Positive(t, part.Consumers)
	}
	assert.Equal(t, w, sum)
	_, err := w.Segment(plan.Segment{Index: 0, Count: 4})
	require.EqualError(t, err, "consumers: 3 cannot be divided among 4 segments; expected 4 or more, at least one "+
		"for each segment; raise the number, or use fewer segments")
	unsplit, err := w.Segment(plan.Segment{})
	require.NoError(t, err)
	assert.Equal(t, w.WithDefaults(), unsplit.WithDefaults())
	_, err = (&plan.Workload{Producers: 4}).Segment(plan.Segment{Index: 3, Count: 4})
	require.NoError(t, err, "a kind that is not there needs no share")
}
