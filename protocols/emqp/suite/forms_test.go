package suite_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/reports"
)

// TestABrokerThatReadsAnotherForm of queues need not do what the checks expect: it is not blamed.
func TestABrokerThatReadsAnotherForm(t *testing.T) {
	t.Parallel()
	config := withHook(func() func(*fakeemqp.Event) {
		return func(e *fakeemqp.Event) {
			const command, queues = 2, 4
			e.Drop = !e.IsFromBroker && len(e.Frames) > queues && string(e.Frames[command]) == emqp.INFORM &&
				strings.HasPrefix(string(e.Frames[queues]), "[[")
		}
	})
	picked := slices.DeleteFunc(checks(t),
		func(c conformance.Check) bool { return c.Describe().ID != "request/delivered" })
	report := runChecks(t, config, picked)
	require.Len(t, report.Checks, 1)
	assert.Equal(t, reports.Inconclusive, report.Checks[0].Verdict)
	assert.Contains(t, report.Checks[0].Clauses[0].Cause, "this broker reads the queues of an INFORM as [10, 'NAME']")
	assert.Empty(t, report.Checks[0].Findings)
}
