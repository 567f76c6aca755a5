package check

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/reports"
)

// newList builds `fwpcheck list`.
func newList(p process) *cobra.Command {
	var clauses, faults, asJSON bool
	var named string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the checks, the clauses of the catalogue, or the faults of the embedded server",
		Long: "list prints the checks of the suite, with --clauses every clause of the specification, or with --faults\n" +
			"the faults that the embedded server can be given, each with the clauses that it breaks. The other flags\n" +
			"take patterns (*, ?, [a-z]) and may be repeated: a line is printed if it matches one of the patterns of\n" +
			"each flag that is given.",
		Example: "  fwpcheck list --check 'fetch/*'\n" +
			"  fwpcheck list --clauses --party server --level 'MUST*'\n" +
			"  fwpcheck list --faults --clause 'FWP-FETCH-*'",
		Args: program.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			protocol, err := program.ProtocolNamed(named)
			if err != nil {
				return fmt.Errorf("--protocol: %w", err)
			}
			if clauses && faults {
				return errors.New("--clauses and --faults: one list at a time")
			}
			return p.listOf(protocol, clauses, faults, facetsGiven(cmd), asJSON)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&clauses, "clauses", false, "list the clauses instead of the checks")
	cmd.Flags().BoolVar(&faults, "faults", false, "list the faults of the embedded server instead of the checks")
	program.DeclareProtocol(cmd.Flags(), &named)
	declareFacets(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// listOf prints the clauses, the faults or the checks of a protocol.
func (p process) listOf(protocol *conformance.Protocol, clauses, faults bool, want facets, asJSON bool) error {
	all, err := checksOf(protocol)
	switch {
	case err != nil:
		return err
	case clauses:
		return p.list(clauseRows(protocol, all), "clause", want, asJSON)
	case faults:
		return p.list(faultRows(faultsOfProtocol(protocol), all), "fault", want, asJSON)
	}
	in, _, err := conformance.Selection{
		Protocol: protocol, Checks: want["check"], Clauses: want["clause"], Levels: want["level"],
	}.Apply(all)
	if err != nil {
		return badSelection(err, all)
	}
	return p.list(checkRows(in), "check", facets{"party": want["party"]}, asJSON)
}

// list prints the rows of a thing that the flags want, as JSON or as lines.
func (p process) list(rows []row, thing string, want facets, asJSON bool) error {
	rows, err := want.pick(rows, thing)
	if err != nil {
		return err
	}
	var t reports.Table
	values := []any{}
	for _, r := range rows {
		t.Rows, values = append(t.Rows, reports.Cells(r.cells...)), append(values, r.value)
	}
	if asJSON {
		return p.PrintJSON(values)
	}
	return p.PrintPage(reports.Page{Blocks: []reports.Block{t}})
}
