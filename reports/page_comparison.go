package reports

import (
	"fmt"

	"github.com/fwpsuite/fwp/internal/text"
)

// Page returns c for people: each kind of difference with the conversation that shows it, and a last line that says in
// words what the result is.
func (c *Comparison) Page(o PageOptions) Page {
	var p Page
	p.targetAs("A", c.A, c.Version)
	p.targetAs("B", c.B, "")
	p.troubles(c.trouble())
	if len(c.Differences) > 0 {
		p.section("DIFFERENCES", "replies to the same commands that differ between A, the first server, and B, the second")
	}
	for i := range c.Differences {
		p.difference(&c.Differences[i])
	}
	if len(c.Limits) == 2 {
		p.section("LIMITS OF CONNECTIONS", "each is allowed; from then on fewer were used, so that no reply differs because "+
			"of them")
		p.add(Fields{Fields: []Field{field("A", limitWords(c.Limits[0])), field("B", limitWords(c.Limits[1]))}})
	}
	p.leftover(c.Left, "of this run that are, or may be, still on A or B", o)
	p.conclusion(fmt.Sprintf("seed %d, took %s", c.Seed, short(c.Took)), c.decide(o.Exit))
	return p
}

// limitWords says how many connections a server serves at a time.
func limitWords(n int) string {
	if n == 0 {
		return "no limit was met"
	}
	return text.Count(n, "connection") + " at a time"
}

// style returns the style of a mark.
func (m Mark) style() Style {
	switch m {
	case BDeparts:
		return Bad
	case BothAllowed:
		return Plain
	}
	return Caution
}

// difference appends one kind of difference.
func (p *Page) difference(d *Difference) {
	title := string(d.Mark)
	if d.Command != "" {
		title += ": " + d.Command
	}
	if d.Field != "" {
		title += ", " + d.Field
	}
	p.add(Heading{2, Styled(d.Mark.style(), title)})
	seen := text.Count(d.Count, "time") + "; not played again"
	if d.Tried > 0 {
		seen = fmt.Sprintf("%s; reproduced %d of %d", text.Count(d.Count, "time"), d.Reproduced, d.Tried)
	}
	clause := d.Clause
	if d.Mark != BothAllowed { // the sides name what they break, which may be another one
		clause = ""
	}
	p.add(Fields{Fields: []Field{
		field("clause", clause), field("A", d.A.line()), field("B", d.B.line()), field("seen", seen),
	}})
	var lines []string
	for _, e := range d.Conversation {
		lines = append(lines, e.lines()...)
	}
	p.add(Code{lines})
}

// line returns one side of a difference: the reply, and what it breaks.
func (s DifferenceSide) line() string {
	if s.Clause == "" {
		return s.Reply
	}
	return fmt.Sprintf("%s, which breaks %s: expected %s", s.Reply, s.Clause, s.Expected)
}

// lines returns a step and its replies: one line for both servers where they are the same.
func (e Exchange) lines() []string {
	switch {
	case e.A+e.B == "":
		return []string{e.Step}
	case e.A == e.B:
		return []string{e.Step, "  A, B: " + e.A}
	}
	return []string{e.Step, "  A: " + e.A, "  B: " + e.B}
}
