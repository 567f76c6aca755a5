package archtest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// room is what one package of the module is allowed.
type room struct {
	mayImport []string // packages of the module; nothing else of the module
	testsAlso []string // packages of the module that its tests in the package may import beside those
	alone     bool     // the standard library only: no package of another module
	speaks    bool     // may print, read flags and exit
	tests     bool     // may import testing outside its tests
}

// rooms has a row for every package of the module. Imports point down only, and
// the siblings conformance, fakes and internal/target never import each other: what
// brings them together is internal/selftest and the rooms of internal/cli. A new package gets a
// row here and a line in docs/architecture.md.
var rooms = map[string]room{
	"cmd/fwpbench": {mayImport: []string{"internal/cli/bench", "internal/cli/program"}, speaks: true},
	"cmd/fwpcheck": {mayImport: []string{"internal/cli/check", "internal/cli/program"}, speaks: true},

	"internal/cli/bench": {
		mayImport: []string{
			"conformance/law", "internal/cli/program", "internal/input", "internal/minimize", "internal/peer", "internal/session",
			"internal/target", "internal/text",
			"load", "load/agents", "load/arrivals", "load/capacity", "load/client", "load/compare", "load/disrupt",
			"load/exposition",
			"load/health", "load/judge", "load/measure", "load/paired", "load/protocol", "load/results", "load/workload",
			"reports", "reports/html",
		},
		testsAlso: []string{"fakes", "internal/history"},
		speaks:    true,
	},
	"internal/cli/check": {
		mayImport: []string{
			"conformance", "conformance/explore", "conformance/fwpsubject", "conformance/run", "conformance/upgrade",
			"conformance/workers", "conformance/workers/situations", "docs", "internal/cli/program",
			"internal/double", "internal/expect",
			"internal/history", "internal/input", "internal/life", "internal/peer", "internal/recorder",
			"internal/selftest", "internal/shortage", "internal/stress", "internal/target", "internal/text",
			"load/disrupt", "load/health", "load/workload", "reports", "reports/formats", "reports/page",
			"reports/site", "scenarios", "scenarios/fwpdialect", "scenarios/play",
		},
		testsAlso: []string{"conformance/fwpsuite", "emqp", "fakes", "fwp", "zmtp"},
		speaks:    true,
	},
	"internal/cli/program": {
		mayImport: []string{
			"conformance", "internal/input", "internal/peer", "internal/proxy", "internal/shortage", "internal/target",
			"internal/text", "internal/yamlfile", "load/disrupt", "load/workload", "reports", "reports/formats", "reports/html", "reports/page",
		},
		speaks: true,
	},
	"fwptest": {
		mayImport: []string{
			"conformance", "conformance/fwpsuite", "conformance/run", "internal/expect", "internal/input",
			"internal/stress", "internal/target", "reports", "reports/page", "scenarios", "scenarios/fwpdialect",
		},
		testsAlso: []string{"fakes", "fakes/faults"},
		tests:     true,
	},
	"internal/expect": {mayImport: []string{"internal/text", "reports"}},
	"internal/double": {
		mayImport: []string{
			"fakes", "fwp", "internal/jsonnum", "internal/session", "internal/session/fwpsession", "scenarios",
			"scenarios/fwpdialect",
		},
		testsAlso: []string{"fakes/faults"},
	},
	"internal/selftest": {
		mayImport: []string{
			"conformance", "conformance/run", "internal/memnet", "internal/peer", "reports",
		},
		testsAlso: []string{
			"conformance/fwpsuite", "conformance/workqsuite", "emqp", "fakes", "fakes/catalogue", "fakes/fake*", "fakes/faults",
			"fakes/variations", "fwp", "internal/stress", "scenarios", "scenarios/fwpdialect", "scenarios/play", "workq",
		},
	},
	"internal/peer": {
		mayImport: []string{
			"conformance", "conformance/*subject", "conformance/*suite", "conformance/explore", "conformance/run",
			"conformance/*upgrade", "docs",
			"emqp", "fakes", "fakes/catalogue", "fakes/fake*", "fakes/faults", "fakes/variations", "internal/double",
			"internal/stress", "internal/target", "internal/text", "load/*speaker", "load/protocol", "load/workload",
			"scenarios", "scenarios/*dialect", "scenarios/play",
		},
	},
	"internal/stress": {
		mayImport: []string{
			"conformance", "conformance/explore", "conformance/fwpsubject", "conformance/fwpsuite", "conformance/law",
			"internal/history", "internal/lag", "internal/session/fwpsession", "internal/shortage", "load",
			"load/fwpspeaker", "load/measure", "load/results", "load/workload", "scenarios", "scenarios/fwpdialect",
			"scenarios/play",
		},
	},

	"conformance": {
		mayImport: []string{
			"conformance/law", "internal/lag", "internal/text", "internal/wait", "reports", "scenarios", "scenarios/play",
		},
		testsAlso: []string{"scenarios/fwpdialect"},
	},
	"conformance/law": {mayImport: []string{"internal/session", "internal/values", "reports", "scenarios"}},
	"conformance/run": {
		mayImport: []string{
			"conformance", "conformance/law", "internal/lag", "internal/text", "internal/wait", "reports", "scenarios",
			"scenarios/play",
		},
		testsAlso: []string{"conformance/fwpsuite"},
	},
	"conformance/fwpsuite": {
		mayImport: []string{
			"conformance", "conformance/explore", "conformance/fwpsubject", "conformance/model", "fwp",
			"internal/text", "scenarios", "scenarios/fwpdialect", "scenarios/play",
		},
		testsAlso: []string{"conformance/run", "reports"},
	},
	"conformance/explore": {
		mayImport: []string{
			"conformance", "conformance/law", "internal/lag", "internal/minimize", "internal/session", "internal/text",
			"internal/wait", "reports", "scenarios", "scenarios/play",
		},
		testsAlso: []string{"scenarios/fwpdialect", "scenarios/workqdialect"},
	},
	"conformance/upgrade": {
		mayImport: []string{"conformance", "internal/history", "internal/text", "reports", "scenarios/play"},
	},
	"conformance/fwpupgrade": {mayImport: []string{
		"conformance/fwpsubject", "conformance/oracle", "conformance/upgrade", "fwp", "internal/history", "internal/jsonnum",
		"internal/rfc3339", "internal/values", "scenarios/fwpdialect",
	}},
	"conformance/fwpsubject": {mayImport: []string{
		"conformance/explore", "conformance/law", "conformance/model", "conformance/oracle", "fwp", "internal/rfc3339",
		"internal/session", "internal/session/fwpsession", "internal/values", "scenarios", "scenarios/fwpdialect",
	}},
	"conformance/oracle": {
		mayImport: []string{"conformance/law", "conformance/model", "fwp", "internal/jsonnum", "internal/rfc3339"},
	},
	"conformance/model": {mayImport: []string{"fwp"}},
	"conformance/emqpsuite": {mayImport: []string{
		"conformance", "conformance/emqpsubject", "conformance/explore", "emqp", "scenarios/emqpdialect",
		"scenarios/play", "zmtp",
	}},
	"conformance/emqpsubject": {mayImport: []string{
		"conformance/explore", "conformance/law", "emqp", "internal/session", "internal/session/emqpsession",
		"internal/values", "scenarios", "scenarios/emqpdialect", "zmtp",
	}},
	"conformance/workers": {mayImport: []string{"fwp", "internal/text"}, alone: true},
	"conformance/workers/situations": {
		mayImport: []string{
			"conformance", "conformance/fwpsuite", "conformance/workers", "fakes", "fwp",
			"internal/jsonnum", "internal/lag", "internal/memnet", "internal/rfc3339", "internal/shortage", "internal/target",
			"internal/values", "reports", "scenarios", "scenarios/play",
		},
		testsAlso: []string{"conformance/run", "fakes/fakeworker"},
	},
	"conformance/workqsuite": {mayImport: []string{
		"conformance", "conformance/explore", "conformance/workqsubject", "scenarios/play", "scenarios/workqdialect", "workq",
	}},
	"conformance/workqsubject": {mayImport: []string{
		"conformance/explore", "conformance/law", "internal/session", "internal/session/workqsession",
		"internal/values", "scenarios", "scenarios/workqdialect", "workq",
	}},
	"fakes": {mayImport: []string{
		"fakes/catalogue", "fakes/store", "fwp", "internal/input", "internal/rfc3339", "internal/wait",
	}, alone: true},
	"fakes/faults":     {mayImport: []string{"fakes", "fakes/catalogue", "fwp"}, alone: true},
	"fakes/variations": {mayImport: []string{"fakes", "fakes/catalogue", "fakes/faults", "fwp"}, alone: true},
	"fakes/catalogue":  {alone: true},
	"fakes/fakeworker": {mayImport: []string{"fakes/catalogue", "fwp", "internal/rfc3339", "internal/wait"}, alone: true},
	"fakes/fakeemqp":   {mayImport: []string{"emqp", "fakes/catalogue", "zmtp"}, alone: true},
	"fakes/fakeworkq":  {mayImport: []string{"fakes/catalogue", "fakes/store", "internal/serving", "workq"}, alone: true},
	"fakes/store":      {alone: true},
	"docs":             {},
	"internal/target": {
		mayImport: []string{"internal/input", "internal/lag", "internal/shortage", "internal/text", "internal/wait"},
	},

	"load": {mayImport: []string{
		"internal/history", "internal/shortage", "internal/text", "load/arrivals", "load/client", "load/disrupt",
		"load/engine", "load/health", "load/judge", "load/ledger", "load/measure", "load/protocol", "load/results",
		"load/workload", "reports",
	}, testsAlso: []string{"reports/page"}},
	"load/agents": {mayImport: []string{
		"internal/lag", "internal/text", "internal/wait", "load", "load/judge", "load/measure", "load/results",
		"load/workload", "reports",
	}},
	"load/exposition": {mayImport: []string{"load", "load/measure", "load/results"}},
	"load/client": {mayImport: []string{
		"internal/history", "internal/shortage", "internal/text", "load/arrivals", "load/engine", "load/ledger",
		"load/measure", "load/protocol", "load/workload",
	}, testsAlso: []string{"load/fwpspeaker"}},
	"load/fwpspeaker": {mayImport: []string{
		"fwp", "internal/session", "internal/session/fwpsession", "internal/text", "load/measure", "load/protocol",
		"load/workload",
	}},
	"load/emqpspeaker": {mayImport: []string{
		"emqp", "internal/session/emqpsession", "load/measure", "load/protocol", "load/workload", "zmtp",
	}},
	"load/workqspeaker": {mayImport: []string{
		"internal/session", "internal/session/workqsession", "load/measure", "load/protocol", "load/workload", "workq",
	}},
	"load/protocol": {mayImport: []string{"internal/text", "load/measure", "load/workload"}},
	"load/workload": {mayImport: []string{"internal/text", "internal/yamlfile", "load/arrivals"}},
	"load/disrupt":  {mayImport: []string{"internal/text", "internal/wait", "internal/yamlfile", "load/workload"}},
	"load/capacity": {alone: true},
	"load/compare":  {mayImport: []string{"load/paired", "load/results"}, testsAlso: []string{"reports"}, alone: true},
	"load/judge":    {mayImport: []string{"internal/text", "load/results", "reports"}, alone: true},
	"load/results":  {mayImport: []string{"internal/shortage", "internal/text", "reports"}, alone: true},
	"load/health":   {mayImport: []string{"load/results"}, alone: true},
	"load/paired":   {alone: true},
	"load/arrivals": {alone: true},
	"load/engine":   {mayImport: []string{"internal/text"}},
	"load/ledger":   {alone: true},
	"load/measure":  {mayImport: []string{"internal/text"}},

	"scenarios": {mayImport: []string{"internal/jsonnum", "internal/rfc3339", "internal/session", "internal/text"}},
	"scenarios/play": {
		mayImport: []string{"internal/lag", "internal/session", "internal/text", "internal/wait", "scenarios"},
		testsAlso: []string{"scenarios/fwpdialect"},
	},
	"scenarios/fwpdialect": {mayImport: []string{
		"fwp", "internal/jsonnum", "internal/session", "internal/session/fwpsession", "scenarios",
	}},

	"scenarios/emqpdialect": {mayImport: []string{
		"emqp", "internal/session", "internal/session/emqpsession", "internal/text", "scenarios", "zmtp",
	}},
	"scenarios/workqdialect": {mayImport: []string{
		"internal/session", "internal/session/workqsession", "scenarios", "workq",
	}},

	"internal/session": {mayImport: []string{"internal/wait"}, alone: true},
	"internal/session/emqpsession": {
		mayImport: []string{"emqp", "internal/session", "internal/text", "zmtp"}, alone: true,
	},
	"internal/session/workqsession": {mayImport: []string{"internal/session", "internal/text", "workq"}, alone: true},
	"internal/session/fwpsession": {
		mayImport: []string{"fwp", "internal/jsonnum", "internal/session", "internal/text"}, alone: true,
	},

	"fwp":              {mayImport: []string{"internal/growbuf", "internal/jsonnum", "internal/rfc3339"}, alone: true},
	"emqp":             {alone: true},
	"zmtp":             {mayImport: []string{"internal/growbuf"}, alone: true},
	"zmtp/libzmq":      {},
	"workq":            {mayImport: []string{"internal/growbuf"}, alone: true},
	"internal/growbuf": {alone: true},
	"internal/jsonnum": {alone: true},
	"internal/rfc3339": {alone: true},
	"reports":          {mayImport: []string{"internal/text"}, alone: true},
	"reports/page":     {mayImport: []string{"internal/text", "reports"}, alone: true},
	"reports/html":     {mayImport: []string{"internal/text", "reports"}, alone: true},
	"reports/site":     {mayImport: []string{"internal/text", "reports", "reports/html"}, alone: true},
	"reports/formats": {
		mayImport: []string{"internal/text", "reports", "reports/html", "reports/page"}, alone: true,
	},
	"internal/schematest": {testsAlso: []string{"internal/double", "internal/text", "load/results", "reports"}},
	"internal/input":      {alone: true},
	"internal/shortage":   {mayImport: []string{"internal/text"}, alone: true},
	"internal/scripttest": {mayImport: []string{"internal/cli/program"}},
	"internal/suitetest": {
		mayImport: []string{
			"conformance", "fakes/fakeemqp", "internal/input", "internal/memnet", "reports", "scenarios",
		},
		tests: true,
	},
	"internal/loadtest": {
		mayImport: []string{"internal/memnet", "load", "load/protocol", "load/results", "load/workload"}, tests: true,
	},
	"internal/minimize": {alone: true},
	"internal/text":     {alone: true},
	"internal/values":   {alone: true},
	"internal/serving":  {alone: true},
	"internal/lag":      {mayImport: []string{"internal/input"}, alone: true},
	"internal/wait":     {alone: true},
	"internal/memnet":   {alone: true},
	"internal/recorder": {
		mayImport: []string{
			"conformance/law", "conformance/workers", "fwp", "internal/lag", "internal/minimize", "internal/proxy",
			"internal/rfc3339",
			"internal/session", "internal/session/fwpsession", "internal/text", "internal/wait", "scenarios",
			"scenarios/fwpdialect", "scenarios/play",
		},
		testsAlso: []string{
			"conformance/fwpsubject", "fakes", "fakes/faults", "fakes/variations", "load", "load/fwpspeaker", "load/workload",
		},
	},
	"internal/proxy":    {mayImport: []string{"internal/shortage", "internal/wait"}, alone: true},
	"internal/yamlfile": {},
	"internal/slow":     {alone: true, tests: true},
	"internal/life":     {mayImport: []string{"internal/history", "internal/text", "reports", "scenarios"}},
	"internal/history":  {mayImport: []string{"internal/text"}, alone: true},

	"clients/npm":       {},
	"internal/archtest": {},
}

// forTests are the packages that every test may import, in the package or beside
// it. Tests in an external package (package x_test) may import sideways anyway.
var forTests = []string{"internal/memnet", "internal/slow"}

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
