package run_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/target/forward/forwardtest"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// newServer starts an embedded server with a hook; the second call fails.
func newServer(hook func(*fakes.Event)) func() (run.Server, func(), error) {
	isCalled := false
	return func() (run.Server, func(), error) {
		if isCalled {
			return run.Server{}, nil, errors.New("there is no second server")
		}
		isCalled = true
		target := newTarget()
		server := fakes.NewServer(fakes.Config{Hook: hook, Listen: target.Listen})
		return run.Server{Target: target}, server.Close, nil
	}
}

func TestACheckThatCannotBeTriedAgainComesToAnEnd(t *testing.T) {
	t.Parallel()
	slow, script := sluggish()
	runScripts(t, nil, map[string]string{"a": "needs: alone\n" + script}, func(r *reports.Report) {
		assert.Equal(t, reports.Inconclusive, r.Checks[0].Verdict)
		assert.Contains(t, r.Internal, "no second server")
	}, func(r *run.Runner, _ *memoryTarget) {
		r.Servers[0].Offers = append(r.Servers[0].Offers, scenarios.NeedAlone)
		r.Servers[0].StartServer = newServer(slow)
	})
}

func TestAServerOfOneCheckThatIsGoneEndsNoOtherCheck(t *testing.T) {
	t.Parallel()
	newHook := func() func(e *fakes.Event) {
		var hasEnded atomic.Bool
		return func(e *fakes.Event) {
			if e.Point == fakes.Writing && (hasEnded.Load() || e.Command.Verb == fwp.BEAT) {
				hasEnded.Store(true)
				e.Bytes, e.Close = nil, true
			}
		}
	}
	for seed := range uint64(4) { // orders
		checks := map[string]string{
			"a": "needs: alone\n" + beating, "b": beating, "c": beating, "d": "needs: alone\n" + beating,
		}
		runScripts(t, nil, checks, func(r *reports.Report) {
			assert.Equal(t, reports.Crash, r.Checks[0].Verdict)
			assert.Equal(t, reports.Pass, r.Checks[1].Verdict, r.Checks[1].Cause)
			assert.Equal(t, reports.Pass, r.Checks[2].Verdict, r.Checks[2].Cause)
			assert.Equal(t, reports.Crash, r.Checks[3].Verdict)
		}, func(r *run.Runner, _ *memoryTarget) {
			r.Seed, r.Parallel = seed, 1
			r.Servers[0].Offers = append(r.Servers[0].Offers, scenarios.NeedAlone)
			r.Servers[0].StartServer = func() (run.Server, func(), error) { return newServer(newHook())() }
		})
	}
}

// The same is true of scripts that name no clause: only the check that crashed the server
// has a finding.
func TestAfterACrashNothingElseIsBlamed(t *testing.T) {
	t.Parallel()
	var hasEnded atomic.Bool
	hook := func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == fwp.INFO {
			hasEnded.Store(true)
			e.Bytes, e.Close = nil, true
		}
		if e.Point == fakes.Writing && e.Command.Verb == fwp.FETCH {
			e.Bytes, e.Close = nil, true
		}
	}
	waits := "connect as consumer\nC: FETCH $queue\nS: $-1\n"
	ends := "connect as consumer\nC: INFO\nS: $\n"
	runScripts(t, hook, map[string]string{"a": ends, "b": waits, "c": waits}, func(r *reports.Report) {
		assert.Equal(t, map[string]string{"a": "crash", "b": "fail", "c": "fail"}, verdictsOf(r),
			"those close their connections by themselves")
	}, func(_ *run.Runner, s *memoryTarget) { s.isDown = hasEnded.Load })
}

func TestAClauseWhoseOnlyLineHadNoConnectionIsUndecided(t *testing.T) {
	t.Parallel()
	runScripts(t, nil, map[string]string{"a": "clause FWP-HI-01\nS: +HI {}\n"}, func(r *reports.Report) {
		c := r.Clauses[clause(r, "FWP-HI-01")]
		assert.Equal(t, reports.Inconclusive, c.Verdict)
		assert.Contains(t, c.Cause, "no server listens any more")
	}, func(_ *run.Runner, s *memoryTarget) { s.isDown = func() bool { return true } })
}

// TestTheEndOfAForwarderIsNoCrash: behind a reset or a half-close no command is blamed, behind a malformed line the
// server is.
func TestTheEndOfAForwarderIsNoCrash(t *testing.T) {
	t.Parallel()
	const (
		begin  = "connect as consumer\nconnect b as consumer\n"
		ask    = "silence 1s\nclause FWP-BEAT-01\nC[b]: BEAT {\"wid\":\"$wid.b\"}\nS: +OK\n"
		halved = begin + "C: <half-close>\n" + ask
	)
	tests := map[string]struct {
		source     string
		code       int
		lostReason string
	}{
		"a half-close":     {halved, reports.ExitUnreachable, "a client closed its half"},
		"a malformed line": {hostileDeadly, reports.ExitFindings, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := scripts(t, map[string]string{"leaves": test.source})
			synctest.Test(t, func(t *testing.T) {
				target := newTarget()
				f := &forwardtest.Forwarder{Server: target.Dial, Resets: true, HalfCloses: true}
				server := fakes.NewServer(fakes.Config{Listen: target.Listen, Hook: func(e *fakes.Event) {
					if e.Point == fakes.Parsed && isBareFail(e) { // as if the server had ended
						f.End()
					}
				}})
				defer server.Close()
				r := runnerOn(run.Server{Target: f, Offers: []scenarios.Need{scenarios.NeedOpen}}, all).Run(t.Context())
				assert.Equal(t, test.code, r.ExitCode(reports.ExitOptions{}), verdictsOf(r))
				assert.Contains(t, r.Unreachable, test.lostReason)
				if test.lostReason != "" {
					assert.Empty(t, r.Findings())
				}
			})
		})
	}
}
