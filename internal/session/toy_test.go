package session_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/session"
)

// toy is a protocol of lines: "!..." is a notice, "&N" is followed by N blocks that are
// each announced by "=LENGTH", every other line is an answer. Lines end with LF, and a
// CR is an error. The peer greets.
type toy struct{}

func (toy) Begin(from io.Reader) (session.Reader, session.State) {
	return &toyReader{in: bufio.NewReader(from)}, &toyState{owedMessages: 1}
}

func (toy) Text(m session.Message) string { return string(m.Kind) + string(m.Text) }

// toyReader keeps what it has read of an unfinished message, so that it can go on.
type toyReader struct {
	in        *bufio.Reader
	line      []byte // of the unfinished message
	all       int64
	part      session.Message
	remaining int // blocks
}

var errToy = errors.New("no number")

func (r *toyReader) Read() (session.Message, error) {
	for {
		line, err := r.readLine()
		if err != nil {
			return session.Message{}, err
		}
		switch {
		case r.remaining > 0:
			block := make([]byte, number(line[1:]))
			if _, err := io.ReadFull(r.in, block); err != nil {
				return session.Message{}, err
			}
			r.part.Parts = append(r.part.Parts, block)
			r.remaining--
		case len(line) > 0 && line[0] == '&':
			r.remaining, r.part = number(line[1:]), session.Message{Kind: '&'}
		case len(line) > 0 && line[0] == '!':
			return session.Message{Kind: '!', Text: line[1:]}, nil
		default:
			return session.Message{Kind: '+', Text: line}, nil
		}
		if r.remaining == 0 {
			return r.part, nil
		}
	}
}

func (r *toyReader) readLine() ([]byte, error) {
	data, err := r.in.ReadBytes('\n')
	r.line = append(r.line, data...)
	r.all += int64(len(data))
	if i := bytes.IndexByte(r.line, '\r'); i >= 0 {
		return nil, &session.SyntaxError{Rule: "no CR", Offset: r.all - int64(len(r.line)-i), Expected: "LF", Got: `"\r"`}
	}
	if err != nil {
		return nil, err
	}
	line := bytes.TrimSuffix(r.line, []byte("\n"))
	r.line = nil
	return line, nil
}

func number(b []byte) int {
	n, err := strconv.Atoi(string(b))
	if err != nil {
		panic(errToy)
	}
	return n
}

func (r *toyReader) Pending() (words, rule string) {
	if len(r.line) == 0 {
		return "", ""
	}
	return "a line after " + strconv.Quote(string(r.line)), "line end"
}

func (r *toyReader) Buffered() int { return r.in.Buffered() }

func (r *toyReader) TolerateLapses() {}

type toyState struct {
	owedMessages int
	phase        session.Phase
	verb         string
	sent         []byte
}

func (s *toyState) Sent(b []byte) {
	s.owedMessages += bytes.Count(b, []byte("\n"))
	s.sent = b
	s.verb = string(bytes.TrimSpace(b))
}

func (s *toyState) Role(m session.Message) session.MessageRole {
	switch {
	case m.Kind == '!':
		return session.Notice
	case s.owedMessages > 0:
		return session.Answer
	}
	return session.Unasked
}

func (s *toyState) Received(m session.Message) {
	if s.Role(m) == session.Answer {
		s.owedMessages--
		s.phase = session.Serving
	}
}

func (s *toyState) Status() session.Status {
	st := session.Status{Phase: s.phase, OwedMessages: s.owedMessages, Verb: s.verb, Command: s.sent}
	if s.phase == session.Serving {
		st.Farewell = []byte("bye\n")
	}
	return st
}

// inBubble runs a test in virtual time on a conversation with a peer that the test
// plays itself: it returns our side, and the network connection of the peer.
func inBubble(t *testing.T, config session.Config, test func(t *testing.T, c *session.Conn, peer net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ours, peer := pair(t)
		c := session.New(ours, toy{}, config)
		defer func() { _ = c.End(session.Closed) }()
		test(t, c, peer)
	})
}

func pair(t *testing.T) (ours, peer net.Conn) {
	t.Helper()
	place := memnet.NewPlace()
	l := place.MustListen()
	ours = place.MustDial()
	peer, err := l.Accept()
	require.NoError(t, err)
	require.NoError(t, l.Close())
	t.Cleanup(func() { _ = peer.Close() })
	return ours, peer
}

// peerWrite writes as the peer.
func peerWrite(t *testing.T, peer net.Conn, text string) {
	t.Helper()
	_, err := io.WriteString(peer, text)
	require.NoError(t, err)
}

// peerRead reads as the peer, all until our side ends, and sends it.
func peerRead(peer net.Conn) <-chan string {
	all := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(peer)
		all <- string(b)
	}()
	return all
}

// extraWithin is a deadline that no test reaches.
func extraWithin() time.Time { return time.Now().Add(time.Minute) }

func take(t *testing.T, c *session.Conn) session.Received {
	t.Helper()
	r, ok := c.Take(context.Background(), extraWithin())
	require.True(t, ok, "nothing came")
	return r
}
