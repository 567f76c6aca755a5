package client

import (
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
)

// openLoop is so many producers at a rate of 100 arrivals a second for a second.
func openLoop(n int) plan.Workload {
	w := producers(n)
	w.Rate, w.Duration = 100, plan.Duration(time.Second)
	return w
}

func percentile(s *measure.Set, m measure.Measure, p float64) time.Duration {
	return percentileOf(s, measure.Push, m, p)
}

func percentileOf(s *measure.Set, op measure.Op, m measure.Measure, p float64) time.Duration {
	lower, _ := s.Times(measure.SeriesOf(op, m)).Percentile(p)
	return lower
}

func TestArrivalsGoToLongestFreeProducer(t *testing.T) {
	t.Parallel()
	s := newScene(t, openLoop(3))
	s.connect()
	s.start()
	for k := range int64(9) {
		p := &s.shard.producers[k%3].conn
		require.Contains(t, s.takeSent(p), s.jid(k))
		s.data(p, okLine)
		assert.Empty(t, s.takeSent(p), "the plan says when")
		s.pass(10 * time.Millisecond)
	}
	set := s.set()
	assert.Equal(t, int64(9), set.Done(measure.Push))
	assert.Less(t, percentile(set, measure.Lateness, 100), 2*time.Microsecond)
}

// A producer that asks while the timer of an arrival is late must not get it before one
// that has been free for longer: otherwise a busy machine would have the fastest producers
// do all the work.
func TestLateTimerKeepsOrderOfProducers(t *testing.T) {
	t.Parallel()
	s := newScene(t, openLoop(3))
	s.connect()
	s.start()
	first, second := &s.shard.producers[0].conn, &s.shard.producers[1].conn
	require.Contains(t, s.takeSent(first), s.jid(0))
	s.now += 13 * time.Millisecond // the timer of 10 ms has not fired yet
	s.data(first, okLine)
	assert.Empty(t, s.takeSent(first))
	assert.Contains(t, s.takeSent(second), s.jid(1))
	s.data(second, okLine)
	s.pass(7 * time.Millisecond)
	assert.Contains(t, s.takeSent(&s.shard.producers[2].conn), s.jid(2))
}

// A server that stalls makes arrivals wait: in full in the response times, and not at
// all in the lateness, for it is not the generator that was late.
func TestStallIsNoLateness(t *testing.T) {
	t.Parallel()
	s := newScene(t, openLoop(1))
	s.connect()
	s.start()
	p := &s.shard.producers[0].conn
	s.pass(500 * time.Millisecond)
	assert.InDelta(t, 49, s.shard.Status().Backlog, 1)
	for s.takeSent(p) != "" {
		s.data(p, okLine)
	}
	set := s.set()
	assert.Equal(t, int64(51), set.Done(measure.Push))
	assert.InDelta(t, 500*time.Millisecond, percentile(set, measure.Response, 100), 1e6)
	assert.InDelta(t, 250*time.Millisecond, percentile(set, measure.Response, 50), 2e7)
	assert.Less(t, percentile(set, measure.Lateness, 100), 2*time.Microsecond)
	assert.Zero(t, s.shard.Status().Backlog)
	s.pass(time.Minute)
	assert.NotEmpty(t, s.takeSent(p))
	s.do(s.shard.StopPushing)
	set = s.set()
	assert.Equal(t, int64(48), set.Times(measure.SeriesOf(measure.Push, measure.Response)).Unserved(),
		"were due and never taken")
	assert.Zero(t, set.Dropped())
	s.data(p, okLine)
	assert.False(t, s.shard.Status().IsPushing)
}

func TestGeneratorDelayIsLateness(t *testing.T) {
	t.Parallel()
	s := newScene(t, openLoop(1))
	s.connect()
	s.start()
	p := &s.shard.producers[0].conn
	s.data(p, okLine)
	s.now += 13 * time.Millisecond // the timer of 10 ms comes 3 ms late
	s.pass(0)
	s.data(p, okLine)
	assert.InDelta(t, 3*time.Millisecond, percentile(s.set(), measure.Lateness, 100), 1e4)
}

func TestOverloads(t *testing.T) {
	t.Parallel()
	cases := map[Overload]struct {
		unserved, dropped int64
		isAborted         bool
	}{
		Queue: {unserved: 48},
		Drop:  {dropped: 49},
		Abort: {dropped: 1, isAborted: true},
	}
	for overload, want := range cases {
		s := newScene(t, openLoop(1), func(c *Config) { c.Overload = overload })
		s.connect()
		s.start()
		s.pass(495 * time.Millisecond)
		p := &s.shard.producers[0].conn
		assert.Equal(t, want.isAborted, s.shard.Status().IsAborted)
		s.takeSent(p)
		s.data(p, okLine)
		assert.Equal(t, overload == Queue, s.takeSent(p) != "", "what waits is sent at once")
		s.do(s.shard.StopPushing)
		set := s.set()
		assert.Equal(t, want.dropped, set.Dropped(), overload)
		assert.Equal(t, want.unserved, set.Times(measure.SeriesOf(measure.Push, measure.Response)).Unserved(), overload)
	}
}

