package program

import (
	"encoding/json"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// PrintPage writes a page to standard output.
func (p Process) PrintPage(shown reports.Page) error {
	if _, err := p.Out.Write(page.Text(shown, p.fit(p.Out))); err != nil {
		return &InternalError{err}
	}
	return nil
}

// PrintJSON writes a value to standard output, as indented JSON.
func (p Process) PrintJSON(v any) error {
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return &InternalError{err}
	}
	return p.Print(string(text.EscapeJSON(out)) + "\n")
}
