package client

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
)

// nullLoop is a loop that costs nothing: what a step costs is the session's own.
type nullLoop struct{ pokes []engine.Session }

func (b *nullLoop) Open(engine.Session)            {}
func (b *nullLoop) Poke(s engine.Session)          { b.pokes = append(b.pokes, s) }
func (b *nullLoop) Offload(engine.Session, func()) {}
func (b *nullLoop) Now() time.Duration             { return 0 }

// steadyScene is a producer and workers in the steady state, stepped directly.
type steadyScene struct {
	loop   *nullLoop
	shard  *Shard
	now    time.Duration
	out    []byte
	okLine []byte
	jobs   [][]byte
	k      int
}

func newSteadyScene(tb testing.TB, topology plan.Topology, change ...func(*Config)) *steadyScene {
	tb.Helper()
	w := plan.Workload{Producers: 1, Consumers: 1, Payload: plan.Constant(100), Topology: topology}
	require.NoError(tb, w.Check())
	s := &steadyScene{loop: new(nullLoop), now: time.Second, out: make([]byte, 0, 4096), okLine: []byte(okLine)}
	jobs, books := w.Jobs("run", 1), ledger.New()
	config := Config{Loop: s.loop, Workload: &w, Jobs: jobs, Recorder: measure.NewRecorder(), Ledger: books, Run: "run",
		Speaker: new(fwpwire.Config).Speaker}
	for _, c := range change {
		c(&config)
	}
	s.shard = NewShard(config)
	for k := range int64(1 << 13) {
		body := jobs.AppendBody(nil, k, 0, 0, time.Time{})
		s.jobs = append(s.jobs, fmt.Appendf(nil, "$%d\r\n%s\r\n", len(body), body))
		books.BookSent(k, 0)
	}
	for _, c := range s.shard.conns {
		c.phase = phaseDialing
		s.step(c, engine.Event{Kind: engine.Opened})
		s.data(c, []byte(greetingLine))
		s.data(c, s.okLine)
	}
	s.shard.Start(0)
	s.settle()
	return s
}

func (s *steadyScene) step(c engine.Session, ev engine.Event) {
	s.now += time.Microsecond
	c.Step(s.now, ev, s.out[:0])
}

func (s *steadyScene) data(c *conn, in []byte) { s.step(c, engine.Event{Kind: engine.Data, In: in}) }

func (s *steadyScene) settle() {
	for len(s.loop.pokes) > 0 {
		c := s.loop.pokes[0]
		copy(s.loop.pokes, s.loop.pokes[1:])
		s.loop.pokes = s.loop.pokes[:len(s.loop.pokes)-1]
		s.step(c, engine.Event{Kind: engine.Woken})
	}
}

func (s *steadyScene) push() { s.data(&s.shard.producers[0].conn, s.okLine) }

// job is a FETCH that brings a job, and its ACK.
func (s *steadyScene) job() {
	conns := s.shard.workers[0].conns
	s.data(&conns[0].conn, s.jobs[s.k])
	s.k++
	s.settle()
	report := conns[0]
	if len(conns) > 1 {
		report = conns[1]
	}
	s.data(&report.conn, s.okLine)
	s.settle()
}

// pieces is a FETCH whose job comes in two reads.
func (s *steadyScene) pieces() {
	c := &s.shard.workers[0].conns[0].conn
	body := s.jobs[s.k]
	s.k++
	s.data(c, body[:20])
	s.data(c, body[20:])
	s.data(c, s.okLine)
}

//nolint:paralleltest // counts what the whole process allocates
func TestTheSteadyStateAllocatesNothing(t *testing.T) {
	single := newSteadyScene(t, plan.Topology{})
	pool := newSteadyScene(t, plan.Topology{Kind: plan.Pool, Fetchers: 1, Reporters: 1, Concurrency: 10})
	for name, do := range map[string]func(){
		"push": single.push, "fetch and ack": single.job, "fetch in pieces": single.pieces,
		"fetch and ack in a pool": pool.job,
	} {
		do() // the first of each kind makes its histograms
		assert.Zero(t, testing.AllocsPerRun(1000, do), name)
	}
	assert.Zero(t, single.shard.status.Errors+pool.shard.status.Errors)
	counts := single.shard.ledger.Count(false)
	assert.Equal(t, int64(2004), counts.Acked)
	assert.Equal(t, int64(1002), counts.Pushed)
}

func BenchmarkPush(b *testing.B) {
	s := newSteadyScene(b, plan.Topology{})
	b.ReportAllocs()
	for b.Loop() {
		s.push()
	}
}

func BenchmarkPushRecorded(b *testing.B) {
	s := newSteadyScene(b, plan.Topology{}, limitHistory)
	b.ReportAllocs()
	for b.Loop() {
		s.push()
	}
}

// limitHistory has a shard record the first million calls.
func limitHistory(c *Config) { c.History, c.MaxCalls = history.NewRecorder(), 1_000_000 }

func BenchmarkFetchAndAck(b *testing.B) {
	s := newSteadyScene(b, plan.Topology{})
	b.ReportAllocs()
	for b.Loop() {
		if s.k == len(s.jobs) {
			s.k = 0 // counted as delivered twice, which costs more
		}
		s.job()
	}
}

// A run has thousands of them, and the engine needs most of the 8 KiB that a connection
// may take.
func TestConnectionsAreSmall(t *testing.T) {
	t.Parallel()
	assert.LessOrEqual(t, unsafe.Sizeof(producer{}), uintptr(512))
	assert.LessOrEqual(t, unsafe.Sizeof(churner{}), uintptr(512))
	assert.LessOrEqual(t, unsafe.Sizeof(workerConn{})+unsafe.Sizeof(worker{})+unsafe.Sizeof(place{}), uintptr(1024))
}
