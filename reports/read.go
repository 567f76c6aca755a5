package reports

import (
	"encoding/json"
	"fmt"
)

// ReadJSON reads a report that [Report.WriteJSON] has written: its pages, its outcome and its JSON are those of the
// report that was written, but for what follows from other options. What was hidden stays hidden. The error says why it
// is none.
func ReadJSON(data []byte) (*Report, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := CheckBounds(data); err != nil {
		return nil, fmt.Errorf("not a report of fwpcheck: %w", err)
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("not a report in JSON: %w", err)
	}
	if head.Schema != Schema {
		return nil, fmt.Errorf("its schema is %q; this version reads %q", head.Schema, Schema)
	}
	r := new(Report)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("read the report: %w", err)
	}
	if err := r.checkBounds(); err != nil {
		return nil, fmt.Errorf("not a report of fwpcheck: %w", err)
	}
	for i, s := range r.Symptoms {
		r.restore(i, s)
	}
	r.RunFindings, r.Symptoms, r.KnownFindings, r.Counts = nil, nil, nil, Counts{}
	return r, nil
}

// restore gives a symptom back to its check, as a finding for each of its clauses.
func (r *Report) restore(place int, s Symptom) {
	c := r.checkByID(s.Check) // empty for a clause without evidence
	if len(s.Clauses) == 0 {
		s.Clauses = []string{""}
	}
	for _, id := range s.Clauses {
		f := Finding{Clause: id, Verdict: s.Verdict, Evidence: s.Evidence}
		if cv := Find(c.Clauses, func(cv *ClauseVerdict) bool { return cv.ID == id }); cv != nil && cv.Verdict.IsBreach() {
			f.Level, f.Verdict = cv.Level, cv.Verdict
		}
		f.KnownLine = 0
		match := func(k *KnownFinding) bool { return k.SymptomIndex != nil && *k.SymptomIndex == place && k.Clause == id }
		if k := Find(r.KnownFindings, match); k != nil {
			f.KnownLine = k.Line
		}
		c.Findings = append(c.Findings, r.fillClause(f))
	}
}

// A saved report that is larger than these takes more memory and time than a run that could have made it.
const (
	valueLimit  = 1_000_000 // of all kinds
	objectLimit = 100_000
	kindLimit   = 10_000 // checks, symptoms, known findings
	clauseLimit = 1_000  // of the catalogue, of a check, of a symptom
	resultLimit = 20_000 // clauses of all checks and symptoms
)

// CheckBounds returns an error for JSON with too many values, without building them.
func CheckBounds(data []byte) error {
	values, objects := 1, 0
	inString, isEscaped := false, false
	for _, b := range data {
		switch {
		case isEscaped:
			isEscaped = false
		case inString:
			isEscaped, inString = b == '\\', b != '"'
		case b == '"':
			inString = true
		case b == '{':
			objects++
			values++
		case b == '[', b == ',':
			values++
		}
	}
	if values > valueLimit || objects > objectLimit {
		return fmt.Errorf("%d values, %d of them objects; a report has at most %d and %d", values, objects, valueLimit,
			objectLimit)
	}
	return nil
}

// checkBounds returns an error for a report with too many results.
func (r *Report) checkBounds() error {
	clauses, results := len(r.Clauses), 0
	for i := range r.Checks {
		clauses, results = max(clauses, len(r.Checks[i].Clauses)), results+len(r.Checks[i].Clauses)
	}
	for i := range r.Symptoms {
		clauses, results = max(clauses, len(r.Symptoms[i].Clauses)), results+len(r.Symptoms[i].Clauses)
	}
	for _, item := range []struct {
		name     string
		n, limit int
	}{
		{"checks", len(r.Checks), kindLimit}, {"symptoms", len(r.Symptoms), kindLimit},
		{"known findings", len(r.KnownFindings), kindLimit}, {"clauses of one kind", clauses, clauseLimit},
		{"clauses of checks and symptoms", results, resultLimit},
	} {
		if item.n > item.limit {
			return fmt.Errorf("%d %s; a report has at most %d", item.n, item.name, item.limit)
		}
	}
	return nil
}
