package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
)

// TestEmptyBulkString: an empty bulk string is a null, wrongly written, where a null may come, and else what it is.
func TestEmptyBulkString(t *testing.T) {
	t.Parallel()
	for verb, null := range map[string]bool{"FETCH": true, "INFO": false, "BEAT": false, "PUSH": false} {
		r, s := fwpsession.Codec{}.Begin(strings.NewReader("+HI {}\r\n$0\r\n\r\n"))
		r.TolerateLapses()
		s.Sent([]byte(verb + "\r\n"))
		_, err := r.Read()
		require.NoError(t, err)
		m, err := r.Read()
		require.NoError(t, err)
		assert.Equal(t, null, m.Lapse != nil && m.Lapse.Rule == fwp.RuleNull.String(), verb)
		assert.Equal(t, null, fwp.Kind(m.Kind) == fwp.NullBulk, verb)
	}
}

// TestReplyOfAnotherKind: what a reply certainly means is read, and its kind is the departure.
func TestReplyOfAnotherKind(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ verb, reply, means string }{
		{"PUSH {}", "+ok\r\n", "+OK"},
		{"ACK {}", "$2\r\nOK\r\n", "+OK"},
		{"BEAT {}", "+OK \r\n", "+OK"},
		{"INFO", "+{}\r\n", "${}"},
		{"FETCH", "+{\"jid\":\"a\"}\r\n", `${"jid":"a"}`},
		{"FETCH q", "*0\r\n", "$-1"},
		{"FETCH q", "$4\r\nnull\r\n", "$-1"},
		{"PUSH {}", "+OK\r\n", ""},
		{"PUSH {}", "-ok\r\n", ""},
		{"PUSH {}", ":1\r\n", ""},
		{"BEAT {}", "+{\"state\":\"quiet\"}\r\n", ""},
		{"INFO", "+OK\r\n", ""},
		{"FETCH", "+OK\r\n", ""},
		{"FETCH", "$2\r\n[]\r\n", ""},
		{"NONE", "+ok\r\n", ""},
	} {
		for _, readOn := range []bool{true, false} {
			r, s := fwpsession.Codec{}.Begin(strings.NewReader("+HI {}\r\n" + test.reply))
			if readOn {
				r.TolerateLapses()
			}
			s.Sent([]byte(test.verb[:2])) // a line that is sent in pieces
			s.Sent([]byte(test.verb[2:] + "\r\nNEXT\r\n"))
			hi, err := r.Read()
			require.NoError(t, err)
			assert.Nil(t, hi.Lapse)
			m, err := r.Read()
			require.NoError(t, err)
			if !readOn || test.means == "" {
				assert.Nil(t, m.Lapse, test)
				continue
			}
			verb := fwp.SplitCommand([]byte(test.verb)).Verb
			assert.Equal(t, session.ImpossibleReply+verb, m.Lapse.Rule, test)
			assert.Equal(t, m.Lapse.Got, fwpsession.Codec{}.Text(m), "a transcript shows what was received")
			m.Lapse = nil
			assert.Equal(t, test.means, fwpsession.Codec{}.Text(m))
		}
	}
}
