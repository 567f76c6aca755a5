package reports

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
	return trimmed(r.Ratio, 3) + " (" + trimmed(r.Low, 3) + " to " + trimmed(r.High, 3) + ")"
}

// Table has a row for each ratio.
func (f *Forest) Table() Table {
	t := Table{Columns: []Column{{}, {Title: "ratio", Right: true}, {Title: "from", Right: true},
		{Title: "to", Right: true}}}
	for _, r := range f.Rows {
		t.Rows = append(t.Rows, Cells(r.Name, trimmed(r.Ratio, 3), trimmed(r.Low, 3), trimmed(r.High, 3)))
	}
	return t
}
