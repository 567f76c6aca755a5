package archtest

import (
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// importNames are imports under a name of their own, with the reason.
var importNames = map[string]string{
	"internal/proof scenarios/play steps": "play is what the command does",
}

// TestImportsGoByOneName: a package has the same name wherever it is imported, so that a qualifier can be searched.
func TestImportsGoByOneName(t *testing.T) {
	t.Parallel()
	isShared := map[string]bool{}
	names := map[string]bool{"yaml": true} // of go.yaml.in/yaml, too
	for _, p := range modulePackages(t) {
		name := path.Base(p.Name)
		if strings.HasPrefix(p.Name, "cmd/") || len(p.GoFiles) == 0 {
			continue
		}
		isShared[name] = isShared[name] || names[name]
		names[name] = true
	}
	hits := map[string]bool{}
	for _, p := range modulePackages(t) {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			for imported, name := range namesOfImports(t, file) {
				exception := p.Name + " " + imported + " " + name
				if importNames[exception] != "" {
					hits[exception] = true
				} else {
					assert.Equal(t, nameOf(imported, isShared[path.Base(imported)]), name, "%s: %s", file, imported)
				}
			}
		}
	}
	for exception := range importNames {
		assert.True(t, hits[exception], "%s: this is no more, leave it out of the list", exception)
	}
}

// namesOfImports returns the name of each import of the module in a file.
func namesOfImports(t *testing.T, file string) map[string]string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	require.NoError(t, err)
	names := map[string]string{}
	for _, spec := range tree.Imports {
		text, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		imported, ok := strings.CutPrefix(text, module+"/")
		if !ok {
			continue
		}
		names[imported] = path.Base(imported)
		if spec.Name != nil {
			names[imported] = spec.Name.Name
		}
	}
	return names
}

// nameOf returns the name that a package is imported under: its own, with that of its folder before where several
// packages share it, and it is below protocols, fakes or internal/base.
func nameOf(imported string, isShared bool) string {
	parts := strings.Split(imported, "/")
	switch {
	case !isShared:
	case parts[0] == "protocols" && len(parts) > 2:
		return strings.Join(parts[1:], "")
	case parts[0] == "fakes" && len(parts) > 1:
		return "fake" + strings.Join(parts[1:], "")
	case strings.HasPrefix(imported, "internal/base/"):
		return "base" + parts[2]
	}
	return path.Base(imported)
}

func TestNameOf(t *testing.T) {
	t.Parallel()
	for imported, want := range map[string]string{
		"internal/session": "session", "protocols/fwp/session": "fwpsession", "protocols/workq": "workq",
		"fakes/workq/worker": "fakeworkqworker", "fakes/workq": "fakeworkq", "internal/base/yaml": "baseyaml",
	} {
		assert.Equal(t, want, nameOf(imported, true), imported)
	}
	assert.Equal(t, "moves", nameOf("protocols/fwp/moves", false))
}
