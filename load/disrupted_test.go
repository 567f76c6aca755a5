package load_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
)

// disruptedBench is a run of some seconds of load whose server is disrupted.
type disruptedBench struct {
	schedule []disrupt.Disruption
	bug      bug
	change   func(*load.Config)
}

// fakeTarget does to a server of fakes what disruptions ask for.
type fakeTarget struct{ server atomic.Pointer[fakes.Server] }

func (f *fakeTarget) Begin(_ context.Context, d disrupt.Disruption) (func(context.Context) error, error) {
	server := f.server.Load()
	switch {
	case d.Action.Stops():
		return func(context.Context) error { return server.Up() }, server.Down(d.Action.Kills())
	case d.Action == target.Reset:
		err := server.Kill() // to the clients the same
		return func(context.Context) error { return nil }, err
	}
	return nil, &disrupt.SkippedError{Reason: "this machine does not allow it"}
}

func (s disruptedBench) run(t *testing.T) *load.Result {
	t.Helper()
	w := plan.Workload{
		Producers: 2, Consumers: 12, Rate: 2, Duration: plan.Duration(20 * second),
		Work:       plan.Range{Min: 4 * second, Max: 4 * second}, // longer than a stop, and there are free workers
		ReserveFor: plan.Duration(time.Minute), Drain: plan.Duration(6 * time.Minute),
	}
	target := &fakeTarget{}
	b := bench{load: w, change: func(c *load.Config) {
		c.Schedule, c.Disrupt, c.Loops = s.schedule, target, 1
		c.LevelOf = func(id string) reports.Level {
			clause, _ := fwpsuite.ClauseByID(id)
			return clause.Level
		}
		if s.change != nil {
			s.change(c)
		}
	}}
	b.during = func(_ func(), server *fakes.Server) { target.server.Store(server) }
	if s.bug != nil {
		b.server.Hook = s.bug(target)
	}
	return b.result(t)
}

// bug returns the hook of a server that is wrong after a stop, or after the end of all connections.
type bug func(*fakeTarget) func(*fakes.Event)

// loseJobs loses all jobs.
func loseJobs(*fakeTarget) func(*fakes.Event) {
	return func(e *fakes.Event) { e.Skip = e.Skip || e.Point == fakes.Restarted }
}

// requeueAcked enqueues the jobs again that were acknowledged before.
func requeueAcked(*fakeTarget) func(*fakes.Event) {
	f, _ := bugs.Lookup("restart-returns-done")
	return f.Hook()
}

// requeueReserved enqueues the jobs again that workers hold.
func requeueReserved(target *fakeTarget) func(*fakes.Event) {
	var mu sync.Mutex
	jobs, free := map[string][]byte{}, [][]byte(nil)
	return func(e *fakes.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch e.Point {
		case fakes.Reserved:
			jobs[e.Object.Text("jid")] = e.Object.Append(nil)
		case fakes.Acked:
			delete(jobs, e.Object.Text("jid"))
		case fakes.Restarted:
			free = slices.Collect(maps.Values(jobs))
		case fakes.Greeting:
			for _, unit := range free {
				go func() { _ = target.server.Load().Push(unit) }()
			}
			free = nil
		}
	}
}

// What the plan promised and the run did not do is no result.
func TestADisruptionThatDidNotHappen(t *testing.T) {
	t.Parallel()
	l := disruptedBench{schedule: halfSecondSchedule(target.Kill, 3, 30)}.run(t).Report
	require.Len(t, l.Disruptions.List, 2)
	assert.Empty(t, l.Disruptions.List[0].Failure)
	assert.Contains(t, l.Disruptions.List[1].Failure, "the load ended before")
	require.Len(t, l.Validity.Reasons, 1)
	assert.Equal(t, "1 disruption of 2 did not happen as planned", l.Validity.Reasons[0].Description)
	code, words := l.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitInconclusive, code, words)
}

// halfSecondSchedule returns a schedule with an action at some seconds, for half a second each.
func halfSecondSchedule(action target.Action, at ...int) (schedule []disrupt.Disruption) {
	for _, s := range at {
		d := disrupt.Disruption{Action: action, At: time.Duration(s) * second}
		if action != target.Reset {
			d.Length = 500 * ms
		}
		schedule = append(schedule, d)
	}
	return schedule
}

