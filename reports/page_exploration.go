package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// Page returns e for people: each finding with the script that shows it, what was covered, and a last line that says in
// words what the result is.
func (e *Exploration) Page(o PageOptions) Page {
	var p Page
	p.target(e.Target, e.Version)
	p.troubles(e.trouble())
	if len(e.Findings) > 0 {
		p.section("FINDINGS", "replies and states that the specification does not allow")
	}
	for i := range e.Findings {
		p.explored(&e.Findings[i], o)
	}
	p.coverage(e, o)
	p.leftover(e.Left, "of this run that are, or may be, still on the target", o)
	p.conclusion(fmt.Sprintf("seed %d, took %s", e.Seed, short(e.Took)), e.decide(o.Exit))
	return p
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
	p.add(t)
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
	p.section("SITUATIONS", fmt.Sprintf("%d of %d that the specification distinguishes were reached", len(t.Rows), len(all)))
	if o.Verbose {
		p.add(t)
	}
	if len(never) > 0 {
		p.add(Prose{LinesOf("never reached:\n" + strings.Join(never, "\n"))})
	}
}
