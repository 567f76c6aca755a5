package archtest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryPackageHasARoom(t *testing.T) {
	t.Parallel()
	empty := maps.Clone(rooms)
	for _, p := range modulePackages(t) {
		_, known := roomOf(p.Name)
		assert.True(t, known, "package %s has no row in the table", p.Name)
		delete(empty, p.Name)
	}
	assert.Empty(t, slices.Sorted(maps.Keys(empty)), "rows of the table without a package")
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			allowed, _ := roomOf(p.Name)
			assert.Empty(t, wrongImports(allowed, p.Imports), "imports that the table does not allow")
			allowed.mayImport = slices.Concat(allowed.mayImport, allowed.testsAlso, forTests)
			allowed.alone, allowed.speaks, allowed.tests = false, true, true
			assert.Empty(t, wrongImports(allowed, p.TestImports), "imports of the tests that the table does not allow")
		})
	}
}

// TestNothingIsAllowedInVain keeps the table as narrow as the code: a right that
// is not used any more would allow the next import unnoticed.
func TestNothingIsAllowedInVain(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		row := rooms[p.Name]
		assert.Empty(t, unusedRights(row.mayImport, p.Imports), "row of %s: allowed, and not imported", p.Name)
		unused := unusedRights(row.testsAlso, p.TestImports)
		assert.Empty(t, unused, "row of %s: allowed to tests, and not imported by them", p.Name)
	}
}

// unusedRights returns those packages of a row that are not among the imports.
func unusedRights(allowed, imports []string) []string {
	return slices.DeleteFunc(slices.Clone(allowed), func(name string) bool {
		return slices.ContainsFunc(imports, func(path string) bool {
			imported, ours := strings.CutPrefix(path, module+"/")
			return ours && matches([]string{name}, imported)
		})
	})
}

// TestTableIsAcyclic keeps the table itself honest: whoever is allowed to import
// has, in the end, only rooms below.
func TestTableIsAcyclic(t *testing.T) {
	t.Parallel()
	done := make(map[string]bool)
	var visit func(name string, above []string)
	visit = func(name string, above []string) {
		assert.NotContains(t, above, name, "a circle in the table: %s", above)
		_, known := roomOf(name)
		assert.True(t, known, "the row of %s allows %s, which has no row", above, name)
		if done[name] || slices.Contains(above, name) {
			return
		}
		for _, next := range expanded(rooms[name].mayImport) {
			visit(next, append(slices.Clip(above), name))
		}
		done[name] = true
	}
	for name := range rooms {
		visit(name, nil)
	}
}

// TestEnginesKnowNoProtocol: what is to carry another protocol reaches none, however far
// its imports go.
func TestEnginesKnowNoProtocol(t *testing.T) {
	t.Parallel()
	engines := []string{
		"internal/session", "scenarios", "scenarios/play", "load", "load/client", "load/engine", "load/ledger",
		"load/protocol",
		"load/workload",
		"conformance", "conformance/run", "conformance/explore", "fakes/catalogue", "fakes/store", "reports", "reports/html",
	}
	protocols := []string{
		"fwp", "fakes", "internal/session/fwpsession", "scenarios/fwpdialect", "load/fwpspeaker", "conformance/fwpsubject",
		"conformance/fwpsuite",
		"workq", "fakes/fakeworkq", "internal/session/workqsession", "scenarios/workqdialect", "load/workqspeaker",
		"conformance/workqsuite", "emqp", "zmtp", "fakes/fakeemqp", "internal/session/emqpsession", "scenarios/emqpdialect",
		"conformance/emqpsuite", "load/emqpspeaker",
	}
	for _, engine := range engines {
		reached := reachedFrom(engine)
		for _, protocol := range protocols {
			assert.NotContains(t, reached, protocol, "imports of %s", engine)
		}
	}
}

