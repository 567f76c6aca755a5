package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// copies returns the same script under several names.
func copies(n int, name, source string) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprintf("%s%02d", name, i)] = source
	}
	return all
}

const sleeping = "waits: 10s\nconnect as consumer\nclause FWP-RESP-05\nsilence 10s\n"

func TestShortChecksDoNotWaitForSleepers(t *testing.T) {
	t.Parallel()
	checks := copies(30, "sleeps", sleeping)
	checks["short"] = beating
	var order []string
	runScripts(t, nil, checks, func(r *reports.Report) {
		assert.Less(t, r.Took, 11*time.Second)
		assert.Equal(t, "short", order[0])
		assert.Equal(t, "short", r.Checks[0].ID)
		assert.Less(t, r.Checks[0].Took, time.Second)
	}, func(r *run.Runner, _ *memoryTarget) {
		r.Progress = func(_, _ int, check string) { order = append(order, check) }
	})
}

func TestParallelIsALimit(t *testing.T) {
	t.Parallel()
	runScripts(t, nil, copies(6, "sleeps", sleeping), func(r *reports.Report) {
		assert.GreaterOrEqual(t, r.Took, 30*time.Second)
	}, func(r *run.Runner, _ *memoryTarget) { r.Parallel = 2 })
}

func TestLongWaitsBeginFirst(t *testing.T) {
	t.Parallel()
	all := scripts(t, map[string]string{
		"a": beating, "b": sleeping, "c": "waits: 20s\nconnect as consumer\nsilence 20s\n", "d": "needs: flush\n" + sleeping,
	})
	var order []string
	runOnPool(t, fakes.Config{}, all, func(r *run.Runner) {
		r.Parallel = 1
		r.Progress = func(_, _ int, check string) { order = append(order, check) }
		for i := range r.Servers {
			r.Servers[i].StartServer = nil
		}
	}, func(*reports.Report) {
		assert.Equal(t, []string{"c", "b", "a", "d"}, order)
	})
}

// watching records which checks are played at the same time.
type watching struct {
	mu      sync.Mutex
	running map[string]int
	pairs   map[string]bool // "a b"
}

func (w *watching) watch(check string, line reports.Line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case strings.Contains(line.Text, "BEGIN"):
		for other := range w.running {
			w.pairs[other+" "+check], w.pairs[check+" "+other] = true, true
		}
		w.running[check]++
	case strings.Contains(line.Text, "DONE"):
		delete(w.running, check)
	}
}

func TestSharingOfServers(t *testing.T) {
	t.Parallel()
	const body = "connect as consumer\nC: PUSH $job{\"jobtype\":\"BEGIN\"}\nS: +OK\nsilence 2s\n" +
		"C: FETCH $queue\nS: ${\"jid\":\"$jid\"}\n" +
		"C: ACK {\"jid\":\"$jid\"}\nS: +OK\nC: PUSH $job{\"jid\":\"$jid2\",\"jobtype\":\"DONE\"}\nS: +OK\n"
	all := scripts(t, map[string]string{
		"plain1": body, "plain2": body, "default1": "needs: alone\n" + body, "default2": "needs: alone\n" + body,
		"counts": "needs: alone\n" + body + "C: INFO\nS: $\n", "flush": "needs: flush\n" + body,
		"crowd": body + crowded, "asks": body + "C: INFO\nS: $\n",
	})
	sharing := [][2]string{{"plain1", "plain2"}, {"plain1", "default1"}, {"plain2", "default2"}}
	separate := [][2]string{
		{"default1", "default2"}, {"counts", "plain1"}, {"counts", "default2"}, {"counts", "flush"}, {"flush", "plain2"},
		{"crowd", "plain1"}, {"crowd", "default1"}, {"crowd", "flush"}, {"crowd", "asks"},
	}
	for name, startsServers := range map[string]bool{"a server of the user's": false, "servers of our own": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &watching{running: map[string]int{}, pairs: map[string]bool{}}
			runOnPool(t, fakes.Config{}, all, func(r *run.Runner) {
				r.WatchLine = w.watch
				for i := range r.Servers {
					if !startsServers {
						r.Servers[i].StartServer = nil
					}
				}
			}, func(r *reports.Report) {
				for _, c := range r.Checks {
					assert.Equal(t, reports.Pass, c.Verdict, "%s: %s", c.ID, c.Cause)
				}
				assert.Equal(t, startsServers, r.Took < 9*time.Second) // of which 5 s are until queues are asked once more
			})
			for _, pair := range sharing {
				assert.True(t, w.pairs[pair[0]+" "+pair[1]], "%v at the same time", pair)
			}
			for _, pair := range separate {
				assert.Equal(t, startsServers, w.pairs[pair[0]+" "+pair[1]], "%v at the same time", pair)
			}
		})
	}
}

