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

// hand is a loop that the test turns by hand: nothing comes and no time passes unless
// the test says so.
type hand struct {
	now    time.Duration
	poked  []engine.Session
	dials  []engine.Session // not yet opened or failed
	asides []func()
	over   map[engine.Session]bool
	wakes  map[engine.Session]time.Duration
	nexts  map[engine.Session]engine.Next // of the latest step
	sent   map[engine.Session]string      // since the test last looked
	out    []byte
}

func newHand() *hand {
	return &hand{
		now: time.Second, over: map[engine.Session]bool{},
		wakes: map[engine.Session]time.Duration{}, nexts: map[engine.Session]engine.Next{}, sent: map[engine.Session]string{},
	}
}

func (h *hand) Now() time.Duration { return h.now }

func (h *hand) Open(s engine.Session) {
	if slices.Contains(h.dials, s) {
		panic("opened twice")
	}
	h.over[s] = false
	h.dials = append(h.dials, s)
}

func (h *hand) Poke(s engine.Session) {
	if !h.over[s] && !slices.Contains(h.poked, s) {
		h.poked = append(h.poked, s)
	}
}

func (h *hand) Aside(s engine.Session, work func()) {
	h.asides = append(h.asides, func() {
		work()
		h.Poke(s)
		h.settle()
	})
}

// step steps a session, and then those that it poked.
func (h *hand) step(s engine.Session, ev engine.Event) {
	h.one(s, ev)
	h.settle()
}

func (h *hand) settle() {
	for len(h.poked) > 0 {
		s := h.poked[0]
		h.poked = h.poked[1:]
		h.one(s, engine.Event{Kind: engine.Woken})
	}
}

func (h *hand) one(s engine.Session, ev engine.Event) {
	if h.over[s] {
		return
	}
	send, next := s.Step(h.now, ev, h.out[:0])
	if len(send) > 0 {
		h.sent[s] += string(send)
	}
	h.wakes[s], h.nexts[s] = next.Wake, next
	if next.Close {
		h.over[s] = true
		h.wakes[s] = 0
		h.dials = slices.DeleteFunc(h.dials, func(d engine.Session) bool { return d == s })
		h.poked = slices.DeleteFunc(h.poked, func(d engine.Session) bool { return d == s })
	}
}

// advance lets time pass up to the instant at.
func (h *hand) advance(at time.Duration) {
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
func (h *hand) pass(d time.Duration) { h.advance(h.now + d) }

// said is what a session has sent since it was last asked.
func (h *hand) said(s engine.Session) string {
	text := h.sent[s]
	delete(h.sent, s)
	return text
}

func (h *hand) open(s engine.Session) {
	h.dials = slices.DeleteFunc(h.dials, func(d engine.Session) bool { return d == s })
	h.step(s, engine.Event{Kind: engine.Opened})
}

func (h *hand) fail(s engine.Session, err error) {
	h.dials = slices.DeleteFunc(h.dials, func(d engine.Session) bool { return d == s })
	h.step(s, engine.Event{Kind: engine.Failed, Err: err})
	h.over[s] = h.over[s] || false
}

func (h *hand) data(s engine.Session, text string) {
	h.step(s, engine.Event{Kind: engine.Data, In: []byte(text)})
}

func (h *hand) end(s engine.Session, err error) {
	h.step(s, engine.Event{Kind: engine.Ended, Err: err})
}

// scene is a shard on a loop that is turned by hand.
type scene struct {
	*hand
	t        *testing.T
	shard    *Shard
	ledger   *ledger.Ledger
	recorder *measure.Recorder
	jobs     *plan.Jobs
}

func play(t *testing.T, w plan.Workload, change ...func(*Config)) *scene {
	t.Helper()
	require.NoError(t, w.Check())
	w.Queues.Number = max(1, w.Queues.Number) // one, unless the test is about queues
	s := &scene{hand: newHand(), t: t, ledger: ledger.New(), recorder: measure.NewRecorder(), jobs: w.Jobs("run", 1)}
	config := Config{
		Loop: s.hand, Workload: &w, Jobs: s.jobs, Recorder: s.recorder, Ledger: s.ledger,
		Plan: w.Plan(1), Run: "run", Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), ConnectRate: 1e6,
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
	require.Equal(s.t, s.shard.status.Wanted, s.shard.status.Ready)
}

func (s *scene) greetAll() {
	s.pass(time.Millisecond)
	for len(s.dials) > 0 {
		c := s.dials[0]
		s.open(c)
		s.data(c, "+HI {\"v\":2}\r\n")
		s.data(c, "+OK\r\n")
		s.said(c)
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
