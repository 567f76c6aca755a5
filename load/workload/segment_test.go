package workload_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fwpsuite/fwp/load/workload"
)

func TestParseSegment(t *testing.T) {
	t.Parallel()
	s, err := workload.ParseSegment("2/4")
	require.NoError(t, err)
	assert.Equal(t, workload.Segment{Index: 1, Of: 4}, s)
	assert.Equal(t, "2/4", s.String())
	assert.Empty(t, workload.Segment{}.String())
	for _, text := range []string{"", "2", "0/4", "5/4", "2/", "/4", "a/b", "1/0", "1/1001", "-1/4", "2/4/1"} {
		_, err := workload.ParseSegment(text)
		require.ErrorContains(t, err, "is not a valid segment", text)
	}
}

// Each thing of the whole belongs to one segment, whose numbers lead back to it.
func TestSegmentsShareEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.IntRange(0, 9).Draw(t, "of")
		n := rapid.Int64Range(0, 100).Draw(t, "n")
		seen := map[int64]bool{}
		for i := range max(1, of) {
			s := workload.Segment{Index: i, Of: of}
			for k := range s.Share(n) {
				number := s.Number(k)
				assert.False(t, seen[number])
				assert.Equal(t, int64(i), number%int64(s.Parts()))
				seen[number] = true
			}
			assert.GreaterOrEqual(t, s.Number(s.Share(n)), n)
		}
		assert.Len(t, seen, int(n))
	})
}

func TestAWorkloadIsSharedByItsConnections(t *testing.T) {
	t.Parallel()
	w := workload.Workload{Producers: 5, Consumers: 3, Connections: 4, Observers: 1, Rate: 100, JobLimit: 7, Prefill: 9}
	sum := w
	sum.Producers, sum.Consumers, sum.Connections, sum.Observers = 0, 0, 0, 0
	for i := range 3 {
		part, err := w.Segment(workload.Segment{Index: i, Of: 3})
		require.NoError(t, err)
		sum.Producers, sum.Consumers = sum.Producers+part.Producers, sum.Consumers+part.Consumers
		sum.Connections, sum.Observers = sum.Connections+part.Connections, sum.Observers+part.Observers
		assert.InDelta(t, float64(w.Rate), float64(part.Rate), 0)
		assert.Equal(t, w.Prefill, part.Prefill)
		assert.Positive(t, part.Consumers)
	}
	assert.Equal(t, w, sum)
	_, err := w.Segment(workload.Segment{Index: 0, Of: 4})
	require.EqualError(t, err, "consumers: 3 cannot be shared by 4 segments; expected 4 or more, one for each; "+
		"raise it, or use fewer segments")
	whole, err := w.Segment(workload.Segment{})
	require.NoError(t, err)
	assert.Equal(t, w.Filled(), whole.Filled())
	_, err = (&workload.Workload{Producers: 4}).Segment(workload.Segment{Index: 3, Of: 4})
	require.NoError(t, err, "a kind that is not there needs no share")
}

// Jobs cross in loads that have any, and whose account needs nothing that only one segment knows.
func TestWhatCrosses(t *testing.T) {
	t.Parallel()
	none := 0
	some := func(change func(*workload.Workload)) *workload.Workload {
		w := workload.Workload{Producers: 5, Consumers: 7, Observers: 4, Rate: 10}
		change(&w)
		return &w
	}
	nothing := func(*workload.Workload) {}
	for _, test := range []struct {
		w       *workload.Workload
		pushing int
		want    string
	}{
		{some(nothing), 0, ""},
		{some(nothing), 2, ""},
		{some(nothing), 3, "3 of 3 agents would leave none for the workers"},
		{some(nothing), -1, "-1 of 3 agents"},
		{some(func(w *workload.Workload) { w.Producers = 0 }), 0, "no jobs that cross"},
		{some(func(w *workload.Workload) { w.Consumers = 0 }), 0, "no jobs that cross"},
		{some(func(w *workload.Workload) { w.QueuePerJob = 0.1 }), 0, "queues of single jobs"},
		{some(func(w *workload.Workload) { w.FailShare = 0.1 }), 0, "how often a job has failed"},
		{some(func(w *workload.Workload) { w.FailShare, w.Retry = 0.1, &none }), 0, ""},
		{some(func(w *workload.Workload) { w.Backlog = 2 }), 1, ""},
		{some(func(w *workload.Workload) { w.Rate, w.Backlog = 0, 2 }), 0, ""},
		{some(func(w *workload.Workload) { w.Rate, w.Backlog = 0, 2 }), 1, "wait for the workers of their own agent"},
		{some(func(w *workload.Workload) { w.Rate = 0 }), 1, ""},
	} {
		err := workload.Crossing{Pushing: test.pushing}.Check(test.w, 3)
		if test.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, test.want)
	}
	var got []workload.Workload
	for i := range 3 {
		part, segment, err := workload.Crossing{Pushing: 1}.Segment(some(nothing), workload.Segment{Index: i, Of: 3})
		require.NoError(t, err)
		assert.Equal(t, []string{"1/1", "1/2", "2/2"}[i], segment.String())
		got = append(got, workload.Workload{Producers: part.Producers, Consumers: part.Consumers, Observers: part.Observers})
		assert.True(t, part.Half)
	}
	want := []workload.Workload{{Producers: 5, Observers: 2}, {Consumers: 4, Observers: 1}, {Consumers: 3, Observers: 1}}
	assert.Equal(t, want, got)
}
