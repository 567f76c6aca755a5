package client

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
)

const fetchLine = "FETCH fwpbench-run-0\r\n"

// newWorkScene is a shard of workers that have just begun to FETCH.
func newWorkScene(t *testing.T, w plan.Workload, change ...func(*Config)) (*scene, *worker) {
	t.Helper()
	s := newScene(t, w, change...)
	s.connect()
	s.start()
	for k := range int64(20) {
		s.ledger.BookSent(k+100, s.now)
		s.ledger.BookPush(k + 100)
	}
	return s, s.shard.workers[0]
}

func TestTheThreeKindsOfFetch(t *testing.T) {
	t.Parallel()
	s, w := newWorkScene(t, consumers(1))
	c := &w.conns[0].conn
	s.pass(time.Millisecond)
	s.data(c, s.body(100)) // was sent at the same microsecond
	s.data(c, okLine)
	s.ledger.BookSent(200, s.now)
	s.pass(time.Second)
	s.data(c, s.body(200))
	s.data(c, okLine)
	s.pass(time.Second)
	s.ledger.BookSent(201, s.now)
	s.pass(time.Second)
	s.data(c, s.body(201))
	s.data(c, okLine)
	s.data(c, "$-1\r\n")
	set := s.set()
	assert.Equal(t, int64(2), set.Done(measure.FetchFound))
	assert.Equal(t, int64(1), set.Done(measure.FetchWaited))
	assert.Equal(t, int64(1), set.Done(measure.FetchEmpty))
	assert.Equal(t, int64(3), set.Done(measure.Ack))
	assert.Equal(t, int64(3), set.Count(measure.FlowSeries(measure.ToAcked)))
}

// An ACK is due when the work ends; that the generator's timer is late is its own
// bug, and that the connection was busy is not.
func TestWorkTakesItsTime(t *testing.T) {
	t.Parallel()
	load := consumers(1)
	load.Work = plan.Range{Min: 20 * time.Second, Max: 20 * time.Second}
	s, w := newWorkScene(t, load)
	c := &w.conns[0].conn
	s.takeSent(c)
	s.data(c, s.body(100))
	assert.Empty(t, s.takeSent(c))
	assert.Equal(t, 1, s.shard.Status().HeldJobs)
	s.pass(14 * time.Second)
	assert.Empty(t, s.takeSent(c))
	s.pass(time.Second)
	assert.Equal(t, "BEAT {\"wid\":\"fwpbench-run-w0\"}\r\n", s.takeSent(c), "a worker lives while it works")
	s.pass(5 * time.Second)
	assert.Empty(t, s.takeSent(c), "the BEAT has no reply yet")
	s.pass(time.Second)
	s.data(c, okLine)
	assert.Contains(t, s.takeSent(c), "ACK ")
	s.pass(3 * time.Second)
	s.data(c, okLine)
	assert.Equal(t, fetchLine, s.takeSent(c))
	set := s.set()
	assert.InDelta(t, 4*time.Second, percentileOf(set, measure.Ack, measure.Response, 100), 1e7)
	assert.InDelta(t, 3*time.Second, percentileOf(set, measure.Ack, measure.Service, 100), 1e7)
	assert.InDelta(t, 0, percentileOf(set, measure.Ack, measure.Lateness, 100), 2e3)
}

func TestBeatKeepsItsTimetable(t *testing.T) {
	t.Parallel()
	s := newScene(t, plan.Workload{BeatOnly: true, Connections: 1, Payload: plan.Constant(1)})
	s.connect()
	s.start()
	c := &s.shard.workers[0].conns[0].conn
	ready := s.now
	var at []time.Duration
	for s.now < ready+10*time.Minute {
		s.pass(100 * time.Millisecond)
		if s.takeSent(c) == "" {
			continue
		}
		at = append(at, s.now-ready)
		if len(at) == 3 {
			s.pass(25 * time.Second) // a slow server
		}
		s.data(c, okLine)
	}
	for i := range at[:3] {
		assert.InDelta(t, time.Duration(i+1)*15*time.Second, at[i], 2e8)
	}
	assert.InDelta(t, 70*time.Second, at[3], 2e8, "late at once, as the one of 60 s is due")
	assert.InDelta(t, 75*time.Second+15*time.Second*0, at[4], 2e8)
	for i := 4; i < len(at); i++ {
		assert.GreaterOrEqual(t, at[i]-at[i-1], s.shard.times.BeatApart-200*time.Millisecond)
		assert.LessOrEqual(t, at[i]-at[i-1], 20*time.Second)
	}
	assert.InDelta(t, 40, len(at), 2)
}

