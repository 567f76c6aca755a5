package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	maxFiles  = 40 // Go files of a package, its tests included
	listsFrom = 6  // a package of as many files has a doc.go that lists them
)

// byName are the packages whose files are found by a law of their names instead, and the test that holds that law.
var byName = map[string]string{}

func TestFoldersAreSmall(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		require.NoError(t, err)
		if _, ok := byName[p.Name]; !ok {
			assert.LessOrEqual(t, len(files), maxFiles, "%s has more Go files than a reader can survey", p.Name)
		}
	}
}

// TestDocListsTheFiles: doc.go of a package names each of its files, so that a reader finds them by what they are
// about.
func TestDocListsTheFiles(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		if _, ok := byName[p.Name]; ok || len(p.GoFiles) < listsFrom {
			continue
		}
		doc, err := os.ReadFile(filepath.Join(p.Dir, "doc.go"))
		assert.NoError(t, err, "%s needs a doc.go", p.Name)
		assert.Empty(t, unlisted(string(doc), p.GoFiles), "%s/doc.go does not name these files", p.Name)
	}
}

// unlisted returns the files that a text does not name, by their names or by a pattern: poller_*.go.
func unlisted(doc string, files []string) []string {
	words := strings.FieldsFunc(doc, func(r rune) bool { return strings.ContainsRune(" \t\n,;:()[]", r) })
	return slices.DeleteFunc(slices.Clone(files), func(name string) bool {
		return name == "doc.go" || slices.ContainsFunc(words, func(word string) bool {
			word = strings.TrimRight(word, ".")
			ok, err := filepath.Match(word, name)
			return err == nil && ok && strings.HasSuffix(word, ".go")
		})
	})
}

func TestUnlisted(t *testing.T) {
	t.Parallel()
	doc := "// To read: run.go (the run),\n// drain.go, and at the end poller_*.go."
	assert.Equal(t, []string{"rain.go", "pull.go"},
		unlisted(doc, []string{"doc.go", "run.go", "rain.go", "poller_linux.go", "poller_other.go", "drain.go", "pull.go"}))
}
