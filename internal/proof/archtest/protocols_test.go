package archtest

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// knowing are the packages that may reach a protocol, by patterns: the protocols, what speaks one for tests, the
// registry, and what is above that. All others are to carry another protocol.
const knowing = `protocols/* protocols/*/*
	fakes fakes/bugs fakes/variations fakes/emqp fakes/worker fakes/workq fakes/*/worker
	internal/registry internal/cli/* fwptest cmd/*
	internal/proof internal/proof/scripttest internal/proof/selftest internal/proof/suitetest`

// TestEnginesReachNoProtocol: what is to carry another protocol reaches none, however far its imports go.
func TestEnginesReachNoProtocol(t *testing.T) {
	t.Parallel()
	imports := importsOf(modulePackages(t))
	for name := range imports {
		if matches(knowing, name) {
			continue
		}
		for _, deps := range reachedFrom(imports, name) {
			assert.NotContains(t, deps, "protocols/", "%s reaches a protocol", name)
		}
	}
	for pattern := range strings.FieldsSeq(knowing) {
		assert.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(imports)), func(name string) bool {
			return matches(pattern, name) && slices.ContainsFunc(reachedFrom(imports, name), func(deps string) bool {
				return strings.HasPrefix(deps, "protocols/")
			})
		}), "%s: none of these reaches a protocol", pattern)
	}
}

// importsOf returns what each package of the module imports of it, by its name, the tests aside.
func importsOf(packages []*modulePackage) map[string][]string {
	imports := map[string][]string{}
	for _, p := range packages {
		imports[p.Name] = ownPaths(p.Imports)
	}
	return imports
}

// ownPaths returns those of some import paths that are of the module, without it.
func ownPaths(paths []string) (names []string) {
	for _, p := range paths {
		if name, ok := strings.CutPrefix(p, module+"/"); ok {
			names = append(names, name)
		}
	}
	return names
}

// reachedFrom returns a package and what it imports, however far.
func reachedFrom(imports map[string][]string, name string) []string {
	deps := []string{name}
	for i := 0; i < len(deps); i++ { // it grows
		for _, imported := range imports[deps[i]] {
			if !slices.Contains(deps, imported) {
				deps = append(deps, imported)
			}
		}
	}
	return deps
}

// matches reports whether a package has one of the patterns.
func matches(patterns, name string) bool {
	return slices.ContainsFunc(strings.Fields(patterns), func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

func TestReachedFrom(t *testing.T) {
	t.Parallel()
	imports := map[string][]string{"a": {"b"}, "b": {"c", "a"}, "c": nil, "d": {"a"}}
	assert.Equal(t, []string{"a", "b", "c"}, reachedFrom(imports, "a"))
	assert.Equal(t, []string{"c"}, reachedFrom(imports, "c"))
	assert.True(t, matches("x a/*", "a/b"))
	assert.False(t, matches("x a/*", "a"))
}

// bytesOf are the packages of the bytes of the protocols.
const bytesOf = "protocols/* protocols/emqp/zmtp"

// fakeUsers are the packages of protocols that use a fake, with the reason. Their tests may, and those of others.
var fakeUsers = map[string]string{
	"protocols/fwp/double":       "the test double is the embedded server, with a journal",
	"protocols/fwp/situations":   "a worker under test talks to the embedded server, with rules of the situation",
	"protocols/fwp/workerload":   "a worker is measured at the embedded server",
	"protocols/workq/situations": "a worker under test talks to the embedded server",
}

// TestFakesShareOnlyBytes: a fake is the suite's independent witness. It shares the bytes of a protocol with it, and
// nothing else; and of the protocols few packages use one.
func TestFakesShareOnlyBytes(t *testing.T) {
	t.Parallel()
	hits := map[string]bool{}
	for name, imports := range importsOf(modulePackages(t)) {
		for _, imported := range imports {
			if isFake(name) {
				assert.True(t, mayFakeImport(imported), "%s imports %s", name, imported)
			}
			if isFake(imported) && strings.HasPrefix(name, "protocols/") {
				assert.Contains(t, fakeUsers, name, "%s imports %s", name, imported)
				hits[name] = true
			}
		}
	}
	for name := range fakeUsers {
		assert.True(t, hits[name], "%s imports no fake any more: leave it out of the list", name)
	}
}

func isFake(name string) bool { return name == "fakes" || strings.HasPrefix(name, "fakes/") }

func mayFakeImport(imported string) bool {
	return isFake(imported) || strings.HasPrefix(imported, "internal/base/") || matches(bytesOf, imported)
}

func TestMayFakeImport(t *testing.T) {
	t.Parallel()
	for imported, want := range map[string]bool{
		"fakes": true, "fakes/emqp/worker": true, "internal/base/text": true, "protocols/fwp": true,
		"protocols/emqp/zmtp": true, "protocols/fwp/model": false, "scenarios": false, "internal/session": false,
		"fakesx": false,
	} {
		assert.Equal(t, want, mayFakeImport(imported), imported)
	}
}

// floors are the layers inside each protocol, from the lowest, by the folder. What has another name is above them.
var floors = []string{". zmtp", "session", "model", "script", "law", "moves", "suite", "wire"}

// floorOf returns the floor of a package of a protocol.
func floorOf(folder string) int {
	if at := slices.IndexFunc(floors, func(f string) bool { return slices.Contains(strings.Fields(f), folder) }); at >= 0 {
		return at
	}
	return len(floors)
}

// ofProtocol returns the protocol that a package is of, and its folder in there, "." for the uppermost; else "".
func ofProtocol(name string) (protocol, folder string) {
	rest, ok := strings.CutPrefix(name, "protocols/")
	if !ok {
		return "", ""
	}
	protocol, folder, deeper := strings.Cut(rest, "/")
	if !deeper {
		folder = "."
	}
	return protocol, folder
}

// TestFloorsOfAProtocol: all protocols are built alike. Those above the floors may import each other.
func TestFloorsOfAProtocol(t *testing.T) {
	t.Parallel()
	for name, imports := range importsOf(modulePackages(t)) {
		for _, imported := range imports {
			assert.False(t, isUpstairs(name, imported), "%s imports %s, which is not below it", name, imported)
		}
	}
}

// isUpstairs reports whether an import inside a protocol goes up, or stays on a floor.
func isUpstairs(name, imported string) bool {
	protocol, folder := ofProtocol(name)
	other, otherFolder := ofProtocol(imported)
	at := floorOf(folder)
	return protocol != "" && protocol == other && at < len(floors) && floorOf(otherFolder) >= at
}

func TestIsUpstairs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, imported string
		want           bool
	}{
		{"protocols/fwp/session", "protocols/fwp", false},
		{"protocols/fwp", "protocols/fwp/session", true},
		{"protocols/fwp/model", "protocols/fwp/script", true},
		{"protocols/fwp/suite", "protocols/fwp/wire", true},
		{"protocols/emqp", "protocols/emqp/zmtp", true},
		{"protocols/fwp/wire", "protocols/fwp/record", true},
		{"protocols/fwp/record", "protocols/fwp/clientrules", false},
		{"protocols/fwp/session", "protocols/emqp/wire", false}, // another test
		{"load", "protocols/fwp/wire", false},
	} {
		assert.Equal(t, test.want, isUpstairs(test.name, test.imported), "%s %s", test.name, test.imported)
	}
}

