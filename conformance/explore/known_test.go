package explore_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/slow"
)

// What is known is counted, and neither ends the exploration nor takes its time: it is shrunk behind that.
func TestKnownDeparturesAreCounted(t *testing.T) {
	t.Parallel()
	slow.NotRacing(t)
	e := explore.Explorer{Subject: fwpsubject.New(), Seed: 3, Steps: 150, Findings: 100, Shrinking: time.Second}
	shrinking := false
	e.Progress = func(p explore.Progress) {
		shrinking = shrinking || p.Activity == explore.Shrinking
		assert.False(t, shrinking && p.Activity == explore.Exploring, "it explores behind the first try to shrink")
	}
	exploring(t, behaving("job-retry-follows", ""), e, func(t *testing.T, r *explore.Result, _ *stage) {
		assert.GreaterOrEqual(t, r.Commands, 150)
		require.NotEmpty(t, r.Findings)
		f := r.Findings[0]
		assert.Equal(t, "FWP-RETRY-04", f.Clause)
		assert.Greater(t, f.Times, 7, "jobs are delivered all the time")
		assert.Positive(t, f.Places["retry: nothing, came a number"], f.Places)
		assert.Equal(t, 5, f.Shown)
		assert.Empty(t, f.Unshrunk, "it has a script")
		assert.Positive(t, r.Shrunk)
		assert.True(t, shrinking)
	})
}

// What was found before an interrupt is reported, with the steps that have to do with it.
func TestNothingIsLostByAnInterrupt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{config: behaving("job-retry-follows", "")}
		target, end, err := s.start()
		require.NoError(t, err)
		defer end()
		ctx, interrupt := context.WithCancel(t.Context())
		e := explore.Explorer{
			Subject: fwpsubject.New(), Target: target, Fresh: s.start, Seed: 3, Findings: 100,
			Found: func(explore.Finding) { interrupt() },
		}
		r := e.Run(ctx)
		require.Len(t, r.Findings, 1)
		f := r.Findings[0]
		assert.Empty(t, f.Script)
		assert.Equal(t, "there was no time to shrink it", f.Unscripted)
		require.NotEmpty(t, f.Unshrunk)
		assert.Contains(t, f.Unshrunk[len(f.Unshrunk)-1], "FETCH")
	})
}

// A close is an answer, too: the situation of the command is known.
func TestAClosedConnectionHasMetItsSituation(t *testing.T) {
	t.Parallel()
	closing := func() fakes.Config {
		return fakes.Config{Hook: func(e *fakes.Event) {
			if e.Point == fakes.Ran && e.Reply.Kind == fwp.ErrorReply {
				e.Reply, e.Close = fwp.Reply{}, true
			}
		}}
	}
	e := explore.Explorer{Subject: fwpsubject.New(), Seed: 3, Steps: 1500, Findings: 100, Unshrunk: true}
	exploring(t, closing, e, func(t *testing.T, r *explore.Result, _ *stage) {
		assert.Positive(t, r.Coverage.Situations["not identified: INFO"])
	})
}

// An earlier command is the reason of a finding, and not its own one, once a script has shown that.
func TestTheReasonIsShown(t *testing.T) {
	t.Parallel()
	own := func(unshrunk bool) (own string) {
		e := explore.Explorer{Subject: fwpsubject.New(), Seed: 1, Findings: 1, Unshrunk: unshrunk, Shrinking: time.Second}
		exploring(t, behaving("state-error-forgets", ""), e, func(t *testing.T, r *explore.Result, _ *stage) {
			require.Len(t, r.Findings, 1)
			assert.Equal(t, "FWP-STATE-12", r.Findings[0].Clause)
			assert.Equal(t, !unshrunk, r.Findings[0].Shown > 0)
			own = r.Findings[0].Own
		})
		return own
	}
	assert.NotEmpty(t, own(true))
	assert.Empty(t, own(false))
}
