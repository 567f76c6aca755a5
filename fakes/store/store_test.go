package store_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes/store"
)

// item is the smallest job.
type item struct {
	id, queue string
	tries     int
}

func (i item) ID() string             { return i.id }
func (i item) Queue() string          { return i.queue }
func (i item) Reserve() time.Duration { return time.Minute }

// again is the fate of a job that is tried once more after 5 s, and then dead.
func again(i item, now time.Time) (item, store.Set, time.Time) {
	if i.tries++; i.tries > 1 {
		return i, store.Dead, now
	}
	return i, store.Retries, now.Add(5 * time.Second)
}

func enqueue(i item, _ time.Time) item { return i }

type jobs = store.Store[item, string]

// running plays with a store whose clock runs, in virtual time.
func running(t *testing.T, config store.Config[item, string], play func(t *testing.T, st *jobs)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		config.Enqueue, config.Expire = enqueue, again
		st, done := store.New(config), make(chan struct{})
		defer close(done)
		go st.Run("clock", done)
		play(t, st)
	})
}

// push pushes jobs, each written as queue:id.
func push(t *testing.T, st *jobs, all ...string) {
	t.Helper()
	for _, each := range all {
		queue, id, _ := strings.Cut(each, ":")
		require.NoError(t, st.Push("client", item{id: id, queue: queue}, time.Time{}))
	}
}

// take returns the id of the job that is delivered at once, "" for none.
func take(st *jobs, queues ...string) string {
	w := store.NewWaiter[item](func() {})
	h := st.Take("client", queues, nil, w)
	if h == nil {
		return ""
	}
	return h.Job.id
}

func TestJobsComeInOrder(t *testing.T) {
	t.Parallel()
	running(t, store.Config[item, string]{}, func(t *testing.T, st *jobs) {
		push(t, st, "q:1", "p:2", "q:3")
		assert.Equal(t, "2", take(st, "p", "q"))
		assert.Equal(t, "1", take(st, "p", "q"))
		assert.Equal(t, "3", take(st, "q"))
		assert.Empty(t, take(st, "q"))
		assert.Equal(t, store.Sizes{Queues: map[string]int{}, Working: 3}, st.Sizes())
		require.NoError(t, st.Finish("client", "1"))
		require.ErrorIs(t, st.Finish("client", "1"), store.ErrNotHeld)
		assert.Equal(t, store.Sizes{Queues: map[string]int{}, Working: 2, Processed: 1}, st.Sizes())
	})
}

func TestAWaiterIsServedFirst(t *testing.T) {
	t.Parallel()
	running(t, store.Config[item, string]{}, func(t *testing.T, st *jobs) {
		woken := 0
		w := store.NewWaiter[item](func() { woken++ })
		require.Nil(t, st.Take("a", []string{"q", "p"}, []string{"q", "p"}, w))
		push(t, st, "p:1", "q:2")
		assert.Equal(t, "1", (<-w.C()).Job.id)
		assert.Equal(t, 1, woken, "it waits no longer on the other queue")
		assert.Nil(t, st.Leave(w))
		assert.Equal(t, "2", take(st, "q"))

		require.Nil(t, st.Take("a", []string{"q"}, []string{"q"}, w))
		push(t, st, "q:3")
		late := st.Leave(w)
		require.NotNil(t, late)
		st.GiveBack("a", late)
		push(t, st, "q:4")
		assert.Equal(t, "3", take(st, "q"), "what is given back comes first")
	})
}

func TestFailuresAndReservations(t *testing.T) {
	t.Parallel()
	running(t, store.Config[item, string]{}, func(t *testing.T, st *jobs) {
		push(t, st, "q:1", "q:2")
		assert.Equal(t, "1", take(st, "q"))
		assert.Equal(t, "2", take(st, "q"))
		require.NoError(t, st.Fail("client", "1", again))
		require.ErrorIs(t, st.Fail("client", "1", again), store.ErrNotHeld)
		assert.Equal(t, 1, st.Sizes().Retries)
		time.Sleep(5*time.Second - 1)
		assert.Empty(t, take(st, "q"))
		time.Sleep(2 * time.Nanosecond)
		assert.Equal(t, "1", take(st, "q"), "it has been retried")
		require.NoError(t, st.Fail("client", "1", again))
		assert.Equal(t, 1, st.Sizes().Dead)

		assert.NotNil(t, st.Held("2"))
		time.Sleep(time.Minute)
		assert.Nil(t, st.Held("2"), "its reservation ran out")
		time.Sleep(6 * time.Second)
		assert.Equal(t, "2", take(st, "q"))
		assert.Equal(t, int64(3), st.Sizes().Failures)
		st.Clear("client")
		assert.Equal(t, store.Sizes{Queues: map[string]int{}}, st.Sizes())
	})
}