// crowded is what a check sends that asks for everything on the server while queues come into being there.
const crowded = "repeat 24 by 12 consumers\nC: PUSH $job{\"queue\":\"$queue#\"}\nS: +OK\n" +
	"clause FWP-INFO-01\nC: INFO\nS: $\n" +
	"setup\nC: FETCH $queue#\nS: ${\"jid\":\"$jid#\"}\nC: ACK {\"jid\":\"$jid#\"}\nS: +OK\nend\n"

// TestTheCrowdThatEndsAServerIsTheOneBlamed plays checks on a server that ends if INFO comes at the moment in which
// another connection makes a queue: the check that does both has the finding, and no other one sees it.
func TestTheCrowdThatEndsAServerIsTheOneBlamed(t *testing.T) {
	t.Parallel()
	var hasEnded atomic.Bool
	var mu sync.Mutex
	pushTimes := map[int64]time.Time{} // when a connection pushed last
	hook := func(e *fakes.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Point == fakes.Defaulted:
			pushTimes[e.Conn.ID] = time.Now()
		case e.Point == fakes.Checked && e.Command.Verb == "INFO":
			for other, at := range pushTimes {
				if other != e.Conn.ID && time.Since(at) < 50*time.Millisecond {
					hasEnded.Store(true)
				}
			}
		}
		if e.Point == fakes.Writing {
			e.Delay += time.Millisecond // where nothing takes time, nothing is before the end of the server
			if hasEnded.Load() {
				e.Bytes, e.Close = nil, true
			}
		}
	}
	checks := copies(6, "plain", "connect as consumer\nclause FWP-PUSH-01\nC: PUSH $job\nS: +OK\n"+
		"C: FETCH $queue\nS: ${\"jid\":\"$jid\"}\nsetup\nC: ACK {\"jid\":\"$jid\"}\nS: +OK\n")
	checks["crowd"] = crowded
	runScripts(t, hook, checks, func(r *reports.Report) {
		for _, c := range r.Checks {
			want := reports.Pass
			if c.ID == "crowd" {
				want = reports.Crash
			}
			assert.Equal(t, want, c.Verdict, "%s: %s", c.ID, c.Cause)
		}
	}, func(_ *run.Runner, s *memoryTarget) { s.isDown = hasEnded.Load })
}

// TestRetriesOfLagHaveABudget plays many checks that lag makes inconclusive: they are tried again for two minutes
// together, not each of them three times.
func TestRetriesOfLagHaveABudget(t *testing.T) {
	t.Parallel()
	slow, script := sluggish()
	runScripts(t, slow, copies(30, "lagged", script), func(r *reports.Report) {
		tries := 0
		for _, c := range r.Checks {
			assert.Equal(t, reports.Inconclusive, c.Verdict)
			tries += c.Attempts
		}
		assert.Greater(t, tries, 40, "some are tried again")
		assert.Less(t, tries, 60, "as many as two minutes have room for, and not 120")
		assert.Less(t, r.Took, 6*time.Minute)
	}, func(r *run.Runner, _ *memoryTarget) { r.Parallel = 1 })
}

func TestRepeatReportsFlakyChecks(t *testing.T) {
	t.Parallel()
	var beats atomic.Int32
	hook := func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == "BEAT" && beats.Add(1)%5 == 0 {
			e.Bytes = []byte("-ERR\r\n")
		}
	}
	checks := map[string]string{"a": beating, "b": "connect as producer\nclause FWP-INFO-01\nC: INFO\nS: $\n"}
	runScripts(t, hook, checks, func(r *reports.Report) {
		assert.Equal(t, 10, r.Repeat)
		require.Len(t, r.Checks, 2)
		c := r.Checks[0]
		assert.Equal(t, reports.Fail, c.Verdict)
		assert.Equal(t, []reports.Count{{Verdict: reports.Fail, Times: 2}, {Verdict: reports.Pass, Times: 8}}, c.Runs)
		assert.Equal(t, c.Runs, c.Clauses[0].Runs)
		assert.Len(t, c.Findings, 1, "one of a kind")
		assert.Equal(t, []reports.Count{{Verdict: reports.Pass, Times: 10}}, r.Checks[1].Runs)
		assert.Equal(t, reports.Fail, r.Clauses[clause(r, "FWP-BEAT-01")].Verdict)
		assert.Equal(t, "in 2 of 10 runs", r.Findings()[0].Frequency)
	}, func(r *run.Runner, _ *memoryTarget) {
		r.Repeat = 10
		r.Progress = func(done, total int, _ string) {
			assert.LessOrEqual(t, done, total)
			assert.Equal(t, 20, total)
		}
	})
}

