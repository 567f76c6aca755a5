package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/workers"
	"github.com/fwpsuite/fwp/internal/recorder"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// recordPage returns what a recording has seen.
func recordPage(s recorder.Summary) reports.Page {
	blocks := []reports.Block{reports.Heading{Level: 1, Text: reports.Words("RECORDED")}, recordCounts(s)}
	if len(s.Counts.Breaches) > 0 {
		blocks = append(blocks, recordBreaches(s))
	}
	held, open := []string{}, 0
	for _, r := range s.Results {
		switch r.State() {
		case workers.Held:
			held = append(held, r.Rule.Breach)
		case workers.Inconclusive:
			open++
		}
	}
	blocks = append(blocks, reports.Prose{Lines: []reports.Text{reports.Words(fmt.Sprintf(
		"%s held; the situation of %s was not seen, so that they decide nothing.",
		text.Count(len(held), "rule"), text.Count(open, "rule")))}})
	code := recordExit(s)
	words := "nothing that passed breaks the specification"
	switch {
	case code == reports.ExitInconclusive:
		words = "no client came: nothing was evaluated"
	case code == reports.ExitFindings:
		words = "the specification was broken"
	case slices.ContainsFunc(slices.Collect(maps.Keys(s.Counts.Breaches)), func(name string) bool {
		return clauseOf(name).Breach() == reports.Warn
	}):
		words = "only recommendations were not followed"
	}
	return reports.Page{Blocks: append(blocks, reports.Conclusion{
		Facts: fmt.Sprintf("%s; exit code %d", s.For.Round(time.Millisecond), code), Words: reports.Words(words),
	})}
}

func recordCounts(s recorder.Summary) reports.Block {
	var commands []string
	for _, verb := range slices.Sorted(maps.Keys(s.Counts.Commands)) {
		commands = append(commands, fmt.Sprintf("%d %s", s.Counts.Commands[verb], verb))
	}
	var counts reports.Fields
	add := func(label, words string) {
		counts.Fields = append(counts.Fields, reports.Field{Label: label, Lines: []reports.Text{reports.Words(words)}})
	}
	add("connections", fmt.Sprint(s.Counts.Connections))
	add("bytes", fmt.Sprintf("%d from clients, %d from the server", s.Counts.ClientBytes, s.Counts.ServerBytes))
	add("error replies", fmt.Sprint(s.Counts.Errors))
	if len(commands) > 0 {
		add("commands", strings.Join(commands, ", "))
	}
	if n := int(s.Counts.Unjudged); n > 0 {
		add("not judged", text.Count(n, "connection")+" whose bytes passed faster than they could be judged")
	}
	return counts
}

func recordBreaches(s recorder.Summary) reports.Block {
	t := reports.Table{Columns: []reports.Column{
		{Title: "verdict"}, {Title: "times", Right: true}, {Title: "breach"}, {Title: "clause"},
		{Title: "what the clause requires"},
	}, Wrap: true}
	for _, name := range slices.Sorted(maps.Keys(s.Counts.Breaches)) {
		c := clauseOf(name)
		t.Rows = append(t.Rows,
			reports.Cells(c.Breach().String(), fmt.Sprint(s.Counts.Breaches[name]), name, c.ID, c.Statement))
	}
	return t
}
