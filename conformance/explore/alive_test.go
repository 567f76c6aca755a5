package explore_test

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// delaying is a server that takes so long for each reply.
func delaying(d time.Duration) func() fakes.Config {
	return func() fakes.Config {
		return fakes.Config{Hook: func(e *fakes.Event) {
			if e.Point == fakes.Ran {
				e.Delay = d
			}
		}}
	}
}

// shared explores a server that is the only one of its kind and cannot be restarted.
func shared(t *testing.T, config func() fakes.Config, e explore.Explorer) (r *explore.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{config}
		target, end, err := s.start()
		require.NoError(t, err)
		defer end()
		e.Alphabet, e.Target, e.Seed = moves.New(), target, 1
		r = e.Run(t.Context())
	})
	return r
}

// A server that answers nothing in time has not crashed: it is slow, or has never served.
func TestAServerThatDoesNotAnswerInTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		delay time.Duration
		dead  bool
	}{
		"slow":  {9 * time.Second, false},
		"never": {time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := shared(t, delaying(test.delay), explore.Explorer{Steps: 200, Time: 10 * time.Minute})
			assert.Empty(t, r.Findings)
			assert.Equal(t, test.dead, r.IsDead)
		})
	}
}

// Which way a server does not serve follows from what its connections show, and no command is named. One that stands
// still with the last command is asked once more, for longer than its timeout.
func TestAServerThatStandsStill(t *testing.T) {
	t.Parallel()
	const steps = 120
	for name, test := range map[string]struct {
		points []fakes.Point
		from   int64 // the command from which on it does
		words  string
	}{
		"hangs": {[]fakes.Point{fakes.Greeting, fakes.Writing}, 60,
			"it hangs: no connection is answered, neither a new one nor one that was open before"},
		"takes no more": {[]fakes.Point{fakes.Greeting}, 60,
			"it takes no new connection; those that were open are served"},
		"takes no more at the end": {[]fakes.Point{fakes.Greeting}, steps,
			"it takes no new connection; those that were open are served"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var commands atomic.Int64
			r := shared(t, func() fakes.Config {
				return fakes.Config{Hook: func(e *fakes.Event) {
					if commands.Load() >= test.from && slices.Contains(test.points, e.Point) {
						<-e.Conn.Done
					}
				}}
			}, explore.Explorer{Steps: steps, Time: 10 * time.Minute, WatchStep: func(s explore.Step) {
				if s.Sends() != nil {
					commands.Add(1)
				}
			}})
			words := r.UnservedWords
			for _, f := range r.Findings {
				assert.True(t, f.Crash)
				assert.Empty(t, f.Clause)
				words += f.Got
			}
			assert.Equal(t, test.words, words)
		})
	}
}

// The cause of a crash that cannot be tried again is not known.
func TestACrashThatIsNotConfirmedNamesNoClause(t *testing.T) {
	t.Parallel()
	r := shared(t, behaving("dies-of-unknown-job", ""), explore.Explorer{Steps: 3000})
	require.Len(t, r.Findings, 1)
	f := r.Findings[0]
	assert.True(t, f.Crash)
	assert.Empty(t, f.Clause)
	assert.Contains(t, f.Detail, "the command that caused it is unknown")
	assert.Contains(t, f.Detail, "ACK {")
	assert.Equal(t, "the server is gone and cannot be restarted", f.UnscriptedReason)
}

// supervised starts a server that is back by itself about a second after it was killed, and closes it at the end of the
// test. It is back between two questions of the play, ten of which are asked a second: a kill that is not over would
// swallow the next one.
// While it is down the server holds a mutex, and virtual time stands still where anything waits for one: so there is
// one kill at a time, and the server is closed after the last.
func supervised(t *testing.T, hook func(e *fakes.Event, kill func())) server {
	t.Helper()
	at := memnet.NewPlace()
	var s *fakes.Server
	var began, killing atomic.Bool
	var kills sync.WaitGroup
	down := make(chan struct{}, 1)
	config := fakes.Config{Listen: func() (net.Listener, error) {
		if began.Swap(true) {
			time.Sleep(950 * time.Millisecond)
		}
		l, err := at.Listen()
		return closing{l, down}, err
	}}
	kill := func() { // the command of which the server dies is its last one
		if !killing.Swap(true) {
			kills.Go(func() {
				_ = s.Kill()
				killing.Store(false)
			})
			<-down
		}
	}
	config.Hook = func(e *fakes.Event) { hook(e, kill) }
	s = fakes.NewServer(config)
	t.Cleanup(func() {
		synctest.Wait()
		kills.Wait()
		s.Close()
	})
	return server{s, at}
}

// closing is a listener that tells when it is closed.
type closing struct {
	net.Listener
	down chan<- struct{}
}

