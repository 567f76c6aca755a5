package reports

import (
	"cmp"
	"slices"
	"strings"
)

// Matrix has the verdict on each clause, in one or several runs.
type Matrix struct {
	// Runs names the runs.
	Runs     []string
	Families []Family
}

// Family is the clauses about one thing, a command for example.
type Family struct {
	Name string
	Rows []MatrixRow
}

// MatrixRow is a clause with its verdict in each run, why it has that, and whether that is known as a file of known
// findings says; all are as long as the runs.
type MatrixRow struct {
	ID, Statement string
	Level         Level
	Verdicts      []Verdict
	Why           []string
	Known         []bool
}

// KnownLetter is the letter, in a matrix, of what is known.
const KnownLetter = "K"

// Words returns the verdict of a run: "fail", or "known: fail".
func (r *MatrixRow) Words(run int) Text {
	if r.Known[run] {
		return Words("known: " + r.Verdicts[run].String())
	}
	return r.Verdicts[run].Text()
}

// MatrixOf returns the verdicts of several runs side by side, under the names that are given. A clause that a run does
// not have was not selected in it.
func MatrixOf(names []string, runs ...*Report) Figure { return matrixOf(names, true, runs) }

// matrixOf returns the verdicts of several runs; with known as files of known findings say.
func matrixOf(names []string, known bool, runs []*Report) Figure {
	m := &Matrix{Runs: names}
	at := map[string]*MatrixRow{}
	var order []*MatrixRow
	for i, r := range runs {
		all := r.Findings()
		if !known {
			all = unknown(all)
		}
		found := broken(symptoms(all))
		for _, c := range r.Clauses {
			row := at[c.ID]
			if row == nil {
				row = &MatrixRow{ID: c.ID, Statement: c.Statement, Level: c.Level, Why: make([]string, len(runs)),
					Known: make([]bool, len(runs)), Verdicts: slices.Repeat([]Verdict{NotSelected}, len(runs))}
				at[c.ID], order = row, append(order, row)
			}
			row.Statement = cmp.Or(row.Statement, c.Statement)
			row.Verdicts[i], row.Known[i] = r.counted(&c, found, all)
			row.Known[i], row.Why[i] = known && row.Known[i], c.Why
		}
	}
	for _, row := range order {
		name := row.ID // of which the middle part is the family
		if parts := strings.Split(row.ID, "-"); len(parts) > 2 {
			name = strings.Join(parts[1:len(parts)-1], "-")
		}
		family := Find(m.Families, func(f *Family) bool { return f.Name == name })
		if family == nil {
			m.Families = append(m.Families, Family{Name: name})
			family = &m.Families[len(m.Families)-1]
		}
		family.Rows = append(family.Rows, *row)
	}
	return Figure{
		Title: "Clauses",
		Description: "Each square is a clause of the specification, in the order of its sections: P pass, F fail, C crash, " +
			"W warn, O observed, ? inconclusive, N not run, S skipped, a point: not selected, a dash: not applicable; K in a " +
			"frame: known, and not among the findings.",
		Of: m,
	}
}

// Table has a row for each clause.
func (m *Matrix) Table() Table {
	t := Table{Columns: []Column{{Title: "clause"}, {Title: "level"}}}
	for _, name := range m.Runs {
		t.Columns = append(t.Columns, Column{Title: name})
	}
	t.Columns = append(t.Columns, Column{Title: "what it says"})
	for _, f := range m.Families {
		for _, row := range f.Rows {
			r := Row{Anchor: row.ID, Cells: []Text{Words(row.ID), Words(string(row.Level))}}
			for run, v := range row.Verdicts {
				cell := row.Words(run)
				if len(m.Runs) == 1 && row.Why[run] != "" && !v.Breach() {
					cell = append(cell, Span{"\n", Plain}, Span{row.Why[run], Faint})
				}
				r.Cells = append(r.Cells, cell)
			}
			r.Cells = append(r.Cells, Words(row.Statement))
			t.Rows = append(t.Rows, r)
		}
	}
	return t
}

// Letter returns the letter of v in a matrix.
func (v Verdict) Letter() string {
	letters := []rune("NPFWO–·S?C!") // in the order of the constants
	return string(letters[min(int(v), len(letters)-1)])
}
