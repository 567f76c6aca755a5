package reports

import (
	"io"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The schemas are written from the types and their comments: go test ./reports -run Schema -update.
func TestSchemasAreThoseOfTheTypes(t *testing.T) {
	t.Parallel()
	schemaOf(t, "load.schema.json", "Result of a run of fwpbench", LoadSchema, reflect.TypeFor[Load](),
		"load.go", "load_agents.go", "load_health.go", "load_finding.go", "load_disruption.go", "threshold.go")
	schemaOf(t, "check.schema.json", "Result of a run of fwpcheck", Schema, reflect.TypeFor[Report](),
		"report.go", "finding.go", "known.go", "repeat.go")
	schemaOf(t, "exploration.schema.json", "Result of an exploration", ExplorationSchema, reflect.TypeFor[Exploration](),
		"exploration.go", "finding.go", "report.go")
	schemaOf(t, "comparison.schema.json", "Result of comparing two servers", ComparisonSchema,
		reflect.TypeFor[Comparison](), "comparison.go", "report.go")
	schemaOf(t, "merged.schema.json", "Sum of several runs of fwpbench", MergedSchema, reflect.TypeFor[Merged](),
		"merged.go", "load.go")
}

func TestLoadJSONFollowsItsSchema(t *testing.T) {
	t.Parallel()
	root := readSchema(t, "load.schema.json")
	full := &Load{}
	fillLoad(reflect.ValueOf(full).Elem(), new(int64))
	samples := loadSamples()
	samples["every field"] = full
	for name, l := range samples {
		assert.Empty(t, root.breachesOf(t, l.WriteJSON), name)
	}
	assert.NotEmpty(t, root.breaches(root, "$", map[string]any{"schema": "fwpbench/2", "took_ns": "1", "new": 1}))
}

func TestCheckJSONFollowsItsSchema(t *testing.T) {
	t.Parallel()
	root := readSchema(t, "check.schema.json")
	full := &Report{}
	fill(reflect.ValueOf(full).Elem(), new(int64))
	for name, r := range map[string]*Report{"rich": rich(), "repeated": repeated(), "expected": expected(), "empty": {},
		"every field": full} {
		write := func(w io.Writer) error { return r.WriteJSON(w, ExitOptions{}) }
		assert.Empty(t, root.breachesOf(t, write), name)
	}
	root = readSchema(t, "comparison.schema.json")
	for name, c := range map[string]*Comparison{"compared": compared(), "empty": {}} {
		write := func(w io.Writer) error { return c.WriteJSON(w, ExitOptions{}) }
		assert.Empty(t, root.breachesOf(t, write), name)
	}
	root = readSchema(t, "exploration.schema.json")
	for name, e := range map[string]*Exploration{"explored": explored(), "empty": {}} {
		write := func(w io.Writer) error { return e.WriteJSON(w, ExitOptions{}) }
		assert.Empty(t, root.breachesOf(t, write), name)
	}
}
