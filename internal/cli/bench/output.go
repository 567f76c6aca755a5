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
		Page:    func() reports.Page { return l.Page(reports.PageOptions{Verbose: o.verbose}) },
		JSON:    func(w io.Writer) error { return reports.WriteLoadJSON(w, l) },
		Outcome: l.Outcome,
		Fail:    func(why string) { l.Internal = why },
	}
}
