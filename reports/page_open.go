package reports

import "strings"

// open appends what is inconclusive, not run or skipped: a cause, how to remove it, and the checks that it kept from
// a result, with their clauses.
func (p *Page) open(r *Report) {
	groups := r.openGroups()
	if len(groups) == 0 {
		return
	}
	p.section("NOT EVALUATED", "what is inconclusive, not run or skipped, and why")
	for _, g := range groups {
		why := g.why
		if why == "" {
			why = defaultWhy(g.verdict)
		}
		p.add(Heading{2, append(g.verdict.Text(), Span{": ", Plain}, Span{why, Plain})})
		if g.provide != "" {
			p.add(Prose{[]Text{{{"to evaluate it: ", Plain}, {g.provide, Plain}}}})
		}
		t := Table{Wrap: true}
		for _, row := range g.rows {
			t.Rows = append(t.Rows, Cells(row.check, strings.Join(row.clauses, ", ")+attempts(row.attempts)))
		}
		p.add(t)
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

// evidence appends what the inconclusive checks and the observations are based on.
func (p *Page) evidence(r *Report, o PageOptions) {
	var full []Finding
	for i := range r.Checks {
		full = append(full, r.backing(&r.Checks[i])...)
	}
	if len(full) == 0 {
		return
	}
	p.section("EVIDENCE", "for the inconclusive checks and the observations above")
	for i := range full {
		p.finding(&full[i], o)
	}
}

// backing returns what c keeps as evidence without being a breach.
func (r *Report) backing(c *Check) []Finding {
	var full []Finding
	for _, f := range c.Findings {
		if !f.Verdict.Breach() {
			full = append(full, r.complete(c.own(f)))
		}
	}
	if len(c.Findings) == 0 && isOpen(c.Verdict) && len(c.Conversation) > 0 {
		var ids []string
		for _, cv := range c.Clauses {
			if isOpen(cv.Verdict) {
				ids = append(ids, cv.ID)
			}
		}
		full = append(full, c.own(Finding{Clause: strings.Join(ids, ", "), Verdict: c.Verdict, Actual: c.Why}))
	}
	return full
}

// observations appends the readings and optional things that were observed, one a line.
func (p *Page) observations(r *Report) {
	t := Table{Wrap: true}
	for _, m := range r.remarks() {
		what := m.what
		if what == "" {
			what = "observed"
		}
		t.Rows = append(t.Rows, Cells(m.clause, what+" ["+strings.Join(m.checks, ", ")+"]"))
	}
	if len(t.Rows) > 0 {
		p.section("OBSERVED", "implementation-defined behaviour; never a failure")
		p.add(t)
	}
}
