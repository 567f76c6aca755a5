package reports

import (
	"fmt"
	"slices"
	"strings"
)

// Count is how often a verdict occurred when each check was run several times.
type Count struct {
	Verdict Verdict `json:"verdict"`
	Times   int     `json:"times"`
}

// CountVerdicts counts the verdicts of several runs, the worst first.
func CountVerdicts(verdicts ...Verdict) []Count {
	var counts []Count
	for _, v := range worstFirst {
		times := 0
		for _, w := range verdicts {
			if v == w {
				times++
			}
		}
		if times > 0 {
			counts = append(counts, Count{v, times})
		}
	}
	return counts
}

// runs is the number of runs that were counted.
func runs(counts []Count) int {
	n := 0
	for _, c := range counts {
		n += c.Times
	}
	return n
}

// steady reports whether all runs of the check had the same verdict.
func (c *Check) steady(counts []Count) bool {
	return len(counts) == 0 || counts[0].Times == runs(c.Runs)
}

// often returns how often each verdict occurred: "fail in 2 of 10, pass in 8 of 10".
func (c *Check) often(counts []Count) string {
	parts := make([]string, len(counts))
	for i, count := range counts {
		parts[i] = fmt.Sprintf("%s in %d of %d", count.Verdict, count.Times, runs(c.Runs))
	}
	return strings.Join(parts, ", ")
}

// seen returns in how many runs a verdict on a clause occurred, or on the check if it has none on the clause: "in 2 of
// 10 runs". It is empty if there was one run only.
func (c *Check) seen(v Verdict, clause string) string {
	counts := c.Runs
	if cv := find(c.Clauses, func(cv *ClauseVerdict) bool { return cv.ID == clause && cv.Runs != nil }); cv != nil {
		counts = cv.Runs
	}
	if count := find(counts, func(c *Count) bool { return c.Verdict == v }); count != nil {
		return fmt.Sprintf("in %d of %d runs", count.Times, runs(c.Runs))
	}
	return ""
}

// unsteady reports what the check brought when it was played again alone; empty if that was the same, or nothing.
func (c *Check) unsteady() string {
	same := func(count Count) bool { return count.Verdict == c.Verdict || !count.Verdict.Decided() }
	if len(c.Alone) == 0 || !slices.ContainsFunc(c.Alone, func(count Count) bool { return !same(count) }) {
		return ""
	}
	if runs(c.Alone) == 1 {
		return "unsteady: when it was played again, alone, the verdict was " + c.Alone[0].Verdict.String()
	}
	var parts []string
	for _, count := range c.Alone {
		parts = append(parts, fmt.Sprintf("%s in %d of %d", count.Verdict, count.Times, runs(c.Alone)))
	}
	return "unsteady: played again, alone: " + strings.Join(parts, ", ")
}

// unstable appends what differs between the runs: the clauses of each check, or the check if it names none.
func (p *Page) unstable(r *Report) {
	var t Table
	row := func(c *Check, clause string, counts []Count) {
		if !c.steady(counts) {
			t.Rows = append(t.Rows, Cells(strings.TrimSpace(c.ID+"  "+clause), c.often(counts)))
		}
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		for _, cv := range c.Clauses {
			row(c, cv.ID, cv.Runs)
		}
		if len(c.Clauses) == 0 {
			row(c, "", c.Runs)
		}
	}
	if len(t.Rows) > 0 {
		p.section("UNSTABLE", "results that differ between the runs; the worst counts")
		p.add(t)
	}
}
