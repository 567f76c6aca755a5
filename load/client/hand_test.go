package client

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
)

// manualLoop is a loop that the test turns by hand: nothing comes and no time passes unless
// the test says so.
type manualLoop struct {
	now      time.Duration
	pokes    []engine.Session
	dials    []engine.Session // not yet opened or failed
	offloads []func()
	isClosed map[engine.Session]bool
	wakes    map[engine.Session]time.Duration
	nexts    map[engine.Session]engine.Next // of the latest step
	sent     map[engine.Session]string      // since the test last looked
	out      []byte
}

func newManualLoop() *manualLoop {
	return &manualLoop{
		now: time.Second, isClosed: map[engine.Session]bool{},
		wakes: map[engine.Session]time.Duration{}, nexts: map[engine.Session]engine.Next{}, sent: map[engine.Session]string{},
	}
}

func (h *manualLoop) Now() time.Duration { return h.now }

func (h *manualLoop) Open(s engine.Session) {
	if slices.Contains(h.dials, s) {
		panic("opened twice")
	}
	h.isClosed[s] = false
	h.dials = append(h.dials, s)
}

func (h *manualLoop) Poke(s engine.Session) {
	if !h.isClosed[s] && !slices.Contains(h.pokes, s) {
		h.pokes = append(h.pokes, s)
	}
}

func (h *manualLoop) Offload(s engine.Session, work func()) {
	h.offloads = append(h.offloads, func() {
		work()
		h.Poke(s)
		h.settle()
	})
}

// step steps a session, and then those that it poked.
func (h *manualLoop) step(s engine.Session, ev engine.Event) {
	h.stepOne(s, ev)
	h.settle()
}

func (h *manualLoop) settle() {
	for len(h.pokes) > 0 {
		s := h.pokes[0]
		h.pokes = h.pokes[1:]
		h.stepOne(s, engine.Event{Kind: engine.Woken})
	}
}

func (h *manualLoop) stepOne(s engine.Session, ev engine.Event) {
	if h.isClosed[s] {
		return
	}
	send, next := s.Step(h.now, ev, h.out[:0])
	if len(send) > 0 {
		h.sent[s] += string(send)
	}
	h.wakes[s], h.nexts[s] = next.Wake, next
	if next.Close {
		h.isClosed[s] = true
		h.wakes[s] = 0
		h.dials = slices.DeleteFunc(h.dials, func(d engine.Session) bool { return d == s })
		h.pokes = slices.DeleteFunc(h.pokes, func(d engine.Session) bool { return d == s })
	}
}

// advance lets time pass up to the instant at.
func (h *manualLoop) advance(at time.Duration) {
	for {
		var first engine.Session
		for s, wake := range h.wakes {
			if wake > 0 && wake <= at && (first == nil || wake < h.wakes[first]) {
				first = s
			}
		}
		if first == nil {
			break
		}
		h.now = max(h.now, h.wakes[first])
		h.wakes[first] = 0
		h.step(first, engine.Event{Kind: engine.Woken})
	}
	h.now = max(h.now, at)
}

// pass lets so much time pass.
func (h *manualLoop) pass(d time.Duration) { h.advance(h.now + d) }

// takeSent is what a session has sent since it was last asked.
func (h *manualLoop) takeSent(s engine.Session) string {
	text := h.sent[s]
	delete(h.sent, s)
	return text
}

func (h *manualLoop) open(s engine.Session) {
	h.dials = slices.DeleteFunc(h.dials, func(d engine.Session) bool { return d == s })
	h.step(s, engine.Event{Kind: engine.Opened})
}

func (h *manualLoop) fail(s engine.Session, err error) {
	h.dials = slices.DeleteFunc(h.dials, func(d engine.Session) bool { return d == s })
	h.step(s, engine.Event{Kind: engine.Failed, Err: err})
	h.isClosed[s] = h.isClosed[s] || false
}

func (h *manualLoop) data(s engine.Session, text string) {
	h.step(s, engine.Event{Kind: engine.Data, In: []byte(text)})
}

func (h *manualLoop) end(s engine.Session, err error) {
	h.step(s, engine.Event{Kind: engine.Ended, Err: err})
}

// scene is a shard on a loop that is turned by hand.
type scene struct {
	*manualLoop
	t        *testing.T
	shard    *Shard
	ledger   *ledger.Ledger
	recorder *measure.Recorder
	jobs     *plan.Jobs
}

func newScene(t *testing.T, w plan.Workload, change ...func(*Config)) *scene {
	t.Helper()
	require.NoError(t, w.Check())
	w.Queues.Number = max(1, w.Queues.Number) // one, unless the test is about queues
	s := &scene{manualLoop: newManualLoop(), t: t, ledger: ledger.New(), recorder: measure.NewRecorder(), jobs: w.Jobs("run", 1)}
	config := Config{
		Loop: s.manualLoop, Workload: &w, Jobs: s.jobs, Recorder: s.recorder, Ledger: s.ledger,
		Plan: w.Plan(1), Run: "run", EngineStart: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), ConnectRate: 1e6,
		Speaker: (&fwpwire.Config{PID: 7}).Speaker,
	}
	for _, c := range change {
		c(&config)
	}
	s.shard = NewShard(config)
	return s
}

// do calls a method of the shard as Engine.Do would.
func (s *scene) do(f func()) {
	f()
	s.settle()
}

// connect opens all connections that are asked for, and has them identified.
func (s *scene) connect() {
	s.t.Helper()
	s.do(s.shard.Connect)
	s.greetAll()
	require.Equal(s.t, s.shard.status.Target, s.shard.status.ReadyConns)
}

func (s *scene) greetAll() {
	s.pass(time.Millisecond)
	for len(s.dials) > 0 {
		c := s.dials[0]
		s.open(c)
		s.data(c, "+HI {\"v\":2}\r\n")
		s.data(c, "+OK\r\n")
		s.takeSent(c)
	}
}

// start lets the load begin now.
func (s *scene) start() {
	s.do(func() { s.shard.Start(s.now) })
	s.pass(0)
}

// body is the reply to a FETCH that brings job k.
func (s *scene) body(k int64) string {
	body := s.jobs.AppendBody(nil, k, 0, s.now, time.Time{})
	return fmt.Sprintf("$%d\r\n%s\r\n", len(body), body)
}

func (s *scene) jid(k int64) string { return string(s.jobs.AppendJID(nil, k)) }

// set is what was recorded.
func (s *scene) set() *measure.Set { return s.recorder.Take(s.now) }

func producers(n int) plan.Workload {
	return plan.Workload{Producers: n, Payload: plan.Constant(10)}
}

func consumers(n int) plan.Workload {
	return plan.Workload{Producers: 1, Consumers: n, Payload: plan.Constant(10)}
}
