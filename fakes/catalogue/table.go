package catalogue

import (
	"fmt"
	"strings"
)

// Table has what a catalogue says of its rows, by their names: all but what they do.
type Table map[string]Row

// Row is a row of a table.
type Row struct {
	Marks   []string            // the clauses that a fault breaks, or the words of the reading that allows a variation
	Summary string              // one sentence
	More    map[string][]string // what else is said: words by their label
}

// Read reads a table. Each row is a line, which may have indented ones behind it, each with a label:
//
//	queue-long | A name is bytes | the name of a queue may have a megabyte
//	  warns: ACME-PUSH-02
//
// "warns" and "leaves" are for the fields of a variation. It panics if a row is malformed or is there twice, which
// every test that uses the catalogue finds.
func Read(text string) Table {
	t := Table{}
	var row Row
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if label, words, more := strings.Cut(line, ": "); more && strings.HasPrefix(line, "  ") {
			row.More[strings.TrimSpace(label)] = strings.Fields(words)
			continue
		}
		fields := strings.SplitN(line, " | ", 3)
		if _, twice := t[fields[0]]; twice || len(fields) != 3 {
			panic(fmt.Sprintf("malformed, or there twice: %q", line))
		}
		row = Row{Marks: strings.Fields(fields[1]), Summary: fields[2], More: map[string][]string{}}
		t[fields[0]] = row
	}
	return t
}

// of returns the row of a name. It panics if there is none.
func (t Table) of(name string) Row {
	row, known := t[name]
	if !known {
		panic(fmt.Sprintf("no row of the table has the name %q", name))
	}
	return row
}

// FaultOf returns the fault that has a row of a table and a hook.
func FaultOf[E any, H Hook[E]](t Table, name string, hook H) Fault[E] {
	row := t.of(name)
	return Fault[E]{Name: name, Clauses: row.Marks, Summary: row.Summary, Hook: Maker[E](hook)}
}

// VariationOf returns the variation that has a row of a table.
func VariationOf[C any](t Table, name string, configure func(*C)) Variation[C] {
	row := t.of(name)
	return Variation[C]{
		Name: name, Summary: row.Summary, Reading: strings.Join(row.Marks, " "), Warns: row.More["warns"],
		Leaves: row.More["leaves"], Configure: configure,
	}
}
