package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// cause is what a group of open results has in common.
type cause struct {
	verdict Verdict // Inconclusive, NotRun or Skipped
	reason  string  // its code; the words of a result without one
	provide string
}

// group lists the checks that have no result for the same cause.
type group struct {
	cause
	rows []openRow
}

// openRow is a check with its clauses without a result; either may be empty.
type openRow struct {
	cause    string
	check    string
	clauses  []string
	attempts int
}

// varies reports whether the results of the group have causes with the same code and other words.
func (g *group) varies() bool {
	return slices.ContainsFunc(g.rows, func(row openRow) bool { return row.cause != g.rows[0].cause })
}

// words returns what the results of the group have in common.
func (g *group) words() string {
	if g.varies() {
		return ReasonCode(g.reason).Words()
	}
	return cmp.Or(g.rows[0].cause, defaultWhy(g.verdict))
}

// openGroups returns what is inconclusive, not run or skipped, in this order, grouped by cause. What is known is left
// out: the known findings have it.
func (r *Report) openGroups() []group {
	var g []group
	ids := map[string]bool{} // the checks and the clauses of checks
	for i := range r.Checks {
		c := &r.Checks[i]
		for _, cv := range c.Clauses {
			if isUnfinished(cv.Verdict) {
				ids[c.ID], ids[cv.ID] = true, true
				g = withOpen(g, cv, openRow{check: c.ID, clauses: []string{cv.ID}, attempts: c.Attempts})
			}
		}
		if verdict := c.clauseVerdict(); isUnfinished(c.Verdict) && !ids[c.ID] {
			ids[c.ID] = c.KnownLine == 0
			g = withOpen(g, verdict, openRow{check: c.ID, attempts: c.Attempts})
		}
	}
	for _, c := range r.Clauses {
		isMentioned := ids[c.ID] || slices.ContainsFunc(c.Checks, func(id string) bool { return ids[id] })
		if !isMentioned && isUnfinished(c.Verdict) && (c.Verdict != NotRun || len(c.Checks) > 0) {
			cv := ClauseVerdict{Verdict: c.Verdict, Cause: c.Cause, Reason: c.Reason, Provide: c.Provide}
			g = withOpen(g, cv, openRow{clauses: []string{c.ID}})
		}
	}
	slices.SortStableFunc(g, func(a, b group) int { return a.verdict.rank() - b.verdict.rank() })
	return g
}

// isUnfinished reports whether v is inconclusive, not run or skipped.
func isUnfinished(v Verdict) bool { return isOpen(v) || v == Skipped }

// withOpen puts a result into the group of its cause, and into the row of its check if that is the last one there;
// unless it is known.
func withOpen(g []group, cv ClauseVerdict, row openRow) []group {
	if cv.KnownLine > 0 {
		return g
	}
	row.cause = cv.Cause
	key := cause{cv.Verdict, string(cv.Reason), cv.Provide}
	if cv.Reason.Words() == "" { // of a need, whose words are always the same
		key.reason = cv.Cause
	}
	in := Find(g, func(have *group) bool { return have.cause == key })
	if in == nil {
		return append(g, group{cause: key, rows: []openRow{row}})
	}
	if last := &in.rows[len(in.rows)-1]; last.check == row.check && last.cause == row.cause {
		last.clauses = append(last.clauses, row.clauses...)
	} else {
		in.rows = append(in.rows, row)
	}
	return g
}

// observedAnswer is an observation: a question that a check asks, and the answer.
type observedAnswer struct{ clause, asks, answer, check string }

// observedAnswers returns the observations of all checks, in the order of the checks.
func (r *Report) observedAnswers() []observedAnswer {
	var all []observedAnswer
	for _, c := range r.Checks {
		for _, cv := range c.verdicts() {
			if cv.Verdict == Observed {
				all = append(all, observedAnswer{cv.ID, c.Title, cv.Cause, c.ID})
			}
		}
	}
	for _, c := range r.Clauses {
		if c.Verdict == Observed && !slices.ContainsFunc(all, func(m observedAnswer) bool { return m.clause == c.ID }) {
			all = append(all, observedAnswer{c.ID, c.Statement, c.Cause, strings.Join(c.Checks, ", ")})
		}
	}
	return all
}

