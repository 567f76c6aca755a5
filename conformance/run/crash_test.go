package run_test

import (
	"bytes"
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
	isDead   atomic.Bool
	restarts atomic.Int64
}

func (m *mortalTarget) Restart(context.Context) error {
	m.restarts.Add(1)
	m.isDead.Store(false)
	return nil
}

func (m *mortalTarget) ended() (ending string, output []string, hasEnded bool) {
	if !m.isDead.Load() {
		return "", nil, false
	}
	return "exit status 2", []string{"panic: a nil map", "goroutine 7"}, true
}

// hook ends each connection at once when the server ends, and refuses new ones.
func (m *mortalTarget) hook(deadly func(*fakes.Event) bool) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Point == fakes.Parsed && deadly(e) {
			m.isDead.Store(true)
		}
		if (e.Point == fakes.Writing || e.Point == fakes.Accepted) && m.isDead.Load() {
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

// isBareFail reports whether a command is the one that many servers do not survive.
func isBareFail(e *fakes.Event) bool { return e.Command.Verb == "FAIL" && len(e.Command.Args) == 0 }

// isDeadly reports whether a command is the one by which the quiet check deadly ends its server.
func isDeadly(e *fakes.Event) bool { return bytes.Contains(e.Line, []byte("rss_kb")) }

const (
	hostileDeadly = "connect as consumer\nsilence 1s\nclause FWP-FAIL-02\nC bad: FAIL\nS: -\n"
	hostileTwin   = "connect as consumer\nsilence 900ms\nclause FWP-ACK-03\nC bad: ACK\nS: -\nsilence 3s\n"
	deadlyLast    = "connect as consumer\nclause FWP-RESP-05\nsilence 1s\nC bad: FAIL\n"
	deadlyScript  = "connect as consumer\nsilence 1s\nclause FWP-BEAT-01\n" +
		"C: BEAT {\"wid\":\"$wid\",\"rss_kb\":7}\nS: +OK\n"
	waitingTwin = "connect as consumer\nC: FETCH $queue\nclause FWP-RESP-04\nS: $-1\nC: FETCH $queue\nS: $-1\n"
)

func verdictsOf(r *reports.Report) map[string]string {
	all := map[string]string{}
	for _, c := range r.Checks {
		all[c.ID] = c.Verdict.String()
	}
	return all
}

// Hostile checks are played one at a time: who ran has ended the server, also one that its last line ends.
func TestAHostileCheckThatEndsItsServerIsTheCrash(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{"amid": hostileDeadly, "at its end": deadlyLast} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checks := map[string]string{"deadly": source, "hostile": hostileTwin, "waits": waitingTwin}
			runMortal(t, isBareFail, true, checks, func(r *reports.Report, m *mortalTarget) {
				assert.Equal(t, map[string]string{"deadly": "crash", "hostile": "pass", "waits": "pass"}, verdictsOf(r))
				assert.LessOrEqual(t, m.restarts.Load(), int64(1), "before the next one, if there is one")
			})
			runMortal(t, isBareFail, false, map[string]string{"deadly": source, "waits": waitingTwin},
				func(r *reports.Report, _ *mortalTarget) {
					assert.Equal(t, map[string]string{"deadly": "crash", "waits": "pass"}, verdictsOf(r))
				})
		})
	}
}

func TestACrashIsConfirmedByARestart(t *testing.T) {
	t.Parallel()
	checks := copies(5, "waits", waitingTwin)
	checks["deadly"], checks["fine"] = deadlyScript, beating
	runMortal(t, isDeadly, true, checks, func(r *reports.Report, m *mortalTarget) {
		want := map[string]string{"deadly": "crash", "fine": "pass"}
		for i := range 5 {
			want[fmt.Sprintf("waits%02d", i)] = "pass"
		}
		assert.Equal(t, want, verdictsOf(r), "after the restart the run went on")
		require.Len(t, r.Findings(), 1)
		assert.Equal(t, "FWP-BEAT-01", r.Findings()[0].Clause)
		assert.LessOrEqual(t, m.restarts.Load(), int64(2), "before the first one alone, and after its crash")
	})
}

func TestWithoutARestartACrashNamesWhatRan(t *testing.T) {
	t.Parallel()
	checks := map[string]string{"deadly": deadlyScript, "waits": waitingTwin, "fine": beating}
	runMortal(t, isDeadly, false, checks, func(r *reports.Report, _ *mortalTarget) {
		assert.Equal(t, map[string]string{
			"deadly": "inconclusive", "waits": "inconclusive", "fine": "pass", run.CrashCheck: "crash",
		}, verdictsOf(r))
		require.Len(t, r.Findings(), 1)
		f := r.Findings()[0]
		assert.Empty(t, f.Clause)
		assert.Regexp(t, `(?s)it ended while these checks ran:\n  deadly\n  waits\n.*give --restart-cmd COMMAND`, f.Actual)
		assert.Equal(t, reports.ExitFindings, r.ExitCode(reports.ExitOptions{}))
	})
}

