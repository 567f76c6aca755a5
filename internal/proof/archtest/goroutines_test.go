package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheRaceDetectorSeesEveryGoroutine: `make race` tests each package whose code starts goroutines.
func TestTheRaceDetectorSeesEveryGoroutine(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join("..", "..", "..", "Makefile"))
	require.NoError(t, err)
	raced := racedPatterns(string(makefile))
	require.NotEmpty(t, raced)
	for _, p := range modulePackages(t) {
		_, files := p.parse(t)
		if startsGoroutines(files) {
			assert.True(t, matchesAny(raced, p.Name),
				"%s starts goroutines: add it to RACED in the Makefile", p.Name)
		}
	}
}

var racedLine = regexp.MustCompile(`(?m)^RACED := ((?:.*\\\n)*.*)$`)

// racedPatterns returns the package patterns of the variable RACED, without their leading "./".
func racedPatterns(makefile string) (patterns []string) {
	match := racedLine.FindStringSubmatch(makefile)
	if match == nil {
		return nil
	}
	for field := range strings.FieldsSeq(strings.ReplaceAll(match[1], "\\\n", " ")) {
		patterns = append(patterns, strings.TrimPrefix(field, "./"))
	}
	return patterns
}

// matchesAny reports whether a package is one of the patterns, of which "x/..." is x and all below it.
func matchesAny(patterns []string, name string) bool {
	for _, pattern := range patterns {
		folder, all := strings.CutSuffix(pattern, "/...")
		if name == folder || all && strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}

// startsGoroutines reports whether code has a go statement, or calls what starts a goroutine: a group's Go, AfterFunc.
func startsGoroutines(files []*ast.File) (isFound bool) {
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				isFound = true
			case *ast.CallExpr:
				if called, ok := n.Fun.(*ast.SelectorExpr); ok {
					isFound = isFound || called.Sel.Name == "Go" || called.Sel.Name == "AfterFunc"
				}
			}
			return !isFound
		})
	}
	return isFound
}

func TestStartsGoroutines(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		`go f()`:                    true,
		`var wg group; wg.Go(f)`:    true,
		`time.AfterFunc(second, f)`: true,
		`f(); wg.Wait(); x.Gone()`:  false,
	}
	for body, want := range tests {
		_, files := parseText(t, "package x\nfunc f() { "+body+" }")
		assert.Equal(t, want, startsGoroutines(files), body)
	}
}

func TestRacedPatterns(t *testing.T) {
	t.Parallel()
	patterns := racedPatterns("GO := go\nRACED := ./fakes/... ./load \\\n\t./zmtp\n\nrace:\n")
	assert.Equal(t, []string{"fakes/...", "load", "zmtp"}, patterns)
	assert.True(t, matchesAny(patterns, "fakes"))
	assert.True(t, matchesAny(patterns, "fakes/store"))
	assert.False(t, matchesAny(patterns, "load/client"))
	assert.Nil(t, racedPatterns("GO := go\n"))
}
