package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// open appends what is inconclusive, not run or skipped: a cause, how to remove it, and the clauses that it kept from a
// result; with Verbose also the checks, and the conversations of the inconclusive ones.
func (p *Page) open(r *Report, o PageOptions) {
	groups := r.openGroups()
	if len(groups) == 0 {
		return
	}
	p.section("NOT EVALUATED", "what is inconclusive, not run or skipped, and why")
	for _, g := range groups {
		why, lines := g.words(), []Text{}
		if !o.Verbose {
			why = abridged(why) // what was received may be a whole job
			lines = append(g.brief(r), g.example()...)
		}
		if g.provide != "" {
			lines = append(lines, Text{{"to evaluate it: ", Plain}, {g.provide, Plain}})
		}
		p.add(Heading{3, append(g.verdict.Text(), Span{": ", Plain}, Span{why, Plain})}, Prose{lines})
		if o.Verbose {
			p.rows(r, g)
		}
	}
}

// brief returns the clauses that have no other result than that of the group; and the checks, if they are inconclusive
// or there are no clauses.
func (g *group) brief(r *Report) []Text {
	var clauses, checks []string
	for _, row := range g.rows {
		for _, id := range row.clauses {
			c := find(r.Clauses, func(c *Clause) bool { return c.ID == id })
			if c == nil || c.Verdict == g.verdict {
				clauses = added(clauses, id)
			}
		}
		if row.check != "" && (len(row.clauses) == 0 || isOpen(g.verdict)) {
			checks = added(checks, row.check+attempts(row.attempts))
		}
	}
	slices.Sort(clauses)
	return wordsOf(slices.DeleteFunc([]string{strings.Join(clauses, ", "), strings.Join(checks, ", ")},
		func(s string) bool { return s == "" }))
}

// example returns the first of several causes, with its check.
func (g *group) example() []Text {
	if !g.varies() {
		return nil
	}
	first := g.rows[0]
	return []Text{Words("for example " + cmp.Or(first.check, strings.Join(first.clauses, ", ")) + ": " +
		abridged(first.why))}
}

// rows appends the checks of a group with their clauses, their causes if these differ, and what was said on the
// inconclusive ones.
func (p *Page) rows(r *Report, g group) {
	t := Table{Wrap: true}
	for _, row := range g.rows {
		words := strings.Join(row.clauses, ", ") + attempts(row.attempts)
		if g.varies() {
			words = strings.TrimPrefix(words+": "+row.why, ": ")
		}
		t.Rows = append(t.Rows, Cells(row.check, words))
	}
	p.add(t)
	for _, row := range g.rows {
		c := find(r.Checks, func(c *Check) bool { return c.ID == row.check && g.verdict == Inconclusive })
		if c != nil && len(c.Findings) == 0 && len(c.Conversation) > 0 {
			p.add(Heading{3, Words(c.ID)}, transcript(&Evidence{}, c.Conversation, PageOptions{Verbose: true}))
		}
	}
}

func defaultWhy(v Verdict) string {
	switch v {
	case Inconclusive:
		return "no cause was given"
	case NotRun:
		return "the run ended before its turn"
	default:
		return "the target lacks what the check needs"
	}
}

// observations appends what the specification leaves open and this server, or program, does: with Verbose a line for
// each, which has the question and the answer, else the number of clauses.
func (p *Page) observations(r *Report, clauses int, o PageOptions) {
	all := r.remarks()
	switch {
	case len(all) == 0:
	case !o.Verbose:
		p.section("OBSERVED", fmt.Sprintf("in %s the choice is the %s's; -v lists what this one does",
			text.Count(max(clauses, 1), "clause"), r.Target.role()))
	default:
		p.section("OBSERVED", "where the choice is the "+r.Target.role()+"'s, and what this one does; never a finding")
		t := Table{Wrap: true}
		for _, m := range all {
			words := strings.TrimSuffix(cmp.Or(m.asks, m.check), ".") + ": " + cmp.Or(m.what, "it does")
			t.Rows = append(t.Rows, Cells(m.clause, words+" ["+m.check+"]"))
		}
		p.add(t)
	}
}