func TestTheSchedule(t *testing.T) {
	t.Parallel()
	for every, least := range map[time.Duration]time.Duration{0: 7 * time.Second, 5 * time.Second: 10 * time.Second} {
		running(t, store.Config[item, string]{ScanEvery: every}, func(t *testing.T, st *jobs) {
			require.NoError(t, st.Push("client", item{id: "1", queue: "q"}, time.Now().Add(7*time.Second)))
			assert.Equal(t, 1, st.Sizes().Scheduled)
			time.Sleep(least - time.Millisecond)
			assert.Empty(t, take(st, "q"))
			time.Sleep(2 * time.Millisecond)
			assert.Equal(t, "1", take(st, "q"))
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	running(t, store.Config[item, string]{MaxQueueJobs: 2, MaxQueues: 2}, func(t *testing.T, st *jobs) {
		push(t, st, "q:1", "q:2", "p:3")
		require.ErrorIs(t, st.Push("client", item{queue: "q"}, time.Time{}), store.ErrQueueFull)
		require.ErrorIs(t, st.Push("client", item{queue: "r"}, time.Time{}), store.ErrTooManyQueues)
		assert.Equal(t, "3", take(st, "p"))
		push(t, st, "r:4")
	})
}

func TestPurge(t *testing.T) {
	t.Parallel()
	running(t, store.Config[item, string]{}, func(t *testing.T, st *jobs) {
		push(t, st, "q:1", "q:2", "q:3", "q:4")
		assert.True(t, st.Purge("2"))
		assert.False(t, st.Purge("2"))
		for _, id := range []string{"1", "3", "4"} {
			assert.Equal(t, id, take(st, "q"), "the rest keeps its order")
		}
		assert.False(t, st.Purge("1"), "it is held")
	})
}

// policy does one thing at one point.
type policy struct {
	at   store.Point
	do   func(*store.Step[item, string])
	skip bool
}

func (p policy) Ask(at store.Point, s *store.Step[item, string]) bool {
	if at != p.at {
		return false
	}
	if p.do != nil {
		p.do(s)
	}
	return p.skip
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		policy policy
		want   string // the jobs in the order of delivery
	}{
		"none":     {policy{at: store.Clearing}, "1 2"},
		"lost":     {policy{at: store.Enqueuing, skip: true}, ""},
		"in front": {policy{at: store.Enqueuing, do: func(s *store.Step[item, string]) { s.Front = true }}, "2 1"},
		"replaced": {policy{at: store.Enqueuing, do: func(s *store.Step[item, string]) { s.Job.id += "x" }},
			"1x 2x"},
		"finished twice": {policy{at: store.Finishing,
			do: func(s *store.Step[item, string]) { s.Again = s.Job.id == "1" && s.By == "first" }}, "1 2 1"},
		"not to be stopped": {policy{at: store.Finishing, skip: true}, "1 2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			running(t, store.Config[item, string]{Policy: test.policy}, func(t *testing.T, st *jobs) {
				push(t, st, "q:1", "q:2")
				var delivered []string
				for by := "first"; ; by = "later" {
					id := take(st, "q")
					if id == "" {
						break
					}
					delivered = append(delivered, id)
					require.NoError(t, st.Finish(by, id))
				}
				assert.Equal(t, test.want, strings.Join(delivered, " "))
				assert.Equal(t, name == "not to be stopped", st.Held("1") != nil)
			})
		})
	}
}

