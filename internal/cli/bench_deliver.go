package cli

import (
	"io"

	"github.com/fwpsuite/fwp/reports"
)

// delivery is a report of `fwpbench run`.
func (o *benchOptions) delivery(l *reports.Load) delivery {
	return delivery{
		file: o.output, format: o.format.value, color: o.color.value, unreachable: l.Unreachable,
		write: func(w io.Writer, colored bool) error {
			if o.format.value == "json" {
				return reports.WriteLoadJSON(w, l)
			}
			return reports.WriteLoadText(w, l, reports.LoadTextOptions{Color: colored, Verbose: o.verbose})
		},
		outcome: l.Outcome,
		fail:    func(why string) { l.Internal = why },
	}
}
