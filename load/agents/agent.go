package agents

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/fwpsuite/fwp/internal/lag"
	"github.com/fwpsuite/fwp/internal/wait"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
)

// Agent puts a segment of a load on a server, as a coordinator asks. What has no zero value named here is needed.
type Agent struct {
	Conn    *nats.Conn
	Token   string
	Name    string // unlike that of any other agent of the run
	Version string // of the program
	// Load puts the load on the server and returns its result. When its context is done it ends the load, as load.Run
	// does.
	Load func(context.Context, Task) *load.Result
	// Within is how long to look for the coordinator; 0 is a minute.
	Within time.Duration
	// Wall returns the time of day; nil is time.Now.
	Wall func() time.Time
	// Log, if set, is called with what happens.
	Log func(format string, args ...any)
}

// Task is the part of an agent in a run. Start, Watch and Crossing are for load.Config.
type Task struct {
	Run      string // a name that no other part has
	Plan     Plan
	Segment  workload.Segment
	Start    func(context.Context) (time.Time, error)
	Watch    func(load.Moment)
	Crossing *load.Crossing // nil: jobs do not cross
}

// The errors of an agent that are not those of NATS.
var (
	ErrNoCoordinator = errors.New("the NATS server answers, and no coordinator with this token does: " +
		"its run is over, or it has another token. Start fwpbench run --agents N, and take the command that it prints")
	ErrSilent = errors.New("the coordinator was silent for three heartbeats: it has ended, or the network has")
	ErrNotRun = errors.New("the run did not begin")
)

// RefusedError is why a coordinator refuses an agent.
type RefusedError struct{ Why string }

// Error returns the reason.
func (e *RefusedError) Error() string { return "the coordinator refuses this agent: " + e.Why }

// Serve takes part in one run: it joins the coordinator, puts its segment of the load on the server and reports. It
// blocks until the coordinator has the report, or until it is gone, which ends the load. When ctx is done the load
// ends, and the coordinator gets the report all the same. It returns the report, nil if there was no load.
func (a *Agent) Serve(ctx context.Context) (*results.Load, error) {
	s := &session{Agent: a, subjects: subjectsOf(a.Token), changed: make(chan struct{})}
	s.Within = cmp.Or(s.Within, joinLimit)
	if s.Wall == nil {
		s.Wall = time.Now
	}
	if s.Log == nil {
		s.Log = func(string, ...any) {}
	}
	heard, err := a.Conn.Subscribe(s.subjects.state, s.hear)
	if err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	defer func() { _ = heard.Unsubscribe() }() // the connection may be closed
	if err := s.join(ctx); err != nil {
		return nil, err
	}
	alive, gone := context.WithCancelCause(context.WithoutCancel(ctx))
	defer gone(nil)
	if s.clock, err = s.measureClock(alive); err != nil {
		return nil, err
	}
	go s.beat(alive, func() { gone(ErrSilent) })
	return s.run(ctx, alive)
}

// session is an agent in a run.
type session struct {
	*Agent

	subjects subjects
	ticking  sync.Mutex // held while a tick is sent, so that none is on its way behind the report

	mu      sync.Mutex
	latest  state         // of the coordinator
	changed chan struct{} // closed, and made anew, when there is a new one
	missed  int           // heartbeats since there was one
	clock   clock
	ready   bool
	pushed  bool
	seconds []second // that no tick has carried yet
}

// measureClock relates the agent's clock to that of the coordinator.
func (s *session) measureClock(ctx context.Context) (clock, error) {
	ask := func() (m moment, err error) {
		err = request(ctx, s.Conn, s.subjects.clock, nil, &m)
		return m, err
	}
	return measureClock(ask, time.Now, s.Wall)
}

