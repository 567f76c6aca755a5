package run_test

import (
	"context"
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

	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// diesAt returns a server that from the first command with that verb on
// closes each connection instead of answering.
func diesAt(verb string) func(*fakes.Event) {
	return new(mortalTarget).hook(func(e *fakes.Event) bool { return e.Command.Verb == verb })
}

// Checks that run beside one that ends the server, which nothing starts again, have not ended it.
func TestACrashDuringManyChecksIsOfNone(t *testing.T) {
	t.Parallel()
	checks := copies(20, "sleeps", sleeping+"setup\nC: FETCH $queue\nS: $-1\n")
	checks["ends"] = "connect as consumer\nsilence 1s\n" + beating[len("connect as consumer\n"):]
	runScripts(t, diesAt("BEAT"), checks, func(r *reports.Report) {
		for _, c := range r.Checks {
			assert.Equal(t, c.ID == run.CrashCheck, c.Verdict == reports.Crash, c.ID)
		}
		require.Len(t, r.Findings(), 1)
		assert.Contains(t, r.Findings()[0].Actual, "these checks ran:\n  ends\n  sleeps00\n  sleeps01\n")
		assert.Less(t, r.Took, 2*time.Minute)
	})
}

// A supervisor may start the server again: that does not undo the crash.
func TestACrashIsOneEvenIfTheServerIsBackSoon(t *testing.T) {
	t.Parallel()
	checks := copies(5, "sleeps", "connect as consumer\nclause FWP-RESP-05\nsilence 1m\nsetup\nC: INFO\nS: $\n")
	checks["ends"] = "connect as consumer\nsilence 1s\n" + beating[len("connect as consumer\n"):]
	all := scripts(t, checks)
	synctest.Test(t, func(t *testing.T) {
		target := newTarget()
		done := make(chan struct{}, 1)
		config := fakes.Config{Listen: target.Listen, Hook: func(e *fakes.Event) {
			if e.Point == fakes.Parsed && e.Command.Verb == "BEAT" {
				done <- struct{}{}
				<-e.Conn.Done
			}
		}}
		first := fakes.NewServer(config)
		var second *fakes.Server
		var supervisor sync.WaitGroup
		supervisor.Go(func() {
			<-done
			first.Close()
			time.Sleep(15 * time.Second)
			config.Hook = nil
			second = fakes.NewServer(config)
		})
		r := runnerOn(run.Server{Target: target}, all).Run(t.Context())
		supervisor.Wait()
		second.Close()
		require.Len(t, r.Findings(), 1)
		assert.Equal(t, "ends", r.Findings()[0].Check)
		assert.Equal(t, reports.Crash, r.Findings()[0].Verdict)
	})
}

// standing is a server that stands still from a BEAT with rss_kb on, until it is killed and started again.
type standing struct {
	memoryTarget
	isStill atomic.Bool
	kills   atomic.Int64
}

func (s *standing) Kill(context.Context) error {
	s.kills.Add(1)
	s.isStill.Store(false)
	return nil
}

// stands returns a hook that does nothing more at some points, once the server stands still.
func (s *standing) stands(points ...fakes.Point) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Point == fakes.Parsed && isDeadly(e) {
			s.isStill.Store(true)
		}
		if s.isStill.Load() && slices.Contains(points, e.Point) {
			<-e.Conn.Done
		}
	}
}

// A server that lives and does not serve is named, no clause is blamed for the line that was played then, and where it
// can be started again it is killed, and the rest is played on a new one.
func TestAServerThatStandsStillIsKilled(t *testing.T) {
	t.Parallel()
	const deadlyWithNeighbour = "connect held as consumer\n" + deadlyScript + "C: BEAT {\"wid\":\"$wid\"}\nS: +OK\n"
	for name, test := range map[string]struct {
		points []fakes.Point
		words  string
	}{
		"hangs": {[]fakes.Point{fakes.Greeting, fakes.Writing}, "it hangs: pid 71 lives, no connection is answered"},
		"takes no more": {[]fakes.Point{fakes.Greeting},
			"it takes no new connection; those that were open are served"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sources := copies(12, "well", beating)
			sources["deadly"] = deadlyWithNeighbour + "connect last as consumer\n"
			all := scripts(t, sources)
			synctest.Test(t, func(t *testing.T) {
				s := &standing{memoryTarget: *newTarget()}
				server := fakes.NewServer(fakes.Config{Listen: s.Listen, Hook: s.stands(test.points...)})
				defer server.Close()
				r := runnerOn(run.Server{
					Target: s, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedKill}, PID: func() int { return 71 },
					Ended: func() (string, []string, bool) { return "", nil, false },
				}, all).Run(t.Context())
				require.Len(t, r.Findings(), 1)
				f := r.Findings()[0]
				assert.Equal(t, reports.Crash, f.Verdict)
				assert.Empty(t, f.Clause)
				assert.Contains(t, f.Statement, test.words)
				for _, c := range r.Checks {
					if strings.HasPrefix(c.ID, "well") {
						assert.Equal(t, reports.Pass, c.Verdict, "%s: %s", c.ID, c.Cause)
					}
				}
				assert.Positive(t, s.kills.Load())
			})
		})
	}
}

