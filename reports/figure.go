package reports

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Figure is a picture: its data, which a renderer draws where it can, and writes as a table too. Text and Markdown have
// none.
type Figure struct {
	Title string
	// Description says what the picture shows, and how to read it, in a sentence or two.
	Description string
	Drawing     Drawing
	// Invalid is set if it shows figures that are no results: it is drawn in grey.
	Invalid bool
}

func (Figure) block() {}

// Drawing is what a Figure shows: *Chart, *Bars, *Heat, *Matrix or *Forest.
type Drawing interface {
	// Table has everything that is drawn.
	Table() Table
}

// Chart has curves over an axis.
type Chart struct {
	X, Y   Axis
	Curves []Curve
	// Bands are parts of the X axis with names, such as phases.
	Bands []Band
	// Marks are parts of the X axis in which something was done that has a name.
	Marks []Band
}

// Axis is an axis of a chart.
type Axis struct {
	Title string
	Scale Scale
	Unit  Unit
}

// Scale is how values lie on an axis.
type Scale uint8

// The scales.
const (
	Linear Scale = iota // from 0 on
	Log
	Tail // quantiles, as far apart as their distance to 1 is small: 0.9, 0.99, 0.999
)

// Unit is what the values of an axis are.
type Unit uint8

// The units.
const (
	Number Unit = iota
	Nanoseconds
	PerSec
	Quantiles
)

// Words writes a value for people.
func (u Unit) Words(x float64) string {
	switch u {
	case Nanoseconds:
		return Time(time.Duration(x))
	case PerSec:
		return Digits(x) + " /s"
	case Quantiles:
		return Trimmed(100*x, 4) + " %"
	}
	return Digits(x)
}

// Curve is a line through points, in the order of their X. A point whose Y is not a number interrupts it.
type Curve struct {
	Name   string
	Points []Point
}

// Point is a point of a curve, in the units of the axes.
type Point struct{ X, Y float64 }

// Band is a part of the X axis.
type Band struct {
	Name        string
	From, Until float64
}

// Table has a row for each X, with the value of every curve there.
func (c *Chart) Table() Table {
	t := Table{Columns: []Column{{Title: c.X.Title, AlignRight: true}}}
	at, values := []float64{}, map[float64][]string{}
	for i, curve := range c.Curves {
		t.Columns = append(t.Columns, Column{Title: curve.Name, AlignRight: true})
		for _, p := range curve.Points {
			if values[p.X] == nil {
				at, values[p.X] = append(at, p.X), make([]string, len(c.Curves))
			}
			if !math.IsNaN(p.Y) {
				values[p.X][i] = c.Y.Unit.Words(p.Y)
			}
		}
	}
	for _, x := range at {
		t.Rows = append(t.Rows, Cells(append([]string{c.X.Unit.Words(x)}, values[x]...)...))
	}
	return t
}

// Bars are numbers with names.
type Bars struct{ Bars []Bar }

// Bar is a number with a name. Its style says what it means.
type Bar struct {
	Name, Words string
	Value       int64
	Style       Style
}

// Table has a row for each bar.
func (b *Bars) Table() Table {
	return Table{
		Columns: []Column{{}, {Title: "number", AlignRight: true}, {Title: "meaning"}},
		Rows:    RowsOf(b.Bars, func(b *Bar) Row { return Cells(b.Name, text.GroupDigits(b.Value), b.Words) }),
	}
}

// Heat has counts over two axes: how many values of Y were in a part of X.
type Heat struct {
	X, Y Axis
	// ColumnWidth is the length of a column on the X axis.
	ColumnWidth float64
	// Edges are the ends of the rows on the Y axis; the first row begins at Minimum.
	Minimum float64
	Edges   []float64
	Columns []HeatColumn
}

// HeatColumn is a part of the X axis from At on, with a count for each row.
type HeatColumn struct {
	At     float64
	Counts []int64
}

// Table has a row for each row of the map, with the sum over all columns: the cells themselves are in the data of the
// report.
func (h *Heat) Table() Table {
	t := Table{Columns: []Column{{Title: h.Y.Title + ", up to", AlignRight: true}, {Title: "number", AlignRight: true},
		{Title: "most in one column", AlignRight: true}}}
	for row, edge := range h.Edges {
		sum, maximum := int64(0), int64(0)
		for _, c := range h.Columns {
			if row < len(c.Counts) {
				sum, maximum = sum+c.Counts[row], max(maximum, c.Counts[row])
			}
		}
		if sum > 0 {
			t.Rows = append(t.Rows, Cells(h.Y.Unit.Words(edge), text.GroupDigits(sum), text.GroupDigits(maximum)))
		}
	}
	return t
}

// Forest has ratios with their intervals, below each other.
type Forest struct {
	Rows []ForestRow
	// Margin is how far from 1 a ratio may be: with 0.05 from 1/1.05 to 1.05.
	Margin float64
}

// ForestRow is a ratio and its interval.
type ForestRow struct {
	Name             string
	Ratio, Low, High float64
	Style            Style
	// Strong is set if it counts more than the others.
	Strong bool
}

// Words returns the ratio and its interval.
func (r *ForestRow) Words() string {
	return Trimmed(r.Ratio, 3) + " (" + Trimmed(r.Low, 3) + " to " + Trimmed(r.High, 3) + ")"
}

