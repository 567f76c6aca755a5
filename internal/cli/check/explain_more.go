package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/docs"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
)

// explainAmbiguity returns the section on an ambiguity, whose code may be in any case, and reports whether there is
// one.
func explainAmbiguity(code string) (reports.Page, bool) {
	for section := range strings.SplitSeq(docs.Ambiguities, "\n## ") {
		head, body, _ := strings.Cut(section, "\n")
		name, title, ok := strings.Cut(head, ": ")
		if !ok || !strings.EqualFold(name, code) {
			continue
		}
		page := reports.Page{Blocks: []reports.Block{titled(name, title)}}
		for paragraph := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
			words := strings.NewReplacer("**", "", "`", "").Replace(strings.Join(strings.Fields(paragraph), " "))
			page.Blocks = append(page.Blocks, reports.Prose{Lines: reports.LinesOf(words)})
		}
		return page, true
	}
	return explainRow(code)
}

// explainRow returns what another document says of an ambiguity in a row of its table.
func explainRow(code string) (reports.Page, bool) {
	for line := range strings.Lines(docs.Workq + docs.EMQP) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		const columns = 3
		name := strings.TrimSpace(cells[0])
		if len(cells) != columns || !strings.Contains(name, "-AMB-") || !strings.EqualFold(name, code) {
			continue // also the heads of tables, such as "id" and "fault"
		}
		plain := strings.NewReplacer("**", "", "`", "")
		var f explained
		f.add("taken", plain.Replace(strings.TrimSpace(cells[2])))
		return reports.Page{Blocks: []reports.Block{
			titled(name, plain.Replace(cells[1])), f.block(),
		}}, true
	}
	return reports.Page{}, false
}

// explainFaults returns what the faults of a name do, of which each protocol may have one, and reports whether there is
// one.
func explainFaults(
	name string, protocols []*conformance.Protocol, checks map[string][]conformance.Description,
) (page reports.Page, found bool) {
	for _, p := range protocols {
		for _, fault := range faultsOfProtocol(p) {
			if fault.Name == name {
				page.Blocks = append(page.Blocks, explainFault(p, fault, checks)...)
			}
		}
	}
	return page, len(page.Blocks) > 0
}

// explainFault returns what a fault of the embedded server of a protocol does, the clauses that it breaks and the
// checks on these.
func explainFault(
	p *conformance.Protocol, fault fakes.Fault, checks map[string][]conformance.Description,
) []reports.Block {
	var f explained
	var ids []string
	for _, id := range fault.Clauses {
		clause, _ := clauseByID(id) // a test knows that there is one
		f.add("breaks", fmt.Sprintf("%s (%s): %s", id, clause.Level, clause.Statement))
		for _, check := range checks[id] {
			if !slices.Contains(ids, check.ID) {
				ids = append(ids, check.ID)
				f.add("checks", check.ID+": "+check.Title)
			}
		}
	}
	words := "fault: "
	try := "fwpcheck run --clause " + strings.Join(fault.Clauses, " --clause ") + " --fault " + fault.Name
	if p.Name != conformance.FWP().Name {
		words = "fault of " + p.Title + ": "
		try = "fwpcheck run --protocol " + p.Name + " --fault " + fault.Name
	}
	f.add("try it", try)
	return []reports.Block{titled(fault.Name, words+fault.Summary), f.block()}
}
