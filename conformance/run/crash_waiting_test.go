package run_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
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