// A connection that breaks between the assignment of an arrival and its step gives the
// arrival back.
func TestArrivalOfLostConnection(t *testing.T) {
	t.Parallel()
	s := newScene(t, openLoop(2))
	s.connect()
	s.shard.Start(s.now)
	first, second := s.shard.producers[0], s.shard.producers[1]
	s.pokes = nil
	s.stepOne(&s.shard.dispatcher, engine.Event{Kind: engine.Woken})
	require.True(t, first.hasArrival)
	s.stepOne(&first.conn, engine.Event{Kind: engine.Ended}) // before it has its turn
	s.settle()
	assert.Contains(t, s.takeSent(&second.conn), s.jid(0))
	assert.Zero(t, s.ledger.Count(false).Doubtful)
	s.data(&second.conn, okLine)
	s.do(s.shard.StopPushing)
	assert.False(t, s.shard.Status().IsPushing)
}

func TestDeadServerMemory(t *testing.T) {
	t.Parallel()
	w := producers(3)
	w.Rate, w.Duration = 1e5, plan.Duration(time.Hour) // a million arrivals in ten seconds
	s := newScene(t, w)
	s.connect()
	s.start()
	for i := range 3 {
		s.end(&s.shard.producers[i].conn, syscall.ECONNRESET)
	}
	for range 100 {
		for len(s.dials) > 0 {
			s.fail(s.dials[0], syscall.ECONNREFUSED)
		}
		s.pass(100 * time.Millisecond)
	}
	assert.LessOrEqual(t, len(s.shard.dispatcher.freeTakers.ring), 4)
	assert.LessOrEqual(t, len(s.shard.opener.schedule.entries), 3)
	assert.Zero(t, s.shard.dispatcher.returns.len())
	assert.Zero(t, s.wakes[&s.shard.dispatcher], "it sleeps while nobody is free")
	assert.Greater(t, s.shard.Status().Backlog, int64(900))
}

func TestThinking(t *testing.T) {
	t.Parallel()
	w := producers(1)
	w.Think = plan.Range{Min: 30 * time.Millisecond, Max: 30 * time.Millisecond}
	s := newScene(t, w)
	s.connect()
	s.start()
	p := &s.shard.producers[0].conn
	assert.NotEmpty(t, s.takeSent(p))
	s.pass(10 * time.Millisecond)
	s.data(p, okLine)
	s.pass(29 * time.Millisecond)
	assert.Empty(t, s.takeSent(p))
	s.now += 2 * time.Millisecond
	s.pass(0)
	assert.Contains(t, s.takeSent(p), s.jid(1))
	s.data(p, okLine)
	set := s.set()
	assert.InDelta(t, time.Millisecond, percentile(set, measure.Lateness, 100), 1e4)
}

func TestALimitOfJobs(t *testing.T) {
	t.Parallel()
	w := producers(2)
	w.JobLimit = 5
	s := newScene(t, w)
	s.connect()
	s.start()
	for s.shard.Status().IsPushing {
		for _, p := range s.shard.producers {
			if s.takeSent(&p.conn) != "" {
				s.data(&p.conn, okLine)
			}
		}
	}
	assert.Equal(t, int64(5), s.ledger.Count(false).Pushed)
}

// The shards of a run push every job once, also those that have no producer.
func TestShardsShareTheJobs(t *testing.T) {
	t.Parallel()
	for _, load := range []plan.Workload{
		{Producers: 1, JobLimit: 10}, {Producers: 5, JobLimit: 10}, {Producers: 2, Rate: 1000, JobLimit: 10},
		{Connections: 2, Churn: true, JobLimit: 10},
	} {
		load.Payload = plan.Constant(1)
		var pushed []int64
		conns := 0
		for index := range 3 {
			s := newScene(t, load, func(c *Config) { c.Index, c.Shards = index, 3 })
			s.connect()
			s.start()
			for round := 0; s.shard.Status().IsPushing && round < 1000; round++ {
				for _, c := range s.shard.conns {
					answer(s, c, &pushed)
				}
				s.pass(time.Millisecond)
			}
			conns += len(s.shard.producers) + len(s.shard.churners)
		}
		slices.Sort(pushed)
		assert.Equal(t, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, pushed)
		assert.Equal(t, load.Producers+load.Connections, conns)
	}
}

// answer plays the server for one step of a connection.
func answer(s *scene, c *conn, pushed *[]int64) {
	if slices.Contains(s.dials, engine.Session(c)) {
		s.open(c)
		s.data(c, greetingLine)
	}
	switch line := s.takeSent(c); {
	case strings.HasPrefix(line, "PUSH"):
		for k := range int64(100) {
			if strings.Contains(line, s.jid(k)) {
				*pushed = append(*pushed, k)
			}
		}
		s.data(c, okLine)
	case line != "":
		s.data(c, okLine)
	}
}

