package reports

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
)

// Every field of a report may have come from a server: neither the text nor the JSON has a control character.
func TestHostileTextIsShownHarmlessly(t *testing.T) {
	t.Parallel()
	r, e := &Report{}, &Exploration{States: map[string]int{golden.Hostile: 1}}
	golden.SetTexts(reflect.ValueOf(r).Elem(), golden.Hostile)
	golden.SetTexts(reflect.ValueOf(e).Elem(), golden.Hostile)
	e.Commands, r.Checks[0].Verdict, r.Clauses[0].Verdict = 1, Fail, Inconclusive
	var out bytes.Buffer
	for _, o := range []PageOptions{{}, {Verbose: true}} {
		for _, fit := range []TextOptions{{}, {Width: 40, Fit: true}} {
			require.NoError(t, r.Page(o).WriteText(&out, fit))
			require.NoError(t, e.Page(o).WriteText(&out, fit))
		}
	}
	require.NoError(t, r.WriteJSON(&out, ExitOptions{}))
	require.NoError(t, e.WriteJSON(&out, ExitOptions{}))
	golden.CheckHarmless(t, out.String())
}

// Fields that no server has a part in keep what they have.
var ownFields = map[string]bool{
	"id": true, "title": true, "file": true, "clause": true, "level": true, "section": true, "statement": true,
	"check": true,
	"conn":  true, "from": true, "reproduce": true, "rerun": true, "shrink": true, "provide": true, "schema": true,
	"version": true, "url": true, "chosen": true,
	"role": true, "sha256": true,
	"usage": true, "checks": true, "clauses": true, "path": true, "run": true, "outcome": true,
	"close": true,
	"mark":  true, "command": true, "state": true, "field": true, "breaks": true, "ended_by": true,
	"explained_by": true,
	"reason":       true, "saved": true, "harm": true, "life": true, "fix": true,
}

func TestHideReachesEveryText(t *testing.T) {
	t.Parallel()
	r, e, c := &Report{}, &Exploration{}, &Comparison{}
	golden.SetTexts(reflect.ValueOf(r).Elem(), "a secret")
	golden.SetTexts(reflect.ValueOf(e).Elem(), "a secret")
	golden.SetTexts(reflect.ValueOf(c).Elem(), "a secret")
	Hide(golden.Hide, r)
	Hide(golden.Hide, e)
	Hide(golden.Hide, c)
	var out bytes.Buffer
	require.NoError(t, r.WriteJSON(&out, ExitOptions{}))
	require.NoError(t, e.WriteJSON(&out, ExitOptions{}))
	require.NoError(t, c.WriteJSON(&out, ExitOptions{}))
	golden.CheckHidden(t, out.String(), ownFields)
}

// talk returns a conversation of so many lines.
func talk(n int) []Line {
	lines := make([]Line, n)
	for i := range lines {
		lines[i] = Line{Conn: "c", From: FromServer, Text: fmt.Sprintf("line %d %s", i+1, strings.Repeat("x", 400))}
	}
	return lines
}

// names returns so many names.
func names(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%d%s", i, strings.Repeat("x", 400))
	}
	return all
}

func TestBoundKeepsWhatIsShort(t *testing.T) {
	t.Parallel()
	finding := Finding{Evidence: Evidence{MarkedLine: 7, Differences: names(10)}}
	build := func() *Report {
		return &Report{Checks: []Check{{Conversation: talk(1000), LeftoverJobs: names(1000), Findings: []Finding{finding}}}}
	}
	r := build()
	ShortenLists(r)
	assert.Equal(t, build(), r)
}

// Every list that a peer can make long is shortened: what leads to the marks stays, and the marks are at their lines.
func TestBoundLeavesLinesOut(t *testing.T) {
	t.Parallel()
	r := &Report{Clauses: []Clause{}}
	for range 50 {
		r.Checks = append(r.Checks, Check{Verdict: Fail, Conversation: talk(3000), LeftoverJobs: names(3000), Findings: []Finding{
			{Verdict: Fail, Evidence: Evidence{MarkedLine: 1000, Differences: names(1000)}},
			{Verdict: Fail, Evidence: Evidence{MarkedLine: 2000, Line: 1}},
			{Verdict: Fail, Evidence: Evidence{MarkedLine: 2900, Line: 2, Conversation: talk(2950)}},
		}})
	}
	r.Checks = append(r.Checks, Check{ID: "short", Verdict: Inconclusive, Conversation: talk(3)})
	ShortenLists(r)
	var out bytes.Buffer
	require.NoError(t, r.WriteJSON(&out, ExitOptions{}))
	assert.Less(t, out.Len(), 3<<20)
	c := &r.Checks[0]
	for i, line := range []string{"line 1000 ", "line 2000 ", "line 2900 "} {
		f := &c.Findings[i]
		lines := r.conversation(f)
		if f.Conversation == nil {
			lines = c.Conversation
		}
		require.Positive(t, f.MarkedLine)
		assert.True(t, strings.HasPrefix(lines[f.MarkedLine-1].Text, line), lines[f.MarkedLine-1].Text)
		assert.True(t, strings.HasPrefix(lines[f.MarkedLine-2].Text, "line "), "what comes before stays")
	}
	assert.Regexp(t, `^9\d\d lines left out: `, c.Conversation[0].Text)
	assert.Equal(t, FromSuite, c.Conversation[0].From)
	assert.Regexp(t, `^… and [0-9,]+ more$`, c.LeftoverJobs[len(c.LeftoverJobs)-1])
	assert.Equal(t, names(1), c.LeftoverJobs[:1])
	assert.Equal(t, talk(3), r.Checks[50].Conversation, "a short one is whole")
}

func TestBoundReachesOtherResults(t *testing.T) {
	t.Parallel()
	e := &Exploration{LeftoverJobs: names(9000), Findings: []ExplorationFinding{{
		Finding: Finding{Evidence: Evidence{MarkedLine: 9000, Conversation: talk(9000), LastSteps: names(9000)}},
	}}}
	c := &Comparison{LeftoverJobs: names(9000)}
	ShortenLists(e)
	ShortenLists(c)
	var out bytes.Buffer
	require.NoError(t, e.WriteJSON(&out, ExitOptions{}))
	assert.Less(t, out.Len(), 3<<20)
	require.NoError(t, c.WriteJSON(&out, ExitOptions{}))
	assert.Less(t, out.Len(), 6<<20)
	assert.Len(t, e.Findings[0].Conversation, e.Findings[0].MarkedLine)
}
