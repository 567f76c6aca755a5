package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// outputFuncs are the names by which a package would speak for itself instead of for its
// caller. (That it imports neither flag nor log is tested by its imports.)
var outputFuncs = []string{
	"fmt.Print", "fmt.Printf", "fmt.Println",
	"os.Args", "os.Exit", "os.Stderr", "os.Stdin", "os.Stdout",
}

// speaking are the packages that may print, read flags and exit: fwptest reads the flags of go test, golden has
// -update, and proof is a command.
const speaking = "cmd/fwpcheck cmd/fwpbench internal/cli/bench internal/cli/check internal/cli/shared fwptest " +
	"internal/proof/golden internal/proof"

func TestLibrariesAreSilent(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		if slices.Contains(strings.Fields(speaking), p.Name) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			assert.Empty(t, uses(outputFuncs)(p.parse(t)), "only cmd and internal/cli print, read arguments and exit")
		})
	}
}

// unboundedFuncs are the functions that read as much as there is. Files go through internal/base/input, which has a bound
// for each; load/validity reads what the kernel writes under /proc.
var unboundedFuncs = []string{"io.ReadAll", "os.Open", "os.ReadFile"}

func TestFilesAreReadWithinBounds(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		if p.Name != "internal/base/input" && p.Name != "load/validity" {
			assert.Empty(t, uses(unboundedFuncs)(p.parse(t)), "files are read with internal/base/input")
		}
	}
}

// uses returns a function that finds the uses of names, and of the built-in print functions.
func uses(names []string) func(fset *token.FileSet, files []*ast.File) []string {
	return func(fset *token.FileSet, files []*ast.File) []string {
		var list []string
		add := func(at ast.Node, name string) {
			list = append(list, fmt.Sprintf("%s: %s", fset.Position(at.Pos()), name))
		}
		find := func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && slices.Contains(names, x.Name+"."+n.Sel.Name) {
					add(n, x.Name+"."+n.Sel.Name)
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
					add(n, f.Name)
				}
			}
			return true
		}
		for _, file := range files {
			ast.Inspect(file, find)
		}
		return list
	}
}

func TestNoises(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		`fmt.Println("x")`:                {"x.go:2:12: fmt.Println"},
		`fmt.Fprintln(os.Stdout, "x")`:    {"x.go:2:25: os.Stdout"},
		`exit := os.Exit; exit(1)`:        {"x.go:2:20: os.Exit"},
		`println(len(os.Args))`:           {"x.go:2:12: println", "x.go:2:24: os.Args"},
		`w.Println(fmt.Sprint("x"))`:      nil,
		`fmt.Fprintln(w, os.Getenv("x"))`: nil,
	}
	for body, want := range tests {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, uses(outputFuncs)(parseText(t, "package x\nfunc f() { "+body+" }")))
		})
	}
}