// TestNATSStaysInItsRoom: only the room of agents imports a NATS package, and only fwpbench reaches that room. Who uses
// the library rooms, or fwpcheck, links none of it.
func TestNATSStaysInItsRoom(t *testing.T) {
	t.Parallel()
	const home = "load/agents"
	for _, p := range modulePackages(t) {
		for _, path := range slices.Concat(p.Imports, p.TestImports) {
			assert.False(t, strings.HasPrefix(path, "github.com/nats-io/") && p.Name != home, "%s imports %s", p.Name, path)
		}
		mayReach := []string{home, "internal/cli/bench", "cmd/fwpbench"}
		reaches := slices.Contains(reachedFrom(p.Name), home)
		assert.True(t, slices.Contains(mayReach, p.Name) || !reaches, "%s reaches %s", p.Name, home)
	}
}

// reachedFrom returns the rooms that a room imports, however far that goes, and the room itself.
func reachedFrom(name string) []string {
	reached := []string{name}
	for i := 0; i < len(reached); i++ { // it grows
		for _, next := range expanded(rooms[reached[i]].mayImport) {
			if !slices.Contains(reached, next) {
				reached = append(reached, next)
			}
		}
	}
	return reached
}

func TestSiblingsAreStrangers(t *testing.T) {
	t.Parallel()
	siblings := []string{"conformance", "fakes", "internal/target", "load"}
	for _, name := range siblings {
		for _, other := range siblings {
			assert.NotContains(t, rooms[name].mayImport, other, "row of %s", name)
		}
	}
}

// wrongImports returns those of imports that a package with this row must not have.
func wrongImports(row room, imports []string) []string {
	var wrong []string
	for _, path := range imports {
		if name, ours := strings.CutPrefix(path, module+"/"); ours {
			if !matches(row.mayImport, name) {
				wrong = append(wrong, name)
			}
			continue
		}
		first, _, _ := strings.Cut(path, "/")
		switch {
		case strings.Contains(first, "."):
			isFlags := path == "github.com/spf13/cobra" || path == "github.com/spf13/pflag"
			if row.alone || isFlags && !row.speaks {
				wrong = append(wrong, path)
			}
		case first == "testing" && !row.tests, (path == "flag" || path == "log") && !row.speaks:
			wrong = append(wrong, path)
		}
	}
	return wrong
}

func TestWrongImports(t *testing.T) {
	t.Parallel()
	const below, beside, foreign = module + "/fwp", module + "/fakes", "github.com/google/go-cmp/cmp"
	tests := map[string]struct {
		row     room
		imports []string
		want    []string
	}{
		"nothing": {},
		"below":   {row: room{mayImport: []string{"fwp"}}, imports: []string{below, "fmt"}},
		"beside":  {row: room{mayImport: []string{"fwp"}}, imports: []string{below, beside}, want: []string{"fakes"}},
		"part of a name": {
			row: room{mayImport: []string{"fwp"}}, imports: []string{below + "test"}, want: []string{"fwptest"},
		},
		"foreign":  {imports: []string{foreign}},
		"alone":    {row: room{alone: true}, imports: []string{foreign, "net/http"}, want: []string{foreign}},
		"testing":  {imports: []string{"testing", "testing/fstest"}, want: []string{"testing", "testing/fstest"}},
		"may test": {row: room{tests: true}, imports: []string{"testing", "testing/fstest"}},
		"flags": {
			imports: []string{"flag", "log", "log/slog", "github.com/spf13/pflag"},
			want:    []string{"flag", "log", "github.com/spf13/pflag"},
		},
		"may have flags": {row: room{speaks: true}, imports: []string{"flag", "log", "github.com/spf13/cobra"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, wrongImports(test.row, test.imports))
		})
	}
}

func TestUnusedRights(t *testing.T) {
	t.Parallel()
	allowed := []string{"fwp", "fakes"}
	assert.Equal(t, []string{"fakes"}, unusedRights(allowed, []string{module + "/fwp", "fmt", "fakes"}))
	assert.Empty(t, unusedRights(allowed, []string{module + "/fakes", module + "/fwp"}))
	assert.Equal(t, []string{"fwp", "fakes"}, allowed)
}
