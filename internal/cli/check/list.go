package check

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// newList builds `fwpcheck list`.
func newList(p process) *cobra.Command {
	var asJSON bool
	var kinds listKinds
	var name, extension string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the checks, the clauses of the specification, or the planted bugs of the embedded servers and workers",
		Args:  shared.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			protocol, err := shared.EntryWith(name, extension)
			if err != nil {
				return err
			}
			if kinds.clauses && kinds.bugs || kinds.variations && (kinds.clauses || kinds.bugs) {
				return errors.New("--clauses, --bugs and --variations: one list at a time")
			}
			return p.printList(protocol, kinds, flagFacets(cmd), asJSON)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&kinds.clauses, "clauses", false, "list the clauses instead of the checks")
	cmd.Flags().BoolVar(&kinds.bugs, "bugs", false,
		"list the planted bugs of the embedded server, workers and producer, instead of the checks")
	cmd.Flags().BoolVar(&kinds.variations, "variations", false,
		"list the variations of the embedded server, which are right too, instead of the checks")
	shared.DeclareProtocol(cmd.Flags(), &name, "")
	shared.DeclareExtension(cmd.Flags(), &extension)
	declareFacets(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// listKinds are the flags that name another list than that of the checks.
type listKinds struct{ clauses, bugs, variations bool }

// printList prints the clauses, the bugs, the variations or the checks of a protocol.
func (p process) printList(protocol *registry.Entry, kinds listKinds, want facets, asJSON bool) error {
	all, err := checksOf(protocol)
	switch {
	case err != nil:
		return err
	case kinds.clauses:
		return p.list(clauseRows(protocol, all), "clause", want, asJSON)
	case kinds.bugs:
		return p.list(bugRows(protocol.TestedBugs(), all), "bug", want, asJSON)
	case kinds.variations:
		return p.list(variationRows(protocol.AllVariations()), "variation", want, asJSON)
	}
	rules := lawRows(protocol, want)
	isRule := func(pattern string) bool { return strings.HasPrefix(pattern, reports.LawPrefix) }
	if patterns := want["check"]; len(patterns) > 0 && len(rules) > 0 && !slices.ContainsFunc(patterns, negate(isRule)) {
		return p.list(rules, "check", facets{"party": want["party"]}, asJSON)
	}
	in, _, err := conformance.Selection{
		Suite: protocol.Suite, Checks: want["check"], Clauses: want["clause"], Levels: want["level"],
	}.Apply(all)
	if err != nil {
		return badSelection(err, all)
	}
	return p.list(append(checkRows(in), rules...), "check", facets{"party": want["party"]}, asJSON)
}

func negate(f func(string) bool) func(string) bool { return func(s string) bool { return !f(s) } }

// lawRows returns the rows of the rules of the protocol's law that the flags want. They judge every conversation, and
// are no checks that can be played.
func lawRows(p *registry.Entry, want facets) (rows []row) {
	for _, name := range slices.Sorted(maps.Keys(p.Law.Rules)) {
		rule, words := p.Law.Rules[name], facets{"check": {reports.LawPrefix + name}}
		clauses := []string{}
		for slug := range strings.FieldsSeq(rule.Clauses) {
			c, _ := p.ClauseByID(p.Prefix + slug) // a test knows that there is one
			clauses = append(clauses, c.ID)
			words.add(facets{"clause": {c.ID}, "level": {string(c.Level)}, "party": partyWords(c.Party)})
		}
		isWanted := true
		for _, flag := range []string{"check", "clause", "level"} {
			isWanted = isWanted && (len(want[flag]) == 0 || matches(want[flag], words[flag]))
		}
		if isWanted {
			rows = append(rows, row{
				value: listedCheck{reports.LawPrefix + name, "law", rule.Title, nil, clauses},
				cells: []string{reports.LawPrefix + name, rule.Title, strings.Join(clauses, " ")}, facets: words,
			})
		}
	}
	return rows
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

// facets are the words by which the rows of a list are selected, or patterns for them, by the name of the flag.
type facets map[string][]string

// facetFlags are the flags that take patterns.
var facetFlags = []struct{ name, usage string }{
	{"check", "checks, or their clauses, that match `GLOB`"},
	{"clause", "clauses, or their checks, that match `GLOB`"},
	{"level", "a level that matches `GLOB`"},
	{"party", "clauses that bind `PARTY`: server, client, consumer or producer (S, C, K, P)"},
}

// declareFacets adds the flags to a command.
func declareFacets(cmd *cobra.Command) {
	for _, flag := range facetFlags {
		cmd.Flags().StringArray(flag.name, nil, flag.usage)
	}
}

// flagFacets returns the patterns that were given.
func flagFacets(cmd *cobra.Command) facets {
	want := facets{}
	for _, flag := range facetFlags {
		want[flag.name], _ = cmd.Flags().GetStringArray(flag.name) // it is one
	}
	return want
}

// add adds the words of other.
func (f facets) add(other facets) {
	for name, words := range other {
		f[name] = append(f[name], words...)
	}
}

// pick returns the rows that match one of the patterns of each flag that has some. A pattern that matches no row is an
// error, and so are patterns that leave nothing: a typo must not look like an answer.
func (f facets) pick(rows []row, thing string) ([]row, error) {
	all := facets{}
	for _, r := range rows {
		all.add(r.facets)
	}
	for _, flag := range facetFlags {
		for _, pattern := range f[flag.name] {
			if patternErr := matchPattern(flag.name, pattern, all[flag.name]); patternErr != nil {
				return nil, badPattern(patternErr, thing)
			}
		}
	}
	rows = slices.DeleteFunc(rows, func(r row) bool {
		for name, patterns := range f {
			if len(patterns) > 0 && !matches(patterns, r.facets[name]) {
				return true
			}
		}
		return false
	})
	if len(rows) == 0 {
		return nil, fmt.Errorf("no %s matches all flags together, although each flag alone matches some", thing)
	}
	return rows, nil
}

// patternHint returns what to write instead of a pattern that matches none of the words.
func patternHint(flag, pattern string, words []string) string {
	if strings.HasSuffix(pattern, "*") {
		words = append(slices.Clip(words), groups(words)...)
	}
	if names := text.Candidates(pattern, words); len(names) > 0 && flag != "level" && flag != "party" {
		return text.DidYouMean(names...)
	}
	return map[string]string{
		"check":  "fwpcheck list [--protocol NAME] shows the checks",
		"clause": "fwpcheck list --clauses [--protocol NAME] shows the clauses",
		"bug":    "fwpcheck list --bugs [--protocol NAME] shows the planted bugs",
		"level":  "the levels are " + strings.Join(levelNames(), ", "), // names with blanks, such as MUST NOT
		"party":  "the parties are server, client, consumer and producer (S, C, K and P)",
	}[flag]
}

// groups returns the patterns of words that begin alike: push/* for push/args, FWP-PUSH-* for FWP-PUSH-01.
func groups(words []string) (all []string) {
	for _, word := range words {
		if pattern := word[:strings.LastIndexAny(word, "/-")+1] + "*"; !slices.Contains(all, pattern) {
			all = append(all, pattern)
		}
	}
	return all
}

// partyWords returns the letters of a party, and the words for them.
func partyWords(party string) []string {
	var words []string
	for letter := range strings.SplitSeq(party, ",") {
		words = append(words, letter, strings.TrimSuffix(parties[letter], "s"))
	}
	return words
}

// row is a line of a list.
type row struct {
	value  any      // in JSON
	cells  []string // in text
	facets facets   // what the patterns of the flags are compared with
}

// listedCheck is a check in JSON; its kind is script, property or law.
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
	Bugs      []string             `json:"bugs,omitempty"`
}

// listedBug is a bug of the embedded server in JSON.
type listedBug struct {
	Name    string   `json:"name"`
	Clauses []string `json:"clauses"`
	Summary string   `json:"summary"`
}

// listedVariation is a variation of the embedded server in JSON.
type listedVariation struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

// checkRows returns the rows of checks. Selection compares all but their parties.
func checkRows(checks []conformance.Check) (rows []row) {
	for _, check := range checks {
		d := check.Describe()
		kind, clauses := "script", strings.Join(clausesOf(d), " ")
		if _, ok := check.(conformance.Property); ok {
			kind, clauses = "property", "property: any clause"
		}
		parties := facets{}
		for _, id := range clausesOf(d) {
			clause, _ := registry.Clause(id) // a test knows that there is one
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
func clauseRows(p *registry.Entry, checks []conformance.Check) (rows []row) {
	byClause, bugs := checksByClause(checks), map[string][]string{}
	for _, f := range p.AllBugs() {
		for _, id := range f.Clauses {
			bugs[id] = append(bugs[id], f.Name)
		}
	}
	for _, c := range p.Clauses() {
		ids := []string{}
		for _, d := range byClause[c.ID] {
			ids = append(ids, d.ID)
		}
		count := text.Count(len(ids), "check")
		switch {
		case c.ExclusionReason != "":
			count = "excluded"
		case len(ids) == 0:
			count = "no check"
		}
		rows = append(rows, row{
			value: listedClause{
				c.ID, c.Level, c.Party, c.Section, c.Sources, c.Statement, c.Reading, c.Recorded, c.Ambiguity,
				strings.Fields(c.Special), ids, c.ExclusionReason, bugs[c.ID],
			},
			cells: []string{c.ID, string(c.Level), c.Party, count, c.Statement}, facets: facetsOf(c, byClause),
		})
	}
	return rows
}

// bugRows returns the rows of bugs. Their facets are those of the clauses that they
// break.
func bugRows(bugs []registry.Bug, checks []conformance.Check) (rows []row) {
	byClause := checksByClause(checks)
	for _, f := range bugs {
		all := facets{}
		for _, id := range f.Clauses {
			clause, _ := registry.Clause(id) // a test knows that there is one
			all.add(facetsOf(clause, byClause))
		}
		rows = append(rows, row{
			value: listedBug{f.Name, f.Clauses, f.Summary},
			cells: []string{f.Name, strings.Join(f.Clauses, " "), f.Summary}, facets: all,
		})
	}
	return rows
}

// variationRows returns the rows of variations. Nothing selects among them.
func variationRows(variations []registry.Variation) (rows []row) {
	for _, v := range variations {
		rows = append(rows, row{value: listedVariation{v.Name, v.Summary}, cells: []string{v.Name, v.Summary}})
	}
	return rows
}

// facetsOf returns the facets of a clause.
func facetsOf(c conformance.Clause, byClause map[string][]conformance.Description) facets {
	f := facets{"clause": {c.ID}, "level": {string(c.Level)}, "party": partyWords(c.Party)}
	for _, d := range byClause[c.ID] {
		folder, _, _ := strings.Cut(d.ID, "/")
		f.add(facets{"check": {d.ID, folder}})
	}
	return f
}

// checksByClause returns the checks that evaluate each clause, by its id.
func checksByClause(checks []conformance.Check) map[string][]conformance.Description {
	byClause := map[string][]conformance.Description{}
	for _, check := range checks {
		d := check.Describe()
		for _, id := range clausesOf(d) {
			byClause[id] = append(byClause[id], d)
		}
	}
	return byClause
}

// bugsOf returns the bugs of the embedded server that break one of these clauses.
func bugsOf(clauses ...string) (all []registry.Bug) {
	for _, p := range registry.All() {
		if slices.ContainsFunc(clauses, func(id string) bool { return strings.HasPrefix(id, p.Prefix) }) {
			all = append(all, p.AllBugs()...)
		}
	}
	return slices.DeleteFunc(all, func(f registry.Bug) bool {
		return !slices.ContainsFunc(clauses, func(id string) bool { return slices.Contains(f.Clauses, id) })
	})
}
