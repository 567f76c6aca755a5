// Package schematest tests that the JSON schemas of all results are those of their types, and that their JSON follows
// them.
package schematest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/protocols/fwp/double"
	"github.com/fwpsuite/fwp/reports"
)

// result is a kind of result with a schema: its file, its title, the files with the comments of its types.
type result struct {
	file, title, version string
	typ                  reflect.Type
	sources              string
}

const (
	reportsRoom = "../../../reports/"
	resultsRoom = "../../../load/results/"
)

func all() []result {
	return []result{
		{resultsRoom + "load.schema.json", "Result of a run of fwpbench", results.LoadSchema, reflect.TypeFor[results.Load](),
			"load.go jobs.go parts.go health.go finding.go disruption.go metrics.go percentile.go rate.go lookup.go"},
		{resultsRoom + "load_capacity.schema.json", "Result of a search for the highest rate", results.LoadCapacitySchema,
			reflect.TypeFor[results.LoadCapacity](), "capacity.go load.go percentile.go"},
		{resultsRoom + "load_comparison.schema.json", "Result of comparing two loads", results.LoadComparisonSchema,
			reflect.TypeFor[results.LoadComparison](), "comparison.go load.go percentile.go"},
		{resultsRoom + "merged.schema.json", "Sum of several runs of fwpbench", results.MergedSchema,
			reflect.TypeFor[results.Merged](), "merged.go load.go percentile.go"},
		{reportsRoom + "check.schema.json", "Result of a run of fwpcheck", reports.Schema, reflect.TypeFor[reports.Report](),
			"report.go finding.go known.go verdict.go"},
		{reportsRoom + "exploration.schema.json", "Result of an exploration", reports.ExplorationSchema,
			reflect.TypeFor[reports.Exploration](), "exploration.go finding.go report.go"},
		{reportsRoom + "comparison.schema.json", "Result of comparing two servers", reports.ComparisonSchema,
			reflect.TypeFor[reports.Comparison](), "comparison.go report.go"},
		{reportsRoom + "changes.schema.json", "What differs between the reports of several runs", reports.ChangesSchema,
			reflect.TypeFor[reports.Changes](), "changes.go report.go"},
	}
}

// The schemas are written from the types and their comments: go test ./internal/proof/schematest -update.
func TestSchemasAreThoseOfTheTypes(t *testing.T) {
	t.Parallel()
	for _, r := range all() {
		sources := []string{reportsRoom + "result.go", reportsRoom + "subject.go"} // have the parts of every result
		for file := range strings.FieldsSeq(r.sources) {
			sources = append(sources, filepath.Join(filepath.Dir(r.file), file))
		}
		schemaOf(t, r.file, r.title, r.version, r.typ, sources...)
	}
}

func TestJSONFollowsItsSchema(t *testing.T) {
	t.Parallel()
	for _, r := range all() {
		root := readSchema(t, r.file)
		empty, filled := reflect.New(r.typ), reflect.New(r.typ)
		golden.Fill(filled.Elem())
		for name, v := range map[string]reflect.Value{"empty": empty, "every field": filled} {
			var out bytes.Buffer
			require.NoError(t, v.Interface().(reports.Result).WriteJSON(&out, reports.ExitOptions{}))
			assert.Empty(t, root.breachesOf(t, out.Bytes()), "%s: %s", r.title, name)
		}
		assert.NotEmpty(t, root.breaches(root, "$", map[string]any{"schema": r.version, "took_ns": "1", "new": 1}))
	}
}

// The golden files are results of all kinds.
func TestGoldenFilesFollowTheirSchemas(t *testing.T) {
	t.Parallel()
	versions := map[string]bool{}
	for _, room := range []string{reportsRoom, resultsRoom} {
		files, err := filepath.Glob(room + "testdata/*.json.golden")
		require.NoError(t, err)
		for _, file := range files {
			data, err := os.ReadFile(filepath.Clean(file))
			require.NoError(t, err)
			for _, r := range all() {
				if bytes.HasPrefix(data, []byte("{\n  \"schema\": \""+r.version+"\"")) {
					versions[r.version] = true
					assert.Empty(t, readSchema(t, r.file).breachesOf(t, data), file)
				}
			}
		}
	}
	assert.GreaterOrEqual(t, len(versions), 6)
}

// The control of a test double has bodies instead of a result.
func TestSchemaOfTheControl(t *testing.T) {
	t.Parallel()
	const room = "../../../protocols/fwp/double/"
	schemaOf(t, room+"control.schema.json", "Bodies of the control of fwpcheck serve, version 1", "",
		reflect.TypeFor[double.Control](), room+"control.go", room+"control_server.go", room+"journal.go", room+"stub.go",
		room+"verify.go")
}

// A field that JSON forgets is noticed, whatever it is set to.
func TestLoadsAreReadBack(t *testing.T) {
	t.Parallel()
	filled := &results.Load{}
	golden.Fill(reflect.ValueOf(filled).Elem())
	filled.Schema = results.LoadSchema
	filled.Exit, filled.Words = filled.Outcome(reports.ExitOptions{}).Values()
	var out bytes.Buffer
	require.NoError(t, filled.WriteJSON(&out, reports.ExitOptions{}))
	result, err := results.ReadLoad(out.Bytes())
	require.NoError(t, err)
	for _, raw := range []*json.RawMessage{&result.Target.HI, &result.Target.Info, &result.Plan.Workload} {
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, *raw))
		*raw = compact.Bytes()
	}
	assert.Equal(t, filled, result)
}
