package reports

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMetricsAreDocumented: docs/load.md has the table that fwpbench metrics prints.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../docs/load.md")
	require.NoError(t, err)
	table := "| metric | compared with | what it is |\n|---|---|---|\n"
	for _, row := range MetricTable().Rows {
		table += fmt.Sprintf("| `%s` | %s | %s |\n", joined(row.Cells[0]), joined(row.Cells[1]), joined(row.Cells[2]))
	}
	table += "\nSTAT is " + strings.Join(Stats(), ", ") + "; FLOW is " + strings.Join(LoadFlows(), " or ") + ".\n"
	assert.Contains(t, string(document), table)
}
