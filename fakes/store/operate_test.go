package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes/store"
)

// What an operator does to queues and sets is counted as everything else is.
func TestOperator(t *testing.T) {
	t.Parallel()
	for _, retain := range []bool{false, true} {
		var bytes atomic.Int64
		st := store.New(store.Config[item, string]{
			RetainDead: retain, MaxBytes: 100, Bytes: &bytes, Size: func(item) int { return 1 },
			Enqueue: func(j item, _ time.Time) item { return j },
		})
		w := store.NewWaiter[item](func() {})
		push := func(id string, dueTime time.Time) { assert.NoError(t, st.Push("", item{id: id, queue: "q"}, dueTime)) }
		push("a", time.Time{})
		st.Pause("", "q", true)
		assert.Nil(t, st.Take("", []string{"q"}, []string{"q"}, w))
		push("b", time.Time{})
		assert.Empty(t, w.C(), "it is paused")
		st.Pause("", "q", false)
		assert.Equal(t, "a", (<-w.C()).Job.ID(), "it was resumed")
		first, ok := st.First("q")
		assert.True(t, ok)
		assert.Equal(t, "b", first.ID())
		st.Drop("q")
		_, ok = st.First("q")
		assert.False(t, ok)

		push("c", time.Now().Add(time.Hour))
		push("d", time.Now().Add(time.Minute))
		push("e", time.Now().Add(time.Minute))
		st.Move("", store.Scheduled, func(j item) bool { return j.id != "e" }, store.Queued)
		assert.Equal(t, "d", st.Take("", []string{"q"}, nil, w).Job.ID(), "the first that is due comes first")
		st.Move("", store.Scheduled, func(item) bool { return true }, store.Dead)
		assert.Equal(t, 1, st.Sizes().Dead)
		st.Move("", store.Dead, func(item) bool { return true }, store.Nowhere)
		assert.Equal(t, map[bool]int{true: 0, false: 1}[retain], st.Sizes().Dead, "dead jobs are kept, or only counted")
		assert.Equal(t, 1, st.Sizes().Queues["q"])
		assert.EqualValues(t, 3, bytes.Load(), "a and d are held, c is in its queue")
		assert.NoError(t, st.Finish("", "a"))
		assert.NotNil(t, st.Take("", []string{"q"}, nil, w))
		_, isListed := st.Sizes().Queues["q"]
		assert.Equal(t, retain, isListed, "an empty queue is kept, or forgotten")
	}
}
