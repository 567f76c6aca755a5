package agents_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/agents"
	"github.com/fwpsuite/fwp/load/judge"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

const (
	version = "fwpbench test"
	token   = "secret"
)

// scene is a coordinator with a NATS server, in virtual time.
type scene struct {
	t      *testing.T
	server *agents.Server
	config agents.Config
	logged *log

	result *load.Result
	err    error
	over   chan struct{}
}

// log keeps messages.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprint(l.lines)
}

// play has a coordinator wait for so many agents while act goes on, and waits for its result. interrupt is what a user
// does to the coordinator.
func play(
	t *testing.T, number int, act func(s *scene, interrupt func()), change ...func(*agents.Config),
) *scene {
	t.Helper()
	s := &scene{logged: new(log)}
	synctest.Test(t, func(t *testing.T) {
		s.t, s.over = t, make(chan struct{})
		var err error
		s.server, err = agents.StartServer(agents.ServerConfig{Token: token, Refused: func(name, _ string) {
			s.logged.add("refused %s", name)
		}})
		require.NoError(t, err)
		conn, err := s.server.Connect(token, "coordinator")
		require.NoError(t, err)
		s.config = agents.Config{
			Conn: conn, Token: token, Version: version, Plan: agents.Plan{Run: "run", Agents: number, Load: []byte(`{"a":1}`)},
			Log: s.logged.add, Report: results.Load{Version: version, Seed: 7},
		}
		for _, c := range change {
			c(&s.config)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(s.over)
			s.result, s.err = agents.Coordinate(ctx, s.config)
		}()
		act(s, cancel)
		<-s.over
		conn.Close()
		s.server.Close()
		cancel()
	})
	require.NoError(t, s.err)
	return s
}

// served is how an agent ended.
type served struct {
	report *results.Load
	err    error
}

// agent starts an agent, with what Agent.Load is, and returns what it will come to.
func (s *scene) agent(
	name string, work func(context.Context, agents.Task) *results.Load, change ...func(*agents.Agent),
) (ended <-chan served, cut func()) {
	conn, err := s.server.Connect(token, name)
	require.NoError(s.t, err)
	a := &agents.Agent{Conn: conn, Token: token, Name: name, Version: version, Log: s.logged.add}
	a.Load = func(ctx context.Context, task agents.Task) *load.Result { return &load.Result{Report: work(ctx, task)} }
	for _, c := range change {
		c(a)
	}
	results := make(chan served, 1)
	go func() {
		defer conn.Close()
		report, err := a.Serve(s.t.Context())
		results <- served{report, err}
	}()
	return results, conn.Close
}

// pushes is a load of so many seconds with a push of 5 ms in each.
func pushes(seconds int) func(context.Context, agents.Task) *results.Load {
	return func(ctx context.Context, task agents.Task) *results.Load {
		began, recorder, total := time.Now(), measure.NewRecorder(measure.Ops()...), new(measure.Set)
		l := &results.Load{Run: task.Run, Started: began, Plan: results.LoadPlan{Segment: task.Segment.String()}}
		l.Jobs.Drained = true
		at, err := task.Start(ctx)
		if err != nil {
			l.NotStarted, l.Interrupted = err.Error(), ctx.Err() != nil
			judge.Evaluate(l)
			return l
		}
		time.Sleep(time.Until(at))
		for range seconds {
			from := time.Since(began)
			recorder.Command(measure.Push, measure.Timing{
				Intended: from, Free: from, Sent: from, Replied: from + 5*time.Millisecond,
			})
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				l.Interrupted = true
			}
			set := recorder.Take(time.Since(began))
			total.Add(set)
			l.Jobs.Pushed, l.Jobs.Delivered, l.Jobs.Acked = l.Jobs.Pushed+1, l.Jobs.Delivered+1, l.Jobs.Acked+1
			second := results.Second{At: from, Over: time.Second, Phase: "measure", Achieved: 1, Connections: 1}
			task.Watch(load.Moment{Second: second, Op: "push", Run: task.Run, Began: began, Set: set, Jobs: l.Jobs})
			if l.Interrupted {
				break
			}
		}
		l.Ops, l.Flows = load.Figures(total)
		l.Histograms = load.Log(total, began, task.Run)
		l.Measured = time.Duration(l.Jobs.Pushed) * time.Second
		l.Rate = results.LoadRate{Op: "push", Done: l.Jobs.Pushed, Planned: l.Jobs.Pushed}
		l.Rate.Target, l.Rate.Achieved = 1, 1
		l.Phases = []results.Phase{{Name: "measure", From: at.Sub(began)}}
		l.Connections = results.Connections{Planned: 1, Opened: 1}
		judge.Evaluate(l)
		return l
	}
}

