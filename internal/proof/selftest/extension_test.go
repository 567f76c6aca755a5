package selftest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/internal/proof/suitetest"
	"github.com/fwpsuite/fwp/internal/registry"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// extensionChecks returns the protocol with the extension of Faktory, and the checks that the extension adds.
func extensionChecks(t *testing.T) (*registry.Entry, []conformance.Check) {
	t.Helper()
	entry, err := registry.Default().WithExtension("faktory")
	require.NoError(t, err)
	scripts, err := fwpscript.Faktory.Scripts()
	require.NoError(t, err)
	return entry, conformance.Scripts(scripts...)
}

// Nothing is found on the embedded server with what Faktory adds, and everything is decided.
func TestExtensionOnTheConformingServer(t *testing.T) {
	t.Parallel()
	entry, checks := extensionChecks(t)
	suitetest.CheckTimes(t, checkVariation(t, Fixture{Entry: entry}, registry.Variation{Name: conforming}, checks), checks)
}

// Each bug of what Faktory adds turns its clause red, and no other clause that it does not name; each clause of the
// extension has such a bug.
func TestExtensionBugs(t *testing.T) {
	t.Parallel()
	entry, checks := extensionChecks(t)
	clauses := map[string]bool{}
	for _, f := range bugs.Faktory() {
		clauses[f.Clauses[0]] = true
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			bug, err := entry.BugNamed(f.Name)
			require.NoError(t, err)
			var ids []string
			for _, script := range checks {
				if !Names(bug, script) {
					continue
				}
				for _, finding := range playScript(t, entry, bug, script).Findings {
					ids = append(ids, finding.Clause)
				}
			}
			assert.Contains(t, ids, f.Clauses[0])
			ids = slices.DeleteFunc(ids, func(clause string) bool { return slices.Contains(f.Clauses, clause) })
			assert.Empty(t, ids)
		})
	}
	scripted := map[string]bool{}
	for _, check := range checks {
		for _, m := range check.Describe().Clauses() {
			scripted[m.Clause] = true
		}
	}
	assert.Equal(t, scripted, clauses)
}

// What the law knows of the extension's commands shows in scripts in which no line is about it.
func TestTheLawHoldsTheExtension(t *testing.T) {
	t.Parallel()
	entry, _ := extensionChecks(t)
	for name, test := range map[string]struct{ script, clause string }{
		"queue-pause-nothing": {clause: "FKT-QUEUE-01", script: `title: a paused queue
connect as consumer
C: PUSH $job
S: +OK
C: QUEUE PAUSE $queue
S: +OK
C: FETCH $queue
S: <any>
C: QUEUE RESUME $queue
S: +OK`},
		"mutate-kill-nothing": {clause: "FKT-MUTATE-01", script: `title: a killed job
connect as consumer
C: PUSH $job{"at":"$now+11m"}
S: +OK
C: MUTATE {"cmd":"kill","target":"scheduled","filter":{"jids":["$jid"]}}
S: +OK
silence 661s
C: FETCH $queue
S: <any>`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := scenarios.Parse(entry.Dialect, name, []byte(test.script+"\n"))
			require.NoError(t, err)
			script := conformance.Scripts(text)[0]
			clausesOf := func(bug registry.Bug) (clauses []string) {
				for _, f := range playScript(t, entry, bug, script).Findings {
					assert.Equal(t, reports.LawPrefix+"delivered", f.Check)
					clauses = append(clauses, f.Clause)
				}
				return clauses
			}
			bug, err := entry.BugNamed(name)
			require.NoError(t, err)
			assert.Equal(t, []string{test.clause}, clausesOf(bug))
			assert.Empty(t, clausesOf(registry.FWPBug(fakes.Bug{Hook: func() func(*fakes.Event) { return func(*fakes.Event) {} }})),
				"a server without the planted bug")
		})
	}
}
