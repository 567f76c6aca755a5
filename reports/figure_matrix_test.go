package reports

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// matrixWords returns what a matrix of one run has for each clause.
func matrixWords(t *testing.T, r *Report) map[string]string {
	t.Helper()
	m, ok := MatrixOf([]string{"verdict"}, r).Of.(*Matrix)
	require.True(t, ok)
	words := map[string]string{}
	for _, f := range m.Families {
		for i := range f.Rows {
			words[f.Rows[i].ID] = joined(f.Rows[i].Words(0))
		}
	}
	return words
}

// What is known is told apart from a finding, and a clause with a new symptom beside a known one is a finding.
func TestAMatrixMarksWhatIsKnown(t *testing.T) {
	t.Parallel()
	r := expected()
	r.Clauses = append(r.Clauses, Clause{
		ID: "FWP-INFO-02", Verdict: Inconclusive, Reason: ReasonGoal, Known: 13, Checks: []string{"hi/first"},
		Why: "it was never seen that a FETCH delivered a job",
	})
	words := matrixWords(t, r)
	assert.Equal(t, "known: fail", words["FWP-PUSH-03"])
	assert.Equal(t, "known: inconclusive", words["FWP-FETCH-05"])
	assert.Equal(t, "known: inconclusive", words["FWP-INFO-02"])
	assert.Equal(t, "warn", words["FWP-FRAME-03"])
	assert.Equal(t, "pass", words["FWP-HI-01"])

	more := rejected()
	more.Findings = append(more.Findings, more.Findings[0])
	more.Findings[0].Known, more.Findings[1].Line = 7, 20
	r.Checks[1] = more
	assert.Equal(t, "fail", matrixWords(t, r)["FWP-PUSH-03"])

	c := Compare([]string{"a/before.json", "a/after.json"}, []*Report{expected(), expected()})
	for _, b := range c.Page(PageOptions{Figures: true}).Blocks {
		if f, ok := b.(Figure); ok {
			assert.Equal(t, []string{"1 before.json", "2 after.json"}, f.Of.(*Matrix).Runs)
			assert.NotContains(t, textOf(f.Of.Table()), "known", "what is known counts in a comparison")
			return
		}
	}
	t.Error("the page of a comparison has no matrix")
}

// Every other format has a clause whose goal was not reached too.
func TestAGoalThatWasNotReachedIsACase(t *testing.T) {
	t.Parallel()
	r := well()
	r.Clauses[0].Verdict, r.Clauses[0].Reason, r.Clauses[0].Why = Inconclusive, ReasonGoal, "it was never seen that X"
	s := r.Suite(ExitOptions{})
	require.Len(t, s.Cases, 2)
	assert.Equal(t, "goal - FWP-HI-01", s.Cases[1].Name)
	assert.Equal(t, CaseErrored, s.Cases[1].state())
	r.Expectations, r.Clauses[0].Known = &Expectations{File: "x.expect"}, 4
	s = r.Suite(ExitOptions{})
	assert.Equal(t, CaseSkipped, s.Cases[1].state())
	assert.Equal(t, "known, x.expect:4: it was never seen that X", s.Cases[1].message())
	assert.Equal(t, ExitWell, r.ExitCode(ExitOptions{}))
	assert.Contains(t, textOf(r.Page(PageOptions{}).Blocks...), "KNOWN: as x.expect lists them")
}