// crossImports are the imports of a protocol's packages and tests from another one, with the reason.
var crossImports = map[string]string{
	"protocols/emqp/situations protocols/fwp/situations":  "how a program is started and judged is there",
	"protocols/workq/situations protocols/fwp/situations": "how a program is started and judged is there",
	"protocols/workq/wire protocols/fwp/wire":             "a test: a load speaks to two servers",
}

// TestProtocolsImportNoOther: whoever changes a protocol reads its folder only.
func TestProtocolsImportNoOther(t *testing.T) {
	t.Parallel()
	hits := map[string]bool{}
	for _, p := range modulePackages(t) {
		protocol, _ := ofProtocol(p.Name)
		for _, imported := range ownPaths(slices.Concat(p.Imports, p.TestImports, p.XTestImports)) {
			other, _ := ofProtocol(imported)
			if pair := p.Name + " " + imported; protocol != "" && other != "" && protocol != other {
				assert.Contains(t, crossImports, pair, "a protocol imports another one")
				hits[pair] = true
			}
		}
	}
	for pair := range crossImports {
		assert.True(t, hits[pair], "%s: this is no more, leave it out of the list", pair)
	}
}

// insideLimit is how many imports of packages inside a protocol there are from outside of it, the registry aside: as many
// stand in the way of protocols/*/internal. There may only be fewer.
const insideLimit = 21

func TestInsidesOfProtocols(t *testing.T) {
	t.Parallel()
	var pairs []string
	for name, imports := range importsOf(modulePackages(t)) {
		for _, imported := range imports {
			if isInside(name, imported) {
				pairs = append(pairs, name+" "+imported)
			}
		}
	}
	slices.Sort(pairs)
	assert.Len(t, pairs, insideLimit, "more than there were, or fewer: then write the new number")
}

// isInside reports whether an import goes past the bytes of a protocol, and comes neither from the same one nor from
// the registry.
func isInside(name, imported string) bool {
	protocol, _ := ofProtocol(name)
	other, folder := ofProtocol(imported)
	return other != "" && folder != "." && protocol != other && name != "internal/registry"
}

func TestIsInside(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, imported string
		want           bool
	}{
		{"fwptest", "protocols/fwp/suite", true},
		{"fakes", "protocols/fwp", false},
		{"protocols/fwp/law", "protocols/fwp/model", false},
		{"protocols/emqp/law", "protocols/fwp/model", true},
		{"internal/registry", "protocols/fwp/model", false},
		{"load", "load/wire", false},
	} {
		assert.Equal(t, test.want, isInside(test.name, test.imported), "%s %s", test.name, test.imported)
	}
}
