package reports

import (
	"cmp"
	"slices"
	"strings"
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
	why      string
	check    string
	clauses  []string
	attempts int
}

// causeOf returns the cause of an open result.
func causeOf(v Verdict, why string, code ReasonCode, provide string) cause {
	if code.Words() == "" { // of a need, whose words are always the same
		return cause{v, why, provide}
	}
	return cause{v, string(code), provide}
}

// varies reports whether the results of the group have causes with the same code and other words.
func (g *group) varies() bool {
	return slices.ContainsFunc(g.rows, func(row openRow) bool { return row.why != g.rows[0].why })
}

// words returns what the results of the group have in common.
func (g *group) words() string {
	if g.varies() {
		return ReasonCode(g.reason).Words()
	}
	return cmp.Or(g.rows[0].why, defaultWhy(g.verdict))
}

// openGroups returns what is inconclusive, not run or skipped, in this order, grouped by cause.
func (r *Report) openGroups() []group {
	var g grouping
	for i := range r.Checks {
		g.addCheck(&r.Checks[i])
	}
	for _, c := range r.Clauses {
		if g.mentions(c) || !wanting(c.Verdict) || c.Verdict == NotRun && len(c.Checks) == 0 {
			continue
		}
		g.add(causeOf(c.Verdict, c.Why, c.Reason, c.Provide), openRow{why: c.Why, clauses: []string{c.ID}})
	}
	slices.SortStableFunc(g.groups, func(a, b group) int { return a.verdict.rank() - b.verdict.rank() })
	return g.groups
}

// wanting reports whether v is inconclusive, not run or skipped.
func wanting(v Verdict) bool { return isOpen(v) || v == Skipped }

type grouping struct {
	groups  []group
	checks  []string
	clauses []string
}

func (g *grouping) addCheck(c *Check) {
	known := len(g.checks)
	for _, cv := range c.Clauses {
		if !wanting(cv.Verdict) {
			continue
		}
		if g.checks, g.clauses = append(g.checks, c.ID), append(g.clauses, cv.ID); cv.Known > 0 {
			continue // the known findings have it
		}
		g.add(causeOf(cv.Verdict, cv.Why, cv.Reason, cv.Provide), openRow{cv.Why, c.ID, []string{cv.ID}, c.Attempts})
	}
	if wanting(c.Verdict) && len(g.checks) == known && c.Known == 0 {
		g.checks = append(g.checks, c.ID)
		g.add(causeOf(c.Verdict, c.Why, c.Reason, c.Provide), openRow{why: c.Why, check: c.ID, attempts: c.Attempts})
	}
}

// add puts row into the group of its cause, and into the row of its check if that is the last one there.
func (g *grouping) add(why cause, row openRow) {
	at := slices.IndexFunc(g.groups, func(have group) bool { return have.cause == why })
	if at < 0 {
		g.groups = append(g.groups, group{cause: why, rows: []openRow{row}})
		return
	}
	in := &g.groups[at]
	if last := &in.rows[len(in.rows)-1]; last.check == row.check && last.why == row.why {
		last.clauses = append(last.clauses, row.clauses...)
		return
	}
	in.rows = append(in.rows, row)
}

// mentions reports whether the clause, or a check that evaluates it, is listed already.
func (g *grouping) mentions(c Clause) bool {
	return slices.Contains(g.clauses, c.ID) ||
		slices.ContainsFunc(c.Checks, func(id string) bool { return slices.Contains(g.checks, id) })
}

// remark is an observation: a question that a check asks, and the answer.
type remark struct{ clause, asks, what, check string }

// remarks returns the observations of all checks, in the order of the checks.
func (r *Report) remarks() []remark {
	var all []remark
	for _, c := range r.Checks {
		for _, cv := range c.Clauses {
			if cv.Verdict == Observed {
				all = append(all, remark{cv.ID, c.Title, cv.Why, c.ID})
			}
		}
		if c.Verdict == Observed && len(c.Clauses) == 0 {
			all = append(all, remark{"", c.Title, c.Why, c.ID})
		}
	}
	for _, c := range r.Clauses {
		if c.Verdict == Observed && !slices.ContainsFunc(all, func(m remark) bool { return m.clause == c.ID }) {
			all = append(all, remark{c.ID, c.Statement, c.Why, strings.Join(c.Checks, ", ")})
		}
	}
	return all
}
