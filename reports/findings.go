package reports

import (
	"cmp"
	"slices"
	"strings"
)

// Findings returns the evidence of every finding of the run, the worst first (crash, fail, warn) and otherwise in the
// order of the checks. Empty fields that the check or the clause knows (Check, File, Level, Statement, Seen)
// are filled in.
//
// A red verdict without evidence, of a check or of a clause, becomes a finding that has no more than its cause. So a
// run with a red verdict always has a finding.
func (r *Report) Findings() []Finding {
	var all []Finding
	for i := range r.Checks {
		all = append(all, r.FindingsOf(&r.Checks[i])...)
	}
	for _, c := range r.Clauses {
		if c.Verdict.Breach() && !mentions(all, c.ID) {
			all = append(all, r.complete(Finding{Clause: c.ID, Verdict: c.Verdict,
				Evidence: Evidence{Check: strings.Join(c.Checks, ", "), Actual: c.Why}}))
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(a.Verdict.rank()-b.Verdict.rank(), a.gravity()-b.gravity())
	})
	return all
}

// gravity is the rank of a finding among those of its verdict: a connection that the server only closed weighs less
// than a reply that it should not have given.
func (f *Finding) gravity() int {
	if f.Close != "" {
		return 1
	}
	return 0
}

// FindingsOf returns the findings of one check as [Report.Findings] has them, those without evidence last.
func (r *Report) FindingsOf(c *Check) []Finding {
	var found []Finding
	for _, f := range c.Findings {
		found = append(found, r.complete(c.own(f)))
	}
	for _, cv := range c.Clauses {
		if cv.Verdict.Breach() && !mentions(found, cv.ID) {
			bare := Finding{Clause: cv.ID, Level: cv.Level, Verdict: cv.Verdict, Evidence: Evidence{Actual: cv.Why}}
			found = append(found, r.complete(c.own(bare)))
		}
	}
	if c.Verdict.Breach() && len(found) == 0 {
		found = append(found, c.own(Finding{Verdict: c.Verdict, Evidence: Evidence{Actual: c.Why}}))
	}
	return found
}

// own fills in what f leaves to the check that holds it.
func (c *Check) own(f Finding) Finding {
	if f.Check == "" {
		f.Check = c.ID
	}
	if f.File == "" {
		f.File = c.File
	}
	if f.Seen == "" {
		f.Seen = join(c.seen(f.Verdict, f.Clause), c.unsteady())
	}
	return f
}

// complete fills in what the catalogue knows about the clause of f.
func (r *Report) complete(f Finding) Finding {
	for _, c := range r.Clauses {
		if f.Clause == "" || c.ID != f.Clause {
			continue
		}
		if f.Level == "" {
			f.Level = c.Level
		}
		if f.Statement == "" {
			f.Statement = c.Statement
		}
		break
	}
	return f
}

func mentions(found []Finding, clause string) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return f.Clause == clause })
}

// symptoms groups findings that have their place and what was received there in common, in the order of the first of
// each. The first of a group is the worst; each clause is in it once.
func symptoms(all []Finding) [][]Finding {
	type place struct {
		check, file, expected, actual string
		line, col                     int
	}
	groups := grouped(all, func(f *Finding) place {
		return place{f.Check, f.File, f.Expected, f.Actual, f.Line, f.Col}
	})
	for i, group := range groups {
		groups[i] = nil
		for _, f := range group {
			if f.Clause == "" || !mentions(groups[i], f.Clause) {
				groups[i] = append(groups[i], f)
			}
		}
	}
	return groups
}

// broken returns what the groups of symptoms break: the findings of the run, the worst first, without the known ones.
func broken(groups [][]Finding) []Broken {
	type placed struct {
		Finding
		symptom int
	}
	var all []placed
	for i, group := range groups {
		for _, f := range fresh(group) {
			all = append(all, placed{f, i})
		}
	}
	var found []Broken
	for _, same := range grouped(all, func(f *placed) string { return cmp.Or(f.Clause, "check "+f.Check) }) {
		b := Broken{Clause: same[0].Clause, Level: same[0].Level, Statement: same[0].Statement, Verdict: same[0].Verdict}
		for _, f := range same {
			b.Verdict = Worst(b.Verdict, f.Verdict)
			b.Checks, b.Symptoms = added(b.Checks, f.Check), added(b.Symptoms, f.symptom)
		}
		found = append(found, b)
	}
	slices.SortStableFunc(found, func(a, b Broken) int { return a.Verdict.rank() - b.Verdict.rank() })
	return found
}

// grouped puts the values with the same key together, in the order of the first of each.
func grouped[T any, K comparable](all []T, key func(*T) K) [][]T {
	var groups [][]T
	at := map[K]int{}
	for i := range all {
		k := key(&all[i])
		if _, known := at[k]; !known {
			at[k], groups = len(groups), append(groups, nil)
		}
		groups[at[k]] = append(groups[at[k]], all[i])
	}
	return groups
}

// added returns a list with a value in it.
func added[T comparable](list []T, value T) []T {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}
