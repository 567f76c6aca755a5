package reports

import (
	"encoding/json"
	"fmt"
	"slices"
)

// ReadJSON reads a report that [Report.WriteJSON] has written: its pages, its outcome and its JSON are those of the
// report that was written, but for what follows from other options. What was hidden stays hidden. The error says why it
// is none.
func ReadJSON(data []byte) (*Report, error) {
	var of struct {
		Schema string `json:"schema"`
	}
	if err := bounded(data); err != nil {
		return nil, fmt.Errorf("not a report of a run: %w", err)
	}
	if err := json.Unmarshal(data, &of); err != nil {
		return nil, fmt.Errorf("not a report in JSON: %w", err)
	}
	if of.Schema != Schema {
		return nil, fmt.Errorf("its schema is %q, and %q can be read", of.Schema, Schema)
	}
	r := new(Report)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("read the report: %w", err)
	}
	if err := r.bounded(); err != nil {
		return nil, fmt.Errorf("not a report of a run: %w", err)
	}
	for i, s := range r.Symptoms {
		r.restore(i, s)
	}
	r.Broken, r.Symptoms, r.Known, r.Counts = nil, nil, nil, Counts{}
	return r, nil
}

// restore gives a symptom back to its check, as a finding for each of its clauses.
func (r *Report) restore(place int, s Symptom) {
	c := find(r.Checks, func(c *Check) bool { return c.ID == s.Check })
	if c == nil {
		return // it is a clause without evidence
	}
	clauses := s.Clauses
	if len(clauses) == 0 {
		clauses = []string{""}
	}
	for _, id := range clauses {
		f := Finding{Clause: id, Verdict: s.Verdict, Evidence: s.Evidence}
		if cv := find(c.Clauses, func(cv *ClauseVerdict) bool { return cv.ID == id }); cv != nil && cv.Verdict.Breach() {
			f.Level, f.Verdict = cv.Level, cv.Verdict
		}
		known := func(k Known) bool { return k.Symptom != nil && *k.Symptom == place && k.Clause == id }
		f.Known = 0
		if i := slices.IndexFunc(r.Known, known); i >= 0 {
			f.Known = r.Known[i].Line
		}
		c.Findings = append(c.Findings, r.complete(f))
	}
}