func TestAPolicyOfFailuresAndTime(t *testing.T) {
	t.Parallel()
	nowhere := policy{at: store.Expiring, do: func(s *store.Step[item, string]) { s.Set = store.Nowhere }}
	running(t, store.Config[item, string]{Policy: nowhere}, func(t *testing.T, st *jobs) {
		push(t, st, "q:1")
		assert.Equal(t, "1", take(st, "q"))
		time.Sleep(time.Hour)
		assert.Equal(t, store.Sizes{Queues: map[string]int{}, Failures: 1}, st.Sizes())
	})
	later := policy{at: store.ComingDue, do: func(s *store.Step[item, string]) {
		if s.Job.tries == 0 {
			s.Job.tries, s.Until = 1, s.Until.Add(time.Minute)
		}
	}}
	running(t, store.Config[item, string]{Policy: later}, func(t *testing.T, st *jobs) {
		require.NoError(t, st.Push("client", item{id: "1", queue: "q"}, time.Now().Add(time.Second)))
		time.Sleep(time.Minute)
		assert.Empty(t, take(st, "q"))
		time.Sleep(2 * time.Second)
		assert.Equal(t, "1", take(st, "q"))
	})
	forgets := policy{at: store.Restarting, skip: true}
	running(t, store.Config[item, string]{Policy: forgets}, func(t *testing.T, st *jobs) {
		push(t, st, "q:1")
		st.Restarted("operator")
		assert.Empty(t, take(st, "q"))
	})
}

func TestAdvance(t *testing.T) {
	t.Parallel()
	running(t, store.Config[item, string]{}, func(t *testing.T, st *jobs) {
		began := st.Now()
		require.NoError(t, st.Push("client", item{id: "1", queue: "q"}, began.Add(time.Hour)))
		require.NoError(t, st.Push("client", item{id: "2", queue: "q"}, began.Add(2*time.Hour)))
		st.Advance("operator", 90*time.Minute)
		assert.Equal(t, 90*time.Minute, st.Now().Sub(began))
		assert.Equal(t, "1", take(st, "q"), "it is due at once")
		require.NoError(t, st.Finish("client", "1"))
		assert.Empty(t, take(st, "q"))
		time.Sleep(30*time.Minute + time.Millisecond)
		assert.Equal(t, "2", take(st, "q"), "the clock goes on from there")
	})
	again := policy{at: store.Expiring, do: func(s *store.Step[item, string]) { s.Set = store.Retries }}
	running(t, store.Config[item, string]{Policy: again}, func(t *testing.T, st *jobs) {
		push(t, st, "q:1")
		require.Equal(t, "1", take(st, "q"))
		st.Advance("operator", 24*time.Hour)
		assert.Equal(t, "1", take(st, "q"), "the reservation ended on the way, and the retry was due after it")
	})
}

func TestJobs(t *testing.T) {
	t.Parallel()
	running(t, store.Config[item, string]{}, func(t *testing.T, st *jobs) {
		push(t, st, "q:held", "q:1", "p:3", "q:2")
		require.Equal(t, "held", take(st, "q"))
		soon, late := st.Now().Add(time.Second), st.Now().Add(time.Hour)
		require.NoError(t, st.Push("client", item{id: "late", queue: "q"}, late))
		require.NoError(t, st.Push("client", item{id: "soon", queue: "q"}, soon))
		var all []string
		for _, stored := range st.Jobs() {
			all = append(all, stored.Job.id+" "+string(stored.Set)+" "+strconv.FormatBool(stored.Due.IsZero()))
		}
		assert.Equal(t, []string{"3  true", "1  true", "2  true", "soon scheduled false", "late scheduled false",
			"held  false"}, all)
	})
}

// TestJobsDueAtOneTime: jobs that are due at the same time stay in the order in which they were added, whatever else
// comes and goes.
func TestJobsDueAtOneTime(t *testing.T) {
	t.Parallel()
	running(t, store.Config[item, string]{}, func(t *testing.T, st *jobs) {
		order := func() (all []string) {
			for _, stored := range st.Jobs() {
				if stored.Set == store.Scheduled && len(stored.Job.id) == 1 {
					all = append(all, stored.Job.id)
				}
			}
			return all
		}
		due := st.Now().Add(time.Hour)
		for _, id := range []string{"first", "1", "2", "3", "4", "5"} {
			at := due
			if id == "first" {
				at = st.Now().Add(time.Minute)
			}
			require.NoError(t, st.Push("client", item{id: id, queue: "q"}, at))
		}
		assert.Equal(t, []string{"1", "2", "3", "4", "5"}, order())
		st.Advance("operator", 2*time.Minute)
		assert.Equal(t, []string{"1", "2", "3", "4", "5"}, order(), "the first one came")
		st.Advance("operator", time.Hour)
		require.Equal(t, "first", take(st, "q"))
		for _, id := range []string{"1", "2", "3", "4", "5"} {
			assert.Equal(t, id, take(st, "q"))
		}
	})
}
