package bench

import (
	"io"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/reports"
)

// report is a report of `fwpbench run`.
func (o *benchOptions) report(l *reports.Load) program.Output {
	return program.Output{
		Flags: &o.reportFlags, Unreachable: l.Unreachable,
		Page:    func() reports.Page { return l.Page(reports.PageOptions{Verbose: o.reportFlags.Verbose}) },
		JSON:    func(w io.Writer) error { return reports.WriteLoadJSON(w, l) },
		Outcome: l.Outcome,
		Fail:    func(why string) { l.Internal = why },
	}
}
