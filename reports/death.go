package reports

import "cmp"

// placed is a finding, and the symptom that it is of.
type placed struct {
	Finding
	symptom int
}

// mostOfDeath is how many clauses crashes for one reason may be about. What shows under more of them is about none.
const mostOfDeath = 3

// deaths are the clauses of crashes, by what ended the server.
type deaths map[string][]string

// common is what the findings that count as one have in common.
type common struct {
	of   string // a clause, what ended the server, or a check
	step int
}

func deathsOf(all []placed) deaths {
	d := deaths{}
	for _, f := range all {
		if f.Death != "" && f.Clause != "" {
			d[f.Death] = added(d[f.Death], f.Clause)
		}
	}
	return d
}

// common returns what a finding has in common with those that count as one with it.
func (d deaths) common(f *placed) common {
	switch named := d[f.Death]; {
	case len(named) > mostOfDeath:
		return common{f.Death, f.Step}
	case f.Clause == "" && len(named) > 0:
		return common{named[0], f.Step}
	}
	return common{cmp.Or(f.Clause, f.Death, "check "+f.Check), f.Step}
}
