package model_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// The part of the document between the marks is drawn from the tables.
func TestDocumentIsDrawnFromTheModel(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- the model -->\n", "<!-- end of the model -->\n"
	path := filepath.Join("..", "..", "..", "docs", "exploring.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, hasBegin := strings.Cut(string(text), begin)
	_, after, hasEnd := strings.Cut(rest, end)
	require.True(t, hasBegin && hasEnd, "docs/exploring.md has no marks")
	drawn := connections() + units() + answers()
	golden.Document(t, path, before+begin+drawn+end+after, "go test ./protocols/fwp/model -update")
}

// connections draws the states of a connection, by trying every verb with every reply
// that may matter.
func connections() string {
	var b strings.Builder
	b.WriteString("A connection:\n\n```mermaid\nstateDiagram-v2\n    [*] --> not_identified\n")
	for from := range fwp.Ended {
		for _, try := range []struct{ verb, reply, label string }{
			{fwp.HELLO, "OK", "HELLO answered OK"}, {fwp.BEAT, `{"state":"quiet"}`, "BEAT answered quiet"},
			{fwp.BEAT, `{"state":"terminate"}`, "BEAT answered terminate"}, {fwp.END, "OK", "END"},
		} {
			if to := from.Next(try.verb, fwp.Reply{Kind: fwp.SimpleString, Text: []byte(try.reply)}); to != from {
				fmt.Fprintf(&b, "    %s --> %s: %s\n", name(from), name(to), try.label)
			}
		}
	}
	b.WriteString("    ended --> [*]\n```\n\nA command that is refused changes nothing.\n\n")
	return b.String()
}

func name(s fwp.State) string { return strings.ReplaceAll(s.String(), " ", "_") }

var places = []struct {
	states model.States
	name   string
}{
	{model.Unborn, "[*]"}, {model.Scheduled, "scheduled"}, {model.Enqueued, "enqueued"},
	{model.Working, "working"}, {model.Retries, "retries"},
	{model.Dead, "dead"}, {model.Absent, "gone"},
}

// units draws the states of a work unit.
func units() string {
	var b strings.Builder
	b.WriteString("A work unit:\n\n```mermaid\nstateDiagram-v2\n")
	for _, a := range model.Arrows() {
		for _, from := range places {
			for _, to := range places {
				if a.From&from.states != 0 && a.To&to.states != 0 {
					fmt.Fprintf(&b, "    %s --> %s: %s (%s)\n", from.name, to.name, a.Event, strings.TrimPrefix(a.Clause, "FWP-"))
				}
			}
		}
	}
	b.WriteString("```\n\n")
	return b.String()
}

// answers lists what may be answered.
func answers() string {
	var b strings.Builder
	b.WriteString("What may be answered to a well-formed command:\n\n" +
		"| state | command | if | answers | clause | wider by |\n|---|---|---|---|---|---|\n")
	for _, r := range model.Rules() {
		state := "not identified"
		if r.IsGreeted {
			state = "identified and later"
		}
		patterns := strings.ReplaceAll(r.Answers.String(), "|", `\|`)
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` | %s | %s |\n", state, r.Verb, r.Case, patterns, r.Clause, r.Reading)
	}
	b.WriteString("\nAnything else before HELLO is refused (FWP-STATE-01), and so is what is malformed, " +
		"by the clause of its verb.\n\n")
	return b.String()
}

// An event takes a unit somewhere from wherever it may happen, and nothing leads back
// to where units come from.
func TestArrows(t *testing.T) {
	t.Parallel()
	for _, a := range model.Arrows() {
		to, clause := a.From.After(a.Event)
		assert.Equal(t, a.To, to&a.To, "%s", a.Event)
		assert.NotEmpty(t, clause, "%s", a.Event)
		assert.Zero(t, to&model.Unborn, "%s", a.Event)
	}
	for _, dead := range []model.States{model.Absent, model.Dead} {
		to, _ := dead.After(model.Fetch)
		assert.Zero(t, to)
	}
	to, _ := model.Working.After(model.Fail)
	assert.Equal(t, model.Retries|model.Enqueued, to, "the delay has no bounds")
}

func TestFailuresAreCounted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		retry          int64
		before         int
		failed, expiry model.Event
	}{
		{25, 0, model.Fail, model.Expire}, {25, 24, model.Fail, model.Expire}, {25, 25, model.FailLast, model.ExpireLast},
		{1, 0, model.Fail, model.Expire}, {1, 1, model.FailLast, model.ExpireLast},
		{0, 0, model.FailZero, model.ExpireLast}, {-1, 0, model.FailDead, model.ExpireLast},
	} {
		assert.Equal(t, test.failed, model.FailEvent(test.retry, test.before), "retry %d after %d", test.retry, test.before)
		assert.Equal(t, test.expiry, model.ExpiryEvent(test.retry, test.before), "retry %d after %d", test.retry, test.before)
	}
}

// Every verb has a rule once the client has greeted; before that most are refused.
func TestEveryVerbHasARule(t *testing.T) {
	t.Parallel()
	verbs := []string{fwp.HELLO, fwp.PUSH, fwp.FETCH, fwp.ACK, fwp.FAIL, fwp.BEAT, fwp.INFO, fwp.FLUSH, fwp.END}
	for _, verb := range verbs {
		_, ok := model.LookupCommand(verb)
		assert.True(t, ok, verb)
		r := model.FindRule(fwp.Identified, verb, model.Usual)
		assert.NotEqual(t, model.Refused, r.Answers, verb)
		assert.True(t, slices.ContainsFunc(model.Rules(), func(o model.Rule) bool { return o == r }), verb)
		if verb != fwp.HELLO && verb != fwp.END {
			assert.Equal(t, model.Refused, model.FindRule(fwp.NotIdentified, verb, model.Usual).Answers, verb)
		}
	}
}
