package catalogue

import (
	"fmt"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/fakes/rule"
	"github.com/fwpsuite/fwp/internal/base/allow"
)

// Table has what a catalogue says of its rows, by their names: all but what those do that need Go.
type Table map[string]Row

// Row is a row of a table.
type Row struct {
	Marks   []string    // the clauses that a bug breaks, or the words of the reading that allows a variation
	Summary string      // one sentence
	Allows  []allow.Row // of a variation
	rules   string      // one on each line, which has the number that it has in the table
}

// Read reads a table, which is a file of the project. Each row is a line, which may have indented ones behind it: rules
// of what it does, and of a variation what it allows ([allow.Row]):
//
//	reply-bare | ACME-PUSH-02 | a PUSH is answered with a bare OK
//	  on writing PUSH: write 'OK\r\n'
//	queue-long | A name is bytes | the name of a queue may have a megabyte
//	  allow warn ACME-PUSH-02: names of 100 bytes are enough for everybody, says the document
//
// It panics if a row is malformed or is there twice, which every test that uses the catalogue finds.
func Read(file, text string) Table {
	t, n, name := Table{}, 0, ""
	for s := range strings.Lines(text) {
		n++
		s = strings.TrimSuffix(s, "\n")
		row := t[name]
		switch fields := strings.SplitN(s, " | ", 3); {
		case strings.HasPrefix(s, "  on "):
			if row.rules == "" {
				row.rules = strings.Repeat("\n", n-1)
			}
			row.rules += s + "\n"
		case strings.HasPrefix(s, "  allow "):
			row.Allows = append(row.Allows, allow.Rows(file+": "+name, strings.TrimSpace(s))...)
		case t.has(fields[0]) || len(fields) != 3:
			panic(fmt.Sprintf("malformed, or there twice: %q", s))
		default:
			name = fields[0]
			row = Row{Marks: strings.Fields(fields[1]), Summary: fields[2]}
		}
		t[name] = row
	}
	return t
}

// LazyTable returns what reads a table when it is asked for the first time.
func LazyTable(file, text string) func() Table {
	return sync.OnceValue(func() Table { return Read(file, text) })
}

func (t Table) has(name string) bool {
	_, ok := t[name]
	return ok
}

// row returns the row of a name for what is in Go. It panics if there is none, and if it has rules.
func (t Table) row(name string) Row {
	row, ok := t[name]
	switch {
	case !ok:
		panic(fmt.Sprintf("no row of the table has the name %q", name))
	case row.rules != "":
		panic(fmt.Sprintf("the row %q has a rule, and something in Go", name))
	}
	return row
}

// BugOf returns the bug that has a row of a table and a hook.
func BugOf[E any, H Hook[E]](t Table, name string, hook H) Bug[E] {
	row := t.row(name)
	return Bug[E]{Name: name, Clauses: row.Marks, Summary: row.Summary, Hook: Maker[E](hook)}
}

// RuledBugs returns the bugs of the rows that have rules, in no order. It panics if one is no rule, with line and
// column.
func RuledBugs[E any](t Table, words *rule.Vocabulary[E]) (all []Bug[E]) {
	for name, row := range t {
		if row.rules == "" {
			continue
		}
		rules, err := words.ParseFile(row.rules)
		if err != nil {
			panic(fmt.Sprintf("%v (the row %q)", err, name))
		}
		hook := func() func(*E) { return rule.Hooks(rules...) }
		all = append(all, Bug[E]{Name: name, Clauses: row.Marks, Summary: row.Summary, Hook: hook})
	}
	return all
}

// RuledVariations is [RuledBugs] for variations; hook returns where a configuration has its hook.
func RuledVariations[E, C any](t Table, words *rule.Vocabulary[E], hook func(*C) *func(*E)) (all []Variation[C]) {
	for _, f := range RuledBugs(t, words) {
		all = append(all, variation(t[f.Name], f.Name, func(c *C) { *hook(c) = Chain(*hook(c), f.Hook()) }))
	}
	return all
}

// VariationOf returns the variation that has a row of a table.
func VariationOf[C any](t Table, name string, configure func(*C)) Variation[C] {
	return variation(t.row(name), name, configure)
}

func variation[C any](row Row, name string, configure func(*C)) Variation[C] {
	return Variation[C]{
		Name: name, Summary: row.Summary, Reading: strings.Join(row.Marks, " "), Allows: row.Allows, Configure: configure,
	}
}