// Table has a row for each ratio.
func (f *Forest) Table() Table {
	row := func(r *ForestRow) Row {
		return Cells(r.Name, Trimmed(r.Ratio, 3), Trimmed(r.Low, 3), Trimmed(r.High, 3))
	}
	return Table{Columns: []Column{{}, {Title: "ratio", AlignRight: true}, {Title: "from", AlignRight: true},
		{Title: "to", AlignRight: true}}, Rows: RowsOf(f.Rows, row)}
}

// Matrix has the verdict on each clause, in one or several runs.
type Matrix struct {
	// Runs names the runs.
	Runs     []string
	Families []Family
	// Sparse says that most runs know nothing of most clauses: these places stay empty, and so do families' lines of them.
	Sparse bool
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
	Causes        []string
	IsKnown       []bool
	// Links has the address of what is known of each verdict; none if it is empty.
	Links []string
}

// KnownLetter is the letter, in a matrix, of what is known.
const KnownLetter = "K"

// Words returns the verdict of a run: "fail", or "known: fail".
func (r *MatrixRow) Words(run int) Text {
	words := r.Verdicts[run].Text()
	if r.IsKnown[run] {
		words = PlainText("known: " + r.Verdicts[run].String())
	}
	words[0].Link = r.Link(run)
	return words
}

// Link returns the address of what is known of the verdict of a run; empty: none.
func (r *MatrixRow) Link(run int) string {
	if len(r.Links) == 0 {
		return ""
	}
	return r.Links[run]
}

// MatrixOf returns the verdicts of several runs side by side, under the names that are given. A clause that a run does
// not have was not selected in it.
func MatrixOf(names []string, runs ...*Report) Figure { return matrixOf(names, true, runs) }

// matrixOf returns the verdicts of several runs; with known as files of known findings say.
func matrixOf(names []string, showKnown bool, runs []*Report) Figure {
	m := &Matrix{Runs: names}
	at := map[string]*MatrixRow{}
	var order []*MatrixRow
	for i, r := range runs {
		all := r.Findings()
		if !showKnown {
			all = clearKnownLines(all)
		}
		findings := runFindings(groupSymptoms(all))
		for _, c := range r.Clauses {
			row := at[c.ID]
			if row == nil {
				row = &MatrixRow{ID: c.ID, Statement: c.Statement, Level: c.Level, Causes: make([]string, len(runs)),
					IsKnown: make([]bool, len(runs)), Verdicts: slices.Repeat([]Verdict{NotSelected}, len(runs))}
				at[c.ID], order = row, append(order, row)
			}
			row.Statement = cmp.Or(row.Statement, c.Statement)
			row.Verdicts[i], row.IsKnown[i] = r.verdictOf(&c, findings, all)
			row.IsKnown[i], row.Causes[i] = showKnown && row.IsKnown[i], c.Cause
		}
	}
	for _, row := range order {
		m.add(row)
	}
	return Figure{
		Title: "Clauses",
		Description: "Each square is a clause of the specification, in the order of its sections: P pass, F fail, C " +
			"crash, W warn, O observed, ? inconclusive, N not run, S skipped, a dot: not selected, a dash: not applicable; " +
			"K in a frame: a known finding, not counted.",
		Drawing: m,
	}
}

// add adds a clause to its family, of which the middle part of its id is the name.
func (m *Matrix) add(row *MatrixRow) {
	name := row.ID
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

// Table has a row for each clause; of a sparse matrix for each verdict.
func (m *Matrix) Table() Table {
	if m.Sparse {
		return m.list()
	}
	t := Table{Columns: []Column{{Title: "clause"}, {Title: "level"}}}
	for _, name := range m.Runs {
		t.Columns = append(t.Columns, Column{Title: name})
	}
	t.Columns = append(t.Columns, Column{Title: "requirement"})
	for _, f := range m.Families {
		for _, row := range f.Rows {
			r := Row{Anchor: row.ID, Cells: []Text{PlainText(row.ID), PlainText(string(row.Level))}}
			for run, v := range row.Verdicts {
				cell := row.Words(run)
				if len(m.Runs) == 1 && row.Causes[run] != "" && !v.IsBreach() {
					cell = append(cell, Span{Text: "\n"}, Span{Text: row.Causes[run], Style: Faint})
				}
				r.Cells = append(r.Cells, cell)
			}
			r.Cells = append(r.Cells, PlainText(row.Statement))
			t.Rows = append(t.Rows, r)
		}
	}
	return t
}

// list has a row for each verdict.
func (m *Matrix) list() Table {
	t := Table{Columns: []Column{{Title: "clause"}, {Title: "in"}, {Title: "verdict"}, {Title: "why"}}}
	for _, f := range m.Families {
		for _, row := range f.Rows {
			for run, v := range row.Verdicts {
				if v != NotSelected {
					t.Rows = append(t.Rows, Row{Cells: []Text{PlainText(row.ID), PlainText(m.Runs[run]), row.Words(run),
						PlainText(row.Causes[run])}})
				}
			}
		}
	}
	return t
}

// Letter returns the letter of v in a matrix.
func (v Verdict) Letter() string {
	letters := []rune("NPFWO–·S?C!") // in the order of the constants
	return string(letters[min(int(v), len(letters)-1)])
}
