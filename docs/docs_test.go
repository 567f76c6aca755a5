package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryPageIsInTheIndex: README.md has a link to each page of the folder, and decisions/README.md to each decision.
func TestEveryPageIsInTheIndex(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{".", "decisions"} {
		index, err := os.ReadFile(filepath.Join(folder, "README.md"))
		require.NoError(t, err)
		for _, page := range pages(t, folder) {
			assert.Contains(t, string(index), "("+page+")", "%s/README.md has no link to %s", folder, page)
		}
	}
}

// TestPagesSayWhoTheyAreFor: below its heading a page says for whom it is; generated ones say what writes them.
func TestPagesSayWhoTheyAreFor(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t, ".") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		_, below, _ := strings.Cut(string(text), "\n\n")
		assert.True(t, strings.HasPrefix(below, "*For ") || strings.HasPrefix(below, "Written by "),
			"%s: the first line below the heading is neither \"*For ...*\" nor \"Written by ...\"", page)
	}
}

func pages(t *testing.T, folder string) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, path := range found {
		if name := filepath.Base(path); name != "README.md" {
			names = append(names, name)
		}
	}
	return names
}
