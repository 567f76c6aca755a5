package run_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// mortalTarget is a server that ends at deadly commands, and lets no connection in until it is restarted, or for good.
type mortalTarget struct {
	memoryTarget
	dead     atomic.Bool
	restarts atomic.Int64
}

func (m *mortalTarget) Restart(context.Context) error {
	m.restarts.Add(1)
	m.dead.Store(false)
	return nil
}

func (m *mortalTarget) ended() (how string, output []string, ended bool) {
	if !m.dead.Load() {
		return "", nil, false
	}
	return "exit status 2", []string{"panic: a nil map", "goroutine 7"}, true
}

// hook ends each connection at once when the server ends, and refuses new ones.
func (m *mortalTarget) hook(deadly func(*fakes.Event) bool) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Point == fakes.Parsed && deadly(e) {
			m.dead.Store(true)
		}
		if (e.Point == fakes.Writing || e.Point == fakes.Accepted) && m.dead.Load() {
			e.Bytes, e.Close, e.Skip = nil, true, true
		}
	}
}

// runMortal runs scripts on a server that ends at deadly commands.
func runMortal(
	t *testing.T, deadly func(*fakes.Event) bool, restart bool, sources map[string]string,
	look func(*reports.Report, *mortalTarget),
) {
	t.Helper()
	all := scripts(t, sources)
	synctest.Test(t, func(t *testing.T) {
		m := &mortalTarget{memoryTarget: *newTarget()}
		server := fakes.NewServer(fakes.Config{Hook: m.hook(deadly), Listen: m.Listen})
		defer server.Close()
		offers := []scenarios.Need{scenarios.NeedOpen}
		if restart {
			offers = append(offers, scenarios.NeedRestart)
		}
		runner := runnerOn(run.Server{Target: m, Offers: offers, Ended: m.ended}, all)
		runner.Provide = map[scenarios.Need]string{scenarios.NeedRestart: "give --restart-cmd COMMAND"}
		runner.Reproduce = func(check string) string { return "play " + check }
		look(runner.Run(t.Context()), m)
	})
}

// bareFail reports whether a command is the one that many servers do not survive.
func bareFail(e *fakes.Event) bool { return e.Command.Verb == "FAIL" && len(e.Command.Args) == 0 }

const (
	deadlyScript = "connect as consumer\nsilence 1s\nclause FWP-FAIL-02\nC bad: FAIL\nS: -\n"
	hostileTwin  = "connect as consumer\nsilence 900ms\nclause FWP-ACK-03\nC bad: ACK\nS: -\nsilence 3s\n"
	waitingTwin  = "connect as consumer\nC: FETCH $queue\nclause FWP-RESP-04\nS: $-1\nC bad: ACK {\nS: -\n"
)

func verdictsOf(r *reports.Report) map[string]string {
	all := map[string]string{}
	for _, c := range r.Checks {
		all[c.ID] = c.Verdict.String()
	}
	return all
}

func TestACrashIsConfirmedByARestart(t *testing.T) {
	t.Parallel()
	checks := copies(5, "waits", waitingTwin)
	checks["deadly"], checks["hostile"], checks["fine"] = deadlyScript, hostileTwin, beating
	runMortal(t, bareFail, true, checks, func(r *reports.Report, m *mortalTarget) {
		want := map[string]string{"deadly": "crash", "hostile": "pass", "fine": "pass"}
		for i := range 5 {
			want[fmt.Sprintf("waits%02d", i)] = "pass"
		}
		assert.Equal(t, want, verdictsOf(r), "after the restart the run went on")
		require.Len(t, r.Findings(), 1)
		assert.Equal(t, "FWP-FAIL-02", r.Findings()[0].Clause)
		assert.EqualValues(t, 2, m.restarts.Load(), "before the first candidate, and after its crash")
	})
}

func TestWithoutARestartACrashBlamesNoClause(t *testing.T) {
	t.Parallel()
	checks := map[string]string{"deadly": deadlyScript, "hostile": hostileTwin, "waits": waitingTwin, "fine": beating}
	runMortal(t, bareFail, false, checks, func(r *reports.Report, _ *mortalTarget) {
		assert.Equal(t, map[string]string{
			"deadly": "inconclusive", "hostile": "pass", "waits": "inconclusive", "fine": "pass",
			run.CrashCheck: "crash",
		}, verdictsOf(r))
		require.Len(t, r.Findings(), 1)
		f := r.Findings()[0]
		assert.Empty(t, f.Clause)
		assert.Regexp(t, `(?s)deadly: C: FAIL\n  hostile: C: ACK\n  waits: C: FETCH.*--restart-cmd`, f.Actual)
		assert.Equal(t, "play deadly", f.Reproduce)
		assert.Equal(t, reports.ExitFindings, r.ExitCode(reports.ExitOptions{}))
	})
}

