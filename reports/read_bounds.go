package reports

import "fmt"

// A saved report that is larger than these takes more memory and time than a run that could have made it.
const (
	mostValues  = 1_000_000 // of all kinds
	mostObjects = 100_000
	mostOfAKind = 10_000 // checks, symptoms, known findings
	mostClauses = 1_000  // of the catalogue, of a check, of a symptom
	mostResults = 20_000 // clauses of all checks and symptoms
)

// bounded returns an error for JSON with too many values, without building them.
func bounded(data []byte) error {
	values, objects := 1, 0
	inString, escaped := false, false
	for _, b := range data {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = b == '\\', b != '"'
		case b == '"':
			inString = true
		case b == '{':
			objects++
			values++
		case b == '[', b == ',':
			values++
		}
	}
	if values > mostValues || objects > mostObjects {
		return fmt.Errorf("%d values, %d of them objects; a report has at most %d and %d", values, objects, mostValues,
			mostObjects)
	}
	return nil
}

// bounded returns an error for a report with too many results.
func (r *Report) bounded() error {
	clauses, results := len(r.Clauses), 0
	count := func(n int) { clauses, results = max(clauses, n), results+n }
	for i := range r.Checks {
		count(len(r.Checks[i].Clauses))
	}
	for i := range r.Symptoms {
		count(len(r.Symptoms[i].Clauses))
	}
	for _, of := range []struct {
		what    string
		n, most int
	}{
		{"checks", len(r.Checks), mostOfAKind}, {"symptoms", len(r.Symptoms), mostOfAKind},
		{"known findings", len(r.Known), mostOfAKind}, {"clauses of one kind", clauses, mostClauses},
		{"clauses of checks and symptoms", results, mostResults},
	} {
		if of.n > of.most {
			return fmt.Errorf("%d %s; a report has at most %d", of.n, of.what, of.most)
		}
	}
	return nil
}
