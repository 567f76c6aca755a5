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

// retryFate is the fate of a job that is tried once more after 5 s, and then dead.
func retryFate(i item, now time.Time) (item, store.Set, time.Time) {
	if i.tries++; i.tries > 1 {
		return i, store.Dead, now
	}
	return i, store.Retries, now.Add(5 * time.Second)
}

func enqueue(i item, _ time.Time) item { return i }

type jobs = store.Store[item, string]

// withStore plays with a store whose clock runs, in virtual time.
func withStore(t *testing.T, config store.Config[item, string], play func(t *testing.T, st *jobs)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		config.Enqueue, config.Expire = enqueue, retryFate
		st, done := store.New(config), make(chan struct{})
		defer close(done)
		go st.Run("clock", done)
		play(t, st)
	})
}

// push pushes jobs, each written as queue:id.
func push(t *testing.T, st *jobs, all ...string) {
	t.Helper()
	for _, text := range all {
		queue, id, _ := strings.Cut(text, ":")
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
	withStore(t, store.Config[item, string]{}, func(t *testing.T, st *jobs) {
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
	withStore(t, store.Config[item, string]{}, func(t *testing.T, st *jobs) {
		wakes := 0
		w := store.NewWaiter[item](func() { wakes++ })
		require.Nil(t, st.Take("a", []string{"q", "p"}, []string{"q", "p"}, w))
		push(t, st, "p:1", "q:2")
		assert.Equal(t, "1", (<-w.C()).Job.id)
		assert.Equal(t, 1, wakes, "it waits no longer on the other queue")
		assert.Nil(t, st.Leave(w))
		assert.Equal(t, "2", take(st, "q"))

		require.Nil(t, st.Take("a", []string{"q"}, []string{"q"}, w))
		push(t, st, "q:3")
		reservation := st.Leave(w)
		require.NotNil(t, reservation)
		st.GiveBack("a", reservation)
		push(t, st, "q:4")
		assert.Equal(t, "3", take(st, "q"), "what is given back comes first")
	})
}

func TestFailuresAndReservations(t *testing.T) {
	t.Parallel()
	withStore(t, store.Config[item, string]{}, func(t *testing.T, st *jobs) {
		push(t, st, "q:1", "q:2")
		assert.Equal(t, "1", take(st, "q"))
		assert.Equal(t, "2", take(st, "q"))
		require.NoError(t, st.Fail("client", "1", retryFate))
		require.ErrorIs(t, st.Fail("client", "1", retryFate), store.ErrNotHeld)
		assert.Equal(t, 1, st.Sizes().Retries)
		time.Sleep(5*time.Second - 1)
		assert.Empty(t, take(st, "q"))
		time.Sleep(2 * time.Nanosecond)
		assert.Equal(t, "1", take(st, "q"), "it has been retried")
		require.NoError(t, st.Fail("client", "1", retryFate))
		assert.Equal(t, 1, st.Sizes().Dead)

		assert.NotNil(t, st.Reservation("2"))
		time.Sleep(time.Minute)
		assert.Nil(t, st.Reservation("2"), "its reservation ran out")
		time.Sleep(6 * time.Second)
		assert.Equal(t, "2", take(st, "q"))
		assert.Equal(t, int64(3), st.Sizes().Failures)
		st.Clear("client")
		assert.Equal(t, store.Sizes{Queues: map[string]int{}}, st.Sizes())
	})
}

func TestTheSchedule(t *testing.T) {
	t.Parallel()
	for interval, delay := range map[time.Duration]time.Duration{0: 7 * time.Second, 5 * time.Second: 10 * time.Second} {
		withStore(t, store.Config[item, string]{ScanEvery: interval}, func(t *testing.T, st *jobs) {
			require.NoError(t, st.Push("client", item{id: "1", queue: "q"}, time.Now().Add(7*time.Second)))
			assert.Equal(t, 1, st.Sizes().Scheduled)
			time.Sleep(delay - time.Millisecond)
			assert.Empty(t, take(st, "q"))
			time.Sleep(2 * time.Millisecond)
			assert.Equal(t, "1", take(st, "q"))
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	withStore(t, store.Config[item, string]{MaxQueueJobs: 2, MaxQueues: 2}, func(t *testing.T, st *jobs) {
		push(t, st, "q:1", "q:2", "p:3")
		require.ErrorIs(t, st.Push("client", item{queue: "q"}, time.Time{}), store.ErrQueueFull)
		require.ErrorIs(t, st.Push("client", item{queue: "r"}, time.Time{}), store.ErrTooManyQueues)
		assert.Equal(t, "3", take(st, "p"))
		push(t, st, "r:4")
	})
}

func TestPurge(t *testing.T) {
	t.Parallel()
	withStore(t, store.Config[item, string]{}, func(t *testing.T, st *jobs) {
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
			do: func(s *store.Step[item, string]) { s.Requeue = s.Job.id == "1" && s.Cause == "first" }}, "1 2 1"},
		"not to be stopped": {policy{at: store.Finishing, skip: true}, "1 2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withStore(t, store.Config[item, string]{Policy: test.policy}, func(t *testing.T, st *jobs) {
				push(t, st, "q:1", "q:2")
				var ids []string
				for cause := "first"; ; cause = "later" {
					id := take(st, "q")
					if id == "" {
						break
					}
					ids = append(ids, id)
					require.NoError(t, st.Finish(cause, id))
				}
				assert.Equal(t, test.want, strings.Join(ids, " "))
				assert.Equal(t, name == "not to be stopped", st.Reservation("1") != nil)
			})
		})
	}
}

func TestAPolicyOfFailuresAndTime(t *testing.T) {
	t.Parallel()
	discardPolicy := policy{at: store.Expiring, do: func(s *store.Step[item, string]) { s.Set = store.Nowhere }}
	withStore(t, store.Config[item, string]{Policy: discardPolicy}, func(t *testing.T, st *jobs) {
		push(t, st, "q:1")
		assert.Equal(t, "1", take(st, "q"))
		time.Sleep(time.Hour)
		assert.Equal(t, store.Sizes{Queues: map[string]int{}, Failures: 1}, st.Sizes())
	})
	delayPolicy := policy{at: store.ComingDue, do: func(s *store.Step[item, string]) {
		if s.Job.tries == 0 {
			s.Job.tries, s.Until = 1, s.Until.Add(time.Minute)
		}
	}}
	withStore(t, store.Config[item, string]{Policy: delayPolicy}, func(t *testing.T, st *jobs) {
		require.NoError(t, st.Push("client", item{id: "1", queue: "q"}, time.Now().Add(time.Second)))
		time.Sleep(time.Minute)
		assert.Empty(t, take(st, "q"))
		time.Sleep(2 * time.Second)
		assert.Equal(t, "1", take(st, "q"))
	})
	forgets := policy{at: store.Restarting, skip: true}
	withStore(t, store.Config[item, string]{Policy: forgets}, func(t *testing.T, st *jobs) {
		push(t, st, "q:1")
		st.Restarted("operator")
		assert.Empty(t, take(st, "q"))
	})
}

func TestAdvance(t *testing.T) {
	t.Parallel()
	withStore(t, store.Config[item, string]{}, func(t *testing.T, st *jobs) {
		begin := st.Now()
		require.NoError(t, st.Push("client", item{id: "1", queue: "q"}, begin.Add(time.Hour)))
		require.NoError(t, st.Push("client", item{id: "2", queue: "q"}, begin.Add(2*time.Hour)))
		st.Advance("operator", 90*time.Minute)
		assert.Equal(t, 90*time.Minute, st.Now().Sub(begin))
		assert.Equal(t, "1", take(st, "q"), "it is due at once")
		require.NoError(t, st.Finish("client", "1"))
		assert.Empty(t, take(st, "q"))
		time.Sleep(30*time.Minute + time.Millisecond)
		assert.Equal(t, "2", take(st, "q"), "the clock goes on from there")
	})
	retryPolicy := policy{at: store.Expiring, do: func(s *store.Step[item, string]) { s.Set = store.Retries }}
	withStore(t, store.Config[item, string]{Policy: retryPolicy}, func(t *testing.T, st *jobs) {
		push(t, st, "q:1")
		require.Equal(t, "1", take(st, "q"))
		st.Advance("operator", 24*time.Hour)
		assert.Equal(t, "1", take(st, "q"), "the reservation ended on the way, and the retry was due after it")
	})
}

func TestJobs(t *testing.T) {
	t.Parallel()
	withStore(t, store.Config[item, string]{}, func(t *testing.T, st *jobs) {
		push(t, st, "q:held", "q:1", "p:3", "q:2")
		require.Equal(t, "held", take(st, "q"))
		soonTime, laterTime := st.Now().Add(time.Second), st.Now().Add(time.Hour)
		require.NoError(t, st.Push("client", item{id: "late", queue: "q"}, laterTime))
		require.NoError(t, st.Push("client", item{id: "soon", queue: "q"}, soonTime))
		var all []string
		for _, storedJob := range st.Jobs() {
			all = append(all, storedJob.Job.id+" "+string(storedJob.Set)+" "+strconv.FormatBool(storedJob.DueTime.IsZero()))
		}
		assert.Equal(t, []string{"3  true", "1  true", "2  true", "soon scheduled false", "late scheduled false",
			"held  false"}, all)
	})
}

// TestJobsDueAtOneTime: jobs that are due at the same time stay in the order in which they were added, whatever else
// comes and goes.
func TestJobsDueAtOneTime(t *testing.T) {
	t.Parallel()
	withStore(t, store.Config[item, string]{}, func(t *testing.T, st *jobs) {
		order := func() (all []string) {
			for _, storedJob := range st.Jobs() {
				if storedJob.Set == store.Scheduled && len(storedJob.Job.id) == 1 {
					all = append(all, storedJob.Job.id)
				}
			}
			return all
		}
		dueTime := st.Now().Add(time.Hour)
		for _, id := range []string{"first", "1", "2", "3", "4", "5"} {
			at := dueTime
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
