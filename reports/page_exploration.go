package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// Page returns e for people: the findings, one a line; each of them with the script that shows it; what was covered;
// and a last line that says in words what the result is.
func (e *Exploration) Page(o PageOptions) Page {
	var p Page
	p.target(e.Target, e.Version)
	p.troubles(e.trouble())
	p.found(e)
	if len(e.Findings) > 0 {
		p.section("DETAILS", "replies and states that the specification does not allow")
	}
	for i := range e.Findings {
		p.explored(&e.Findings[i], o)
	}
	p.coverage(e, o)
	p.leftover(e.Left, "of this run that are, or may be, still on the target", o)
	p.conclusion(e.facts(), e.decide(o.Exit))
	return p
}

// facts returns the seed, how long the exploration took, and which limit ended it.
func (e *Exploration) facts() string {
	facts := fmt.Sprintf("seed %d, took %s", e.Seed, short(e.Took))
	if e.Limits != "" {
		facts += ", ended by " + e.Limits
	}
	return facts
}

// found appends the findings, one a line, with how often each was reproduced.
func (p *Page) found(e *Exploration) {
	if len(e.Findings) == 0 {
		return
	}
	t := Table{Columns: []Column{{}, {}, {Brief: true}, {Right: true}}}
	for i := range e.Findings {
		f := &e.Findings[i]
		words := cmp.Or(f.Statement, f.Seen, f.Actual)
		if f.Clause == "" {
			words = "(no clause) " + words
		}
		t.Rows = append(t.Rows, Row{Cells: []Text{
			f.Verdict.Text(), Words(f.Clause), Words(text.OneLine(words)), Words(f.times()),
		}})
	}
	p.section("FINDINGS", fmt.Sprintf("%d (%s)", len(e.Findings), listed(e.counts())))
	p.add(t)
}

// times returns how often a finding was reproduced, in few words.
func (f *Explored) times() string {
	if f.Tried == 0 {
		return "not reproduced"
	}
	return fmt.Sprintf("reproduced %d of %d", f.Reproduced, f.Tried)
}

// explored appends one finding and the script that shows it.
func (p *Page) explored(f *Explored, o PageOptions) {
	more := []Field{exact("after", Words(text.Count(f.After, "command"))), exact("run", Words(f.Run))}
	if f.Script == "" {
		more = append(more, exact("script", Words("none: "+f.Unscripted)))
	} else {
		more = append(more,
			exact("reproduced", Words(fmt.Sprintf("%d of %s", f.Reproduced, text.Count(f.Tried, "time")))),
			exact("script", Words(cmp.Or(f.Path, "below; --save FOLDER writes it to a file"))))
	}
	if f.Control.Breach() {
		more = append(more, exact("control",
			Words("the embedded server fails the script too: this may be an error of fwpcheck; please report it")))
	}
	if f.Explained != "" {
		more = append(more, field("reason", "probably that of "+f.Explained+", which is reproduced; so this is a warning"))
	}
	p.findingHead([]Finding{f.Finding})
	p.evidence(&f.Evidence, o, more...)
}

// coverage appends what was reached: with Verbose all of it.
func (p *Page) coverage(e *Exploration, o PageOptions) {
	if e.Commands == 0 {
		return
	}
	p.section("COVERAGE", "how often each state, transition and outcome was reached")
	lists := []map[string]int{e.States, e.Transitions}
	if o.Verbose {
		lists = append(lists, e.Outcomes)
	}
	if e.Limit > 0 {
		p.add(Prose{LinesOf("the target serves no more than " + text.Count(e.Limit, "connection") + " at a time")})
	}
	t := Table{Columns: []Column{{Right: true, Width: 8}}}
	for _, list := range lists {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			t.Rows = append(t.Rows, Cells(text.Grouped(list[name]), name))
		}
	}
	if !o.Verbose {
		t.Rows = append(t.Rows, Cells(text.Grouped(len(e.Outcomes)),
			"different outcomes (command, state and reply); -v lists them"))
	}
	for _, outage := range e.Outages {
		p.add(Prose{LinesOf(outage)})
	}
	p.add(t)
	if o.Figures {
		p.add(e.states())
	}
	p.situations(e.Situations, o)
}

// situations appends how many situations were reached, and which were not: nothing is known of these.
func (p *Page) situations(all map[string]int, o PageOptions) {
	var never []string
	t := Table{Columns: []Column{{Right: true, Width: 8}}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] == 0 {
			never = append(never, name)
		} else {
			t.Rows = append(t.Rows, Cells(text.Grouped(all[name]), name))
		}
	}
	if len(all) == 0 {
		return
	}
	p.section("SITUATIONS", fmt.Sprintf("%d of %d that the specification distinguishes were reached", len(t.Rows),
		len(all)))
	if o.Verbose {
		p.add(t)
	}
	if len(never) > 0 {
		p.add(Prose{LinesOf("never reached:\n" + strings.Join(never, "\n"))})
	}
}
