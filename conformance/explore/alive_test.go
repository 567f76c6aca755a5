package explore_test

import (
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
		s := &stage{network: memnet.New(), config: config}
		target, end, err := s.start()
		require.NoError(t, err)
		defer end()
		e.Subject, e.Target, e.Seed = fwpsubject.New(), target, 1
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
			assert.Equal(t, test.dead, r.Dead)
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
	assert.Contains(t, f.What, "which command was the cause is not known")
	assert.Contains(t, f.What, "ACK {")
	assert.Equal(t, "the server is gone and cannot be started again", f.Unscripted)
}
