package workload

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// Problem is one thing that is wrong with a workload. File, Line and Column (from 1,
// the column in characters) are zero if it did not come from a file.
type Problem struct {
	File         string
	Line, Column int
	Key          string // the setting, as in YAML; empty if it is about no single one
	What         string // what is wrong
	Expected     string // what would be right
	Do           string // what to do about it
}

// Error is one line: "file:line:col: key: what; expected ...; what to do".
func (p *Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		fmt.Fprintf(&b, "%s:%d:%d: ", p.File, p.Line, p.Column)
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	fmt.Fprintf(&b, "%s; expected %s; %s", p.What, p.Expected, p.Do)
	return b.String()
}

// advise is the question whether the nearest of the known words was meant, or else
// the given advice.
func advise(word string, known []string, otherwise string) string {
	if near := nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}

// nearest is the known word that was probably meant, empty if all are far.
func nearest(word string, known []string) string {
	const longest = 64 // a longer one is not a mistyped word
	if len(word) > longest {
		return ""
	}
	return text.Nearest(word, known, min(max(2, len(word)/3), len(word)))
}
