package record

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

const busyConversation = `title: a busy conversation

connect c1 as raw
S[c1]: +HI {"v":2}
C[c1]: HELLO {"v":2}
S[c1]: +OK
connect c2 as raw
S[c2]: +HI {"v":2}
C[c2]: HELLO {"v":2,"hostname":"host1","wid":"$wid","pid":1,"labels":[]}
S[c2]: +OK
C[c1]: PUSH {"jid":"$jid","jobtype":"t","args":[1],"queue":"$queue","custom":{"a":"b"},"retry":3}
S[c1]: +OK
C[c2]: BEAT {"wid":"$wid"}
S[c2]: +OK
C[c1]: INFO
S[c1]: $
C[c1] bad: FLUSH x
S[c1]: -
C[c2]: FETCH $queue
S[c2]: ${"jid":"$jid"}
C[c2]: ACK {"jid":"$jid"}
S[c2]: +OK
C[c1]: END
S[c1]: +OK
S[c1]: <close>
`

func shrink(t *testing.T, server fakes.Config, conversation, finding string) string {
	t.Helper()
	f := fakes.NewServer(server)
	t.Cleanup(f.Close)
	script, err := scenarios.Parse(fwpscript.Dialect{}, "busy", []byte(conversation))
	require.NoError(t, err)
	s := &Shrinker{Target: tcp(f.Addr()), Law: moves.Law(), Simplify: moves.New().Simplify}
	found, err := s.Findings(t.Context(), script)
	require.NoError(t, err)
	require.Contains(t, found, finding)
	return string(scenarios.Format(s.Shrink(t.Context(), script, finding)))
}

func TestShrinkForAClient(t *testing.T) {
	t.Parallel()
	text := shrink(t, fakes.Config{}, busyConversation, "line-form")
	assert.Equal(t, []string{"C[c1] bad: FLUSH x"}, clientLines(text))
}

// clientLines returns the lines of the client. Those of the server, and the one that connects, are there or not as the
// order of the steps wants it.
func clientLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "C") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func TestShrinkForAServer(t *testing.T) {
	t.Parallel()
	server := fakes.Config{Hook: func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == "INFO" {
			e.Bytes = []byte("+OK\r\n")
		}
	}}
	text := shrink(t, server, busyConversation, "foreign-reply:INFO")
	assert.Contains(t, text, "INFO\n")
	for _, verb := range []string{"PUSH", "FETCH", "BEAT", "c2"} {
		assert.NotContains(t, text, verb)
	}
}

// TestShrinkForTheLaw: no line looks at the field that is wrong.
func TestShrinkForTheLaw(t *testing.T) {
	t.Parallel()
	server := fakes.Config{Hook: func(e *fakes.Event) {
		if e.Point == fakes.Delivered {
			e.Object.SetText("jobtype", "another")
		}
	}}
	text := shrink(t, server, busyConversation, "law/field FWP-WU-02")
	assert.Contains(t, text, "PUSH")
	for _, word := range []string{"INFO", "FLUSH", "BEAT", "END", "custom"} {
		assert.NotContains(t, text, word)
	}
}

// TestShrinkKeepsWhatLinesExpect: a line is not made plainer where a line behind it would not match then.
func TestShrinkKeepsWhatLinesExpect(t *testing.T) {
	t.Parallel()
	server := fakes.Config{Hook: func(e *fakes.Event) {
		if e.Point == fakes.Delivered && strings.HasSuffix(e.Conn.Worker, "kept") {
			e.Object.SetText("jobtype", "another")
		}
	}}
	text := shrink(t, server, `title: fields

connect c1 as consumer {"wid":"$wid-kept"}
C[c1]: PUSH {"jid":"$jid","jobtype":"t","args":[],"queue":"$queue","custom":{"a":"b"},"backtrace":7}
S[c1]: +OK
C[c1]: FETCH $queue
S[c1]: ${"jid":"$jid","custom":{"a":"b"}}
`, "law/field FWP-WU-02")
	assert.Contains(t, text, "FETCH")
	assert.Equal(t, 2, strings.Count(text, "custom"))
	assert.NotContains(t, text, "backtrace")
}
