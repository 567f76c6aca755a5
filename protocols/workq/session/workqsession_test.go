package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/session"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
)

const id = "6ba7b810-9dad-41d1-80b4-00c04fd430c4"

func TestMessages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"+OK\r\n":                               `+OK`,
		"OK\r\n":                                `OK`,
		"+OK 0\r\n":                             `+OK 0`,
		"-TIMEOUT\r\n":                          `-TIMEOUT`,
		"-CLIENT-ERROR no\r\n":                  `-CLIENT-ERROR no`,
		"+OK 1\r\n" + id + " 1 4\r\n\r\nx \r\n": `+OK 1 ` + id + ` 1 4 "\r\nx "`,
		"+OK 1\r\n" + id + " p 10 2\r\nok\r\n":  `+OK 1 ` + id + ` p 10 2 "ok"`,
		"+OK 1\r\nping 2\r\na 07\r\nb -1\r\n":   `+OK 1 ping 2 {"a":"07","b":-1}`,
		"+OK 1\r\np 2\r\na 1\r\npayload 1\r\n":  `+OK 1 p 2 {"a":1,"payload":"1"}`,
	} {
		r, s := workqsession.Codec{}.Begin(strings.NewReader(text))
		s.Sent([]byte("fail " + id + " 0\r\n\r\n"))
		m, err := r.Read()
		require.NoError(t, err)
		assert.Equal(t, want, workqsession.Codec{}.Text(m))
	}
}

// OK without its sign is a reply where the document writes it so, and nowhere else.
func TestBareReplies(t *testing.T) {
	t.Parallel()
	r, s := workqsession.Codec{}.Begin(strings.NewReader("OK\r\nOK\r\n"))
	s.Sent([]byte("inspect server\r\ndelete " + id + "\r\n"))
	_, err := r.Read()
	require.NoError(t, err)
	_, err = r.Read()
	assert.EqualError(t, err, `reply syntax (sign): byte 4: expected + in front of OK, got "OK"`)
}

func TestState(t *testing.T) {
	t.Parallel()
	_, s := workqsession.Codec{}.Begin(nil)
	s.Sent([]byte("add " + id + " ping 1 1 4\r\n"))
	assert.Equal(t, 0, s.Status().OwedMessages, "the block belongs to the command")
	s.Sent([]byte("pong\r\nlease ping 1\r\n"))
	assert.Equal(t, 2, s.Status().OwedMessages)
	assert.Equal(t, "lease", s.Status().Verb)
	assert.Equal(t, session.Serving, s.Status().Phase)
	s.Received(session.Message{})
	s.Received(session.Message{})
	assert.Equal(t, session.Unasked, s.Role(session.Message{}))
	s.Sent([]byte("add 1 ping 1 1 4\r\npong\r\n"))
	s.Received(session.Message{})
	assert.Equal(t, session.Notice, s.Role(session.Message{}))
	assert.Equal(t, session.Restricted, s.Status().Phase)
}
