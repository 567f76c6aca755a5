package law_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
)

// observed keeps what an observer gets.
type observed struct{ log []string }

func (o *observed) Sent(all []byte, _ time.Time) { o.log = append(o.log, ">"+string(all)) }
func (o *observed) Ended(ending session.Ending)  { o.log = append(o.log, ending.String()) }
func (o *observed) Received(r session.Received) {
	if r.Broken != nil {
		o.log = append(o.log, "broken")
		return
	}
	o.log = append(o.log, "<"+string(r.Message.Text))
}

// TestTap: what an observer gets of bytes, ">" being those of the client, and "!" the end of the connection.
func TestTap(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ bytes, want string }{
		"messages":             {"<+HI {}\r\n|>INFO\r\n|<+OK\r\n", "<HI {}|>INFO\r\n|<OK"},
		"a message in parts":   {"<+H|<I {}\r|<\n", "<HI {}"},
		"messages at a time":   {"<+HI {}\r\n+OK\r\n", "<HI {}|<OK"},
		"an LF alone":          {"<+HI {}\n", "<HI {}"},
		"what is no message":   {"<+HI {}\r\n|<?|<+OK\r\n|>END\r\n|!", "<HI {}|broken"},
		"nothing":              {">|<", ""},
		"behind the end":       {"!|!|>END\r\n|<+OK\r\n", "<close>"},
		"behind half of it":    {"<+HI {}\r\n|/|<+OK\r\n|!", "<HI {}|<half-close>|<OK|<close>"},
		"parts of a command":   {">PUSH |>{}\r\n", ">PUSH |>{}\r\n"},
		"a message not begun":  {"<+HI {}\r\n|!", "<HI {}|<close>"},
		"a part of a message ": {"<+HI|!", "<close>"},
	} {
		var o observed
		tap := law.NewTap(fwpsession.Codec{}, &o)
		for event := range strings.SplitSeq(test.bytes, "|") {
			switch b := []byte(event[1:]); event[0] {
			case '>':
				tap.RecordSent(b, time.Now())
			case '<':
				tap.RecordReceived(b, time.Now())
			case '/':
				tap.Ended(session.HalfClosed)
			default:
				tap.Ended(session.Closed)
			}
		}
		assert.Equal(t, test.want, strings.Join(o.log, "|"), name)
	}
}

// TestTapped: everything passes through, and is judged.
func TestTapped(t *testing.T) {
	t.Parallel()
	local, remote := net.Pipe()
	l := &echo{sent: map[int]string{}}
	w := law.NewWatch(law.Definition{Start: func(law.Terms) law.Law { return l }}, law.Terms{})
	nc := w.Tapped(local, fwpsession.Codec{})
	go func() {
		_, _ = io.ReadFull(remote, make([]byte, 5))
		_, _ = remote.Write([]byte("+OK\r\n"))
		_ = remote.Close()
	}()
	b := make([]byte, 100)
	require.NoError(t, nc.SetReadDeadline(time.Now().Add(-time.Second)))
	_, err := nc.Read(b)
	require.Error(t, err, "which ends nothing")
	require.NoError(t, nc.SetReadDeadline(time.Time{}))
	_, err = nc.Write([]byte("END\r\n"))
	require.NoError(t, err)
	n, err := nc.Read(b)
	require.NoError(t, err)
	assert.Equal(t, "+OK\r\n", string(b[:n]))
	_, err = nc.Read(b)
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, nc.Close())
	found := w.Occurrences()
	require.Len(t, found, 1)
	assert.Empty(t, found[0].Conn)
	assert.Equal(t, "END\r\n,close", strings.Join(l.log, ","))
	require.ErrorIs(t, nc.(interface{ CloseWrite() error }).CloseWrite(), errors.ErrUnsupported, "a pipe has no half")
}
