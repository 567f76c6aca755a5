package reports

import "cmp"

// placed is a finding, and the symptom that it is of.
type placed struct {
	Finding
	symptom int
}

// mostOfDeath is how many clauses the end of a server may be about.
const mostOfDeath = 3

// deaths are the clauses of crashes, by what ended the server.
type deaths map[string][]string

func deathsOf(all []placed) deaths {
	d := deaths{}
	for _, f := range all {
		if f.Death != "" && f.Clause != "" {
			d[f.Death] = added(d[f.Death], f.Clause)
		}
	}
	return d
}

// key returns what the findings that count as one have in common.
func (d deaths) key(f *placed) (key struct {
	of   string
	step int
}) {
	named := d[f.Death]
	switch key.step = f.Step; {
	case len(named) > mostOfDeath:
		key.of = f.Death
	case f.Clause == "" && len(named) > 0:
		key.of = named[0]
	default:
		key.of = cmp.Or(f.Clause, f.Death, "check "+f.Check)
	}
	return key
}