func TestFailFast(t *testing.T) {
	t.Parallel()
	checks := copies(9, "fine", "connect as consumer\nclause FWP-INFO-01\nC: INFO\nS: $\n")
	checks["bad"], checks["sleeps"] = beating, "connect as consumer\nclause FWP-RESP-05\nsilence 1h\n"
	runScripts(t, answering("BEAT", "-ERR\r\n"), checks, func(r *reports.Report) {
		assert.Less(t, r.Took, time.Minute)
		assert.False(t, r.Interrupted)
		for _, c := range r.Checks {
			if c.Verdict == reports.NotRun {
				assert.Contains(t, c.Cause, "first finding")
			}
		}
		verdicts := verdictsOf(r)
		assert.Equal(t, reports.Fail.String(), verdicts["bad"])
		assert.Equal(t, reports.NotRun.String(), verdicts["sleeps"])
		assert.Contains(t, verdicts, "fine08")
		assert.Equal(t, reports.ExitFindings, r.ExitCode(reports.ExitOptions{}))
	}, func(r *run.Runner, _ *memoryTarget) { r.FailFast = true })
}

func TestFailFastStartsNothingMore(t *testing.T) {
	t.Parallel()
	checks := copies(40, "x", beating)
	runScripts(t, answering("BEAT", "-ERR\r\n"), checks, func(r *reports.Report) {
		var counts [2]int
		for _, c := range r.Checks {
			counts[bit(c.Verdict == reports.NotRun)]++
		}
		assert.Equal(t, [2]int{1, 39}, counts)
	}, func(r *run.Runner, _ *memoryTarget) { r.FailFast, r.Parallel = true, 1 })
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestAServerThatStopsGreetingDoesNotHoldUpTheRun(t *testing.T) {
	t.Parallel()
	var count atomic.Int32
	silent := func(e *fakes.Event) {
		if e.Point == fakes.Greeting && count.Add(1) > 10 {
			e.Skip = true
		}
	}
	runScripts(t, silent, copies(100, "x", beating), func(r *reports.Report) {
		assert.Less(t, r.Took, 5*time.Minute)
		assert.NotEqual(t, reports.ExitWell, r.ExitCode(reports.ExitOptions{}))
	})
}

func TestNothingRunsTwiceAtOnce(t *testing.T) {
	t.Parallel()
	var names sync.Map
	hook := func(e *fakes.Event) {
		if e.Point == fakes.Enqueued {
			_, loaded := names.LoadOrStore(e.Object.Text("queue"), true)
			assert.False(t, loaded, "queue %s is used twice", e.Object.Text("queue"))
		}
	}
	pushing := "connect as producer\nclause FWP-PUSH-01\nC: PUSH $job\nS: +OK\n"
	runScripts(t, hook, copies(10, "x", pushing), func(r *reports.Report) {
		assert.Equal(t, reports.ExitWell, r.ExitCode(reports.ExitOptions{}))
	}, func(r *run.Runner, _ *memoryTarget) { r.Repeat = 3 })
}

func TestAnInterruptedRunBeginsNothingMore(t *testing.T) {
	t.Parallel()
	all := scripts(t, copies(40, "x", beating))
	synctest.Test(t, func(t *testing.T) {
		pool := &serverPool{nw: memnet.New()}
		defer pool.close()
		ctx, cancel := context.WithCancel(t.Context())
		runner := pool.runner(all)
		runner.Repeat, runner.Parallel = 2, 1
		runner.Progress = func(done, _ int, _ string) {
			if done == 10 {
				cancel()
			}
		}
		r := runner.Run(ctx)
		assert.True(t, r.Interrupted)
		notRun := 0
		for _, c := range r.Checks {
			if i := slices.IndexFunc(c.Runs, func(n reports.Count) bool { return n.Verdict == reports.NotRun }); i >= 0 {
				notRun += c.Runs[i].Times
			}
		}
		assert.Equal(t, 70, notRun)
	})
}

// unproven is a check of which each play takes a minute, and which leaves open what its first play finds until a later
// one, after two that tell nothing, has found it again.
type unproven struct{ plays int }

func (u *unproven) Describe() conformance.Description {
	return conformance.Description{
		ID: "unproven", Marks: []scenarios.ClauseMark{{Clause: "FWP-BEAT-01"}}, Sharing: conformance.SharesNothing,
	}
}

func (u *unproven) Play(context.Context, conformance.Setup) conformance.Evidence {
	began := time.Now()
	u.plays++
	time.Sleep(time.Minute)
	e := conformance.Evidence{Began: began, Took: time.Since(began), HasServed: true}
	if u.plays < 3 {
		e.OpenCause, e.IsTransient, e.IsUnproven = "one play found it broken", true, true
	} else {
		e.Decisions = []conformance.Decision{{Clause: "FWP-BEAT-01", Outcome: play.Mismatched, Cause: "again"}}
	}
	return e
}

// A reply that is late once is unsteady, with the conversations of both plays; one that is late in a second play too is
// the server's bug.
func TestWhatCameTooLateIsPlayedAgain(t *testing.T) {
	t.Parallel()
	script := "connect as consumer\nclause FWP-FETCH-05\nC: FETCH $queue\nS ..2.5s: $-1\n"
	for name, test := range map[string]struct {
		lateReplies int32 // how many replies to FETCH are late
		verdict     reports.Verdict
	}{
		"once":   {1, reports.Inconclusive},
		"always": {100, reports.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fetches atomic.Int32
			hook := func(e *fakes.Event) {
				if e.Point == fakes.Ran && e.Command.Verb == "FETCH" && fetches.Add(1) <= test.lateReplies {
					e.Delay = time.Second
				}
			}
			runScripts(t, hook, map[string]string{"a": script}, func(r *reports.Report) {
				assert.Equal(t, test.verdict, r.Checks[0].Verdict, "%+v", r.Checks[0])
				assert.Equal(t, 2, r.Checks[0].Attempts)
				talk := fmt.Sprint(r.Checks[0].Conversation)
				unsteady := test.verdict == reports.Inconclusive
				assert.Equal(t, unsteady, r.Checks[0].Clauses[0].Reason == reports.ReasonUnsteady)
				assert.Equal(t, unsteady, strings.Contains(talk, "played again, alone") && strings.Count(talk, "FETCH") == 2)
			})
		})
	}
}