// sample skips a test that is not one of these, unless all are wanted: in virtual time a drain that waits for
// reservations takes as much processor time as a load.
func sample(t *testing.T, name string, quick ...string) {
	t.Helper()
	if !golden.IsSlow() && !slices.Contains(quick, name) {
		t.Skip("with FWP_SLOW=1")
	}
}

// A server whose store outlives its stops loses nothing, and every job in doubt is resolved.
func TestStoresThatOutliveStopsLoseNothing(t *testing.T) {
	t.Parallel()
	for _, action := range []target.Action{target.Kill, target.Restart} {
		t.Run(string(action), func(t *testing.T) {
			t.Parallel()
			l := disruptedBench{schedule: halfSecondSchedule(action, 5, 10, 15)}.run(t).Report
			d := l.Disruptions
			require.NotNil(t, d)
			code, words := l.Outcome(reports.ExitOptions{}).Values()
			assert.Equal(t, reports.ExitWell, code, words)
			assert.Empty(t, l.Findings)
			assert.True(t, l.Jobs.IsDrained)
			assert.True(t, d.IsResolved)
			assert.Zero(t, l.Jobs.LostJobs+l.Jobs.Duplicated+l.Jobs.Missing+l.Jobs.InDoubt)
			assert.EqualValues(t, 40, l.Jobs.Pushed+d.PushesInDoubt)
			require.Len(t, d.List, 3)
			for i, row := range d.List {
				assert.Equal(t, string(action), row.Action)
				assert.InDelta(t, 5*(i+1), row.At.Seconds(), 1)
				assert.Equal(t, 500*ms, row.Took)
				assert.GreaterOrEqual(t, row.FirstServed, time.Duration(0))
				assert.Less(t, row.FirstServed, 2*second)
				assert.GreaterOrEqual(t, row.RateBack, time.Duration(0))
				assert.Greater(t, row.LongestDelivery, 400*ms, "it waited for the server")
			}
		})
	}
}

// What only a stop can have caused is counted; what no stop excuses, or an orderly one must not do, is a finding.
func TestBugsThatStopsBringOut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		action target.Action
		bug    bug
		code   int
		finds  results.FindingKind // empty: nothing
		counts func(*results.LoadDisruptions) int64
	}{
		"kill, forgets": {target.Kill, loseJobs, reports.ExitWell, "",
			func(d *results.LoadDisruptions) int64 { return d.LostByKill }},
		"kill, returns acked": {target.Kill, requeueAcked, reports.ExitWell, "",
			func(d *results.LoadDisruptions) int64 { return d.ReturnedByStop }},
		"kill, frees held": {target.Kill, requeueReserved, reports.ExitWell, "",
			func(d *results.LoadDisruptions) int64 { return d.DuplicatedByStop }},
		"restart, forgets": {target.Restart, loseJobs, reports.ExitWell, results.FindingLostByRestart,
			func(d *results.LoadDisruptions) int64 { return d.LostByRestart }},
		"restart, returns acked": {target.Restart, requeueAcked, reports.ExitWell, "",
			func(d *results.LoadDisruptions) int64 { return d.ReturnedByStop }},
		"reset, forgets":       {target.Reset, loseJobs, reports.ExitLoss, results.FindingLost, nil},
		"reset, returns acked": {target.Reset, requeueAcked, reports.ExitLoss, results.FindingReturned, nil},
		"reset, frees held":    {target.Reset, requeueReserved, reports.ExitLoss, results.FindingDuplicated, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sample(t, name, "kill, forgets", "reset, frees held")
			l := disruptedBench{schedule: halfSecondSchedule(test.action, 5, 10), bug: test.bug}.run(t).Report
			code, words := l.Outcome(reports.ExitOptions{}).Values()
			assert.Equal(t, test.code, code, words)
			assert.True(t, l.Disruptions.IsResolved)
			assert.Zero(t, l.Jobs.InDoubt)
			if test.counts != nil {
				assert.Positive(t, test.counts(l.Disruptions))
			} else {
				assert.Zero(t, l.Disruptions.LostByKill+l.Disruptions.LostByRestart+l.Disruptions.DuplicatedByStop+
					l.Disruptions.ReturnedByStop, "no stop excuses it")
			}
			if test.finds == "" {
				assert.Empty(t, l.Findings, "no clause promises more")
				assert.Contains(t, words, "by ")
				return
			}
			f := finding(t, l, test.finds)
			assert.NotEmpty(t, f.Clause)
			assert.Equal(t, test.code == reports.ExitWell, f.Level == reports.LevelShould, "%s of %s", f.Level, f.Clause)
			requireOwnJIDs(t, f.JIDs)
		})
	}
}

