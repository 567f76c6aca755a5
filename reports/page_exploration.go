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
		p.finding(&f.Finding, o, append(more, exact("script", Words("none: "+f.Unscripted)))...)
		return
	}
	more = append(more,
		exact("reproduced", Words(fmt.Sprintf("%d of %s", f.Reproduced, text.Count(f.Tried,
			"time")))), exact("script", Words(f.Path)))
	if f.Control.Breach() {
		more = append(more, exact("control",
			Words("the embedded server fails the script too: this may be an error of fwpcheck; please report it")))
	}
	p.finding(&f.Finding, o, more...)
	p.add(Code{strings.Split(strings.TrimRight(f.Script, "\n"), "\n")})
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
}
