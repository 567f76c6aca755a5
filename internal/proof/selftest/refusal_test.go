package selftest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
)

// A server that ends a connection instead of refusing a command before HELLO has let no client in: all checks of who is
// let in name the clause of the answer, and no other.
func TestACloseInsteadOfAnErrorBreaksOneClause(t *testing.T) {
	t.Parallel()
	clauses := map[string]string{
		"hello-declined-closes": "FWP-HELLO-04", "state-before-hello-closes": "FWP-STATE-01",
	}
	for _, bug := range registry.Default().Bugs() {
		clause := clauses[bug.Name]
		if clause == "" {
			continue
		}
		delete(clauses, bug.Name)
		t.Run(bug.Name, func(t *testing.T) {
			t.Parallel()
			count := 0
			for _, script := range suite(t) {
				if !strings.HasPrefix(script.Describe().ID, "auth/") {
					continue
				}
				check := playScript(t, registry.Default(), bug, script)
				for _, id := range brokenClauses(check) {
					assert.Equal(t, clause, id, "%s%s", check.ID, evidence(check))
					count++
				}
				for _, c := range check.Clauses {
					hasReason := c.Verdict != reports.Inconclusive || c.Reason != ""
					assert.True(t, hasReason, "%s: %s has no reason", check.ID, c.ID)
				}
			}
			assert.Positive(t, count)
		})
	}
	assert.Empty(t, clauses)
}
