package suite

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var ambiguityCode = regexp.MustCompile(`AMB-\d\d[a-z]?`)

// ambiguities are those that docs/ambiguities.md defines, with the clauses that each
// names.
func ambiguities(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "ambiguities.md"))
	require.NoError(t, err)
	defined := map[string]string{}
	for _, part := range strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n## ")[1:] {
		code, _, _ := strings.Cut(part, ":")
		assert.Equal(t, code, ambiguityCode.FindString(code))
		assert.NotContains(t, defined, code, "defined twice")
		assert.Contains(t, part, "**Sources:** ", code)
		_, reading, found := strings.Cut(part, "**Reading:** ")
		assert.True(t, found, code)
		_, clauses, _ := strings.Cut(reading, "\nClauses: ")
		defined[code] = strings.Join(strings.Fields(strings.TrimSuffix(strings.TrimSpace(clauses), ".")), " ")
	}
	return defined
}

// Whoever meets a code in a clause, in the output of a command or in the code finds it
// explained, with the clauses whose reading follows from it.
func TestAmbiguitiesAreDefined(t *testing.T) {
	t.Parallel()
	defined := ambiguities(t)
	named := map[string]string{}
	for _, c := range Clauses() {
		for _, code := range ambiguityCode.FindAllString(c.Ambiguity, -1) {
			named[code] = strings.TrimPrefix(named[code]+", "+c.ID, ", ")
		}
	}
	assert.Equal(t, named, defined)
	for _, file := range textsOfTheProject(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, code := range ambiguityCode.FindAllString(string(text), -1) {
			assert.Contains(t, defined, code, file)
		}
	}
}

// textsOfTheProject are the sources, scripts and documents.
func textsOfTheProject(t *testing.T) []string {
	t.Helper()
	var files []string
	require.NoError(t, filepath.WalkDir(filepath.Join("..", "..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "..":
			return fs.SkipDir
		case d.IsDir() && d.Name() == "node_modules":
			return fs.SkipDir
		case slices.Contains([]string{".go", ".txt", ".fwp", ".md"}, filepath.Ext(path)):
			files = append(files, path)
		}
		return nil
	}))
	require.Greater(t, len(files), 100)
	return files
}