func TestPrefillComesFirst(t *testing.T) {
	t.Parallel()
	s := newScene(t, plan.Workload{Consumers: 1, Prefill: 3, Payload: plan.Constant(1)})
	s.connect()
	w := &s.shard.workers[0].conns[0].conn
	s.do(s.shard.Prefill)
	assert.Empty(t, s.takeSent(w))
	for s.shard.Status().IsPushing {
		for _, p := range s.shard.producers {
			if s.takeSent(&p.conn) != "" {
				s.data(&p.conn, okLine)
			}
		}
	}
	assert.Equal(t, int64(3), s.ledger.Count(false).Pushed)
	s.start()
	assert.Equal(t, fetchLine, s.takeSent(w))
	for _, p := range s.shard.producers {
		assert.Equal(t, "END\r\n", s.takeSent(&p.conn), "they are not needed any more")
	}
	assert.False(t, s.shard.Status().IsPushing)
}

// A workload without consumers leaves its queues empty all the same.
func TestDrainWithoutConsumers(t *testing.T) {
	t.Parallel()
	s := newScene(t, producers(1))
	s.connect()
	assert.Len(t, s.shard.workers, helpersPerKind)
	assert.Equal(t, 1, s.shard.Status().Target)
	s.start()
	s.do(s.shard.StopPushing)
	s.do(func() { s.shard.Drain(s.now) })
	s.pass(time.Millisecond)
	require.Len(t, s.dials, helpersPerKind)
	c := s.dials[0]
	s.open(c)
	s.data(c, greetingLine)
	s.takeSent(c)
	s.data(c, okLine)
	assert.Equal(t, fetchLine, s.takeSent(c))
	s.do(s.shard.Stop)
	assert.Empty(t, s.dials, "what was not open yet is given up")
}

func TestTimetable(t *testing.T) {
	t.Parallel()
	var table timetable[int]
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		table.add(time.Duration(random.IntN(500)+1), i)
	}
	last, turn := time.Duration(0), 0
	for range 1000 {
		at := table.next()
		assert.True(t, table.isDue(at))
		assert.False(t, table.isDue(at-1))
		got, i := table.take()
		assert.Equal(t, at, got)
		if got == last {
			assert.Greater(t, i, turn, "first come, first served")
		} else {
			assert.Greater(t, got, last)
		}
		last, turn = got, i
	}
	assert.Zero(t, table.next())
	assert.False(t, table.isDue(time.Hour))
}

func TestQueue(t *testing.T) {
	t.Parallel()
	var q queue[int]
	in, out := 0, 0
	for round := range 100 {
		for range round % 7 {
			q.push(in)
			in++
		}
		for range round % 5 {
			if got, ok := q.pop(); ok {
				assert.Equal(t, out, got)
				out++
			}
		}
		assert.Equal(t, in-out, q.len())
	}
}

// Jobs that a server has lost must not hold the producers of a closed loop for ever: they count as lost when nothing
// was fetched for three seconds although all workers are idle.
func TestALostJobInTheBacklog(t *testing.T) {
	t.Parallel()
	const start = 10 * time.Second
	for name, test := range map[string]struct {
		limit, ahead, heldJobs int64
		fetched, now           time.Duration
		want                   int64 // jobs that are still waited for
	}{
		"nothing was fetched for 3 s":      {limit: 4, ahead: 5, fetched: 11 * time.Second, now: 14 * time.Second},
		"something was, a moment less ago": {limit: 4, ahead: 5, fetched: 11*time.Second + 1, now: 14 * time.Second, want: 5},
		"a worker still has a job": {limit: 4, ahead: 5, heldJobs: 1, fetched: 11 * time.Second, now: 14 * time.Second,
			want: 5},
		"the loop began less long ago": {limit: 4, ahead: 5, fetched: time.Second, now: 13*time.Second - 1, want: 5},
		"the loop began 3 s ago":       {limit: 4, ahead: 5, fetched: time.Second, now: 13 * time.Second},
		"producers are not held":       {limit: 8, ahead: 5, fetched: 11 * time.Second, now: time.Minute, want: 5},
	} {
		s := newScene(t, producers(1))
		d := &s.shard.dispatcher
		d.backlogLimit, d.hasNext, d.start, d.shards = test.limit, true, start, 1
		d.freeTakers.push(s.shard.producers[0])
		s.shard.status.HeldJobs = int(test.heldJobs)
		s.shard.shared.queuedJobs.Store(test.ahead)
		s.shard.shared.fetchedAt.Store(int64(test.fetched))
		d.releaseHeld(test.now)
		assert.Equal(t, test.want, s.shard.shared.queuedJobs.Load(), name)
		isHeld := test.want >= test.limit
		assert.Equal(t, isHeld, d.freeTakers.len() == 1, "%s: the producer waits", name)
	}
}
