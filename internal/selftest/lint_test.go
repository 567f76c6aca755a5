package selftest

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/fwpsuite"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// suite is all scripts of the suite.
// suite is the scripts of the suite as checks.
// parsed parses the scripts once: a play changes none of them.
var parsed = sync.OnceValues(fwpdialect.Suite)

func suite(t *testing.T) []conformance.Check {
	t.Helper()
	scripts, err := parsed()
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	return conformance.Scripts(scripts...)
}

func TestScriptsAreClean(t *testing.T) {
	t.Parallel()
	for _, check := range suite(t) {
		script := check.(conformance.ScriptCheck).Script
		for _, problem := range scenarios.Lint(script) {
			assert.Fail(t, script.Name, "%v", problem)
		}
		assert.NotEmpty(t, script.Title, "%s has no title", script.Name)
		for mark := range script.Marks() {
			clause, known := fwpsuite.ClauseByID(mark.Clause)
			assert.True(t, known, "%s is about %s, which is in no catalogue", script.Name, mark.Clause)
			assert.True(t, clause.BindsServer(), "%s is about %s, which binds clients", script.Name, mark.Clause)
		}
	}
}
