package reports

import (
	"cmp"
	"fmt"
	"slices"
)

// Expectations is what a run came to by a file of known findings.
type Expectations struct {
	// File is its name, and Server the name and version of the server that its lines were held against; empty if
	// none of them asks for it or the server does not tell.
	File   string `json:"file"`
	Server string `json:"server,omitempty"`
	// Stale holds the lines that are no longer so. They fail the run.
	Stale []Expectation `json:"stale"`
	// Notes holds the lines that somebody should look at. They fail nothing.
	Notes []Expectation `json:"notes,omitempty"`
}

// at returns the place of a line: "fwpcheck.expect:7".
func (e *Expectations) at(line int) string {
	if e == nil {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("%s:%d", e.File, line)
}

// Expectation is a line of a file of known findings.
type Expectation struct {
	Line int    `json:"line"` // counted from 1
	Text string `json:"text"`
	// Why is what is to be said of it, in one sentence without a full stop.
	Why string `json:"why"`
}

// Known is a finding that is known: a clause, or a check that names none, and the line that lists it.
type Known struct {
	Clause  string  `json:"clause,omitempty"`
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Line    int     `json:"line"`
	// Symptom is the place in the list of symptoms, counted from 0; none for a verdict that has no evidence.
	Symptom *int `json:"symptom,omitempty"`
}

// fresh returns the findings that are not known.
func fresh(all []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return f.Known > 0 })
}

// shownGroups returns the groups of symptoms that a page shows in full: those with what is not known, and with
// Verbose all.
func shownGroups(groups [][]Finding, o PageOptions) [][]Finding {
	if o.Verbose {
		return groups
	}
	var left [][]Finding
	for _, group := range groups {
		if group = fresh(group); len(group) > 0 {
			left = append(left, group)
		}
	}
	return left
}

// known returns what is known, the findings first.
func (r *Report) known(groups [][]Finding) []Known {
	var all []Known
	for i, group := range groups {
		for _, f := range group {
			if f.Known > 0 {
				all = append(all, Known{f.Clause, f.Check, f.Verdict, f.Known, &i})
			}
		}
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		for _, cv := range c.Clauses {
			if cv.Known > 0 {
				all = append(all, Known{cv.ID, c.ID, cv.Verdict, cv.Known, nil})
			}
		}
		if c.Known > 0 {
			all = append(all, Known{"", c.ID, c.Verdict, c.Known, nil})
		}
	}
	for i := range r.Clauses {
		c := &r.Clauses[i]
		if c.Known == 0 || !c.WithoutGoal() {
			continue
		}
		for _, check := range c.Checks {
			all = append(all, Known{c.ID, check, c.Verdict, c.Known, nil})
		}
	}
	slices.SortStableFunc(all, func(a, b Known) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// WithoutGoal reports whether the clause is inconclusive only because what it is about never happened.
func (c *Clause) WithoutGoal() bool { return c.Verdict == Inconclusive && c.Reason == ReasonGoal }

// settled reports whether what is broken or inconclusive of a check that names no clause is known.
func (c *Check) settled(all []Finding) bool {
	known := c.Known > 0
	for i := range all {
		if f := &all[i]; f.Check == c.ID && f.Known == 0 {
			return false
		} else if f.Check == c.ID {
			known = true
		}
	}
	return known
}

// open reports whether the check left something without a result that is not known.
func (c *Check) open() bool {
	for _, cv := range c.Clauses {
		if isOpen(cv.Verdict) && cv.Known == 0 {
			return true
		}
	}
	known := func(cv ClauseVerdict) bool { return cv.Known > 0 }
	return isOpen(c.Verdict) && c.Known == 0 && !slices.ContainsFunc(c.Clauses, known)
}

// settled reports whether what is broken or inconclusive of a clause is known. all are the findings.
func (r *Report) settled(c *Clause, all []Finding) (known bool) {
	for i := range all {
		if f := &all[i]; f.Clause == c.ID && f.Known > 0 {
			known = true
		} else if f.Clause == c.ID {
			return false
		}
	}
	switch {
	case known || !isOpen(c.Verdict):
		return known
	case c.WithoutGoal():
		return c.Known > 0
	}
	for i := range r.Checks {
		for _, cv := range r.Checks[i].Clauses {
			if cv.ID != c.ID || !isOpen(cv.Verdict) {
				continue
			}
			if known = cv.Known > 0; !known {
				return false
			}
		}
	}
	return known
}

// stale returns how many lines are no longer so.
func (r *Report) stale() int {
	if r.Expectations == nil {
		return 0
	}
	return len(r.Expectations.Stale)
}
