package archtest

import (
	"go/ast"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestBugsAreFiledByTheirFirstWord: whoever has read the name of a bug that is in Go knows in which file it is. All
// whose names begin with the same word are in the tables of one file, and it is named after the first word of some of
// them: "hello-without-v" and "wid-fixed" are in bug_hello.go.
func TestBugsAreFiledByTheirFirstWord(t *testing.T) {
	t.Parallel()
	rooms := map[string]bool{"fakes/worker": true, "fakes/workq": true, "fakes/emqp": true}
	for _, p := range modulePackages(t) {
		if !rooms[p.Name] {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			fset, files := p.parse(t)
			fileOf := map[string]string{} // by first word
			for _, f := range files {
				file := filepath.Base(fset.Position(f.Pos()).Filename)
				words := map[string]bool{}
				for _, name := range namesOfBugs(f) {
					word, _, _ := strings.Cut(name, "-")
					words[word] = true
					if fileOf[word] == "" {
						fileOf[word] = file
					}
					assert.Equal(t, fileOf[word], file, "the file of %s, and of the planted bugs that begin alike", name)
				}
				if len(words) > 0 {
					word := strings.TrimSuffix(strings.TrimPrefix(file, "bug_"), ".go")
					assert.True(t, words[word], "%s has no planted bug that begins with %s", file, word)
				}
			}
			assert.Greater(t, len(fileOf), 8, "first words")
		})
	}
}

// namesOfBugs returns the names in the tables of bugs of a file: the first argument of each row of a variable that
// is called ...Bugs.
func namesOfBugs(f *ast.File) (names []string) {
	for _, v := range variables([]*ast.File{f}) {
		table, ok := v.value.(*ast.CompositeLit)
		if !ok || !strings.HasSuffix(v.name.Name, "Bugs") {
			continue
		}
		for _, row := range table.Elts {
			if call, ok := row.(*ast.CallExpr); ok && len(call.Args) > 0 {
				if name, ok := call.Args[0].(*ast.BasicLit); ok {
					text, _ := strconv.Unquote(name.Value) // the parser has read it
					names = append(names, text)
				}
			}
		}
	}
	return names
}
