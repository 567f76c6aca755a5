package situations

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/protocols/workq"
	"github.com/fwpsuite/fwp/reports"
)

// conn is a connection of the program. The lock of the session guards what is below it.
type conn struct {
	net.Conn
	session *session
	name    string

	input        []byte // of the client, what is no whole command yet
	output       []byte // to the server
	replies      []byte // of the server, what is no whole reply yet
	pendingVerbs []string
	report       *report // that is not answered
	count        int     // of commands
	lastLease    *lease  // that has brought a job
	isShort      bool    // a command is not over behind the bytes that came last, at partial
	shortAt      time.Duration
	isUnreadable bool // what the client sends cannot be told apart any more
	isClosed     bool
}

// addConn returns the connection as it is looked at; nil if there are too many.
func (s *session) addConn(nc net.Conn) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.openConns) >= maxOpen {
		return nil
	}
	s.conns++
	c := &conn{Conn: nc, session: s, name: fmt.Sprint("c", s.conns)}
	s.openConns = append(s.openConns, c)
	s.Show(reports.Line{At: s.Now(), Conn: c.name, From: reports.FromSuite, Text: "opened"})
	return c
}

// Read returns whole commands. A line that is nearly right is mended, so that the program can be tested further.
func (c *conn) Read(p []byte) (int, error) {
	buffer := make([]byte, 32<<10)
	for {
		c.session.mu.Lock()
		n := copy(p, c.output)
		c.output = c.output[n:]
		c.session.mu.Unlock()
		if n > 0 {
			return n, nil
		}
		n, err := c.Conn.Read(buffer)
		c.session.mu.Lock()
		c.receive(buffer[:n])
		c.session.mu.Unlock()
		if err != nil && n == 0 {
			c.end("closed by the client")
			return 0, err
		}
	}
}

// receive takes bytes of the client. The lock is held.
func (c *conn) receive(data []byte) {
	c.input = append(c.input, data...)
	for !c.isUnreadable && len(c.input) > 0 {
		c.mendLine()
		command, n, err := workq.ParseCommand(c.input)
		if err == workq.ErrShort { //nolint:errorlint // it is never wrapped
			c.isShort, c.shortAt = true, c.session.Now()
			return
		}
		c.isShort = false
		raw := c.input
		if n > 0 {
			raw = c.input[:n]
		}
		c.isUnreadable = err != nil // what is behind it may follow from it
		c.command(command, raw, err)
		c.output = append(c.output, raw...)
		c.input = slices.Clone(c.input[len(raw):])
	}
	if c.isUnreadable {
		c.output = append(c.output, c.input...)
		c.input = nil
	}
}

// mendLine gives the first line the form that it should have. The lock is held.
func (c *conn) mendLine() {
	end := bytes.IndexByte(c.input, '\n')
	if end < 0 {
		return
	}
	line, ok := strings.CutSuffix(string(c.input[:end]), "\r")
	if !ok {
		c.session.DecideBroken("CLI-05", "a command line that ends with CRLF",
			"a line ends with LF only: "+excerpt([]byte(line)),
			c.line(reports.FromClient, excerpt([]byte(line))))
	}
	if _, err := workq.ParseLine(line); err != nil {
		mended := mend(line)
		if _, mendErr := workq.ParseLine(mended); mendErr != nil {
			mended = line
		} else {
			c.session.DecideBroken("CLI-06", "a command as in the document", err.Error()+": "+excerpt([]byte(line)),
				c.line(reports.FromClient, excerpt([]byte(line))))
		}
		line = mended
	}
	c.input = slices.Concat([]byte(line+"\r\n"), c.input[end+1:])
}

// mend returns a command line with its verb in small letters, one space between its words, as many words as it may have
// and a number without a sign, a unit or zeros at its beginning.
func mend(line string) string {
	words := strings.Fields(line)
	if len(words) < 2 {
		return line
	}
	words[0] = strings.ToLower(words[0])
	if isReport := words[0] == workq.Complete || words[0] == workq.Fail; isReport && len(words) > 3 {
		words = words[:3]
	}
	digits, ok := number(words[len(words)-1])
	switch {
	case ok:
		words[len(words)-1] = digits
	case words[0] == workq.Lease: // its wait-timeout is missing
		words = append(words, "1000")
	}
	return strings.Join(words, " ")
}

// number returns the digits at the beginning of a word, behind a sign and zeros, and whether there are any.
func number(word string) (digits string, ok bool) {
	digits = strings.TrimLeft(word, "-+")
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	return cmp.Or(strings.TrimLeft(digits, "0"), "0"), digits != ""
}

// line returns a line of the conversation.
func (c *conn) line(from, words string) reports.Line {
	return reports.Line{At: c.session.Now(), Conn: c.name, From: from, Text: words}
}

// excerpt returns bytes as the conversation has them.
func excerpt(b []byte) string {
	const limit = 200
	if len(b) > limit {
		return text.Printable(string(b[:limit])) + fmt.Sprintf("... (%d bytes)", len(b))
	}
	return text.Printable(string(b))
}

// Write shows a reply before the client can have it.
func (c *conn) Write(p []byte) (int, error) {
	c.session.mu.Lock()
	c.replies = append(c.replies, p...)
	for len(c.replies) > 0 {
		reply, n, err := workq.ParseReply(c.replies)
		if err != nil {
			break
		}
		c.recordReply(reply, c.replies[:n])
		c.replies = slices.Clone(c.replies[n:])
	}
	c.session.mu.Unlock()
	return c.Conn.Write(p)
}

// recordReply takes a reply. The lock is held.
func (c *conn) recordReply(reply workq.Reply, raw []byte) {
	s, verb := c.session, ""
	if len(c.pendingVerbs) > 0 {
		verb, c.pendingVerbs = c.pendingVerbs[0], c.pendingVerbs[1:]
	}
	l := c.line(reports.FromServer, strings.TrimSuffix(excerpt(raw), `\r\n`))
	s.Show(l)
	switch {
	case verb == workq.Lease && reply.Error == workq.Timeout:
		s.idleLeases++
	case verb == workq.Lease && len(reply.Records) > 0:
		if k := s.jobs[reply.Records[0].Head[0]]; k != nil {
			c.lastLease = &lease{at: l.At}
			k.leases = append(k.leases, c.lastLease)
		}
	case c.report != nil:
		c.report.isAnswered = true
		c.report = nil
	}
}

// Close ends the connection for the server.
func (c *conn) Close() error {
	c.end("closed by the server")
	return c.Conn.Close()
}

func (c *conn) end(reason string) {
	s := c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.isClosed {
		return
	}
	c.isClosed = true
	s.openConns = slices.DeleteFunc(s.openConns, func(o *conn) bool { return o == c })
	s.Show(reports.Line{At: s.Now(), Conn: c.name, From: reports.FromSuite, Text: reason, IsEnd: true})
}