func TestQuietIsObeyed(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]string{"bulk": "$17\r\n{\"state\":\"quiet\"}\r\n",
		"simple": "+{\"state\": \"quiet\"}\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := newWorkScene(t, consumers(1))
			c := &w.conns[0].conn
			s.pass(15 * time.Second)
			s.takeSent(c)
			s.data(c, "$-1\r\n")
			assert.Contains(t, s.takeSent(c), "BEAT ")
			s.data(c, r)
			assert.Empty(t, s.takeSent(c))
			assert.Equal(t, wire.Quiet, w.state)
			s.pass(15 * time.Second)
			assert.Equal(t, "BEAT {\"wid\":\"fwpbench-run-w0\",\"current_state\":\"quiet\"}\r\n", s.takeSent(c))
			s.data(c, r)
			s.do(s.shard.Stop)
			assert.Equal(t, "END\r\n", s.takeSent(c))
		})
	}
}

const terminate = "+{\"state\":\"terminate\"}\r\n"

func pool(fetchers, reporters, places int) plan.Workload {
	w := consumers(1)
	w.Topology = plan.Topology{Kind: plan.Pool, Fetchers: fetchers, Reporters: reporters, Concurrency: places}
	return w
}

// Told to terminate, a worker finishes what it can, reports the rest as failed after
// 25 s, and ENDs all of its connections.
func TestTerminateIsObeyed(t *testing.T) {
	t.Parallel()
	load := pool(2, 1, 3)
	load.Work = plan.Range{Min: 10 * time.Minute, Max: 10 * time.Minute}
	s, w := newWorkScene(t, load)
	f1, f2, r, b := &w.conns[0].conn, &w.conns[1].conn, &w.conns[2].conn, &w.conns[3].conn
	s.data(f1, s.body(100))
	s.pass(15 * time.Second)
	s.takeSent(f1)
	assert.Contains(t, s.takeSent(b), "BEAT ")
	s.data(b, terminate)
	assert.Equal(t, wire.Terminating, w.state)
	s.pass(time.Second)
	s.data(f2, "$-1\r\n")
	s.takeSent(f2)
	s.data(f1, "$-1\r\n")
	assert.Empty(t, s.takeSent(f1))
	assert.Empty(t, s.takeSent(b))
	s.pass(23 * time.Second)
	assert.Contains(t, s.takeSent(b), `"current_state":"terminate"`)
	s.data(b, terminate)
	s.pass(time.Second)
	assert.True(t, strings.HasPrefix(s.takeSent(r), `FAIL {"jid":"`+s.jid(100)))
	s.data(r, okLine)
	for _, c := range []*conn{f1, f2, r, b} {
		assert.Equal(t, "END\r\n", s.takeSent(c))
		s.data(c, okLine)
		assert.Equal(t, phaseRetired, c.phase)
	}
	counts := s.ledger.Count(false)
	assert.Equal(t, int64(1), counts.Failed)
	assert.Equal(t, int64(1), counts.Waiting)
}

func TestTerminateTimeout(t *testing.T) {
	t.Parallel()
	load := consumers(1)
	load.Work = plan.Range{Min: 10 * time.Minute, Max: 10 * time.Minute}
	s, w := newWorkScene(t, load)
	c := &w.conns[0].conn
	s.data(c, s.body(100))
	s.pass(15 * time.Second)
	s.data(c, terminate)
	s.pass(29 * time.Second)
	assert.Equal(t, phaseBusy, c.phase, "the FAIL has no reply")
	s.pass(time.Second)
	assert.Equal(t, phaseRetired, c.phase)
	assert.True(t, s.isClosed[c])
	assert.Equal(t, int64(1), s.ledger.Count(false).Waiting)
	s.pass(time.Hour)
	assert.NotContains(t, s.dials, c)
}

