// Package yaml reads YAML that users write, and reports what is wrong with it by line and column.
package yaml

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Problem is one thing that is wrong with a file, or with a single setting. File, Line and Column (from 1, the column
// in characters) are zero if it did not come from a file.
type Problem struct {
	File         string
	Line, Column int
	Key          string // the setting, as in YAML; empty if it is about no single one
	Description  string // what is wrong
	Expected     string // what would be right; empty if Do says it all
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
	b.WriteString(p.Description)
	if p.Expected != "" {
		b.WriteString("; expected " + p.Expected)
	}
	b.WriteString("; " + p.Do)
	return b.String()
}

// Place is a line and a column of a file, from 1.
type Place struct{ Line, Column int }

// At returns the place of a node.
func At(n *yaml.Node) Place { return Place{n.Line, n.Column} }

// maxProblems is how many of the problems of a file are reported: the first ones that are found.
const maxProblems = 100

// Problems collects the problems of the file of that name.
type Problems struct {
	File string
	list []*Problem
}

// Report adds a problem at a place. Those beyond the first 100 are left out.
func (p *Problems) Report(at Place, problem *Problem) {
	if p.IsFull() {
		return
	}
	problem.File, problem.Line, problem.Column = p.File, max(1, at.Line), max(1, at.Column)
	p.list = append(p.list, problem)
}

// IsFull reports whether another problem would be left out.
func (p *Problems) IsFull() bool { return len(p.list) == maxProblems }

// Err joins the problems in the order of their places; nil if there are none.
func (p *Problems) Err() error {
	slices.SortStableFunc(p.list, func(a, b *Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	all := make([]error, len(p.list))
	for i, problem := range p.list {
		all[i] = problem
	}
	return errors.Join(all...)
}
