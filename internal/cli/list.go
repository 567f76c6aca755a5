package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// newList builds `fwpcheck list`.
func newList(p Process) *cobra.Command {
	var clauses, asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the checks, or the clauses of the catalogue",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			scripts, err := suite()
			if err != nil {
				return err
			}
			checks := checkRows(scripts)
			switch {
			case clauses && asJSON:
				return p.printJSON(clauseRows(checks))
			case clauses:
				return p.printClauses(clauseRows(checks))
			case asJSON:
				return p.printJSON(checks)
			}
			return p.printChecks(checks)
		},
	}
	cmd.Flags().BoolVar(&clauses, "clauses", false, "list the clauses instead of the checks")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// checkRow is a check as `list --json` writes it.
type checkRow struct {
	ID      string           `json:"id"`
	Title   string           `json:"title,omitempty"`
	Needs   []scenarios.Need `json:"needs,omitempty"`
	Clauses []string         `json:"clauses"`
}

func checkRows(scripts []*scenarios.Script) []checkRow {
	var rows []checkRow
	for _, s := range scripts {
		rows = append(rows, checkRow{s.Name, s.Title, s.Needs, clausesOf(s)})
	}
	return rows
}

// clausesOf are the clauses that a script decides, each once.
func clausesOf(s *scenarios.Script) []string {
	ids := []string{}
	for mark := range s.Marks() {
		if !slices.Contains(ids, mark.Clause) {
			ids = append(ids, mark.Clause)
		}
	}
	return ids
}

// clauseRow is a clause as `list --clauses --json` writes it.
type clauseRow struct {
	ID        string        `json:"id"`
	Level     reports.Level `json:"level"`
	Party     string        `json:"party"`
	Section   string        `json:"section"`
	Statement string        `json:"statement"`
	Reading   string        `json:"reading,omitempty"`
	Checks    []string      `json:"checks"`
}

func clauseRows(checks []checkRow) []clauseRow {
	var rows []clauseRow
	for _, c := range conformance.Clauses() {
		rows = append(rows, clauseRow{c.ID, c.Level, c.Party, c.Section, c.Statement, c.Reading, decidedBy(checks, c.ID)})
	}
	return rows
}

// decidedBy are the checks that decide a clause.
func decidedBy(checks []checkRow, clause string) []string {
	ids := []string{}
	for _, c := range checks {
		if slices.Contains(c.Clauses, clause) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func (p Process) printChecks(checks []checkRow) error {
	return p.printTable(func(row func(cells ...string)) {
		for _, c := range checks {
			row(c.ID, c.Title, strings.Join(c.Clauses, " "))
		}
	})
}

func (p Process) printClauses(clauses []clauseRow) error {
	return p.printTable(func(row func(cells ...string)) {
		for _, c := range clauses {
			decided := plural(len(c.Checks), "check")
			if len(c.Checks) == 0 {
				decided = "no check"
			}
			row(c.ID, string(c.Level), decided, c.Statement)
		}
	})
}

// printTable aligns the columns of rows.
func (p Process) printTable(fill func(row func(cells ...string))) error {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fill(func(cells ...string) { _, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) })
	_ = table.Flush() // a strings.Builder takes everything
	return p.print(text.String())
}

func (p Process) printJSON(v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return &internalError{err}
	}
	return p.print(string(text) + "\n")
}
