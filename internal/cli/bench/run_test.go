package bench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// A run without a server says why, and to whom that is due.
func TestTheReportOfARunWithoutAServer(t *testing.T) {
	t.Parallel()
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	errRefused := errors.New("connection refused")
	for name, test := range map[string]struct {
		isInterrupted bool
		err           error
		code          int
	}{
		"the target":  {false, errRefused, reports.ExitUnreachable},
		"the suite":   {false, &shared.InternalError{Cause: errRefused}, reports.ExitInternal},
		"the user":    {true, errRefused, reports.ExitInterrupted},
		"user, suite": {true, &shared.InternalError{Cause: errRefused}, reports.ExitInterrupted},
	} {
		ctx := t.Context()
		if test.isInterrupted {
			ctx = interrupted
		}
		l := failureReport(ctx, &load.Config{Run: "k3v9q2", Seed: 7}, time.Now(), test.err)
		code, _ := l.Outcome(reports.ExitOptions{}).Values()
		assert.Equal(t, test.code, code, name)
		assert.Equal(t, "k3v9q2", l.Run)

		var got reports.Trouble
		assert.True(t, endsSeries(l, &got), name)
		assert.Equal(t, test.code == reports.ExitInterrupted, got.Interrupted, name)
		assert.Equal(t, test.code == reports.ExitInternal, got.Internal != "", name)
		assert.Equal(t, test.code == reports.ExitUnreachable, got.Unreachable != "", name)
	}
	var trouble reports.Trouble
	assert.True(t, endsSeries(&results.Load{Phases: []results.Phase{{Name: "measure"}}, GoneReason: "refused"}, &trouble))
	assert.Equal(t, "refused", trouble.Unreachable, "the target was lost in the middle of a run")
	invalid := &results.Load{Phases: []results.Phase{{Name: "measure"}}}
	assert.False(t, endsSeries(invalid, nil), "a series goes on after a run that is INVALID")
}

// A target of this machine takes half of its processors.
func TestWhetherAServerIsLocal(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "10.0.0.1": false, "example.com": false,
	} {
		at := shared.Endpoint{}
		at.Choice.Address.Host = host
		assert.Equal(t, want, isLocal(at), host)
	}
	endpoint := shared.Endpoint{}
	endpoint.Choice.IsEmbedded = true
	assert.True(t, isLocal(endpoint))
	assert.True(t, isLocal(shared.Endpoint{Starter: &target.Starter{}}))
}

// Before a run that may leave jobs behind, its user is told which.
func TestJobsThatARunMayLeave(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		"preset: roundtrip":          "",
		"fail_share: 2%\nretry: 0":   "",
		"fail_share: 2%\nretry: 3":   "2 % of the deliveries end in a FAIL, and the server alone decides",
		"fail_share: 10%\nretry: -1": "10 % of the deliveries end in a FAIL, and the server keeps these jobs as dead",
	} {
		w, err := plan.Parse("a.yaml", []byte(settings))
		require.NoError(t, err, settings)
		words := leftovers(&w)
		assert.True(t, strings.HasPrefix(words, want), words)
		assert.Equal(t, want == "", words == "", settings)
	}
}
