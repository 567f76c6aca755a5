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
			Clause: clause, Verdict: Fail, Evidence: Evidence{
				Expected: "a job", Actual: got, Conversation: []Line{{From: FromClient, Text: "FETCH fwp-" + check}},
			},
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

func TestSymptomsThatAreAlikeAreShownOnce(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, repetitive().Page(PageOptions{}).WriteText(&out, TextOptions{}))
	text := out.String()
	assert.Contains(t, text, "FINDINGS: 3 (3 fail)", "one clause, and two checks that name none")
	assert.Contains(t, text, "fetch/number-0 +54")
	assert.Equal(t, 4, strings.Count(text, "FETCH fwp-"), "the first of each symptom, and whatever names no clause")
	assert.Contains(t, text, "also in   fetch/number-1, fetch/number-2,")
	for i := range 54 {
		assert.Contains(t, text, fmt.Sprintf("fetch/number-%d", i))
	}
	for line := range strings.Lines(text) {
		assert.LessOrEqual(t, len(line), textWidth+1, line)
	}
	out.Reset()
	require.NoError(t, repetitive().Page(PageOptions{Verbose: true}).WriteText(&out, TextOptions{}))
	assert.Equal(t, 57, strings.Count(out.String(), "FETCH fwp-"), "the same twice in one place is one symptom")
	assert.NotContains(t, out.String(), "also in ")
}

func TestASymptomHasAllClausesThatItBreaks(t *testing.T) {
	t.Parallel()
	at := func(clause string, v Verdict, line int) Finding {
		return Finding{Clause: clause, Verdict: v, Evidence: Evidence{Check: "a", Line: line, Actual: "+OK"}}
	}
	r := &Report{Checks: []Check{
		{ID: "a", Verdict: Fail, Findings: []Finding{at("A", Warn, 3), at("B", Fail, 3), at("A", Fail, 9)}},
		{ID: "b", Verdict: Warn, Clauses: []ClauseVerdict{{ID: "A", Verdict: Warn}}},
	}, Clauses: []Clause{{ID: "A", Verdict: Inconclusive}, {ID: "B", Verdict: Fail}, {ID: "C", Verdict: Pass}}}
	whole := r.whole(ExitOptions{})
	assert.Equal(t, []Broken{
		{Clause: "B", Verdict: Fail, Checks: []string{"a"}, Symptoms: []int{0}},
		{Clause: "A", Verdict: Fail, Checks: []string{"a", "b"}, Symptoms: []int{0, 1, 2}},
	}, whole.Broken)
	assert.Equal(t, []string{"B", "A"}, whole.Symptoms[0].Clauses)
	assert.Equal(t, Counts{
		Findings: map[Verdict]int{Fail: 2}, Clauses: map[Verdict]int{Fail: 2, Pass: 1}, Checks: map[Verdict]int{Fail: 1},
	}, whole.Counts,
		"a clause with a finding counts as that, whatever another check says")
	assert.Equal(t, "2 findings: 2 fail", whole.Words)
}

func TestACloseWeighsLessThanAReply(t *testing.T) {
	t.Parallel()
	of := func(check string, e Evidence) Check {
		return Check{ID: check, Verdict: Fail, Findings: []Finding{{Clause: "FWP-AUTH-06", Verdict: Fail, Evidence: e}}}
	}
	r := &Report{Checks: []Check{
		of("closes", Evidence{Expected: "an error", Actual: "the connection was closed", Close: "orderly"}),
		of("serves", Evidence{Expected: "an error", Actual: "+OK"}),
	}}
	assert.Equal(t, "serves", r.Findings()[0].Check)
}

func TestDifferencesInsideRepliesAreToldApart(t *testing.T) {
	t.Parallel()
	r := &Report{}
	for i, expected := range []string{"[2147483648]", "[9007199254740993]", "[9007199254740993]"} {
		r.Checks = append(r.Checks, Check{ID: fmt.Sprintf("integers-%d", i), Verdict: Fail, Findings: []Finding{{
			Clause: "FWP-WU-03", Verdict: Fail, Evidence: Evidence{
				Expected: expected, Actual: `${"args":[1]}`, Differences: []string{".args[0]: expected another"},
			},
		}}})
	}
	var out bytes.Buffer
	require.NoError(t, r.Page(PageOptions{}).WriteText(&out, TextOptions{}))
	assert.Equal(t, 2, strings.Count(out.String(), "expected  ["))
}
