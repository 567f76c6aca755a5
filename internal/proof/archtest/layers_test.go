package archtest

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// layers are the packages of the module, from the lowest layer to the highest, by patterns for their names. Imports
// point down: a package imports none of its own layer, and none above. A new package is added to a line.
var layers = []string{
	// what everything uses
	`clients/npm docs docs/found fakes/rule internal/base/allow internal/base/input internal/base/jobtype
	 internal/base/memnet internal/base/number internal/base/text internal/base/values internal/base/yaml
	 internal/proof/archtest internal/proof/schematest internal/target/forward`,
	`internal/base/machine`,
	// bytes, conversations, histories, figures, results
	`fakes/catalogue fakes/store internal/history internal/proof/golden internal/session internal/standstill
	 internal/target internal/target/forward/forwardtest internal/transcript load/engine load/ledger load/measure
	 protocols/* protocols/emqp/zmtp reports`,
	// fakes, the script language, the target, a load's settings
	`fakes fakes/emqp fakes/emqp/worker fakes/worker fakes/workq fakes/workq/worker
	 internal/target/proxy load/plan load/results protocols/*/session protocols/fwp/model reports/html reports/known
	 reports/page scenarios`,
	`conformance/law fakes/bugs internal/life load/disrupt load/search load/validity load/wire protocols/*/script
	 protocols/fwp/clientrules reports/formats reports/site scenarios/play`,
	// the engines, and what speaks each protocol to them
	`conformance fakes/variations load/client protocols/*/wire protocols/fwp/double protocols/fwp/law
	 protocols/fwp/record`,
	`conformance/explore conformance/run load`,
	`internal/proof/loadtest protocols/fwp/moves protocols/fwp/workerload`,
	// what a protocol is
	`protocols/*/suite protocols/fwp/upgrade`,
	`protocols/fwp/crowd protocols/fwp/situations`,
	`fwptest internal/proof/suitetest protocols/emqp/situations protocols/workq/situations`,
	`internal/registry`,
	// the programs
	`internal/cli/shared internal/proof/selftest`,
	`internal/cli/bench internal/cli/check internal/proof internal/proof/scripttest`,
	`cmd/fwpbench cmd/fwpcheck`,
}

// layerOf returns the layer of a package, from 0: that which has its name, or else the pattern for it; -1 if there is
// none.
func layerOf(layers []string, name string) int {
	matcher := func(match func(pattern string) bool) func(string) bool {
		return func(layer string) bool { return slices.ContainsFunc(strings.Fields(layer), match) }
	}
	if i := slices.IndexFunc(layers, matcher(func(p string) bool { return p == name })); i >= 0 {
		return i
	}
	return slices.IndexFunc(layers, matcher(func(p string) bool { ok, _ := path.Match(p, name); return ok }))
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range modulePackages(t) {
		names = append(names, p.Name)
		assert.Empty(t, upwardImports(layers, p.Name, p.Imports), "%s imports what is not in a layer below its own", p.Name)
	}
	for _, layer := range layers {
		for pattern := range strings.FieldsSeq(layer) {
			isUsed := slices.ContainsFunc(names, func(name string) bool { ok, _ := path.Match(pattern, name); return ok })
			assert.True(t, isUsed, "no package is called %s", pattern)
		}
	}
}

// upwardImports returns those of the imports of a package that are not in a layer below its own.
func upwardImports(layers []string, name string, imports []string) (list []string) {
	layer := layerOf(layers, name)
	for _, imported := range imports {
		target, ok := strings.CutPrefix(imported, module+"/")
		if at := layerOf(layers, target); ok && (at < 0 || layer < 0 || at >= layer) {
			list = append(list, target)
		}
	}
	if layer < 0 {
		list = append(list, name+" is in no layer")
	}
	return list
}

func TestUpward(t *testing.T) {
	t.Parallel()
	pathsOf := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, module+"/"+name)
		}
		return paths
	}
	layers := []string{"a x/one", "b x/*", "c"}
	for name, test := range map[string]struct{ imports, want []string }{
		"a":     {pathsOf(), nil},
		"b":     {pathsOf("a"), nil},
		"c":     {append(pathsOf("a", "b", "x/two"), "fmt", "example.org/c"), nil},
		"x/two": {pathsOf("x/one"), nil},
		"x/one": {pathsOf("a", "b", "d"), []string{"a", "b", "d"}},
		"d":     {pathsOf("a"), []string{"a", "d is in no layer"}},
	} {
		assert.Equal(t, test.want, upwardImports(layers, name, test.imports), name)
	}
}

// helping are the packages with what tests of several others need.
const helping = "internal/proof/loadtest internal/proof/suitetest"

// foreign are the packages that import other modules, by the beginning of what they import. Who uses the library rooms
// links no more than that.
var foreign = map[string]string{
	"github.com/spf13/":                "internal/cli/shared internal/cli/check internal/cli/bench",
	"github.com/vbauerster/mpb/":       "internal/cli/shared",
	"golang.org/x/term":                "internal/cli/shared",
	"go.yaml.in/yaml/":                 "internal/cli/shared internal/base/yaml load/disrupt load/plan",
	"golang.org/x/sys/":                "internal/target internal/base/machine load/engine",
	"github.com/HdrHistogram/":         "load/measure",
	"github.com/google/go-cmp/":        "internal/proof/golden scenarios",
	"github.com/stretchr/testify/":     "internal/proof/golden " + helping,
	"github.com/rogpeppe/go-internal/": "internal/proof/scripttest",
	"testing":                          "internal/proof internal/proof/golden fwptest " + helping,
	"flag":                             speaking,
	"log":                              speaking,
}

func TestForeignImports(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		for _, imported := range p.Imports {
			assert.True(t, mayImport(p.Name, imported), "%s imports %s", p.Name, imported)
		}
	}
}

// mayImport reports whether the table allows a package to import one that is not of the module. Those of the library
// that are not in it are free.
func mayImport(name, imported string) bool {
	for prefix, allowed := range foreign {
		if imported == prefix || strings.HasSuffix(prefix, "/") && strings.HasPrefix(imported, prefix) ||
			prefix == "testing" && strings.HasPrefix(imported, "testing/") {
			return slices.Contains(strings.Fields(allowed), name)
		}
	}
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".") || strings.HasPrefix(imported, module+"/")
}

func TestMayImport(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, imported string
		want           bool
	}{
		{"fwp", "fmt", true}, {"fwp", "log/slog", true}, {"fwp", module + "/workq", true},
		{"fwp", "flag", false}, {"internal/proof/golden", "flag", true}, {"fwp", "testing/fstest", false},
		{"load/engine", "golang.org/x/sys/unix", true}, {"load", "golang.org/x/sys/unix", false},
		{"load", "example.org/x", false}, {"internal/proof/golden", "testing", true},
	} {
		assert.Equal(t, test.want, mayImport(test.name, test.imported), "%s %s", test.name, test.imported)
	}
}