// openResults appends what is inconclusive, not run or skipped: a cause, how to remove it, and the clauses that it kept
// from a result; with Verbose also the checks, and the conversations of the inconclusive ones.
func (p *Page) openResults(r *Report, o PageOptions) {
	groups := r.openGroups()
	if len(groups) == 0 {
		return
	}
	p.Section("NOT EVALUATED", "inconclusive, not run or skipped, with the reason")
	for _, g := range groups {
		title, lines := g.words(), []Text{}
		if g.reason == string(ReasonUnsteady) && !o.Verbose { // a line each: there may be many
			words := append(g.verdict.Text(), Span{Text: ": "}, Span{Text: ReasonUnsteady.Words()})
			p.Add(Heading{Level: 3, Text: words}, g.table())
			continue
		}
		if !o.Verbose {
			title = abridge(title) // what was received may be a whole job
			lines = append(g.briefLines(r), g.example()...)
		}
		if advice := cmp.Or(g.provide, adviceOf[ReasonCode(g.reason)]); advice != "" {
			lines = append(lines, Text{{Text: "to evaluate it: "}, {Text: advice}})
		}
		p.Add(Heading{Level: 3, Text: append(g.verdict.Text(), Span{Text: ": "}, Span{Text: title})}, Prose{lines})
		if o.Verbose {
			p.rows(r, g)
		}
	}
}

// briefLines returns the clauses that have no other result than that of the group; and the checks, if they are
// inconclusive or there are no clauses.
func (g *group) briefLines(r *Report) []Text {
	var clauses, checks []string
	for _, row := range g.rows {
		for _, id := range row.clauses {
			if c := r.clauseByID(id); c == nil || c.Verdict == g.verdict {
				clauses = addUnique(clauses, id)
			}
		}
		if row.check != "" && (len(row.clauses) == 0 || isOpen(g.verdict)) {
			checks = addUnique(checks, row.check+attempts(row.attempts))
		}
	}
	slices.Sort(clauses)
	if len(clauses)+len(checks) > openNameLimit {
		return LinesOf(JoinWith(", ", wordsIf(len(clauses), text.Count(len(clauses), "clause")),
			wordsIf(len(checks), text.Count(len(checks), "check"))) + "; -v lists them")
	}
	return LinesOf(JoinWith("\n", strings.Join(clauses, ", "), strings.Join(checks, ", ")))
}

// openNameLimit is how many clauses and checks without a result for one cause are named, where not all is shown.
const openNameLimit = 10

// example returns the first of several causes, with its check.
func (g *group) example() []Text {
	if !g.varies() {
		return nil
	}
	first := g.rows[0]
	name := cmp.Or(first.check, strings.Join(first.clauses, ", "))
	return []Text{PlainText("for example " + name + ": " + abridge(first.cause))}
}

// rows appends the checks of a group with their clauses, their causes if these differ, and what was said on the
// inconclusive ones.
func (p *Page) rows(r *Report, g group) {
	p.Add(g.table())
	for _, row := range g.rows {
		c := r.checkByID(row.check)
		if g.verdict == Inconclusive && len(c.Findings) == 0 && len(c.Conversation) > 0 {
			p.Add(Heading{Level: 3, Text: PlainText(c.ID)}, transcript(&Evidence{}, c.Conversation, PageOptions{Verbose: true}))
		}
	}
}

// table returns a row for each check of a group: its clauses, and its cause if they differ.
func (g *group) table() Table {
	t := Table{Wrap: true}
	for _, row := range g.rows {
		words := strings.Join(row.clauses, ", ") + attempts(row.attempts)
		switch unconfirmed, ok := strings.CutPrefix(row.cause, ReasonUnsteady.Words()+": "); {
		case ok:
			words += ": " + abridge(unconfirmed)
		case g.varies():
			words = strings.TrimPrefix(words+": "+row.cause, ": ")
		}
		t.Rows = append(t.Rows, Cells(row.check, words))
	}
	return t
}

// defaultWhy is the cause of a verdict without a result that has none; empty for the others.
func defaultWhy(v Verdict) string {
	return map[Verdict]string{
		Inconclusive: "no reason was given", NotRun: "the run ended before its turn",
		Skipped: "the target lacks something that the check needs",
	}[v]
}

// observations appends what the specification leaves open and this server, or program, does: with Verbose a line for
// each, which has the question and the answer, else the number of clauses.
func (p *Page) observations(r *Report, clauses int, o PageOptions) {
	t := Table{Wrap: true}
	for _, m := range r.observedAnswers() {
		words := strings.TrimSuffix(cmp.Or(m.asks, m.check), ".") + ": " + cmp.Or(m.answer, "it does")
		t.Rows = append(t.Rows, Cells(m.clause, words+" ["+m.check+"]"))
	}
	switch {
	case o.Verbose:
		p.TableSection("OBSERVED", "behaviour that the "+r.Target.role()+" may choose; never a finding",
			t)
	case len(t.Rows) > 0:
		p.Section("OBSERVED", fmt.Sprintf("%s of behaviour that the %s may choose; -v lists them",
			text.Count(max(clauses, 1), "clause"), r.Target.role()))
	}
}
