package reports

import (
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
		p.section("FINDINGS", "what no reading of the specification allows")
	}
	for i := range e.Findings {
		p.explored(&e.Findings[i], o)
	}
	p.coverage(e, o)
	p.leftover(e.Left, "that this run put on the target and could not remove, or of which nobody knows", o)
	p.conclusion(fmt.Sprintf("seed %d, took %s", e.Seed, short(e.Took)), e.decide(o.Exit))
	return p
}

// explored appends one finding and the script that shows it.
func (p *Page) explored(f *Explored, o PageOptions) {
	more := []Field{exact("after", Words(text.Count(f.After, "command"))), exact("whole", Words(f.Run))}
	if f.Script == "" {
		p.finding(&f.Finding, o, append(more, exact("script", Words("none: "+f.Unscripted)))...)
		return
	}
	more = append(more,
		exact("shown", Words(fmt.Sprintf("%d of %s", f.Shown, text.Count(f.Tried, "time")))), exact("script", Words(f.Path)))
	if f.Control.Breach() {
		more = append(more, exact("control",
			Words("the embedded server fails the script too: take this for a fault of fwpcheck, and please report it")))
	}
	p.finding(&f.Finding, o, more...)
	p.add(Code{strings.Split(strings.TrimRight(f.Script, "\n"), "\n")})
}

// coverage appends what was reached: with Verbose all of it.
func (p *Page) coverage(e *Exploration, o PageOptions) {
	if e.Commands == 0 {
		return
	}
	p.section("COVERAGE", "how often each was seen")
	lists := []map[string]int{e.States, e.Transitions}
	if o.Verbose {
		lists = append(lists, e.Outcomes)
	}
	t := Table{Columns: []Column{{Right: true, Width: 8}}}
	for _, list := range lists {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			t.Rows = append(t.Rows, Cells(text.Grouped(list[name]), name))
		}
	}
	if !o.Verbose {
		t.Rows = append(t.Rows, Cells(text.Grouped(len(e.Outcomes)), "different outcomes of a verb in a state; -v lists them"))
	}
	p.add(t)
}
