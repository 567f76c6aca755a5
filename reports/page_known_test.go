package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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
			{Clause: "FWP-X-00", Verdict: Fail, Evidence: Evidence{Known: 3}}}}}
		for i := range n {
			r.Checks[0].Clauses = append(r.Checks[0].Clauses,
				ClauseVerdict{ID: fmt.Sprintf("FWP-X-%02d", i), Verdict: Inconclusive, Known: 3})
		}
		for _, verbose := range []bool{false, true} {
			var p Page
			p.known(r, symptoms(r.Findings()), PageOptions{Verbose: verbose})
			text := textOf(p.Blocks...)
			brief := n > inconclusiveShown && !verbose
			assert.Equal(t, brief, strings.Contains(text, fmt.Sprint(n, " clauses; -v")), text)
			rows := strings.Count(text, "line 3")
			if want := map[bool]int{true: 1, false: n + 1}[brief]; want != rows {
				t.Errorf("%d rows instead of %d:\n%s", rows, want, text)
			}
			assert.Contains(t, text, fmt.Sprintf("FWP-X-%02d", n-1))
		}
	}
}
