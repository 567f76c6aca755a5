package workqsuite_test

import (
	"context"
	"net"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/workqsuite"
	"github.com/fwpsuite/fwp/fakes/fakeworkq"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

const addr = "127.0.0.1:9922"

type target struct{ nw *memnet.Network }

func (t target) Dial(ctx context.Context) (net.Conn, error) {
	return t.nw.DialContext(ctx, "tcp", addr)
}

// run plays checks on a server with a hook, in virtual time.
func run(t *testing.T, hook func(*fakeworkq.Event), checks []conformance.Check) (report *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		nw := memnet.New()
		l, err := nw.Listen(addr)
		require.NoError(t, err)
		server := fakeworkq.NewServer(fakeworkq.Config{Hook: hook})
		go server.Serve(l)
		runner := &conformance.Runner{
			Protocol: workqsuite.Protocol(), Checks: checks, Virtual: true,
			Servers: []conformance.Server{{
				Target: target{nw}, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone},
			}},
		}
		report = runner.Run(t.Context())
		server.Close()
	})
	return report
}

func checks(t *testing.T) []conformance.Check {
	t.Helper()
	scripts, err := workqsuite.Protocol().Scripts()
	require.NoError(t, err)
	return conformance.Scripts(scripts...)
}

// TestScriptsAreInOrder: lint finds nothing, they are in the normal form, and their clauses are in the catalogue.
func TestScriptsAreInOrder(t *testing.T) {
	t.Parallel()
	scripts, err := workqsuite.Protocol().Scripts()
	require.NoError(t, err)
	for _, s := range scripts {
		assert.Empty(t, scenarios.Lint(s), s.Name)
		text := ""
		for i, line := range s.Source {
			if i < len(s.Source)-1 {
				text += line + "\n"
			}
		}
		assert.Equal(t, string(scenarios.Format(s)), text, s.Name)
		for m := range s.Marks() {
			_, known := workqsuite.Protocol().ClauseByID(m.Clause)
			assert.True(t, known, "%s: %s", s.Name, m.Clause)
		}
	}
}

func TestConformingServer(t *testing.T) {
	t.Parallel()
	report := run(t, nil, checks(t))
	require.Empty(t, report.Internal)
	for _, c := range report.Checks {
		if c.Verdict != reports.Pass {
			t.Errorf("%s: %s %s %+v", c.ID, c.Verdict, c.Why, c.Findings)
			for _, l := range c.Conversation {
				t.Log(l.Conn, l.From, l.Text)
			}
		}
		assert.Empty(t, c.Left, c.ID)
	}
	for _, c := range report.Clauses {
		if !slices.Contains([]reports.Verdict{reports.Pass, reports.NotApplicable, reports.NotSelected}, c.Verdict) {
			t.Errorf("%s: %s %s", c.ID, c.Verdict, c.Why)
		}
	}
}