func TestACrashThatNoneRepeatsIsOneOfThese(t *testing.T) {
	t.Parallel()
	var times atomic.Int64
	isFirst := func(e *fakes.Event) bool { return isDeadly(e) && times.Add(1) == 1 }
	runMortal(t, isFirst, true, map[string]string{"deadly": deadlyScript, "waits": waitingTwin},
		func(r *reports.Report, _ *mortalTarget) {
			assert.Equal(t, map[string]string{"deadly": "pass", "waits": "pass", run.CrashCheck: "crash"}, verdictsOf(r))
			require.Len(t, r.Findings(), 1)
			assert.Contains(t, r.Findings()[0].Actual,
				"these checks ran:\n  deadly\n  waits\neach was played again, alone, and none")
		})
}

func TestAServerThatEndsOfEverythingEndsTheRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		source string
		deadly func(*fakes.Event) bool
	}{"quiet": {deadlyScript, isDeadly}, "hostile": {hostileDeadly, isBareFail}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runMortal(t, test.deadly, true, copies(40, "deadly", test.source), func(r *reports.Report, m *mortalTarget) {
				crashes := 0
				for _, c := range r.Checks {
					crashes += bit(c.Verdict == reports.Crash)
				}
				assert.GreaterOrEqual(t, crashes, 5)
				assert.Less(t, m.restarts.Load(), int64(60))
				assert.Less(t, r.Took, 10*time.Minute)
			})
		})
	}
}

// A server that is killed and back soon has broken no clause: what was under way is played again.
func TestAServerThatIsBackSoonBreaksNoClause(t *testing.T) {
	t.Parallel()
	all := scripts(t, copies(5, "waits", "connect as consumer\nC: FETCH $queue\nclause FWP-RESP-04\nS: $-1\n"))
	synctest.Test(t, func(t *testing.T) {
		m := &mortalTarget{memoryTarget: *newTarget()}
		m.isDown = m.isDead.Load
		server := fakes.NewServer(fakes.Config{Listen: m.Listen})
		defer server.Close()
		go func() {
			time.Sleep(time.Second)
			m.isDead.Store(true)
			_ = server.Kill()
			time.Sleep(2 * time.Second)
			m.isDead.Store(false)
		}()
		r := runnerOn(run.Server{Target: m}, all).Run(t.Context())
		assert.Empty(t, r.Findings())
		for _, c := range r.Checks {
			if c.ID != run.CrashCheck {
				assert.Equal(t, reports.Pass, c.Verdict, "%s: %s", c.ID, c.Cause)
				continue
			}
			assert.Equal(t, reports.Inconclusive, c.Verdict)
			assert.Contains(t, c.Cause, "the server was unreachable from 00:00:01.0")
		}
		assert.Len(t, r.Checks, 6)
	})
}

// A finding of a crash has how the process ended, and what it printed last.
func TestACrashShowsWhatTheProcessPrintedLast(t *testing.T) {
	t.Parallel()
	const words = "the process of the server ended: exit status 2; its last output:\n  panic: a nil map\n  goroutine 7"
	for name, sources := range map[string]map[string]string{
		"one": {"a": deadlyScript}, "several": {"a": deadlyScript, "b": waitingTwin},
	} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprint(name, restart), func(t *testing.T) {
				t.Parallel()
				runMortal(t, isDeadly, restart, sources, func(r *reports.Report, _ *mortalTarget) {
					found := 0
					for _, c := range r.Checks {
						for _, f := range c.Findings {
							if f.Verdict == reports.Crash {
								assert.Contains(t, f.Actual, words)
								assert.Equal(t, "panic: a nil map", f.Death)
								if f.Clause == "" {
									assert.Contains(t, f.Statement, "the server died (exit status 2: panic: a nil map)")
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

// The checks of all crashes together are played again for a limited time: a server that dies of chance does not make a
// run many times as long.
func TestChecksOfACrashArePlayedAgainForALimitedTime(t *testing.T) {
	t.Parallel()
	hasEnded := new(atomic.Bool)
	deadly := func(e *fakes.Event) bool { return isDeadly(e) && hasEnded.CompareAndSwap(false, true) }
	sources := copies(10, "slow", deadlyScript+"silence 50s\n")
	runMortal(t, deadly, true, sources, func(r *reports.Report, _ *mortalTarget) {
		assert.Less(t, r.Took, 2*time.Minute+3*51*time.Second, "two minutes alone, and twice beside each other")
		for _, c := range r.Checks {
			want := reports.Pass
			if c.ID == run.CrashCheck {
				want = reports.Crash
			}
			assert.Equal(t, want, c.Verdict, c.ID)
		}
	})
}