// A pool has no more jobs than places, and each connection does its own duty.
func TestAPool(t *testing.T) {
	t.Parallel()
	load := pool(2, 1, 3)
	load.Work = plan.Range{Min: time.Second, Max: time.Second}
	s, w := newWorkScene(t, load)
	f1, f2, r := &w.conns[0].conn, &w.conns[1].conn, &w.conns[2].conn
	assert.Equal(t, fetchLine, s.takeSent(f1))
	assert.Equal(t, fetchLine, s.takeSent(f2))
	s.data(f1, s.body(100))
	assert.Equal(t, fetchLine, s.takeSent(f1), "the third place")
	s.pass(time.Millisecond)
	s.data(f2, s.body(101))
	s.pass(time.Millisecond)
	s.data(f1, s.body(102))
	assert.Empty(t, s.takeSent(f1)+s.takeSent(f2))
	s.pass(time.Second)
	assert.Equal(t, `ACK {"jid":"`+s.jid(100)+"\"}\r\n", s.takeSent(r))
	assert.Empty(t, s.takeSent(f1)+s.takeSent(f2), "a place is free when its job is reported")
	s.data(r, okLine)
	assert.Equal(t, `ACK {"jid":"`+s.jid(101)+"\"}\r\n", s.takeSent(r))
	assert.Equal(t, fetchLine, s.takeSent(f1)+s.takeSent(f2), "one place, one FETCH")
	s.do(s.shard.Stop)
	assert.Empty(t, s.takeSent(f2), "nobody leaves while the worker holds jobs")
	s.data(r, okLine)
	s.takeSent(r)
	s.data(r, okLine)
	assert.Empty(t, s.takeSent(r))
	s.data(f1, s.body(103))
	assert.Equal(t, int64(1), s.shard.Status().TakenAtEnd)
	s.pass(time.Second)
	assert.Contains(t, s.takeSent(r), s.jid(103))
	s.data(r, okLine)
	for _, d := range w.conns {
		assert.Equal(t, "END\r\n", s.takeSent(&d.conn))
		s.data(&d.conn, okLine)
	}
	assert.Equal(t, int64(4), s.ledger.Count(false).Acked)
	assert.Equal(t, 1, s.shard.Status().OpenConns, "the producer's push has no reply")
}

func TestLostReporter(t *testing.T) {
	t.Parallel()
	s, w := newWorkScene(t, pool(1, 1, 2))
	f, r := &w.conns[0].conn, &w.conns[1].conn
	s.takeSent(f)
	s.data(f, s.body(100))
	assert.Contains(t, s.takeSent(r), s.jid(100))
	s.data(f, s.body(101))
	s.end(r, syscall.ECONNRESET)
	assert.Equal(t, int64(1), s.ledger.Count(false).Waiting, "the ACK may have arrived or not")
	s.do(s.shard.Stop)
	s.pass(firstDelay)
	s.open(r)
	s.data(r, greetingLine)
	s.takeSent(r)
	s.data(r, okLine)
	assert.Equal(t, `ACK {"jid":"`+s.jid(101)+"\"}\r\n", s.takeSent(r), "what was not sent is sent; what was, is not repeated")
	s.data(r, okLine)
	s.data(f, "$-1\r\n")
	assert.Equal(t, "END\r\n", s.takeSent(r))
	assert.Equal(t, int64(1), s.ledger.Count(false).Acked)
}

// What a connection has fetched may be handed out again when it is gone, and is
// reported all the same.
func TestJobOfLostConnection(t *testing.T) {
	t.Parallel()
	load := consumers(2)
	load.Work = plan.Range{Min: 10 * time.Second, Max: 10 * time.Second}
	s, w := newWorkScene(t, load)
	c, other := &w.conns[0].conn, &s.shard.workers[1].conns[0].conn
	s.data(c, s.body(100))
	s.end(c, nil)
	s.data(other, s.body(100))
	counts := s.ledger.Count(false)
	assert.Equal(t, int64(1), counts.Redelivered)
	assert.Zero(t, counts.Duplicated)
	s.pass(firstDelay)
	s.open(c)
	s.data(c, greetingLine)
	s.data(c, okLine)
	s.takeSent(c)
	s.pass(10 * time.Second)
	assert.Contains(t, s.takeSent(c), "ACK")
}

func TestReservationsRunOut(t *testing.T) {
	t.Parallel()
	load := consumers(2)
	load.ReserveFor = plan.Duration(60 * time.Second)
	load.Work = plan.Range{Min: 30 * time.Second, Max: 30 * time.Second}
	s, w := newWorkScene(t, load)
	s.shard.patience = time.Hour // for an ACK that has no reply
	s.data(&w.conns[0].conn, s.body(100))
	s.pass(50 * time.Second)
	assert.Zero(t, s.ledger.Count(false).Waiting)
	s.pass(10*time.Second - time.Millisecond)
	assert.Equal(t, int64(1), s.ledger.Count(false).Waiting, "before the server can know")
	s.pass(time.Millisecond)
	s.data(&s.shard.workers[1].conns[0].conn, s.body(100))
	assert.Equal(t, int64(1), s.ledger.Count(false).Redelivered)
}

