package run_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/reports"
)

// prepared starts an embedded server with a hook; the second call fails.
func prepared(hook func(*fakes.Event)) func(map[string]string) (run.Server, func(), error) {
	asked := false
	return func(map[string]string) (run.Server, func(), error) {
		if asked {
			return run.Server{}, nil, errors.New("there is no second server")
		}
		asked = true
		target := newTarget()
		server := fakes.NewServer(fakes.Config{Hook: hook, Listen: target.Listen})
		return run.Server{Target: target}, server.Close, nil
	}
}

func TestACheckThatCannotBeTriedAgainComesToAnEnd(t *testing.T) {
	t.Parallel()
	slow, script := unsteady()
	runScripts(t, nil, map[string]string{"a": "embedded: end=ok\n" + script}, func(r *reports.Report) {
		assert.Equal(t, reports.Inconclusive, r.Checks[0].Verdict)
		assert.Contains(t, r.Internal, "no second server")
	}, func(r *run.Runner, _ *memoryTarget) { r.Prepare = prepared(slow) })
}

func TestAnEmbeddedServerThatIsGoneEndsNoOtherCheck(t *testing.T) {
	t.Parallel()
	gone := func() func(e *fakes.Event) {
		var over atomic.Bool
		return func(e *fakes.Event) {
			if e.Point == fakes.Writing && (over.Load() || e.Command.Verb == fwp.BEAT) {
				over.Store(true)
				e.Bytes, e.Close = nil, true
			}
		}
	}
	for seed := range uint64(4) { // orders
		checks := map[string]string{
			"a": "embedded: end=ok\n" + beating, "b": beating, "c": beating, "d": "embedded: end=close\n" + beating,
		}
		runScripts(t, nil, checks, func(r *reports.Report) {
			assert.Equal(t, reports.Crash, r.Checks[0].Verdict)
			assert.Equal(t, reports.Pass, r.Checks[1].Verdict, r.Checks[1].Why)
			assert.Equal(t, reports.Pass, r.Checks[2].Verdict, r.Checks[2].Why)
			assert.Equal(t, reports.Crash, r.Checks[3].Verdict)
		}, func(r *run.Runner, _ *memoryTarget) {
			r.Seed, r.Parallel = seed, 1
			r.Prepare = func(settings map[string]string) (run.Server, func(), error) {
				return prepared(gone())(settings)
			}
		})
	}
}

// The same is true of scripts that name no clause: only the check that crashed the server
// has a finding.
func TestAfterACrashNothingElseIsBlamed(t *testing.T) {
	t.Parallel()
	var gone atomic.Bool
	hook := func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == fwp.INFO {
			gone.Store(true)
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
	}, func(_ *run.Runner, s *memoryTarget) { s.down = gone.Load })
}

func TestAClauseWhoseOnlyLineHadNoConnectionIsUndecided(t *testing.T) {
	t.Parallel()
	runScripts(t, nil, map[string]string{"a": "clause FWP-HI-01\nS: +HI {}\n"}, func(r *reports.Report) {
		c := r.Clauses[clause(r, "FWP-HI-01")]
		assert.Equal(t, reports.Inconclusive, c.Verdict)
		assert.Contains(t, c.Why, "no server listens any more")
	}, func(_ *run.Runner, s *memoryTarget) { s.down = func() bool { return true } })
}