func TestDisruptionsThatCannotBeDone(t *testing.T) {
	t.Parallel()
	l := disruptedBench{schedule: halfSecondSchedule(target.Fill, 5)}.run(t).Report
	code, words := l.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitInconclusive, code, words)
	require.Len(t, l.Disruptions.List, 1)
	assert.Equal(t, "skipped: this machine does not allow it", l.Disruptions.List[0].Failure)
}

// brokenTarget cannot start its server again.
type brokenTarget struct{ disrupt.Target }

func (b brokenTarget) Begin(ctx context.Context, d disrupt.Disruption) (func(context.Context) error, error) {
	_, err := b.Target.Begin(ctx, d)
	return func(context.Context) error { return errors.New("it ended (exit status 1)") }, err
}

func TestServersThatDoNotComeBack(t *testing.T) {
	t.Parallel()
	l := disruptedBench{schedule: halfSecondSchedule(target.Kill, 2), change: func(c *load.Config) {
		c.Disrupt = brokenTarget{c.Disrupt}
	}}.run(t).Report
	code, _ := l.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitUnreachable, code)
	assert.NotEmpty(t, l.GoneReason)
	assert.Equal(t, "it ended (exit status 1)", l.Disruptions.List[0].Failure)
}

// A history of a disrupted run has the stops, and is judged with them.
func TestHistoriesOverStops(t *testing.T) {
	t.Parallel()
	recorded := func(c *load.Config) { c.RecordHistory = true }
	for name, test := range map[string]struct {
		action target.Action
		bug    bug
		breach string // empty: nothing is found
	}{
		"kept over kills":    {target.Kill, nil, ""},
		"kept over restarts": {target.Restart, nil, ""},
		"lost by kills":      {target.Kill, loseJobs, ""},
		"lost by restarts":   {target.Restart, loseJobs, "lost-by-restart"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sample(t, name, "lost by restarts")
			result := disruptedBench{schedule: halfSecondSchedule(test.action, 5, 10), change: recorded, bug: test.bug}.run(t)
			stops := 0
			for _, e := range result.History.Events {
				if word := e.Op.String(); word == "restart" || word == "kill" {
					assert.True(t, strings.HasPrefix(word, string(test.action)))
					assert.Equal(t, 500*ms, e.Return-e.Call)
					stops++
				}
			}
			assert.Equal(t, 2, stops)
			var breaches []string
			for _, f := range result.Examination.Findings {
				breaches = append(breaches, string(f.Breach))
			}
			if test.breach == "" {
				assert.Empty(t, breaches)
			} else {
				assert.Contains(t, breaches, test.breach)
			}
		})
	}
}

// A job whose ACK was refused has to come back, unless a stop explains that it does not.
func TestJobsWhoseAckIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		schedule []disrupt.Disruption
		forgets  bool // the job with the ACK that is refused
		retry    int
		finds    bool
	}{
		"kept":                          {halfSecondSchedule(target.Fill, 1), false, 25, false},
		"forgotten":                     {halfSecondSchedule(target.Fill, 1), true, 25, true},
		"without retries":               {halfSecondSchedule(target.Fill, 1), true, 0, false},
		"forgotten, and then a restart": {halfSecondSchedule(target.Restart, 18), true, 25, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var acks atomic.Int64
			sample(t, name, "forgotten")
			retry := func(c *load.Config) { c.Workload.Retry = &test.retry }
			l := disruptedBench{schedule: test.schedule, change: retry, bug: func(*fakeTarget) func(*fakes.Event) {
				return func(e *fakes.Event) {
					if e.Command.Verb != fwp.ACK {
						return
					}
					switch n := acks.Load(); {
					case e.Point == fakes.Checked && acks.Add(1) <= 3 && !test.forgets:
						e.Err, e.Skip = &fakes.Refusal{Text: "no"}, true
					case e.Point == fakes.Ran && n <= 3 && test.forgets:
						e.Err, e.Reply = &fakes.Refusal{Text: "no"}, fwp.Reply{Kind: fwp.ErrorReply, Text: []byte("ERR no")}
					}
				}
			}}.run(t).Report
			require.True(t, l.Disruptions.IsResolved)
			if !test.finds {
				assert.Empty(t, l.Findings)
				return
			}
			f := finding(t, l, results.FindingNotReturned)
			assert.EqualValues(t, 3, f.Count)
			assert.Equal(t, "FWP-STATE-07", f.Clause)
			requireOwnJIDs(t, f.JIDs)
		})
	}
}

