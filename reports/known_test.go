package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRanges(t *testing.T) {
	t.Parallel()
	for want, numbers := range map[string][]int{
		"": nil, "4": {4}, "4, 5": {4, 5}, "4-6": {4, 5, 6}, "1, 4-6, 9": {1, 4, 5, 6, 9},
		"1, 3, 5, 7, 9, 11":            {1, 3, 5, 7, 9, 11},
		"1, 3, 5, 7, 9, 11, ... 20":    {1, 3, 5, 7, 9, 11, 19, 20},
		"1, 3, 5, 7, 9, 11-13, ... 20": {1, 3, 5, 7, 9, 11, 12, 13, 20},
	} {
		assert.Equal(t, want, ranges(numbers))
	}
}

// One known departure may leave many clauses undecided: they are one paragraph, and with Verbose a line each.
func TestManyClausesBehindAKnownFinding(t *testing.T) {
	t.Parallel()
	for _, n := range []int{inconclusiveShown, inconclusiveShown + 1} {
		r := &Report{Expectations: &Expectations{File: "x.expect"}}
		r.Checks = []Check{{ID: "a/b", Verdict: Fail, Findings: []Finding{
			{Clause: "FWP-X-00", Verdict: Fail, Evidence: Evidence{KnownLine: 3}}}}}
		for i := range n {
			r.Checks[0].Clauses = append(r.Checks[0].Clauses,
				ClauseVerdict{ID: fmt.Sprintf("FWP-X-%02d", i), Verdict: Inconclusive, KnownLine: 3})
		}
		for _, verbose := range []bool{false, true} {
			var p Page
			p.knownFindings(r, groupSymptoms(r.Findings()), PageOptions{Verbose: verbose})
			text := TextOf(p.Blocks...)
			isBrief := n > inconclusiveShown && !verbose
			assert.Equal(t, isBrief, strings.Contains(text, fmt.Sprint(n, " clauses; -v")), text)
			rows := strings.Count(text, "line 3")
			if want := map[bool]int{true: 1, false: n + 1}[isBrief]; want != rows {
				t.Errorf("%d rows instead of %d:\n%s", rows, want, text)
			}
			assert.Contains(t, text, fmt.Sprintf("FWP-X-%02d", n-1))
		}
	}
}

// The reason why something was not evaluated may quote a reply. A long one is cut, unless all is asked for.
func TestReasonsAreCut(t *testing.T) {
	t.Parallel()
	job := `${"jid":"a","args":["` + strings.Repeat("long ", 100) + `"],"queue":"q"}`
	r := &Report{Checks: []Check{{ID: "a/b", Verdict: Inconclusive, Cause: "line 3: expected +OK, got " + job}}}
	pageText := func(o PageOptions) string {
		var out strings.Builder
		require.NoError(t, r.Page(o).WriteText(&out, TextOptions{}))
		return strings.Join(strings.Fields(out.String()), " ")
	}
	assert.Contains(t, pageText(PageOptions{}), `line 3: expected +OK, got ${"jid":"a"`)
	assert.NotContains(t, pageText(PageOptions{}), job)
	assert.Contains(t, pageText(PageOptions{}), `"queue":"q"}`)
	assert.Contains(t, pageText(PageOptions{Verbose: true}), job)
}

// matrixWords returns what a matrix of one run has for each clause.
func matrixWords(t *testing.T, r *Report) map[string]string {
	t.Helper()
	m, ok := MatrixOf([]string{"verdict"}, r).Drawing.(*Matrix)
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
	r := expectedReport()
	words := matrixWords(t, r)
	assert.Equal(t, "known: fail", words["FWP-PUSH-03"])
	assert.Equal(t, "known: inconclusive", words["FWP-FETCH-05"])
	assert.Equal(t, "warn", words["FWP-FRAME-03"])
	assert.Equal(t, "pass", words["FWP-HI-01"])

	other := rejectedCheck()
	other.Findings = append(other.Findings, other.Findings[0])
	other.Findings[0].KnownLine, other.Findings[1].Line = 7, 20
	r.Checks[1] = other
	assert.Equal(t, "fail", matrixWords(t, r)["FWP-PUSH-03"])

	c := Compare([]string{"a/before.json", "a/after.json"}, []*Report{expectedReport(), expectedReport()})
	for _, b := range c.Page(PageOptions{Figures: true}).Blocks {
		if f, ok := b.(Figure); ok {
			assert.Equal(t, []string{"1 before.json", "2 after.json"}, f.Drawing.(*Matrix).Runs)
			assert.NotContains(t, TextOf(f.Drawing.Table()), "known", "what is known counts in a comparison")
			return
		}
	}
	t.Error("the page of a comparison has no matrix")
}

// A report about a client has a square for each notable clause in each situation that shows something about it.
func TestSituationsOfAClient(t *testing.T) {
	t.Parallel()
	check := func(id string, clauses ...ClauseVerdict) Check {
		return Check{ID: id, Clauses: clauses}
	}
	r := &Report{
		Clauses: []Clause{
			{ID: "X-A-1", Checks: []string{"s/1"}, Harm: "jobs lost"}, {ID: "X-A-2", Checks: []string{"s/1"}}, {ID: "X-B-1"},
		},
		Checks: []Check{
			check("s/1", ClauseVerdict{ID: "X-A-1", Verdict: Fail}, ClauseVerdict{ID: "X-A-2", Verdict: Pass}),
			check("s/2", ClauseVerdict{ID: "X-A-1", Verdict: Pass}),
			check("s/3", ClauseVerdict{ID: "X-B-1", Verdict: Inconclusive, KnownLine: 7, Cause: "it was late"}),
		},
	}
	matrix := func() *Matrix {
		for _, block := range r.Page(PageOptions{Figures: true}).Blocks {
			if f, ok := block.(Figure); ok && f.Title == "Situations" {
				return f.Drawing.(*Matrix) //nolint:forcetypeassert // of this test
			}
		}
		return nil
	}
	m := matrix()
	require.NotNil(t, m)
	assert.Equal(t, []string{"s/1", "s/3"}, m.Runs)
	var rows []string
	for _, row := range m.Table().Rows {
		var cells []string
		for _, cell := range row.Cells {
			cells = append(cells, cell.String())
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	assert.Equal(t, []string{"X-A-1|s/1|fail|", "X-B-1|s/3|known: inconclusive|it was late"}, rows)
	r.Clauses[0].Harm = ""
	assert.Nil(t, matrix(), "of a server")
}
