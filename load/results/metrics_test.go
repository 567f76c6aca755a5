package results_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
)

func TestMetricTable(t *testing.T) {
	t.Parallel()
	table := results.MetricTable()
	names := map[string]bool{}
	for _, row := range table.Rows {
		names[row.Cells[0].String()] = true
		assert.NotEmpty(t, row.Cells[2].String())
	}
	for _, m := range results.Metrics(sampleOps()) {
		assert.True(t, names[m.Name] || names[m.Family], m.Name)
	}
	assert.Len(t, names, len(table.Rows), "each is there once")
	assert.Contains(t, results.Stats(), "p99.9")
}

func TestMetricsAreDistinctAndReadable(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	l := soundLoad()
	for _, m := range results.Metrics(sampleOps()) {
		assert.False(t, names[m.Name], m.Name)
		names[m.Name] = true
		_, err := validity.ParseThreshold(m.Name+"<"+strings.SplitN(m.Example(), " ", 2)[0], sampleOps()...)
		assert.NoError(t, err, m.Name)
		assert.False(t, math.IsNaN(m.Get(l).Value), m.Name)
		metric, ok := results.FindMetric(m.Name,
			[]string{results.OpOf(m.Name)}) // as Judge does, which does not know all kinds of commands
		assert.True(t, ok, m.Name)
		assert.Equal(t, m.Get(l), metric.Get(l), m.Name)
	}
	assert.Len(t, results.MetricNames(sampleOps()...), len(names))
	assert.NotContains(t, names, "fetch.service.p99", "its kinds have times")
	assert.Contains(t, results.MetricNames("put"), "put.service.p99", "of another protocol")
}

// TestMetricsAreDocumented: docs/load.md has the table that fwpbench metrics prints.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	const file, begin, end = "../../docs/load.md", "| metric | compared with |", "\nSTAT is "
	document, err := os.ReadFile(file)
	require.NoError(t, err)
	table := "| metric | compared with | meaning |\n|---|---|---|\n"
	for _, row := range results.MetricTable().Rows {
		table += fmt.Sprintf("| `%s` | %s | %s |\n", row.Cells[0].String(), row.Cells[1].String(), row.Cells[2].String())
	}
	table += "\nSTAT is " + strings.Join(results.Stats(), ", ") + "; FLOW is " +
		strings.Join(results.LoadFlows(), " or ") + ".\n"
	before, rest, _ := strings.Cut(strings.ReplaceAll(string(document), "\r\n", "\n"), begin)
	_, rest, _ = strings.Cut(rest, end)
	_, after, _ := strings.Cut(rest, "\n")
	golden.Document(t, file, before+table+after, "go test ./load/results -update")
}
