package explore_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// What is known is counted, and neither ends the exploration nor takes its time: it is shrunk beside or behind that.
func TestKnownDeparturesAreCounted(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	e := explore.Explorer{Alphabet: moves.New(), Seed: 3, Steps: 150, Findings: 100, Shrinking: time.Second}
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
		assert.Equal(t, 5, f.Hits)
		assert.Empty(t, f.Unshrunk, "it has a script")
		assert.Empty(t, f.UnscriptedReason)
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
			Alphabet: moves.New(), Target: target, StartTarget: s.start, Seed: 3, Findings: 100,
			Found: func(explore.Finding) { interrupt() },
		}
		r := e.Run(ctx)
		require.Len(t, r.Findings, 1)
		f := r.Findings[0]
		assert.Empty(t, f.Script)
		assert.Equal(t, "no time was left to shrink it", f.UnscriptedReason)
		require.NotEmpty(t, f.Unshrunk)
		assert.Contains(t, strings.Join(f.Unshrunk, "\n"), "\nC: FETCH")
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
	e := explore.Explorer{Alphabet: moves.New(), Seed: 3, Steps: 1500, Findings: 100, SkipsShrinking: true}
	exploring(t, closing, e, func(t *testing.T, r *explore.Result, _ *stage) {
		assert.Positive(t, r.Coverage.Situations["not identified: INFO"])
	})
}

// An earlier command is the reason of a finding, and not its own one, once the shortest script has shown that.
func TestTheReasonIsShown(t *testing.T) {
	t.Parallel()
	clause := func(limit time.Duration) (clause string) {
		e := explore.Explorer{Alphabet: moves.New(), Seed: 1, Findings: 1, SkipsShrinking: limit == 0, Shrinking: limit}
		exploring(t, behaving("state-error-forgets", ""), e, func(t *testing.T, r *explore.Result, _ *stage) {
			require.Len(t, r.Findings, 1)
			assert.Equal(t, "FWP-STATE-12", r.Findings[0].Clause)
			assert.Equal(t, limit > 0, r.Findings[0].Hits > 0)
			clause = r.Findings[0].CommandClause
		})
		return clause
	}
	assert.NotEmpty(t, clause(0))
	assert.NotEmpty(t, clause(time.Second), "there was no time to leave out what is not needed")
	assert.Empty(t, clause(10*time.Second))
}

// What is found has its script before the server dies; the crash of a server that cannot be started again has a script
// of its command, which was not played, and parses.
func TestScriptsBeforeADeath(t *testing.T) {
	t.Parallel()
	config := func() fakes.Config {
		wrong, deadly := behaving("ack-malformed-ok", "")().Hook, behaving("dies-of-unknown-job", "")().Hook
		var pushed atomic.Int64
		return fakes.Config{Hook: func(e *fakes.Event) {
			if wrong(e); e.Point == fakes.Enqueued {
				pushed.Add(1)
			}
			if pushed.Load() > 100 { // else it dies before anything else shows
				deadly(e)
			}
		}}
	}
	e := explore.Explorer{Steps: 5000, Findings: 10, Shrinking: 20 * time.Second}
	r := shared(t, config, e)
	require.True(t, r.IsDead)
	require.Len(t, r.Findings, 2)
	f, crash := r.Findings[0], r.Findings[1]
	assert.Equal(t, "FWP-ACK-03", f.Clause)
	assert.Equal(t, f.Tries, f.Hits)
	assert.LessOrEqual(t, strings.Count(f.Script, "\nC:")+strings.Count(f.Script, "\nS:"), 6, f.Script)
	require.True(t, crash.Crash)
	assert.Empty(t, crash.Script)
	assert.Contains(t, crash.UnscriptedReason, "the server is gone and cannot be restarted")
	_, err := scenarios.Parse(fwpscript.Dialect{}, "unplayed.fwp", []byte(strings.Join(crash.Unshrunk, "\n")))
	require.NoError(t, err)
	assert.Regexp(t, "C( bad)?: (ACK|FAIL) {", strings.Join(crash.Unshrunk, "\n")) // the bug is of both
}

// Where servers can be started, one is enough for what names keep apart, and one more for each result.
func TestOneServerForManyTries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{config: behaving("ack-malformed-ok", "")}
		var started atomic.Int64
		target, end, err := s.start()
		require.NoError(t, err)
		defer end()
		e := explore.Explorer{
			Alphabet: moves.New(), Target: target, Alone: true, Seed: 3, Steps: 1500, Findings: 100,
			Shrinking: 20 * time.Second, WatchStep: settled(nil),
			StartTarget: func() (play.Target, func(), error) {
				started.Add(1)
				return s.start()
			},
		}
		r := e.Run(t.Context())
		require.NotEmpty(t, r.Findings)
		for _, f := range r.Findings {
			assert.NotEmpty(t, f.Script, f.Clause)
		}
		assert.LessOrEqual(t, int(started.Load()), 2*len(r.Findings))
	})
}

// A crash is seen at once where it is known that the server has ended.
func TestNothingIsAwaitedOfAServerThatIsGone(t *testing.T) {
	t.Parallel()
	for _, isKnown := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			target, end, err := (&stage{behaving("dies-of-unknown-job", "")}).start()
			require.NoError(t, err)
			defer end()
			var last time.Time
			e := explore.Explorer{
				Alphabet: moves.New(), Target: target, Seed: 1, Steps: 3000, SkipsShrinking: true,
				WatchStep: func(explore.Step) { last = time.Now() },
				Found: func(f explore.Finding) {
					assert.True(t, f.Crash)
					assert.Equal(t, isKnown, time.Since(last) < 2*time.Second, time.Since(last))
				},
			}
			if isKnown {
				e.Target = mortal{target.(server)}
			}
			assert.Len(t, e.Run(t.Context()).Findings, 1)
		})
	}
}

// mortal knows whether its server has ended.
type mortal struct{ server }

func (m mortal) HasDied() bool {
	nc, err := m.Dial(context.Background())
	if err != nil {
		return true
	}
	defer func() { _ = nc.Close() }()
	_, err = nc.Read(make([]byte, 1)) // it greets
	return err != nil
}
