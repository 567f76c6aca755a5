package session_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
)

func TestText(t *testing.T) {
	t.Parallel()
	for stream, want := range map[string]string{
		"+OK\r\n": "+OK", "-ERR no\r\n": "-ERR no", "$2\r\na\n\r\n": `$a\n`, "$-1\r\n": "$-1", ":-7\r\n": ":-7",
		"*2\r\n+a\r\n:1\r\n": "* (array of 2)",
	} {
		r, _ := fwpsession.Codec{}.Begin(strings.NewReader(stream))
		m, err := r.Read()
		require.NoError(t, err)
		assert.Equal(t, want, fwpsession.Codec{}.Text(m))
		assert.Equal(t, m, fwpsession.Message(fwpsession.Reply(m)), "both ways, but for what is in an array")
		_, err = r.Read()
		assert.Equal(t, io.EOF, err)
	}
}

// A reply of 64 MiB must not be written out whole only to be shortened then.
func TestTextOfLargeReply(t *testing.T) {
	t.Parallel()
	m := session.Message{Kind: '$', Text: []byte(strings.Repeat("\x00", 32<<20))}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := fwpsession.Codec{}.Text(m)
	runtime.ReadMemStats(&after)
	assert.Less(t, len(text), 4000)
	assert.Contains(t, text, "33554432 bytes in all")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20), "other tests run beside it")
}

// TestLimits: what is beyond our limits cannot be read, and is a breach only if no reply to the command can be so.
func TestLimits(t *testing.T) {
	t.Parallel()
	wide := "[" + strings.Repeat("1,", 100_000) + "1]"
	wide = fmt.Sprintf("$%d\r\n%s\r\n", len(wide), wide)
	deep := strings.Repeat("*1\r\n", 9)
	for _, test := range []struct{ verb, reply, rule string }{
		{"FETCH q", "$100000000\r\n", ""},
		{"FETCH q", "$999999999\r\n", "length"},
		{"FETCH q", "$-2\r\n", "length"},
		{"FETCH q", "*2147483647\r\n", "foreign-reply:FETCH"},
		{"FETCH q", wide, ""},
		{"PUSH {}", wide, "foreign-reply:PUSH"},
		{"PUSH {}", "$100000000\r\n", "foreign-reply:PUSH"},
		{"ACK {}", deep, "foreign-reply:ACK"},
		{"NONE", deep, ""},
	} {
		for _, readOn := range []bool{true, false} {
			r, s := fwpsession.Codec{}.Begin(strings.NewReader("+HI {}\r\n" + test.reply))
			if readOn {
				r.TolerateLapses()
			}
			s.Sent([]byte(test.verb + "\r\nINFO\r\n"))
			_, err := r.Read()
			require.NoError(t, err)
			_, err = r.Read()
			broken := new(session.SyntaxError)
			require.ErrorAs(t, err, &broken, "%.20s", test.reply)
			assert.Equal(t, test.rule == "", broken.IsLimit, "%.20s", test.reply)
			if test.rule != "" {
				assert.Equal(t, test.rule, broken.Rule)
			}
		}
	}
	for greeting, rule := range map[string]string{deep: "foreign-reply:",
		"+HI " + strings.Repeat(" ", 64<<10): "too long"} {
		r, _ := fwpsession.Codec{}.Begin(strings.NewReader(greeting))
		_, err := r.Read()
		broken := new(session.SyntaxError)
		require.ErrorAs(t, err, &broken)
		assert.Equal(t, rule, broken.Rule)
	}
}

func TestBrokenAndUnfinished(t *testing.T) {
	t.Parallel()
	r, _ := fwpsession.Codec{}.Begin(strings.NewReader("+OK\r\n+OK\n"))
	_, err := r.Read()
	require.NoError(t, err)
	_, err = r.Read()
	broken := new(session.SyntaxError)
	require.ErrorAs(t, err, &broken)
	assert.Equal(t, fwp.RuleLineEnd.String(), broken.Rule)
	assert.Equal(t, int64(8), broken.Offset)

	for begin, want := range map[string]fwp.Rule{"+O": fwp.RuleLineEnd, "$5\r\nab": fwp.RuleTruncated} {
		r, _ := fwpsession.Codec{}.Begin(io.MultiReader(strings.NewReader(begin), stuckReader{}))
		missing, rule := r.Pending()
		assert.Empty(t, missing+rule)
		_, err := r.Read()
		require.ErrorIs(t, err, io.ErrNoProgress)
		missing, rule = r.Pending()
		assert.NotEmpty(t, missing)
		assert.Equal(t, want.String(), rule)
		assert.Equal(t, len(begin), r.Buffered())
	}
}