// nopTarget is a target to which nothing is done.
type nopTarget struct{}

func (nopTarget) Begin(context.Context, disrupt.Disruption) (func(context.Context) error, error) {
	return func(context.Context) error { return nil }, nil
}

// inFirstPart calls a hook in the first part of a load only.
func inFirstPart(hook func(*fakes.Event)) func(*fakes.Event) {
	var once sync.Once
	var began time.Time
	return func(e *fakes.Event) {
		once.Do(func() { began = time.Now() })
		if time.Since(began) < golden.Sample(20*second, 3*time.Minute) {
			hook(e)
		}
	}
}

// While a disruption goes on nothing is late, missing or closed without a cause: what would be a finding is none.
func TestADisruptionExplainsWhatConnectionsMeetWith(t *testing.T) {
	t.Parallel()
	var wasSilent atomic.Bool
	silent := func(e *fakes.Event) { // one PUSH gets no reply
		if e.Point == fakes.Writing && e.Command.Verb == fwp.PUSH && wasSilent.CompareAndSwap(false, true) {
			e.Bytes = nil
		}
	}
	for name, test := range map[string]struct {
		hook   func(*fakes.Event)
		change func(*plan.Workload)
	}{
		"a late FETCH": {inFirstPart(findBug(t, "fetch-blocks-long").Hook()), func(w *plan.Workload) {
			w.Rate, w.Consumers = 3, 20
		}},
		"a PUSH without a reply": {silent, func(*plan.Workload) {}},
		"a closed worker": {inFirstPart(findBug(t, "consumer-idle-closed").Hook()), func(w *plan.Workload) {
			w.Rate, w.Work = 0.2, plan.Range{Min: 90 * second, Max: 90 * second}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sample(t, name, "a late FETCH")
			w := steadyLoad()
			w.Rate, w.Consumers, w.Duration = 2, 3, golden.Sample(plan.Duration(30*second), plan.Duration(200*second))
			test.change(&w)
			l := bench{server: fakes.Config{Hook: test.hook}, load: w, change: func(c *load.Config) {
				c.Schedule, c.Disrupt = []disrupt.Disruption{{Action: target.Slow, Length: time.Hour}}, nopTarget{}
			}}.run(t)
			for _, kind := range kinds(l) {
				assert.NotContains(t, []results.FindingKind{
					results.FindingOverdue, results.FindingUnanswered, results.FindingClosed,
				}, kind)
			}
		})
	}
}

// Clients that lose their connection come back with the same worker id, and push nothing twice.
func TestClientsAfterADisruption(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	greeted, pushes := map[string]int{}, map[string]int{}
	l := disruptedBench{schedule: halfSecondSchedule(target.Kill, 5, 10, 15), bug: func(*fakeTarget) func(*fakes.Event) {
		return func(e *fakes.Event) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case e.Point == fakes.Parsed && e.Command.Verb == fwp.PUSH:
				pushes[string(e.Command.Args)]++
			case e.Point == fakes.Checked && e.Command.Verb == fwp.HELLO:
				greeted[e.Object.Text("wid")]++
			}
		}
	}}.run(t).Report
	assert.Equal(t, reports.ExitWell, exitOf(l))
	assert.Len(t, greeted, 12+1, "the workers, and the producers together")
	for wid, times := range greeted {
		assert.GreaterOrEqual(t, times, 4, "worker %q, at first and after each disruption", wid)
	}
	for job, times := range pushes {
		assert.Equal(t, 1, times, job)
	}
}

func exitOf(l *results.Load) int {
	code, _ := l.Outcome(reports.ExitOptions{}).Values()
	return code
}
