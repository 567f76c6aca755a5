package conformance

import (
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// onlyMark returns the mark of a line that has exactly one, and the zero mark otherwise.
func onlyMark(r scenarios.Result) scenarios.Mark {
	if len(r.Marks) == 1 {
		return r.Marks[0]
	}
	return scenarios.Mark{}
}

// finding adds a finding with its evidence.
func (v *verdicts) finding(verdict reports.Verdict, m scenarios.Mark, r scenarios.Result) {
	c, _ := ClauseByID(m.Clause) // empty for a script without clauses
	f := reports.Finding{
		Clause: m.Clause, Level: levelOf(m), Statement: c.Statement, Verdict: verdict,
		Check: v.check.ID, File: v.check.File, Line: r.Line, Col: r.Col, Width: r.Width,
		Expected: r.Expected, Actual: gotText(r), Conversation: conversation(v.evidence, r),
	}
	if r.Line > 0 && r.Line <= len(v.about.Source) {
		f.Source = v.about.Source[r.Line-1]
	}
	for _, d := range r.Differences {
		if d.Path != "" {
			f.Differences = append(f.Differences, d.String())
		}
	}
	if r.Ending != scenarios.Open {
		f.Close = closeWords[r.Ending]
	}
	if v.state.runner.Reproduce != nil {
		f.Reproduce = v.state.runner.Reproduce(v.check.ID)
	}
	v.check.Findings = append(v.check.Findings, f)
}

var closeWords = map[scenarios.Ending]string{
	scenarios.Fin:   "the server closed the connection (orderly, FIN)",
	scenarios.Reset: "the server reset the connection",
}

var parties = map[string]string{"C": reports.FromClient, "S": reports.FromServer}

// conversation returns the lines of all connections of a play, with a mark at the
// mismatch.
func conversation(e *Evidence, mismatch scenarios.Result) []reports.Line {
	lines := make([]reports.Line, len(e.Conversation))
	for i, l := range e.Conversation {
		from, ok := parties[l.From]
		if !ok {
			from = reports.FromSuite
		}
		lines[i] = reports.Line{At: l.At, Conn: l.Conn, From: from, Text: l.Text}
		if mismatch.At > 0 && l.At == mismatch.At && l.Conn == mismatch.Conn && l.From != "C" {
			lines[i].Mark = "expected " + mismatch.Expected
		}
	}
	return lines
}
