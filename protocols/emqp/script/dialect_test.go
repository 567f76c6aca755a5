package script_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpscript "github.com/fwpsuite/fwp/protocols/emqp/script"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// target is a broker in memory.
type target struct {
	memnet.Place
	back memnet.Place
}

func (t target) DialBackend(ctx context.Context) (net.Conn, error) { return t.back.Dial(ctx) }

// playScript plays a script on a broker with a hook, in virtual time.
func playScript(t *testing.T, hook func(*fakeemqp.Event), text string) (run *play.Run) {
	t.Helper()
	s, err := scenarios.Parse(emqpscript.Dialect{}, "test.fwp", []byte(text))
	require.NoError(t, err)
	require.Empty(t, scenarios.Lint(s))
	assert.Equal(t, text, string(scenarios.Format(s)))
	synctest.Test(t, func(t *testing.T) {
		at := target{memnet.NewPlace(), memnet.NewPlace()}
		broker := fakeemqp.Start(fakeemqp.Config{Hook: hook}, at.MustListen(), at.back.MustListen())
		run = (&play.Player{Target: at}).Play(t.Context(), s, "fwp")
		broker.Close()
	})
	return run
}

const fullScript = `protocol: emqp
title: what scripts can write
connect w as consumer {"identity":"w","heartbeats":true,"acks":true}
connect c as producer {"acks":true}
connect r as raw
C[w]: ["", "eMQP/1.0", "INFORM", $id1, "[[10,\"$queue\"]]", "worker"]
S[w]: ["", "eMQP/1.0", "ACK", $ack, $id1]
C[w] bytewise: ["", "eMQP/1.0", READY, $id2]
C[c]: ["", "eMQP/1.0", "REQUEST", $id3, $queue, "reply-requested, timeout:5", "{\"a\":\"\xff\"}"]
S[c]: ["", "eMQP/1.0", "ACK", string, $id3]
S[w]: ["", "eMQP/1.0", "REQUEST", $id3, ...]
C[w]: ["", "eMQP/1.0", "REPLY", $id4, "$text"]
S[c]: ["", "eMQP/1.0", "REPLY", string, "$text"]
S[w] ..30s: ["", "eMQP/1.0", "HEARTBEAT", string, int(1..)]
C[w]: ["", "eMQP/1.0", "HEARTBEAT", $id5, 1700000000]
C[w] bad: ["", "eMQP/1.0", "REPLY", $id6]
C[w]: PING "\x00\x00\xfe"
S[w]: PONG string
C[r] raw: "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f" "\x03\x01"
silence 1s on r
C[w]: ["", "eMQP/1.0", "KBAI", $id7]
C[w] bad: ["", "eMQP/1.0", "READY", $id8]
silence 1s on w c
`

// An id that is no text comes back as it was, and is told apart from what a line means by its characters.
func TestAnIDThatIsNoText(t *testing.T) {
	t.Parallel()
	run := playScript(t, func(e *fakeemqp.Event) {
		if e.IsFromBroker && string(e.Frames[2]) == "REQUEST" {
			e.Frames[3] = []byte("\xff, \"]")
		}
	}, `protocol: emqp
title: an id comes back
connect w as consumer
connect c as producer
C[w]: ["", "eMQP/1.0", "INFORM", $id1, "[[10,\"$queue\"]]", "worker"]
C[w]: ["", "eMQP/1.0", "READY", $id2]
C[c]: ["", "eMQP/1.0", "REQUEST", $id3, $queue, "", "text"]
S[w]: ["", "eMQP/1.0", "REQUEST", $sent, ...]
C[w]: ["", "eMQP/1.0", "ACK", $id4, "$sent"]
silence 1s on w
`)
	for _, r := range run.Results {
		assert.Equal(t, play.Matched, r.Outcome, "line %d: expected %s, got %s %s", r.Line, r.Expected, r.Got, r.Cause)
	}
	assert.True(t, slices.ContainsFunc(run.Conversation, func(l reports.Line) bool {
		return strings.Contains(l.Text, "\"ACK\"") && strings.Contains(l.Text, `\xff, \"]`)
	}))
}

func TestAScript(t *testing.T) {
	t.Parallel()
	run := playScript(t, nil, fullScript)
	for _, r := range run.Results {
		assert.Equal(t, play.Matched, r.Outcome, "line %d: expected %s, got %s %s", r.Line, r.Expected, r.Got, r.Cause)
	}
	assert.Empty(t, run.Breaches)
	assert.True(t, run.Passed())
	assert.True(t, slices.ContainsFunc(run.Conversation, func(l reports.Line) bool {
		return l.Text == `["", "eMQP/1.0", "READY", "fwp-id2-3"] (byte by byte)`
	}))
}

// What does not arrive is about the line that expects it, and a malformed message is a breach of its own.
func TestWhatIsWrong(t *testing.T) {
	t.Parallel()
	run := playScript(t, func(e *fakeemqp.Event) {
		e.Drop = e.IsFromBroker && string(e.Frames[2]) == emqp.REPLY
	}, fullScript)
	assert.Empty(t, run.Breaches)
	assert.Equal(t, play.Mismatched, run.Results[3].Outcome)

	run = playScript(t, func(e *fakeemqp.Event) {
		if e.IsFromBroker && string(e.Frames[2]) == emqp.REQUEST {
			e.Frames = e.Frames[:6]
		}
	}, fullScript)
	require.Len(t, run.Breaches, 1)
	assert.Equal(t, "grammar:eMQP frames", run.Breaches[0].Name())
}

func TestMistakesInScripts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`C: ["", "eMQP/1.0", "REPLY", $id]`:         "5 frames of REPLY",
		`C: ["", "eMQP/1.0" "READY", $id]`:          "expected a comma between two frames",
		`C: ["", 'x']`:                              "expected a frame, a string in double quotes or a name",
		`C: ["", "eMQP/1.0", "HEARTBEAT", $id, 17]`: "HEARTBEAT is valid after an INFORM only",
		`C: hello`:                                         "write a list of frames",
		`C: PING x`:                                        "the data of PING must be one string",
		`C: ["", "eMQP/1.0",<|> "READY", $id]`:             "<|> works only in raw lines",
		`C bad: ["", "eMQP/1.0", "READY", $id]`:            "marked bad, but it is legal",
		"C: [\"\", \"eMQP/1.0\", \"KBAI\", $id]\nS: [\"\"": "this [ is not closed",
	} {
		s, err := scenarios.Parse(emqpscript.Dialect{}, "test.fwp", []byte("connect as producer\n"+text+"\n"))
		if err == nil {
			if found := scenarios.Lint(s); len(found) > 0 {
				err = found[0]
			}
		}
		require.ErrorContains(t, err, want, text)
	}
}
