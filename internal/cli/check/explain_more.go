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
	return reports.Page{}, false
}

// explainFault returns what a fault of the embedded server does, the clauses that it breaks and the checks on these.
func explainFault(fault fakes.Fault, checks map[string][]conformance.Description) reports.Page {
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
	f.add("try it", "fwpcheck run --clause "+strings.Join(fault.Clauses, " --clause ")+" --fault "+fault.Name)
	return reports.Page{Blocks: []reports.Block{titled(fault.Name, "fault: "+fault.Summary), f.block()}}
}
