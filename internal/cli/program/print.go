package program

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
)

// PrintTable writes rows to standard output, with aligned columns.
func (p Process) PrintTable(fill func(row func(cells ...string))) error {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fill(func(cells ...string) { _, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) })
	_ = table.Flush() // a strings.Builder takes everything
	return p.Print(text.String())
}

// PrintJSON writes a value to standard output, as indented JSON.
func (p Process) PrintJSON(v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return &InternalError{err}
	}
	return p.Print(string(text) + "\n")
}
