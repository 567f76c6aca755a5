package faults

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whoever knows the name of a fault knows its file: see doc.go.
func TestAFaultIsInTheFileOfItsWord(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	word := func(name string) string { first, _, _ := strings.Cut(name, "-"); return first }
	for _, f := range All() {
		counts[word(f.Name)]++
	}
	file := func(name string) string {
		if counts[word(name)] >= 7 {
			return word(name) + ".go"
		}
		return "few.go"
	}
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	rows, found := regexp.MustCompile(`(?m)^\t+fault\("([a-z0-9-]+)",`), 0
	for _, source := range slices.DeleteFunc(sources, func(s string) bool { return s == "faktory.go" }) {
		text, err := os.ReadFile(source)
		require.NoError(t, err)
		for _, row := range rows.FindAllStringSubmatch(string(text), -1) {
			assert.Equal(t, file(row[1]), source, row[1])
			found++
		}
	}
	assert.Len(t, All(), found)
	assert.Len(t, faultsTable(), len(All())+len(Faktory())+len(Keeping()), "rows of faults.txt that no fault has")
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for _, f := range All() {
		named, known := Named(f.Name)
		assert.True(t, known)
		assert.Equal(t, f.Summary, named.Summary)
	}
	_, known := Named("nothing")
	assert.False(t, known)
}
