package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/proof/selftest"
)

// clause says which checks and rules decide a clause, and which bugs break it.
func (p *proof) clause(b changePart, c conformance.Clause) {
	checks, bugs := p.deciders(b, c)
	switch reason := c.ExclusionReason + c.UnwatchedReason; {
	case reason != "":
	case len(checks) == 0:
		p.miss("%s: nothing decides it: write a check (docs/adding-a-check.md), or give the reason in its row (excluded:, "+
			"unwatched:)", c.ID)
	case len(bugs) == 0 && !c.Recorded && c.BreachVerdict().IsBreach():
		p.miss("%s: no planted bug breaks it: add a row to the catalogue of planted bugs", c.ID)
	}
	p.tell("%s: decided by %s; broken by %s", c.ID, shortList(checks), shortList(bugs))
}

// deciders returns the checks and rules that decide a clause, and the bugs that break it.
func (p *proof) deciders(b changePart, c conformance.Clause) (checks, bugs []string) {
	for _, other := range p.change {
		if other.fixture.Entry.Name != b.fixture.Entry.Name {
			continue
		}
		for _, check := range slices.Concat(other.checks, other.extra) {
			if slices.Contains(selftest.Clauses(check), c.ID) {
				checks = append(checks, check.Describe().ID)
			}
		}
		for _, f := range other.bugs {
			if slices.Contains(f.Clauses, c.ID) {
				bugs = append(bugs, f.Name)
			}
		}
	}
	entry := b.fixture.Entry
	for _, rule := range slices.Sorted(maps.Keys(entry.Law.Rules)) {
		if slices.Contains(strings.Fields(entry.Law.Rules[rule].Clauses), strings.TrimPrefix(c.ID, entry.Prefix)) {
			checks = append(checks, "law/"+rule)
		}
	}
	if entry.ClientBreaches != nil {
		checks = append(checks, entry.ClientBreaches(c.ID)...)
	}
	return set(checks), set(bugs)
}

// nameLimit is how many names a line has.
const nameLimit = 8

// shortList returns names as a list, the first ones of many.
func shortList(names []string) string {
	switch n := len(names); {
	case n == 0:
		return "nothing"
	case n > nameLimit:
		return strings.Join(names[:nameLimit], ", ") + " ..."
	}
	return strings.Join(names, ", ")
}
