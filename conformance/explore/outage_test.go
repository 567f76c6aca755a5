package explore_test

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/memnet"
)

// supervised starts a server that is back by itself a second after it was killed, and closes it at the end of the test.
// While it is down the server holds a mutex, and virtual time stands still where anything waits for one: so there is
// one kill at a time, and the server is closed after the last.
func supervised(t *testing.T, hook func(e *fakes.Event, kill func())) server {
	t.Helper()
	network := memnet.New()
	var s *fakes.Server
	var began, killing atomic.Bool
	var kills sync.WaitGroup
	config := fakes.Config{Listen: func() (net.Listener, error) {
		if began.Swap(true) {
			time.Sleep(time.Second)
		}
		return network.Listen("fwp:7419")
	}}
	kill := func() {
		if !killing.Swap(true) {
			kills.Go(func() {
				_ = s.Kill()
				killing.Store(false)
			})
		}
	}
	config.Hook = func(e *fakes.Event) { hook(e, kill) }
	s = fakes.NewServer(config)
	t.Cleanup(func() {
		synctest.Wait()
		kills.Wait()
		s.Close()
	})
	return server{s, network}
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
				if at == 0 { // no connection is opened in this time
					killing := time.AfterFunc(7*time.Second, func() { _ = s.Kill() })
					defer killing.Stop()
				}
				e := explore.Explorer{
					Subject: fwpsubject.New(), Target: s, Seed: 1, Steps: 1200, Time: 2 * time.Minute, Findings: 5,
					Shrinking: 10 * time.Second, Watch: settled(nil),
				}
				r := e.Run(t.Context())
				for _, f := range r.Findings {
					t.Errorf("%s %s: %s", f.Clause, f.Rule, f.Got)
				}
				assert.Len(t, r.Outages, 1)
				assert.False(t, r.Dead)
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
			Subject: fwpsubject.New(), Target: s, Seed: 1, Time: 5 * time.Minute, Findings: 1, Shrinking: 2 * time.Minute,
			Watch: settled(nil),
		}
		r := e.Run(t.Context())
		require.Len(t, r.Findings, 1)
		assert.True(t, r.Findings[0].Crash)
		assert.Positive(t, r.Findings[0].Shown)
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
						time.Sleep(delay)
					}
				})
				begun := time.Now()
				e := explore.Explorer{Subject: fwpsubject.New(), Target: s, Seed: 1, Steps: 100, Time: 10 * time.Second}
				r := e.Run(t.Context())
				assert.LessOrEqual(t, time.Since(begun), 10*time.Second)
				assert.Equal(t, delay > 0, r.Silent)
				assert.Empty(t, r.Findings)
			})
		})
	}
}
