package workload

import (
	"fmt"
	"strings"
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

// nearest is the known word that is fewest edits away, empty if all are far.
func nearest(word string, known []string) string {
	best, bound := "", max(2, len(word)/3)+1
	if len(word) > 64 {
		return ""
	}
	for _, k := range known {
		if d := edits(word, k); d < bound && d < len(k) {
			best, bound = k, d
		}
	}
	return best
}

// edits is the Levenshtein distance of two short words, by byte.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
