package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/proof/selftest"
)

// clause says which checks and rules decide a clause, and which bugs break it.
func (p *proof) clause(b brought, c conformance.Clause) {
	by, bugs := p.deciders(b, c)
	switch why := c.Excluded + c.Unwatched; {
	case why != "":
	case len(by) == 0:
		p.miss("%s: nothing decides it: write a check (docs/adding-a-check.md), or give the reason in its row (excluded:, "+
			"unwatched:)", c.ID)
	case len(bugs) == 0 && !c.Recorded && c.Breach().Breach():
		p.miss("%s: no planted bug breaks it: add a row to the catalogue of planted bugs", c.ID)
	}
	p.tell("%s: decided by %s; broken by %s", c.ID, few(by), few(bugs))
}

// deciders returns the checks and rules that decide a clause, and the bugs that break it.
func (p *proof) deciders(b brought, c conformance.Clause) (by, bugs []string) {
	for _, other := range p.change {
		if other.on.Peer.Name != b.on.Peer.Name {
			continue
		}
		for _, check := range slices.Concat(other.checks, other.extra) {
			if slices.Contains(selftest.Clauses(check), c.ID) {
				by = append(by, check.Describe().ID)
			}
		}
		for _, f := range other.bugs {
			if slices.Contains(f.Clauses, c.ID) {
				bugs = append(bugs, f.Name)
			}
		}
	}
	of := b.on.Peer
	for _, rule := range slices.Sorted(maps.Keys(of.Law.Rules)) {
		if slices.Contains(strings.Fields(of.Law.Rules[rule].Clauses), strings.TrimPrefix(c.ID, of.Prefix)) {
			by = append(by, "law/"+rule)
		}
	}
	if of.ClientBreaches != nil {
		by = append(by, of.ClientBreaches(c.ID)...)
	}
	return set(by), set(bugs)
}

// mostNamed is how many names a line has.
const mostNamed = 8

// few returns names as a list, the first ones of many.
func few(names []string) string {
	switch n := len(names); {
	case n == 0:
		return "nothing"
	case n > mostNamed:
		return strings.Join(names[:mostNamed], ", ") + " ..."
	}
	return strings.Join(names, ", ")
}
