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

func TestNoMutablePackageState(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			assert.Empty(t, mutableState(p.parse(t)),
				"a package-level variable is an error, a compiled regexp, an embedded file, "+
					"something computed once, the words of an enumeration, or an unexported table that is never written")
		})
	}
}

// mutableState returns the package-level variables that may change. It goes by the
// shape of the declaration and by names, not by types: a table that is handed to a
// function that writes to it gets through, and a local variable of a table's name
// that is written to is reported.
func mutableState(fset *token.FileSet, files []*ast.File) []string {
	names := writtenNames(files)
	var list []string
	for _, v := range variables(files) {
		name := v.name.Name
		isFixed := isConstant(v.value) || isTable(v.value) && !v.name.IsExported()
		if name == "_" || v.isEmbedded || isFixed && !names[name] {
			continue
		}
		list = append(list, fmt.Sprintf("%s: %s", fset.Position(v.name.Pos()), name))
	}
	return list
}

// variable is one name of a package-level declaration, and its value if it has one
// of its own.
type variable struct {
	name       *ast.Ident
	value      ast.Expr
	isEmbedded bool
}

func variables(files []*ast.File) []variable {
	var list []variable
	for _, file := range files {
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, s := range gen.Specs {
				spec := s.(*ast.ValueSpec) // what else could a var hold
				for i, name := range spec.Names {
					v := variable{name: name, isEmbedded: isEmbed(gen.Doc) || isEmbed(spec.Doc)}
					if len(spec.Values) == len(spec.Names) {
						v.value = spec.Values[i]
					}
					list = append(list, v)
				}
			}
		}
	}
	return list
}

func isEmbed(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

// isConstant tells whether value is made by a function whose result never changes.
func isConstant(value ast.Expr) bool {
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := f.X.(*ast.Ident)
	return ok && slices.Contains([]string{
		"errors.New", "fmt.Errorf", "regexp.MustCompile", "sync.OnceValue", "sync.OnceValues", "text.NewEnum",
		"scenarios.Suite", "catalogue.LazyTable",
	}, x.Name+"."+f.Sel.Name)
}

// isTable tells whether value is a list or a map written out.
func isTable(value ast.Expr) bool {
	literal, ok := value.(*ast.CompositeLit)
	if !ok {
		return false
	}
	switch literal.Type.(type) {
	case *ast.ArrayType, *ast.MapType:
		return len(literal.Elts) > 0
	}
	return false
}

// writtenNames are the names that something is assigned to, also through an index,
// a field or delete, and those whose address is taken.
func writtenNames(files []*ast.File) map[string]bool {
	names := make(map[string]bool)
	write := func(target ast.Expr) {
		if name := root(target); name != nil {
			names[name.Name] = true
		}
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, target := range n.Lhs {
					if n.Tok != token.DEFINE {
						write(target)
					}
				}
			case *ast.IncDecStmt:
				write(n.X)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					write(n.X)
				}
			case *ast.CallExpr:
				f, ok := n.Fun.(*ast.Ident)
				if ok && slices.Contains([]string{"clear", "copy", "delete"}, f.Name) && len(n.Args) > 0 {
					write(n.Args[0])
				}
			}
			return true
		})
	}
	return names
}

// root returns x of x, x[i], x[i:j], x.f and *x, however deep.
func root(e ast.Expr) *ast.Ident {
	for {
		switch inner := e.(type) {
		case *ast.Ident:
			return inner
		case *ast.IndexExpr:
			e = inner.X
		case *ast.SliceExpr:
			e = inner.X
		case *ast.SelectorExpr:
			e = inner.X
		case *ast.StarExpr:
			e = inner.X
		case *ast.ParenExpr:
			e = inner.X
		default:
			return nil
		}
	}
}

func TestMutableState(t *testing.T) {
	t.Parallel()
	const variable = "x.go:2:5: v"
	tests := map[string]struct {
		source string
		want   []string
	}{
		"error":             {source: `var v = errors.New("x")`},
		"exported error":    {source: `var V = errors.New("x")`},
		"overwritten error": {source: "var v = errors.New(`x`)\nfunc f() { v = nil }", want: []string{variable}},
		"regexp":            {source: "var v = regexp.MustCompile(`x`)"},
		"embed":             {source: "//go:embed x\nvar v embed.FS"},
		"embed in a block":  {source: "var (\n//go:embed x\nv string\n)"},
		"computed once":     {source: "var v = sync.OnceValue(load)"},
		"words of an enum":  {source: "var v = text.NewEnum(`x`, map[T]string{1: `a`})"},
		"assertion":         {source: "var _ error = (*E)(nil)"},
		"constant":          {source: "const v = 1"},
		"local":             {source: "func f() { var v int; v++ }"},
		"no value":          {source: "var v int", want: []string{variable}},
		"lock":              {source: "var v sync.Mutex", want: []string{variable}},
		"function's result": {source: "var v = load()", want: []string{variable}},
		"struct":            {source: "var v = T{}", want: []string{variable}},
		"pointer":           {source: "var v = &T{}", want: []string{variable}},
		"empty map":         {source: "var v = map[string]int{}", want: []string{variable}},
		"made map":          {source: "var v = make(map[string]int)", want: []string{variable}},
		"table":             {source: "var v = map[string]int{`a`: 1}"},
		"list":              {source: "var v = [...]string{`a`}"},
		"exported table":    {source: "var V = []string{`a`}", want: []string{"x.go:2:5: V"}},
		"table assigned":    {source: "var v = []string{`a`}\nfunc f() { v = append(v, `b`) }", want: []string{variable}},
		"table indexed":     {source: "var v = []T{{}}\nfunc f() { v[0].n[1:][0] += 2 }", want: []string{variable}},
		"table counted":     {source: "var v = []int{1}\nfunc f() { (v[0])++ }", want: []string{variable}},
		"table deleted":     {source: "var v = map[int]int{1: 1}\nfunc f() { delete(v, 1) }", want: []string{variable}},
		"table's address":   {source: "var v = []int{1}\nfunc f() *int { return &v[0] }", want: []string{variable}},
		"table read":        {source: "var v = []int{1}\nfunc f() { x := v[0]; y = v[0]; x.v = *v }"},
		"two names":         {source: "var u, v = errors.New(`u`), 2", want: []string{"x.go:2:8: v"}},
		"two of one":        {source: "var _, v = load()", want: []string{"x.go:2:8: v"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, mutableState(parseText(t, "package x\n"+test.source)))
		})
	}
}
