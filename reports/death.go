package reports

import "cmp"

// symptomFinding is a finding, and the symptom that it is of.
type symptomFinding struct {
	Finding
	symptomIndex int
}

// deathLimit is how many clauses crashes for one reason may be about. What shows under more of them is about none.
const deathLimit = 3

// deaths are the clauses of crashes, by what ended the server.
type deaths map[string][]string

// commonKey is what the findings that count as one have in common.
type commonKey struct {
	name string // a clause, what ended the server, or a check
	step int
}

func deathsOf(all []symptomFinding) deaths {
	d := deaths{}
	for _, f := range all {
		if f.Death != "" && f.Clause != "" {
			d[f.Death] = addUnique(d[f.Death], f.Clause)
		}
	}
	return d
}

// keyOf returns what a finding has in common with those that count as one with it.
func (d deaths) keyOf(f *symptomFinding) commonKey {
	switch clauses := d[f.Death]; {
	case len(clauses) > deathLimit:
		return commonKey{f.Death, f.Step}
	case f.Clause == "" && len(clauses) > 0:
		return commonKey{clauses[0], f.Step}
	}
	return commonKey{cmp.Or(f.Clause, f.Death, "check "+f.Check), f.Step}
}
