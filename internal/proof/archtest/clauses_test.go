package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestClausesLiveInTheSuites: ids of clauses are spelled in the suites, in FWP's rooms beside its suite, in scripts
// and in the catalogues of bugs alone. All others name breaches, and the ClauseOf of a suite has the clause of each.
func TestClausesLiveInTheSuites(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		if strings.HasSuffix(p.Name, "suite") || slices.Contains(clauseUsers, p.Name) ||
			strings.HasPrefix(p.Name, "fakes") {
			continue
		}
		fset, files := p.parse(t)
		for _, place := range clauseIDs(fset, files) {
			assert.Fail(t, "the id of a clause outside the suites", place)
		}
	}
}

// clauseUsers are FWP's rooms that give clauses to what they find.
var clauseUsers = []string{
	"protocols/fwp/moves", "protocols/fwp/model", "protocols/fwp/law", "protocols/fwp/upgrade",
}

var clauseID = regexp.MustCompile(`^FWP-[A-Z]+-[0-9]+[a-z]?$`)

// clauseIDs returns the string literals that are ids of clauses, each with its place.
func clauseIDs(fset *token.FileSet, files []*ast.File) []string {
	var list []string
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && clauseID.MatchString(text) {
				list = append(list, fset.Position(literal.Pos()).String()+": "+text)
			}
			return true
		})
	}
	return list
}

func TestClauseIDs(t *testing.T) {
	t.Parallel()
	fset, files := parseText(t, `package x

// FWP-PUSH-01 in a comment is a reference.
const a, b, c = "FWP-PUSH-01", "explain FWP-PUSH-01", `+"`FWP-WU-05b`"+`
`)
	assert.Equal(t, []string{"x.go:4:17: FWP-PUSH-01", "x.go:4:55: FWP-WU-05b"}, clauseIDs(fset, files))
}