func TestWhatOnePlayFoundIsTriedAgain(t *testing.T) {
	t.Parallel()
	runScripts(t, nil, nil, func(r *reports.Report) {
		assert.Equal(t, reports.Fail, r.Checks[0].Verdict)
		assert.Equal(t, 3, r.Checks[0].Attempts)
	}, func(r *run.Runner, _ *memoryTarget) {
		r.Checks, r.Quick = []conformance.Check{new(unproven)}, true
	})
}

// TestServersThatDoNotStart: a server that was started for a check and does not serve is no error of the suite, and the
// other checks have their results.
func TestServersThatDoNotStart(t *testing.T) {
	t.Parallel()
	sources := map[string]string{
		"alone":  "needs: alone\n\nconnect as consumer\n",
		"shared": "clause FWP-INFO-01\nconnect as consumer\nC: INFO\nS: $\n",
	}
	runScripts(t, nil, sources, func(r *reports.Report) {
		code, words := r.Outcome(reports.ExitOptions{}).Values()
		assert.Equal(t, reports.ExitUnreachable, code, words)
		assert.Equal(t, "check alone: it does not serve within 51s", r.Unreachable)
		assert.Equal(t, reports.ReasonNotServing, r.Checks[0].Reason)
		assert.Equal(t, reports.Pass, r.Checks[1].Verdict)
	}, func(r *run.Runner, _ *memoryTarget) {
		r.Servers[0].Offers = append(r.Servers[0].Offers, scenarios.NeedAlone)
		r.Servers[0].StartServer = func() (run.Server, func(), error) {
			return run.Server{}, nil, &run.UnservedError{Cause: errors.New("it does not serve within 51s")}
		}
	})
}
