package bugs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// Whoever knows the name of a bug knows its file: see doc.go.
func TestABugIsInTheFileOfItsWord(t *testing.T) {
	t.Parallel()
	counts, files := map[string]int{}, map[string]string{}
	word := func(name string) string { first, _, _ := strings.Cut(name, "-"); return first }
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\t+bug\("([a-z0-9-]+)",`)
	for _, source := range sources {
		text, err := os.ReadFile(source)
		require.NoError(t, err)
		for _, row := range rows.FindAllStringSubmatch(string(text), -1) {
			files[row[1]] = source
			counts[word(row[1])]++
		}
	}
	for name, source := range files {
		want := "few.go"
		if counts[word(name)] >= 4 {
			want = word(name) + ".go"
		}
		assert.Equal(t, want, source, name)
	}
	assert.Len(t, All(), len(files)+len(catalogue.RuledBugs(bugsTable(), fakes.Rules())))
}

// [catalogue.BugOf] panics if a row has both.
func TestEachRowHasARuleOrAHook(t *testing.T) {
	t.Parallel()
	var all []string
	for _, f := range slices.Concat(All(), Faktory()) {
		all = append(all, f.Name)
	}
	for _, f := range Snapshots() {
		all = append(all, f.Name)
	}
	for _, rows := range []catalogue.Table{bugsTable(), faktoryTable()} {
		for name := range rows {
			assert.True(t, slices.Contains(all, name), "%s has no rule, and no hook in Go", name)
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for _, f := range All() {
		named, ok := Lookup(f.Name)
		assert.True(t, ok)
		assert.Equal(t, f.Summary, named.Summary)
	}
	_, ok := Lookup("nothing")
	assert.False(t, ok)
}
