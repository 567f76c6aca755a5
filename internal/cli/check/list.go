package check

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// newList builds `fwpcheck list`.
func newList(p process) *cobra.Command {
	var (
		clauses, faults, asJSON bool
		want                    facets
	)
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
		RunE: func(*cobra.Command, []string) error {
			all, err := checks()
			switch {
			case err != nil:
				return err
			case clauses && faults:
				return errors.New("--clauses and --faults: one list at a time")
			case clauses:
				return p.listClauses(all, want, asJSON)
			case faults:
				return p.listFaults(all, want, asJSON)
			}
			return p.listChecks(all, want, asJSON)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&clauses, "clauses", false, "list the clauses instead of the checks")
	cmd.Flags().BoolVar(&faults, "faults", false, "list the faults of the embedded server instead of the checks")
	want.declare(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// checkRow is a check as `list --json` writes it.
type checkRow struct {
	ID      string           `json:"id"`
	Kind    string           `json:"kind"` // script or property
	Title   string           `json:"title,omitempty"`
	Needs   []scenarios.Need `json:"needs,omitempty"`
	Clauses []string         `json:"clauses"`

	of facets // what the flags of list look at
}

func checkRows(all []conformance.Check) []checkRow {
	var rows []checkRow
	for _, check := range all {
		kind := "script"
		if _, is := check.(conformance.Property); is {
			kind = property
		}
		d := check.Describe()
		rows = append(rows, checkRow{d.ID, kind, d.Title, d.Needs, clausesOf(d), facetsOf(d)})
	}
	return rows
}

// property is the kind of a check that no script can be.
const property = "property"

// clausesOf are the clauses that a check decides, each once.
func clausesOf(d conformance.Description) []string {
	ids := []string{}
	for _, mark := range d.Clauses() {
		ids = append(ids, mark.Clause)
	}
	return ids
}

func (r checkRow) facets() facets { return r.of }

func facetsOf(d conformance.Description) facets {
	f := facets{checks: withFolder(d.ID), clauses: clausesOf(d)}
	for _, mark := range d.Marks {
		clause, _ := conformance.ClauseByID(mark.Clause)
		f.parties = append(f.parties, partyWords(clause.Party)...)
		level := mark.Level
		if level == "" {
			level = string(clause.Level)
		}
		f.levels = append(f.levels, level)
	}
	return f
}

// clauseRow is a clause as `list --clauses --json` writes it.
type clauseRow struct {
	ID        string               `json:"id"`
	Level     reports.Level        `json:"level"`
	Party     string               `json:"party"`
	Section   string               `json:"section"`
	Sources   []conformance.Source `json:"sources"`
	Statement string               `json:"statement"`
	Reading   string               `json:"reading,omitempty"`
	Recorded  bool                 `json:"recorded,omitempty"`
	Ambiguity string               `json:"ambiguity,omitempty"`
	Takes     []string             `json:"takes,omitempty"`
	Checks    []string             `json:"checks"`
	Excluded  string               `json:"excluded,omitempty"`
	Faults    []string             `json:"faults,omitempty"`
}

func clauseRows(checks []checkRow) []clauseRow {
	var rows []clauseRow
	faults := fakes.Faults()
	for _, c := range conformance.Clauses() {
		row := clauseRow{c.ID, c.Level, c.Party, c.Section, c.Sources, c.Statement, c.Reading, c.Recorded, c.Ambiguity,
			strings.Fields(c.Special), decidedBy(checks, c.ID), c.Excluded, nil}
		for _, f := range faultsOf(faults, c.ID) {
			row.Faults = append(row.Faults, f.Name)
		}
		rows = append(rows, row)
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

func (r clauseRow) facets() facets {
	f := facets{clauses: []string{r.ID}, levels: []string{string(r.Level)}, parties: partyWords(r.Party)}
	for _, check := range r.Checks {
		f.checks = append(f.checks, withFolder(check)...)
	}
	return f
}

func (p process) listChecks(all []conformance.Check, want facets, asJSON bool) error {
	in, _, err := conformance.Selection{Checks: want.checks, Clauses: want.clauses, Levels: want.levels}.Apply(all)
	if err != nil {
		return badSelection(err, all)
	}
	want = facets{parties: want.parties}
	return listRows(p, checkRows(in), "check", want, asJSON, func(c checkRow) []string {
		clauses := strings.Join(c.Clauses, " ")
		if c.Kind == property {
			clauses = "property: any clause"
		}
		return []string{c.ID, c.Title, clauses}
	})
}

func (p process) listClauses(all []conformance.Check, want facets, asJSON bool) error {
	return listRows(p, clauseRows(checkRows(all)), "clause", want, asJSON, func(c clauseRow) []string {
		return []string{c.ID, string(c.Level), c.Party, c.decided(), c.Statement}
	})
}

// listRows prints the rows of a thing that are wanted, as JSON or as lines of these cells.
func listRows[R interface{ facets() facets }](
	p process, rows []R, thing string, want facets, asJSON bool, cells func(R) []string,
) error {
	rows, err := pick(rows, thing, want)
	switch {
	case err != nil:
		return err
	case asJSON:
		return p.PrintJSON(rows)
	}
	var t reports.Table
	for _, r := range rows {
		t.Rows = append(t.Rows, reports.Cells(cells(r)...))
	}
	return p.PrintPage(reports.Page{Blocks: []reports.Block{t}})
}

// decided says in a word or two who decides a clause.
func (r clauseRow) decided() string {
	switch {
	case r.Excluded != "":
		return "excluded"
	case len(r.Checks) == 0:
		return "no check"
	}
	return text.Count(len(r.Checks), "check")
}
