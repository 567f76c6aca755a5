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

func TestACrashDuringManyChecksIsOfOneCheck(t *testing.T) {
	t.Parallel()
	checks := copies(20, "sleeps", sleeping+"setup\nC: INFO\nS: $\n")
	checks["ends"] = "connect as consumer\nsilence 1s\n" + beating[len("connect as consumer\n"):]
	runScripts(t, diesAt("BEAT"), checks, func(r *reports.Report) {
		crashes := 0
		for _, c := range r.Checks {
			crashes += bit(c.Verdict == reports.Crash)
			if c.ID != "ends" {
				assert.Equal(t, reports.Inconclusive, c.Verdict, c.ID)
			}
		}
		assert.Equal(t, 1, crashes)
		assert.Equal(t, "ends", r.Findings()[0].Check)
		assert.Less(t, r.Took, 2*time.Minute)
	})
}

// Checks that wait notice the end of the server at the same time as the one that causes it,
// and may be evaluated first.
func TestAWaitingCheckIsNotTheCrash(t *testing.T) {
	t.Parallel()
	checks := copies(20, "waits", "connect as consumer\nC: FETCH $queue\nclause FWP-RESP-04\nS: $-1\n")
	checks["zends"] = "connect as consumer\nsilence 1s\nC bad: FAIL {\nclause FWP-FAIL-02\nS: -\n"
	runScripts(t, diesAt("FAIL"), checks, func(r *reports.Report) {
		require.Len(t, r.Findings(), 1)
		assert.Equal(t, "zends", r.Findings()[0].Check)
		assert.Equal(t, "FWP-FAIL-02", r.Findings()[0].Clause)
		assert.Equal(t, reports.Crash, r.Findings()[0].Verdict)
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
		gone := make(chan struct{}, 1)
		config := fakes.Config{Listen: target.Listen, Hook: func(e *fakes.Event) {
			if e.Point == fakes.Parsed && e.Command.Verb == "BEAT" {
				gone <- struct{}{}
				<-e.Conn.Done
			}
		}}
		first := fakes.NewServer(config)
		var second *fakes.Server
		var supervisor sync.WaitGroup
		supervisor.Go(func() {
			<-gone
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