func outcome(s *scene) (int, string) { return s.result.Report.Outcome() }

// Agents that all do their part are one load: sums, seconds in the coordinator's time, a row for each.
func TestAgents(t *testing.T) {
	t.Parallel()
	s := play(t, 3, func(s *scene, _ func()) {
		var all []<-chan served
		for _, name := range []string{"a", "b", "c"} {
			time.Sleep(3 * time.Second)
			ended, _ := s.agent(name, pushes(4))
			all = append(all, ended)
		}
		for _, ended := range all {
			got := <-ended
			assert.NoError(t, got.err)
			assert.Equal(t, int64(4), got.report.Jobs.Pushed)
		}
	})
	l := s.result.Report
	code, words := outcome(s)
	assert.Equal(t, reports.ExitWell, code, words)
	assert.Equal(t, "run", l.Run)
	assert.Equal(t, uint64(7), l.Seed)
	assert.Equal(t, int64(12), l.Jobs.Pushed)
	assert.Equal(t, int64(12), s.result.Total.Done(measure.Push))
	assert.InDelta(t, 3, l.Rate.Achieved, 0.01)
	require.Len(t, l.Agents, 3)
	segments := map[string]bool{}
	for _, a := range l.Agents {
		segments[a.Segment+" "+a.Run[len(a.Run)-1:]] = true
		require.NotNil(t, a.Clock)
		assert.Zero(t, a.Clock.Bound)
	}
	assert.Equal(t, map[string]bool{"1/3 1": true, "2/3 2": true, "3/3 3": true}, segments)
	var pushed int64
	for _, second := range l.Series {
		assert.Equal(t, int64(3), second.Ops[0].Count)
		assert.InDelta(t, 3, second.Achieved, 0.01)
		assert.Equal(t, 3, second.Connections)
		pushed += second.Ops[0].Count
	}
	assert.Equal(t, int64(12), pushed)
	assert.Equal(t, "push", l.Heat.Op)
	assert.Equal(t, l.Series[0].At, l.Phases[0].From.Truncate(time.Second), "both are in the coordinator's time")
}

// A clock that is an hour off changes the offset in the report, and nothing else.
func TestAClockThatIsAnHourOff(t *testing.T) {
	t.Parallel()
	off := func(a *agents.Agent) { a.Wall = func() time.Time { return time.Now().Add(time.Hour) } }
	s := play(t, 2, func(s *scene, _ func()) {
		s.agent("right", pushes(3))
		s.agent("off", pushes(3), off)
	})
	code, words := outcome(s)
	assert.Equal(t, reports.ExitWell, code, words)
	offsets := map[string]time.Duration{}
	for _, a := range s.result.Report.Agents {
		offsets[a.Name] = a.Clock.Offset
	}
	assert.Equal(t, map[string]time.Duration{"right": 0, "off": time.Hour}, offsets)
	assert.Len(t, s.result.Report.Series, 3)
}

// An agent that is killed in the middle of the load makes the run INVALID: the others end, and what was received of it
// counts.
func TestAnAgentIsKilled(t *testing.T) {
	t.Parallel()
	s := play(t, 2, func(s *scene, _ func()) {
		_, cut := s.agent("killed", pushes(60))
		other, _ := s.agent("other", pushes(60))
		time.Sleep(10 * time.Second)
		cut()
		got := <-other
		assert.NoError(t, got.err)
		assert.True(t, got.report.Interrupted)
	})
	code, words := outcome(s)
	assert.Equal(t, reports.ExitInconclusive, code)
	assert.Contains(t, words, "INVALID: agent killed was lost: three of its ticks are missing")
	l := s.result.Report
	assert.False(t, l.Interrupted, "by the user")
	pushed := map[string]int64{}
	for _, a := range l.Agents {
		pushed[a.Name] = a.Jobs.Pushed
	}
	assert.InDelta(t, 8, pushed["killed"], 1)
	assert.InDelta(t, 12, pushed["other"], 2)
	assert.Equal(t, pushed["killed"]+pushed["other"], s.result.Total.Done(measure.Push))
}

// The agents end when the coordinator is gone, whatever the reason.
func TestTheCoordinatorIsKilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scene{t: t, logged: new(log)}
		var err error
		s.server, err = agents.StartServer(agents.ServerConfig{Token: token})
		require.NoError(t, err)
		conn, err := s.server.Connect(token, "coordinator")
		require.NoError(t, err)
		coordinated := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(coordinated)
			_, _ = agents.Coordinate(ctx, agents.Config{
				Conn: conn, Token: token, Version: version, Plan: agents.Plan{Run: "run", Agents: 1, Load: []byte(`{}`)},
			})
		}()
		ended, _ := s.agent("a", pushes(600))
		time.Sleep(10 * time.Second)
		conn.Close() // as a process that is killed
		killed := time.Now()
		got := <-ended
		assert.ErrorIs(t, got.err, agents.ErrSilent)
		assert.True(t, got.report.Interrupted)
		assert.Less(t, time.Since(killed), 5*time.Second)
		cancel()
		<-coordinated
		s.server.Close()
	})
}

func TestAgentsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := play(t, 2, func(s *scene, _ func()) {
		first, _ := s.agent("a", pushes(2))
		time.Sleep(time.Second)
		same, _ := s.agent("a", pushes(2))
		refused, is := errors.AsType[*agents.RefusedError]((<-same).err)
		assert.True(t, is)
		assert.Contains(t, refused.Error(), "there is an agent with this name")
		old, _ := s.agent("b", pushes(2), func(a *agents.Agent) { a.Version = "fwpbench old" })
		assert.ErrorContains(t, (<-old).err, `its version is "fwpbench old"`)
		_, err := s.server.Connect("guess", "thief")
		assert.Error(t, err) // over a pipe it need not have the reason
		other, _ := s.agent("c", pushes(2), func(a *agents.Agent) { a.Token, a.Within = "another", 5*time.Second })
		assert.ErrorIs(t, (<-other).err, agents.ErrNoCoordinator)
		last, _ := s.agent("d", pushes(2))
		assert.NoError(t, (<-first).err)
		assert.NoError(t, (<-last).err)
	})
	logged := s.logged.String()
	assert.Contains(t, logged, "agent a refused: there is an agent with this name")
	assert.Contains(t, logged, "agent b refused: its version")
	assert.Contains(t, logged, "refused thief")
}

func TestTooFewAgentsJoin(t *testing.T) {
	t.Parallel()
	s := play(t, 3, func(s *scene, _ func()) {
		ended, _ := s.agent("alone", pushes(2))
		got := <-ended
		assert.ErrorIs(t, got.err, agents.ErrNotRun)
		assert.ErrorContains(t, got.err, "1 of 3 agents joined within 1m0s: alone")
	})
	code, words := outcome(s)
	assert.Equal(t, reports.ExitInconclusive, code)
	assert.Contains(t, words, "1 of 3 agents joined within 1m0s: alone")
}

// A user who interrupts the coordinator gets the report of what there is; one who interrupts an agent spoils the run.
func TestInterrupts(t *testing.T) {
	t.Parallel()
	s := play(t, 2, func(s *scene, interrupt func()) {
		a, _ := s.agent("a", pushes(600))
		b, _ := s.agent("b", pushes(600))
		time.Sleep(10 * time.Second)
		interrupt()
		assert.NoError(t, (<-a).err)
		assert.NoError(t, (<-b).err)
	})
	code, _ := outcome(s)
	assert.Equal(t, reports.ExitInterrupted, code)
	assert.Len(t, s.result.Report.Agents, 2)
	assert.Positive(t, s.result.Report.Jobs.Pushed)
	early := play(t, 2, func(s *scene, interrupt func()) {
		a, _ := s.agent("a", pushes(600))
		time.Sleep(3 * time.Second)
		interrupt()
		assert.ErrorIs(t, (<-a).err, agents.ErrNotRun)
	})
	code, _ = outcome(early)
	assert.Equal(t, reports.ExitInterrupted, code)
}

// An agent whose target is not there ends the run for all, before a load.
func TestAnAgentWithoutATarget(t *testing.T) {
	t.Parallel()
	s := play(t, 2, func(s *scene, _ func()) {
		s.agent("a", func(_ context.Context, task agents.Task) *results.Load {
			return &results.Load{Run: task.Run, Trouble: reports.Trouble{Unreachable: "connection refused"}}
		})
		other, _ := s.agent("b", pushes(60))
		assert.NoError(t, (<-other).err)
	})
	code, words := outcome(s)
	assert.Equal(t, reports.ExitUnreachable, code)
	assert.Contains(t, words, "agent a: connection refused")
}

// A report of more than one message arrives whole.
func TestALongReport(t *testing.T) {
	t.Parallel()
	long := make([]string, 100_000)
	for i := range long {
		long[i] = fmt.Sprintf("remark %d of a long report", i)
	}
	s := play(t, 1, func(s *scene, _ func()) {
		ended, _ := s.agent("a", func(ctx context.Context, task agents.Task) *results.Load {
			l := pushes(1)(ctx, task)
			l.Validity.Remarks = long
			return l
		})
		assert.NoError(t, (<-ended).err)
	})
	assert.Equal(t, long, s.result.Report.Agents[0].Validity.Remarks)
}
