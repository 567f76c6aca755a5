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
		for _, reached := range reachedFrom(imports, name) {
			assert.NotContains(t, reached, "protocols/", "%s reaches a protocol", name)
		}
	}
	for pattern := range strings.FieldsSeq(knowing) {
		assert.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(imports)), func(name string) bool {
			return matches(pattern, name) && slices.ContainsFunc(reachedFrom(imports, name), func(reached string) bool {
				return strings.HasPrefix(reached, "protocols/")
			})
		}), "%s: none of these reaches a protocol", pattern)
	}
}

// importsOf returns what each package of the module imports of it, by its name, the tests aside.
func importsOf(packages []*modulePackage) map[string][]string {
	imports := map[string][]string{}
	for _, p := range packages {
		imports[p.Name] = ours(p.Imports)
	}
	return imports
}

// ours returns those of some import paths that are of the module, without it.
func ours(paths []string) (names []string) {
	for _, p := range paths {
		if name, is := strings.CutPrefix(p, module+"/"); is {
			names = append(names, name)
		}
	}
	return names
}

// reachedFrom returns a package and what it imports, however far.
func reachedFrom(imports map[string][]string, name string) []string {
	reached := []string{name}
	for i := 0; i < len(reached); i++ { // it grows
		for _, imported := range imports[reached[i]] {
			if !slices.Contains(reached, imported) {
				reached = append(reached, imported)
			}
		}
	}
	return reached
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

// usingFakes are the packages of protocols that use a fake, with the reason. Their tests may, and those of others.
var usingFakes = map[string]string{
	"protocols/fwp/double":       "the test double is the embedded server, with a journal",
	"protocols/fwp/situations":   "a worker under test talks to the embedded server, with rules of the situation",
	"protocols/fwp/workerload":   "a worker is measured at the embedded server",
	"protocols/workq/situations": "a worker under test talks to the embedded server",
}

// TestFakesShareOnlyBytes: a fake is the suite's independent witness. It shares the bytes of a protocol with it, and
// nothing else; and of the protocols few packages use one.
func TestFakesShareOnlyBytes(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for name, imports := range importsOf(modulePackages(t)) {
		for _, imported := range imports {
			if isFake(name) {
				assert.True(t, mayFakeImport(imported), "%s imports %s", name, imported)
			}
			if isFake(imported) && strings.HasPrefix(name, "protocols/") {
				assert.Contains(t, usingFakes, name, "%s imports %s", name, imported)
				used[name] = true
			}
		}
	}
	for name := range usingFakes {
		assert.True(t, used[name], "%s imports no fake any more: leave it out of the list", name)
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
	rest, is := strings.CutPrefix(name, "protocols/")
	if !is {
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
	other, above := ofProtocol(imported)
	at := floorOf(folder)
	return protocol != "" && protocol == other && at < len(floors) && floorOf(above) >= at
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

// ofAnother are the imports of a protocol's packages and tests from another one, with the reason.
var ofAnother = map[string]string{
	"protocols/emqp/situations protocols/fwp/situations":  "how a program is started and judged is there",
	"protocols/workq/situations protocols/fwp/situations": "how a program is started and judged is there",
	"protocols/workq/wire protocols/fwp/wire":             "a test: a load speaks to two servers",
}

// TestProtocolsImportNoOther: whoever changes a protocol reads its folder only.
func TestProtocolsImportNoOther(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, p := range modulePackages(t) {
		own, _ := ofProtocol(p.Name)
		for _, imported := range ours(slices.Concat(p.Imports, p.TestImports, p.XTestImports)) {
			other, _ := ofProtocol(imported)
			if pair := p.Name + " " + imported; own != "" && other != "" && own != other {
				assert.Contains(t, ofAnother, pair, "a protocol imports another one")
				used[pair] = true
			}
		}
	}
	for pair := range ofAnother {
		assert.True(t, used[pair], "%s: this is no more, leave it out of the list", pair)
	}
}

// mostSeen is how many imports of packages inside a protocol there are from outside of it, the registry aside: as many
// stand in the way of protocols/*/internal. There may only be fewer.
const mostSeen = 21

func TestInsidesOfProtocols(t *testing.T) {
	t.Parallel()
	var seen []string
	for name, imports := range importsOf(modulePackages(t)) {
		for _, imported := range imports {
			if isInside(name, imported) {
				seen = append(seen, name+" "+imported)
			}
		}
	}
	slices.Sort(seen)
	assert.Len(t, seen, mostSeen, "more than there were, or fewer: then write the new number")
}

// isInside reports whether an import goes past the bytes of a protocol, and comes neither from the same one nor from
// the registry.
func isInside(name, imported string) bool {
	own, _ := ofProtocol(name)
	other, folder := ofProtocol(imported)
	return other != "" && folder != "." && own != other && name != "internal/registry"
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