// stuckReader is a stream of which nothing comes any more.
type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

func TestState(t *testing.T) {
	t.Parallel()
	_, state := fwpsession.Codec{}.Begin(nil)
	s := state.(*fwpsession.State)
	farewell := []byte("END\r\n")
	steps := []struct {
		sent, received string
		turn           session.MessageRole
		want           session.Status
	}{
		{"", `+HI {"v":2,"s":"salt","i":3}`, session.Answer, session.Status{}},
		{"HELLO {}\r\n", "-ERR", session.Answer, session.Status{Verb: "HELLO"}},
		{"HELLO {\"v\":2,\"wid\":\"w1\"}\r\n", "+OK", session.Answer,
			session.Status{Verb: "HELLO", Phase: session.Serving, Farewell: farewell}},
		{"", "+OK", session.Unasked, session.Status{Verb: "HELLO", Phase: session.Serving, Farewell: farewell, OwedMessages: -1}},
		{"INFO\nINFO\r\n", "$", session.Answer, session.Status{Verb: "INFO\nINFO", Phase: session.Serving,
			Farewell: farewell}},
		{"BEAT {}\r\n", `${"state":"quiet"}`, session.Answer,
			session.Status{Verb: "BEAT", Phase: session.Restricted, Farewell: farewell}},
		{"END\r\n", "", 0, session.Status{Verb: "END", Phase: session.Ended, OwedMessages: 1}},
		{"", "+OK", session.Answer, session.Status{Verb: "END", Phase: session.Ended}},
	}
	for _, step := range steps {
		if step.sent != "" {
			s.Sent([]byte(step.sent))
		}
		if step.received != "" {
			m := session.Message{Kind: step.received[0], Text: []byte(step.received[1:])}
			assert.Equal(t, step.turn, s.Role(m), step)
			s.Received(m)
		}
		status := s.Status()
		if step.sent != "" {
			assert.Equal(t, step.sent, string(status.Command))
		}
		status.Command = nil
		assert.Equal(t, step.want, status, step)
	}
	assert.Equal(t, fwp.Hi{Salt: "salt", Iterations: 3, Protected: true}, s.Hi())
	assert.Equal(t, fwp.Ended, s.Conn())
	assert.True(t, s.IsGreeted())
	assert.Equal(t, "w1", s.Worker())
}

// An END before the HELLO ends nothing until it is answered.
func TestEndBeforeHello(t *testing.T) {
	t.Parallel()
	s := new(fwpsession.State)
	s.Sent([]byte("END\r\n"))
	assert.Equal(t, fwp.NotIdentified, s.Conn())
	s.Received(session.Message{Kind: '-'})
	assert.Equal(t, fwp.Ended, s.Conn())
}

func TestReadHi(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*fwp.Hi{
		`HI {"v":2}`:                 {},
		`HI {"v":"x","s":1}`:         {},
		`HI {"s":"a","i":2}`:         {Salt: "a", Iterations: 2, Protected: true},
		`HI {"s":"a","i":"2"} `:      {Salt: "a", Iterations: 2, Protected: true},
		`HI {"s":"a"}`:               {Salt: "a"},
		`HI {"i":2}`:                 {Iterations: 2},
		`HI {"s":"a","i":2.5}`:       {Salt: "a"},
		`HI`:                         nil,
		`HI 1`:                       nil,
		`HI null`:                    nil,
		`HI {"v":2} {}`:              nil,
		`HI {"v":2}}`:                nil,
		`hi {"v":2,"s":"a","i":100}`: nil,
	} {
		hi, ok := fwpsession.ReadHi(session.Message{Kind: '+', Text: []byte(text)})
		assert.Equal(t, want != nil, ok, text)
		if want != nil {
			assert.Equal(t, *want, hi, text)
		}
	}
}
