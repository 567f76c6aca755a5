package check

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/reports"
)

// toolsReport begins the schema of a report that is evaluated again.
const toolsReport = "fwpcheck/"

// recheckOptions are the flags of `fwpcheck recheck`.
type recheckOptions struct {
	testOptions

	expect expectFlags
}

// newRecheck builds `fwpcheck recheck`, and the hidden `fwpcheck judge`, which is its old name.
func newRecheck(p process, name string, hidden bool) *cobra.Command {
	o := &recheckOptions{}
	cmd := &cobra.Command{
		Use:    name + " FILE...|-",
		Hidden: hidden,
		Short:  "Evaluate a saved report, or saved histories, again",
		Long: "recheck reads what a run has saved (- for standard input) and evaluates it again, without a server:\n" +
			"the report of one `fwpcheck run` in JSON or HTML, with other known findings, another strictness or in\n" +
			"another format; or histories of `fwpbench run --history` and `fwpcheck explore`, job by job, with each finding,\n" +
			"its clause and the calls that prove it. A call without a reply may have had its effect at any time, or\n" +
			"none. Each history is checked by itself.\n\n" +
			"Exit codes of a report: those of run. Of histories: 0 nothing was found, and the end of every job is\n" +
			"known, 1 findings, 2 usage, or a file that is damaged (what could be read of it is checked all the\n" +
			"same), 3 nothing was evaluated, or the end of some jobs is not known.",
		Example: "  fwpcheck recheck report.json --expect fwpcheck.expect\n" +
			"  fwpcheck recheck report.json -o junit=report.xml\n" +
			"  fwpcheck recheck run.history",
		Args: func(_ *cobra.Command, args []string) error {
			return refuse(len(args) == 0, "which report or history? Name files, or - for standard input")
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := cmp.Or(o.expect.validate(), o.reportFlags.Validate(o.given)); err != nil {
				return err
			}
			return p.recheck(o, args)
		},
	}
	f := o.flags(cmd)
	f.StringVar(&o.expect.name, "expect", "", "hold a report against the known findings in `FILE`")
	f.BoolVar(&o.strict, "strict", false, "treat recommendations as requirements: a warn is a finding")
	f.StringArrayVar(&o.require, "require", nil, "fail (exit code 3) unless `CLAUSE` is evaluated; may be repeated")
	o.reportFlags.Declare(cmd, "print all checks in the report")
	return cmd
}

// recheck evaluates files again.
func (p process) recheck(o *recheckOptions, names []string) error {
	for _, name := range names {
		data, some, err := p.ReadReport(name, toolsReport)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case some && len(names) > 1:
			return fmt.Errorf("%s is a report, and recheck takes one: fwpcheck compare takes several", name)
		case some:
			return p.recheckReport(o, name, data)
		case name == "-":
			p.In = io.MultiReader(bytes.NewReader(data), p.In)
		}
	}
	format := o.reportFlags.Format.String()
	if format != "text" && format != "json" || len(o.reportFlags.Outputs) > 0 || o.expect.name != "" {
		return errors.New("histories are evaluated as --format text or json on standard output, without --expect")
	}
	return p.judge(names, format)
}

// recheckReport evaluates the report of a run again.
func (p process) recheckReport(o *recheckOptions, name string, data []byte) error {
	r, err := reports.ReadJSON(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, id := range o.require {
		if err := requirable(id); err != nil {
			return err
		}
	}
	if r, err = o.held(r); err != nil {
		return err
	}
	return o.deliver(p, r)
}

// held returns the report, held against the file of --expect if there is one. The server is the one that the saved
// run has found out.
func (o *recheckOptions) held(r *reports.Report) (*reports.Report, error) {
	if o.expect.name == "" {
		return r, nil
	}
	all, err := checksOf(peer.Default())
	if err != nil {
		return nil, err
	}
	ids := texts(r.Checks, func(c reports.Check) string { return c.ID })
	known, err := o.expect.read(selection{in: all}, ids...)
	if err != nil {
		return nil, err
	}
	if r.Expectations != nil {
		known.server.Name, known.server.Version, _ = strings.Cut(r.Expectations.Server, " ")
	}
	return known.judge(r), nil
}