func TestACrashThatNoCandidateRepeatsIsOfNone(t *testing.T) {
	t.Parallel()
	var fails atomic.Int64
	once := func(e *fakes.Event) bool { return bareFail(e) && fails.Add(1) == 1 }
	checks := map[string]string{"deadly": deadlyScript, "hostile": hostileTwin}
	runMortal(t, once, true, checks, func(r *reports.Report, _ *mortalTarget) {
		assert.Equal(t, map[string]string{
			"deadly": "pass", "hostile": "pass", run.CrashCheck: "crash"}, verdictsOf(r))
		require.Len(t, r.Findings(), 1)
		assert.Contains(t, r.Findings()[0].Actual, "played again, each alone, and the server survived")
		assert.NotContains(t, r.Findings()[0].Actual, "To find out")
	})
}

func TestACheckThatIsAloneIsTheCrash(t *testing.T) {
	t.Parallel()
	checks := map[string]string{"deadly": deadlyScript, "fine": beating}
	runMortal(t, bareFail, false, checks, func(r *reports.Report, _ *mortalTarget) {
		assert.Equal(t, map[string]string{"deadly": "crash", "fine": "pass"}, verdictsOf(r))
	})
}

func TestAServerThatEndsOfEverythingEndsTheRun(t *testing.T) {
	t.Parallel()
	all := copies(40, "deadly", deadlyScript)
	runMortal(t, bareFail, true, all, func(r *reports.Report, m *mortalTarget) {
		crashes := 0
		for _, c := range r.Checks {
			crashes += bit(c.Verdict == reports.Crash)
		}
		assert.GreaterOrEqual(t, crashes, 5)
		assert.Less(t, m.restarts.Load(), int64(30))
		assert.Less(t, r.Took, 10*time.Minute)
	})
}

// A server that is killed and back soon has broken no clause: what was under way is played again.
func TestAServerThatIsBackSoonBreaksNoClause(t *testing.T) {
	t.Parallel()
	all := scripts(t, copies(5, "waits", "connect as consumer\nC: FETCH $queue\nclause FWP-RESP-04\nS: $-1\n"))
	synctest.Test(t, func(t *testing.T) {
		m := &mortalTarget{memoryTarget: *newTarget()}
		m.down = m.dead.Load
		server := fakes.NewServer(fakes.Config{Listen: m.Listen})
		defer server.Close()
		go func() {
			time.Sleep(time.Second)
			m.dead.Store(true)
			_ = server.Kill()
			time.Sleep(2 * time.Second)
			m.dead.Store(false)
		}()
		r := runnerOn(run.Server{Target: m}, all).Run(t.Context())
		assert.Empty(t, r.Findings())
		for _, c := range r.Checks {
			if c.ID != run.CrashCheck {
				assert.Equal(t, reports.Pass, c.Verdict, "%s: %s", c.ID, c.Why)
				continue
			}
			assert.Equal(t, reports.Inconclusive, c.Verdict)
			assert.Contains(t, c.Why, "the server was unreachable from 00:00:01.0")
		}
		assert.Len(t, r.Checks, 6)
	})
}

// A finding of a crash has how the process ended, and what it printed last.
func TestACrashShowsWhatTheProcessPrintedLast(t *testing.T) {
	t.Parallel()
	const words = "the process of the server ended: exit status 2; its last output:\n  panic: a nil map\n  goroutine 7"
	for name, sources := range map[string]map[string]string{
		"one candidate": {"a": deadlyScript}, "several": {"a": deadlyScript, "b": hostileTwin},
	} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprint(name, restart), func(t *testing.T) {
				t.Parallel()
				runMortal(t, bareFail, restart, sources, func(r *reports.Report, _ *mortalTarget) {
					found := 0
					for _, c := range r.Checks {
						for _, f := range c.Findings {
							if f.Verdict == reports.Crash {
								assert.Contains(t, f.Actual, words)
								if f.Clause == "" {
									assert.Contains(t, f.Statement, "the server died, perhaps after FAIL in a (exit status 2: panic: a nil map)")
								}
								found++
							}
						}
					}
					assert.Equal(t, 1, found)
				})
			})
		}
	}
}

// The candidates of all crashes together are played again for a limited time: a server that dies of chance does not
// make a run many times as long.
func TestCandidatesArePlayedAgainForALimitedTime(t *testing.T) {
	t.Parallel()
	sources, once := map[string]string{}, new(atomic.Bool)
	for i := range 10 {
		sources[fmt.Sprint("slow", i)] = "connect as consumer\nclause FWP-ACK-03\nsilence 1s\nC bad: ACK\nS: -\nsilence 50s\n"
	}
	deadly := func(e *fakes.Event) bool { return e.Command.Verb == "ACK" && once.CompareAndSwap(false, true) }
	runMortal(t, deadly, true, sources, func(r *reports.Report, _ *mortalTarget) {
		assert.Less(t, r.Took, 2*time.Minute+3*51*time.Second, "two minutes alone, and twice beside each other")
		for _, c := range r.Checks {
			if c.ID == run.CrashCheck {
				assert.Equal(t, reports.Crash, c.Verdict)
				continue
			}
			assert.Equal(t, reports.Pass, c.Verdict, c.ID)
		}
	})
}
