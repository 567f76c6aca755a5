package reports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The reason why something was not evaluated may quote a reply. A long one is cut, unless all is asked for.
func TestReasonsAreCut(t *testing.T) {
	t.Parallel()
	job := `${"jid":"a","args":["` + strings.Repeat("long ", 100) + `"],"queue":"q"}`
	r := &Report{Checks: []Check{{ID: "a/b", Verdict: Inconclusive, Why: "line 3: expected +OK, got " + job}}}
	shown := func(o PageOptions) string {
		var out strings.Builder
		require.NoError(t, r.Page(o).WriteText(&out, TextOptions{}))
		return strings.Join(strings.Fields(out.String()), " ")
	}
	assert.Contains(t, shown(PageOptions{}), `line 3: expected +OK, got ${"jid":"a"`)
	assert.NotContains(t, shown(PageOptions{}), job)
	assert.Contains(t, shown(PageOptions{}), `"queue":"q"}`)
	assert.Contains(t, shown(PageOptions{Verbose: true}), job)
}
