package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/reports"
)

// The page for authors of worker libraries has each clause that a worker can break, under its harm.
func TestHowToFixWorkers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "how-to-fix-workers.md"))
	require.NoError(t, err)
	page := strings.ToLower(string(text))
	for _, c := range Clauses() {
		if !bindsWorkers(c) || c.UnwatchedReason != "" || !c.BreachVerdict().IsBreach() {
			assert.Empty(t, c.Harm, "%s is never a finding about a worker", c.ID)
			continue
		}
		row := strings.Index(page, "\n| "+strings.ToLower(c.ID))
		if c.Harm == "" {
			assert.Contains(t, page, strings.ToLower(c.ID))
			continue
		}
		section := strings.LastIndex(page[:max(row, 0)], "\n## ")
		assert.True(t, row > 0 && strings.HasPrefix(page[max(section, 0):], "\n## "+c.Harm+"\n"), "%s: %s", c.ID, c.Harm)
	}
	for _, harm := range reports.Harms() { // of a clause, or of what a situation decides
		assert.Contains(t, page, "\n## "+harm+"\n")
	}
}

func bindsWorkers(c conformance.Clause) bool { return c.Binds("C") || c.Binds("K") }
