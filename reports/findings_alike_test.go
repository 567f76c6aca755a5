package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repetitive is a report in which many checks find the same.
func repetitive() *Report {
	r := &Report{}
	add := func(check, clause, got string) {
		r.Checks = append(r.Checks, Check{ID: check, Verdict: Fail, Findings: []Finding{{
			Clause: clause, Verdict: Fail, Expected: "a job", Actual: got, Conversation: []Line{{From: FromClient, Text: "FETCH fwp-" + check}},
		}}})
	}
	for i := range 54 {
		add(fmt.Sprintf("fetch/number-%d", i), "FWP-FETCH-01", fmt.Sprintf("a null bulk string after %d ms", 2000+i))
	}
	add("fetch/other", "FWP-FETCH-01", "an error")
	add("mine-1", "", "an error")
	add("mine-2", "", "an error")
	r.Checks[0].Findings = append(r.Checks[0].Findings, r.Checks[0].Findings[0])
	return r
}

func TestFindingsThatAreAlikeAreToldOnce(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, repetitive().Page(PageOptions{}).WriteText(&out, TextOptions{}))
	text := out.String()
	assert.Contains(t, text, "58 differences")
	assert.Equal(t, 4, strings.Count(text, "FETCH fwp-"), "the first of each symptom, and whatever names no clause")
	assert.Contains(t, text, "and in 53 more checks (--verbose shows all): fetch/number-1, fetch/number-2,")
	assert.Contains(t, text, "and 1 more like this in the same checks")
	for i := range 54 {
		assert.Contains(t, text, fmt.Sprintf("fetch/number-%d", i))
	}
	for line := range strings.Lines(text) {
		assert.LessOrEqual(t, len(line), textWidth+1, line)
	}
	out.Reset()
	require.NoError(t, repetitive().Page(PageOptions{Verbose: true}).WriteText(&out, TextOptions{}))
	assert.Equal(t, 58, strings.Count(out.String(), "FETCH fwp-"))
	assert.NotContains(t, out.String(), "and in ")
}
