package bench

import (
	"io"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/reports"
)

// report is a report of `fwpbench run`.
func (o *benchOptions) report(l *reports.Load) program.Output {
	return program.Output{
		File: o.output, Format: o.format.String(), Color: o.color.String(), Unreachable: l.Unreachable,
		Write: func(w io.Writer, colored bool) error {
			if o.format.String() == "json" {
				return reports.WriteLoadJSON(w, l)
			}
			return reports.WriteLoadText(w, l, reports.LoadTextOptions{Color: colored, Verbose: o.verbose})
		},
		Outcome: l.Outcome,
		Fail:    func(why string) { l.Internal = why },
	}
}
