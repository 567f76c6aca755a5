package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// poorNames match names that are neither a noun nor a verb of the field: a name says what the thing is, and a bool is a
// sentence that can be false. A word at which a reader stops is added.
var poorNames = []*regexp.Regexp{
	// participles
	regexp.MustCompile(`^(told|said|seen|came|gone|kept|met|left|shown|held|caught|worn|asked|given|taken|meant|owed|lost)$`),
	regexp.MustCompile(`^(wanted|used|needed|known)$`),
	// pronouns, and words for a number of things
	regexp.MustCompile(`^(own|its?|they|them|one|another|those|these|both|some|few|many|much|more|most|least|whole)$`),
	// adverbs, particles and conjunctions
	regexp.MustCompile(`^(is|of|on|may|once|again|late|badly|besides?|apart|meanwhile|here|there|still|yet|ever|never)$`),
	regexp.MustCompile(`^(near|far|else|within|without|over|above|below|so|too|only|also|due)$`),
	// questions
	regexp.MustCompile(`^(why|how|what|who|which|whose|when|where)$`),
	// the same with another word: a map of jids that were told is reportedJIDs
	regexp.MustCompile(`(^(told|seen|came|met|badly)[A-Z]|[a-z](Told|Seen|Came|Badly|Meanwhile)$)`),
}

// goodNames are names of poorNames that stay, by their folders: why.
var goodNames = map[string]string{
	"reports/html left": "with right: the sides of a picture",
}

func TestNames(t *testing.T) {
	t.Parallel()
	isUsed := map[string]bool{}
	for _, p := range modulePackages(t) {
		fset := token.NewFileSet()
		paths, err := filepath.Glob(filepath.Join(p.Dir, "*.go")) // tests too, and the files of other systems
		require.NoError(t, err)
		var files []*ast.File
		for _, path := range paths {
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, file)
		}
		for _, name := range declaredNames(files) {
			if !isPoorName(name.Name) {
				continue
			}
			at := fset.Position(name.Pos())
			place := p.Name + " " + name.Name
			isUsed[place] = true
			assert.NotEmpty(t, goodNames[place], "%s:%d: %s is no noun and no verb of the field: say what it is", at.Filename,
				at.Line, name.Name)
		}
	}
	for place := range goodNames {
		assert.True(t, isUsed[place], "no such name: %s", place)
	}
}

// isPoorName reports whether one of the patterns matches a name.
func isPoorName(name string) bool {
	for _, pattern := range poorNames {
		if pattern.MatchString(name) {
			return true
		}
	}
	return false
}

// declaredNames returns the names that files declare: of types, functions, fields, parameters, variables and constants.
// Left out are methods, which may be called as an interface of others calls them, tests, whose names are sentences, and
// what is a sync.Once.
func declaredNames(files []*ast.File) (names []*ast.Ident) {
	add := func(expressions ...ast.Expr) {
		for _, e := range expressions {
			if name, ok := e.(*ast.Ident); ok {
				names = append(names, name)
			}
		}
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && !strings.HasPrefix(n.Name.Name, "Test") {
					add(n.Name)
				}
			case *ast.TypeSpec:
				add(n.Name)
			case *ast.Field:
				if _, isMethod := n.Type.(*ast.FuncType); !isMethod && !isOnce(n.Type) {
					names = append(names, n.Names...)
				}
			case *ast.ValueSpec:
				if !isOnce(n.Type) {
					names = append(names, n.Names...)
				}
			case *ast.AssignStmt:
				if n.Tok == token.DEFINE {
					add(n.Lhs...)
				}
			case *ast.RangeStmt:
				if n.Tok == token.DEFINE {
					add(n.Key, n.Value)
				}
			}
			return true
		})
	}
	return names
}

// isOnce reports whether a type is sync.Once.
func isOnce(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Once"
}

func TestDeclaredNames(t *testing.T) {
	t.Parallel()
	_, files := parseText(t, `package x
type a struct{ b int; once sync.Once }
type c interface{ method(d int) }
func e(f int) (g int) {
	h := func(i int) { for j, k := range "" {} }
	var l, m = 1, 2
	const n = 1
	h(l + m + n); f = g
	switch o := any(f).(type) {}
}
func (p a) method(q int) {}`)
	var got []string
	for _, name := range declaredNames(files) {
		got = append(got, name.Name)
	}
	assert.ElementsMatch(t, strings.Fields("a b c d e f g h i j k l m n o p q"), got)
	assert.True(t, isPoorName("told") && isPoorName("isTold") && isPoorName("seenJIDs"))
	assert.False(t, isPoorName("jids") || isPoorName("isOpen") || isPoorName("camera"))
}