// A worker whose ACK was refused still has the job, until its reservation or its connection ends. No other worker may
// get the job before.
func TestRefusedAck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		action     func(s *scene, c *conn)
		duplicates int64
	}{
		"comes at once":               {func(*scene, *conn) {}, 1},
		"comes after its reservation": {func(s *scene, _ *conn) { s.pass(60 * time.Second) }, 0},
		"comes after its connection":  {func(s *scene, c *conn) { s.end(c, nil) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			load := consumers(2)
			load.ReserveFor = plan.Duration(60 * time.Second)
			s, w := newWorkScene(t, load)
			s.shard.patience = time.Hour // for a FETCH
			c := &w.conns[0].conn
			s.data(c, s.body(100))
			s.data(c, "-ERR no\r\n")
			test.action(s, c)
			s.data(&s.shard.workers[1].conns[0].conn, s.body(100))
			counts := s.ledger.Count(false)
			assert.Equal(t, test.duplicates, counts.Duplicated)
			assert.Equal(t, 1-test.duplicates, counts.Redelivered)
		})
	}
}

func TestFailedJobs(t *testing.T) {
	t.Parallel()
	load := consumers(1)
	retry := 1
	load.FailShare, load.Retry = 0.999999, &retry
	s, w := newWorkScene(t, load)
	c := &w.conns[0].conn
	for _, waiting := range []int64{1, 0} {
		s.takeSent(c)
		s.data(c, s.body(100))
		line := s.takeSent(c)
		assert.Equal(t, `FAIL {"jid":"`+s.jid(100)+`","errtype":"fwpbench","message":"failed on purpose",`+
			`"backtrace":[]}`+"\r\n", line)
		assert.Equal(t, waiting, s.ledger.Count(false).Waiting, "the ledger knows before the server")
		s.data(c, okLine)
	}
	counts := s.ledger.Count(false)
	assert.Equal(t, int64(1), counts.Dead, "the only retry was used")
	assert.Equal(t, int64(2), counts.Failed)
	assert.Equal(t, int64(2), s.set().Done(measure.Fail))
}

func TestDrain(t *testing.T) {
	t.Parallel()
	s, w := newWorkScene(t, consumers(1))
	c := &w.conns[0].conn
	s.pass(time.Second)
	s.do(func() { s.shard.Drain(s.now) })
	s.pass(time.Second)
	s.data(c, "$-1\r\n")
	assert.False(t, s.shard.Status().IsDrained, "that FETCH was sent before the drain began")
	s.data(c, s.body(100))
	assert.False(t, s.shard.Status().IsDrained)
	s.data(c, okLine)
	s.data(c, "$-1\r\n")
	assert.True(t, s.shard.Status().IsDrained)
	assert.Equal(t, 1, s.shard.Status().DrainedWorkers)
	s.takeSent(c)
	s.do(s.shard.Stop)
	assert.Equal(t, "END\r\n", s.takeSent(c), "it asks again later: no FETCH is out that would have to be awaited")
}

// A drain may begin at a time to come, when the last scheduled job is due. A worker that has found its queues empty
// asks again, and another drain wants them to be empty once more.
func TestRepeatedDrain(t *testing.T) {
	t.Parallel()
	s, w := newWorkScene(t, consumers(1))
	c := &w.conns[0].conn
	s.do(func() { s.shard.Drain(s.now + 10*time.Second) })
	for range 5 {
		s.data(c, "$-1\r\n")
		s.pass(2 * time.Second)
		assert.False(t, s.shard.Status().IsDrained)
	}
	s.data(c, "$-1\r\n")
	s.takeSent(c)
	s.data(c, "$-1\r\n")
	assert.True(t, s.shard.Status().IsDrained)
	assert.Empty(t, s.takeSent(c))
	s.pass(emptyPause)
	assert.Equal(t, fetchLine, s.takeSent(c))
	s.do(func() { s.shard.Drain(s.now + 1) })
	assert.False(t, s.shard.Status().IsDrained)
	s.data(c, "$-1\r\n")
	s.pass(emptyPause)
	s.data(c, s.body(100))
	assert.False(t, s.shard.Status().IsDrained, "a late job came")
	s.data(c, okLine)
	s.data(c, "$-1\r\n")
	assert.True(t, s.shard.Status().IsDrained)
}

func TestAbandonBooksDoubt(t *testing.T) {
	t.Parallel()
	s, w := newWorkScene(t, consumers(2))
	p, c := &s.shard.producers[0].conn, &w.conns[0].conn
	s.data(c, s.body(100))
	s.do(s.shard.Stop)
	s.pass(time.Second)
	s.do(s.shard.Abandon)
	assert.Zero(t, s.shard.Status().OpenConns)
	assert.True(t, s.isClosed[p])
	assert.True(t, s.isClosed[c])
	counts := s.ledger.Count(false)
	assert.Equal(t, int64(1), counts.Doubtful)
	assert.Equal(t, int64(1), counts.FetchesLost)
	assert.Equal(t, int64(1), counts.Waiting)
	s.pass(time.Hour)
	assert.Empty(t, s.dials)
}
