package check

import (
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// row is a line of a list.
type row struct {
	value  any      // in JSON
	cells  []string // in text
	facets facets   // what the patterns of the flags are compared with
}

// listedCheck is a check in JSON; its kind is script or property.
type listedCheck struct {
	ID      string           `json:"id"`
	Kind    string           `json:"kind"`
	Title   string           `json:"title,omitempty"`
	Needs   []scenarios.Need `json:"needs,omitempty"`
	Clauses []string         `json:"clauses"`
}

// listedClause is a clause in JSON.
type listedClause struct {
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

// listedFault is a fault of the embedded server in JSON.
type listedFault struct {
	Name    string   `json:"name"`
	Clauses []string `json:"clauses"`
	Summary string   `json:"summary"`
}

// checkRows returns the rows of checks. Selection compares all but their parties.
func checkRows(checks []conformance.Check) (rows []row) {
	for _, check := range checks {
		d := check.Describe()
		kind, clauses := "script", strings.Join(clausesOf(d), " ")
		if _, is := check.(conformance.Property); is {
			kind, clauses = "property", "property: any clause"
		}
		parties := facets{}
		for _, id := range clausesOf(d) {
			clause, _ := clauseByID(id) // a test knows that there is one
			parties.add(facets{"party": partyWords(clause.Party)})
		}
		rows = append(rows, row{
			value: listedCheck{d.ID, kind, d.Title, d.Needs, clausesOf(d)},
			cells: []string{d.ID, d.Title, clauses}, facets: parties,
		})
	}
	return rows
}

// clausesOf returns the clauses that a check evaluates, each once.
func clausesOf(d conformance.Description) []string {
	ids := []string{}
	for _, mark := range d.Clauses() {
		ids = append(ids, mark.Clause)
	}
	return ids
}

// clauseRows returns the rows of all clauses.
func clauseRows(p *conformance.Protocol, checks []conformance.Check) (rows []row) {
	evaluated, faults := checksByClause(checks), map[string][]string{}
	for _, f := range faultsOfProtocol(p) {
		for _, id := range f.Clauses {
			faults[id] = append(faults[id], f.Name)
		}
	}
	for _, c := range p.Clauses() {
		ids := []string{}
		for _, d := range evaluated[c.ID] {
			ids = append(ids, d.ID)
		}
		many := text.Count(len(ids), "check")
		switch {
		case c.Excluded != "":
			many = "excluded"
		case len(ids) == 0:
			many = "no check"
		}
		rows = append(rows, row{
			value: listedClause{
				c.ID, c.Level, c.Party, c.Section, c.Sources, c.Statement, c.Reading, c.Recorded, c.Ambiguity,
				strings.Fields(c.Special), ids, c.Excluded, faults[c.ID],
			},
			cells: []string{c.ID, string(c.Level), c.Party, many, c.Statement}, facets: facetsOf(c, evaluated),
		})
	}
	return rows
}

// faultRows returns the rows of the faults of the embedded server. Their facets are those of the clauses that they
// break.
func faultRows(faults []fakes.Fault, checks []conformance.Check) (rows []row) {
	evaluated := checksByClause(checks)
	for _, f := range faults {
		all := facets{}
		for _, id := range f.Clauses {
			clause, _ := clauseByID(id) // a test knows that there is one
			all.add(facetsOf(clause, evaluated))
		}
		rows = append(rows, row{
			value: listedFault{f.Name, f.Clauses, f.Summary},
			cells: []string{f.Name, strings.Join(f.Clauses, " "), f.Summary}, facets: all,
		})
	}
	return rows
}

// facetsOf returns the facets of a clause.
func facetsOf(c conformance.Clause, evaluated map[string][]conformance.Description) facets {
	f := facets{"clause": {c.ID}, "level": {string(c.Level)}, "party": partyWords(c.Party)}
	for _, d := range evaluated[c.ID] {
		folder, _, _ := strings.Cut(d.ID, "/")
		f.add(facets{"check": {d.ID, folder}})
	}
	return f
}

// checksByClause returns the checks that evaluate each clause, by its id.
func checksByClause(checks []conformance.Check) map[string][]conformance.Description {
	evaluated := map[string][]conformance.Description{}
	for _, check := range checks {
		d := check.Describe()
		for _, id := range clausesOf(d) {
			evaluated[id] = append(evaluated[id], d)
		}
	}
	return evaluated
}

// faultsOf returns the faults of the embedded server that break one of these clauses.
func faultsOf(clauses ...string) (all []fakes.Fault) {
	for _, p := range program.Protocols() {
		if slices.ContainsFunc(clauses, func(id string) bool { return strings.HasPrefix(id, p.Prefix) }) {
			all = append(all, faultsOfProtocol(p)...)
		}
	}
	return slices.DeleteFunc(all, func(f fakes.Fault) bool {
		return !slices.ContainsFunc(clauses, func(id string) bool { return slices.Contains(f.Clauses, id) })
	})
}