func (c closing) Close() error {
	err := c.Listener.Close()
	select {
	case c.down <- struct{}{}:
	default: // nothing waits for it
	}
	return err
}

// Connections that ended because something else ended the server break no clause.
func TestAnOutageIsNoFinding(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]int64{"asked meanwhile": 700, "while all wait": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var commands atomic.Int64
				s := supervised(t, func(e *fakes.Event, kill func()) {
					if e.Point == fakes.Ran && commands.Add(1) == at {
						kill()
					}
				})
				if at == 0 { // no connection is opened in this time, and the clean-up has not begun
					killing := time.AfterFunc(1500*time.Millisecond, func() { _ = s.Kill() })
					defer killing.Stop()
				}
				e := explore.Explorer{
					Alphabet: moves.New(), Target: s, Seed: 1, Steps: 1200, Time: 2 * time.Minute, Findings: 5,
					Shrinking: 10 * time.Second, WatchStep: settled(nil),
				}
				r := e.Run(t.Context())
				for _, f := range r.Findings {
					t.Errorf("%s %s: %s", f.Clause, f.Rule, f.Got)
				}
				assert.Len(t, r.Outages, 1)
				assert.False(t, r.IsDead)
				assert.GreaterOrEqual(t, r.Commands, 1200, "it went on")
			})
		})
	}
}

// A command of which a server dies each time is found, although somebody starts the server again at once.
func TestACrashBehindASupervisor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := supervised(t, func(e *fakes.Event, kill func()) {
			if e.Point == fakes.Ran && bytes.HasPrefix(e.Line, []byte("ACK")) && e.Reply.Kind == '-' {
				e.Skip = true
				kill()
			}
		})
		e := explore.Explorer{
			Alphabet: moves.New(), Target: s, Seed: 1, Time: 5 * time.Minute, Findings: 1, Shrinking: 2 * time.Minute,
			WatchStep: settled(nil),
		}
		r := e.Run(t.Context())
		require.Len(t, r.Findings, 1)
		assert.True(t, r.Findings[0].Crash)
		assert.Positive(t, r.Findings[0].Hits)
		assert.Contains(t, r.Findings[0].Script, "ACK")
		assert.NotEmpty(t, r.Outages)
	})
}

// A server whose greeting is later than the timeout breaks no clause, the exploration ends within its time, and its
// result says that the server was silent.
func TestASlowServerIsSilentWithinTheTime(t *testing.T) {
	t.Parallel()
	for _, delay := range []time.Duration{0, 9 * time.Second, time.Minute} {
		t.Run(delay.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := supervised(t, func(e *fakes.Event, _ func()) {
					if e.Point == fakes.Greeting {
						select {
						case <-time.After(delay):
						case <-e.Conn.Done:
						}
					}
				})
				start := time.Now()
				e := explore.Explorer{Alphabet: moves.New(), Target: s, Seed: 1, Steps: 100, Time: 10 * time.Second}
				r := e.Run(t.Context())
				assert.LessOrEqual(t, time.Since(start), 10*time.Second)
				assert.Equal(t, delay > 0, r.IsSilent)
				assert.Empty(t, r.Findings)
			})
		})
	}
}

// TestFuzzedBytesLeaveNothingBehind plays bytes that push jobs as a lenient server takes
// them, on a server that others use too.
func TestFuzzedBytesLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		jids := map[string]bool{}
		s := &stage{config: func() fakes.Config {
			return fakes.Config{Hook: func(e *fakes.Event) {
				switch e.Point {
				case fakes.Enqueued:
					jids[e.Object.Text("jid")] = true
				case fakes.Acked:
					delete(jids, e.Object.Text("jid"))
				}
			}}
		}}
		target, end, err := s.start()
		require.NoError(t, err)
		defer end()
		build := explore.Builder{Dialect: fwpscript.Dialect{}}
		var trace explore.Trace
		for i := range 5 {
			push := `PUSH {"jid":"$jid500000%d-0123456789","jobtype":"t","args":[],"queue":"$queue500000%d","retry":0}` + "\r\n"
			text := fmt.Sprintf(push, i, i/2) + "INFO\r\n"
			bytes := build.Bytes(2, text[:9], text[9:])
			bytes.Ahead = true
			trace.Steps = append(trace.Steps, build.Open(2, scenarios.Producer, ""), bytes,
				build.Await(2), explore.End(2, scenarios.Closed))
		}
		e := explore.Explorer{Alphabet: moves.New(), Target: target, WatchStep: func(s explore.Step) {
			if s.Ends() {
				assert.NotEmpty(t, jids, "the server has taken the jobs")
			}
		}}
		r := e.Replay(t.Context(), trace)
		assert.Empty(t, r.Findings)
		assert.Equal(t, 10, r.Commands, "each lot of bytes is one command, and so is each HELLO")
		assert.Empty(t, jids)
	})
}
