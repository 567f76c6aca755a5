package check

import (
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/program"
)

// pickFaults takes the faults that match one of the patterns, all if there are none.
func pickFaults(patterns []string) ([]fakes.Fault, error) {
	for _, pattern := range patterns {
		if bad := matchOne("fault", pattern, program.FaultNames()); bad != nil {
			return nil, badPattern(bad, "fault")
		}
	}
	return slices.DeleteFunc(fakes.Faults(), func(f fakes.Fault) bool {
		return len(patterns) > 0 && !matches(patterns, []string{f.Name})
	}), nil
}

// faultsOf are the faults of the fakes that break one of these clauses.
func faultsOf(faults []fakes.Fault, clauses ...string) []fakes.Fault {
	var found []fakes.Fault
	for _, f := range faults {
		if slices.ContainsFunc(clauses, func(id string) bool { return slices.Contains(f.Clauses, id) }) {
			found = append(found, f)
		}
	}
	return found
}

// faultRow is a fault as `list --faults --json` writes it.
type faultRow struct {
	Name    string   `json:"name"`
	Clauses []string `json:"clauses"`
	Summary string   `json:"summary"`

	of facets // of its clauses
}

func (r faultRow) facets() facets { return r.of }

func faultRows(checks []checkRow) []faultRow {
	broken := map[string]facets{}
	for _, c := range clauseRows(checks) {
		broken[c.ID] = c.facets()
	}
	var rows []faultRow
	for _, f := range fakes.Faults() {
		row := faultRow{Name: f.Name, Clauses: f.Clauses, Summary: f.Summary}
		for _, id := range f.Clauses {
			row.of = row.of.and(broken[id])
		}
		rows = append(rows, row)
	}
	return rows
}

func (p process) listFaults(all []conformance.Check, want facets, asJSON bool) error {
	return listRows(p, faultRows(checkRows(all)), "fault", want, asJSON, func(f faultRow) []string {
		return []string{f.Name, strings.Join(f.Clauses, " "), f.Summary}
	})
}