// hear takes the coordinator's state.
func (s *session) hear(m *nats.Msg) {
	var heard state
	if err := json.Unmarshal(m.Data, &heard); err != nil {
		s.Log("a message that cannot be read (%s): %v", m.Subject, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest, s.missed = heard, 0
	close(s.changed)
	s.changed = make(chan struct{})
}

// said returns the latest state of the coordinator, and what is closed when there is a new one.
func (s *session) said() (state, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest, s.changed
}

// await blocks until the coordinator's state is one that is awaited.
func (s *session) await(ctx context.Context, awaited func(state) bool) (state, error) {
	for {
		latest, changed := s.said()
		if awaited(latest) {
			return latest, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return state{}, context.Cause(ctx)
		}
	}
}

// join asks to take part, until the coordinator is there.
func (s *session) join(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.Within)
	defer cancel()
	for {
		var a answer
		err := request(ctx, s.Conn, s.subjects.join, joining{s.Name, s.Version}, &a)
		switch {
		case err == nil && a.Refused != "":
			return &RefusedError{a.Refused}
		case err == nil:
			s.Log("joined as %s: waiting for the other agents", s.Name)
			return nil
		case !errors.Is(err, nats.ErrNoResponders) && ctx.Err() == nil:
			return fmt.Errorf("join: %w", err)
		}
		if !wait.Sleep(ctx, heartbeat/4) {
			return ErrNoCoordinator
		}
	}
}

// beat sends a tick each second, and calls gone when the coordinator is silent.
func (s *session) beat(ctx context.Context, gone func()) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	meter := new(lag.Meter)
	go meter.Run(ctx)
	for {
		s.tick()
		select {
		case <-ticker.C:
			s.mu.Lock()
			s.missed++
			silent := s.missed > silence(meter.Lag(lately()))
			s.mu.Unlock()
			if silent {
				gone()
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// tick says where the agent is, and what was recorded since the last tick.
func (s *session) tick() {
	s.ticking.Lock()
	defer s.ticking.Unlock()
	s.mu.Lock()
	t := tick{Name: s.Name, Ready: s.ready, Pushed: s.pushed, Clock: s.clock.report(), Seconds: s.seconds}
	s.seconds = nil
	s.mu.Unlock()
	post(s.Log, "tick", t, func(data []byte) error { return s.Conn.Publish(s.subjects.tick, data) })
}

// run waits for the plan, carries it out and reports. user is done when the user interrupts, alive when the coordinator
// is gone.
func (s *session) run(user, alive context.Context) (*results.Load, error) {
	planned := func(st state) bool { return st.Phase == over || slices.Contains(st.Names, s.Name) }
	waiting, stop := context.WithCancelCause(alive)
	defer stop(nil)
	defer context.AfterFunc(user, func() { stop(context.Cause(user)) })()
	got, err := s.await(waiting, planned)
	if err != nil {
		return nil, err
	}
	if got.Plan == nil {
		return nil, fmt.Errorf("%w: %s", ErrNotRun, got.Why)
	}
	place := slices.Index(got.Names, s.Name)
	task := Task{
		Run: got.Plan.part(place), Plan: *got.Plan, Segment: workload.Segment{Index: place, Of: got.Plan.Agents},
		Start: s.start, Watch: s.watch,
	}
	if got.Plan.Crosses {
		task.Crossing = &load.Crossing{Run: got.Plan.Run, Pushed: func(ctx context.Context) error {
			return s.pushedAll(ctx, alive)
		}}
	}
	go func() { // a state of stopping or over ends the load
		if _, err := s.await(waiting, func(st state) bool { return st.Phase == stopping || st.Phase == over }); err == nil {
			stop(context.Canceled)
		}
	}()
	result := s.Load(waiting, task)
	if alive.Err() != nil {
		return result.Report, context.Cause(alive)
	}
	s.measureAgain(alive)
	s.tick()
	if result.Account != nil {
		if err := s.send(alive, s.subjects.jobs+strconv.Itoa(place), result.Account); err != nil {
			return result.Report, err
		}
	}
	return result.Report, s.report(alive, place, result.Report)
}

// measureAgain measures the clock once more after the load, so that its bound holds for all of that: clocks drift.
func (s *session) measureAgain(ctx context.Context) {
	s.mu.Lock()
	before, started := s.clock, s.ready
	s.mu.Unlock()
	if !started {
		return
	}
	after, err := s.measureClock(ctx)
	if err != nil {
		s.Log("after the load: %v", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.bound = before.boundUntil(after)
}

// pushedAll says that every push of this agent has been answered, and blocks until no agent pushes any more.
func (s *session) pushedAll(ctx, alive context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(alive, func() { cancel(context.Cause(alive)) })()
	s.mu.Lock()
	s.pushed = true
	s.mu.Unlock()
	s.tick()
	_, err := s.await(ctx, func(st state) bool { return st.Pushed })
	return err
}

// start measures the clock, says that the agent is ready, and returns when the load begins.
func (s *session) start(ctx context.Context) (time.Time, error) {
	c, err := s.measureClock(ctx)
	if err != nil {
		return time.Time{}, err
	}
	s.mu.Lock()
	s.clock, s.ready = c, true
	s.mu.Unlock()
	s.tick()
	started, err := s.await(ctx, func(st state) bool { return st.Start > 0 })
	if err != nil {
		return time.Time{}, err
	}
	return c.local(started.Start), nil
}

// watch keeps a second for the next tick.
func (s *session) watch(m load.Moment) {
	s.mu.Lock()
	began := s.clock.remote(m.Began)
	s.mu.Unlock()
	one := second{Second: m.Second, Op: m.Op, From: began + m.At, Log: load.Log(m.Set, m.Began, m.Run), Jobs: m.Jobs}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seconds = append(s.seconds, one)
}

// The pieces of a report or an account.
const (
	pieceSize = 512 << 10 // bytes; a message of NATS has a million at most, unless configured otherwise
	sendTries = 5
)

// report sends the report. The seconds stay here: the ticks had them.
func (s *session) report(ctx context.Context, place int, l *results.Load) error {
	brief := *l
	brief.Series, brief.Heat = nil, results.LoadHeat{}
	var data bytes.Buffer
	if err := brief.WriteJSON(&data); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return s.send(ctx, s.subjects.done+strconv.Itoa(place), data.Bytes())
}

// send sends what is longer than a message in pieces, each of which is confirmed.
func (s *session) send(ctx context.Context, subject string, data []byte) error {
	pieces := slices.Collect(slices.Chunk(data, pieceSize))
	for i, piece := range pieces {
		m := nats.NewMsg(subject)
		m.Data = piece
		m.Header.Set(pieceHeader, strconv.Itoa(i))
		m.Header.Set(piecesHeader, strconv.Itoa(len(pieces)))
		var err error
		for range sendTries {
			if err = requestMsg(ctx, s.Conn, m, new(answer)); err == nil || ctx.Err() != nil {
				break
			}
		}
		if err != nil {
			return fmt.Errorf("report to the coordinator: %w", errors.Join(context.Cause(ctx), err))
		}
	}
	return nil
}