// A server that accepts no connection at the end of a run is a crash, though every check has passed.
func TestAServerIsAskedWhenAllIsOver(t *testing.T) {
	t.Parallel()
	for _, standsStill := range []bool{false, true} {
		hook, want := (func(*fakes.Event))(nil), reports.ExitWell
		if standsStill {
			hook, want = new(standing).stands(fakes.Greeting), reports.ExitFindings
		}
		runScripts(t, hook, map[string]string{"deadly": deadlyScript}, func(r *reports.Report) {
			assert.Equal(t, reports.Pass, r.Checks[0].Verdict)
			code, words := r.Outcome(reports.ExitOptions{}).Values()
			assert.Equal(t, want, code, words)
		})
	}
}

// rationing returns a hook of a server that has so many threads, each for the whole life of a connection, or until its
// client has introduced itself.
func rationing(threads int, untilHello bool) func(*fakes.Event) {
	slots := sync.OnceValue(func() chan struct{} { return make(chan struct{}, threads) }) // of the bubble of the test
	var mu sync.Mutex
	holders := map[*fakes.Conn]func(){}
	return func(e *fakes.Event) {
		switch {
		case e.Point == fakes.Greeting:
			select {
			case slots() <- struct{}{}:
			case <-e.Conn.Done:
				return
			}
			free, done := sync.OnceFunc(func() { <-slots() }), e.Conn.Done // the event is used again
			mu.Lock()
			holders[e.Conn] = free
			mu.Unlock()
			go func() {
				<-done
				free()
			}()
		case untilHello && e.Point == fakes.Parsed && e.Command.Verb == "HELLO":
			mu.Lock()
			defer mu.Unlock()
			holders[e.Conn]()
		}
	}
}

// A server that serves some connections at a time has no crash, and no clause is blamed for it; one that takes them one
// after the other has no limit, but greets too late.
func TestServersThatLetConnectionsWait(t *testing.T) {
	t.Parallel()
	const raw = "connect a as raw\nS[a]: <any>\nconnect b as consumer\nclause FWP-BEAT-01\n" +
		"C[b]: BEAT {\"wid\":\"$wid\"}\nS[b]: +OK\n"
	nine := ""
	for i := range 9 {
		nine += fmt.Sprintf("connect c%d as producer\n", i)
	}
	for name, test := range map[string]struct {
		hook   func(*fakes.Event)
		script string
		clause string
		words  string
	}{
		"threads":    {rationing(8, false), nine + beating, "", "it serves 8 connections at a time: the ninth gets no HI"},
		"one by one": {rationing(1, true), "connect a as producer\nconnect b as producer\n" + beating, "", ""},
		"one by one, and one says nothing": {rationing(1, true), raw, "FWP-HI-01",
			"it accepts the next connection when the one before has said HELLO"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runScripts(t, test.hook, map[string]string{"a": test.script}, func(r *reports.Report) {
				if test.words == "" {
					assert.Equal(t, reports.Pass, r.Checks[0].Verdict, r.Checks[0].Cause)
					return
				}
				assert.Contains(t, r.Checks[0].Cause, test.words, r.Checks[0].Conversation)
				var clauses []string
				for _, f := range r.Findings() {
					clauses = append(clauses, f.Clause)
					assert.Empty(t, r.Checks[0].Provide)
				}
				assert.Equal(t, test.clause, strings.Join(clauses, " "))
			})
		})
	}
}

// shortLived is a server whose process ends eight seconds after each start.
type shortLived struct {
	mortalTarget
	startTime time.Time
}

func (s *shortLived) Restart(ctx context.Context) error {
	s.startTime = time.Now()
	return s.mortalTarget.Restart(ctx)
}

// What ends by itself, whatever is sent, is one finding, and no check is blamed for it.
func TestAServerThatEndsByItself(t *testing.T) {
	t.Parallel()
	all := scripts(t, copies(20, "waits", waitingTwin))
	synctest.Test(t, func(t *testing.T) {
		s := &shortLived{mortalTarget: mortalTarget{memoryTarget: *newTarget()}, startTime: time.Now()}
		isOver := func(*fakes.Event) bool { return time.Since(s.startTime) > 7*time.Second }
		server := fakes.NewServer(fakes.Config{Listen: s.Listen, Hook: s.hook(isOver)})
		defer server.Close()
		runner := runnerOn(run.Server{
			Target: s, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedRestart}, Ended: s.ended,
			Lifetime: func() time.Duration { return 8*time.Second + time.Duration(s.restarts.Load()) },
		}, all)
		runner.Parallel = 1
		r := runner.Run(t.Context())
		require.Len(t, r.Findings(), 1)
		assert.Equal(t, "it ends 8s after each start, whatever is sent", r.Findings()[0].Statement)
		assert.Empty(t, r.Findings()[0].Clause)
	})
}
