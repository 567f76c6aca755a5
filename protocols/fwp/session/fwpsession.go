// Package session is FWP as [session.Protocol]: it reads RESP, and the server owes
// one reply to each line that a client sends.
package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Codec is the client's side of FWP.
type Codec struct{}

// Begin returns a conversation in which the server owes its HI. (Not Identified
// State)
func (Codec) Begin(from io.Reader) (session.Reader, session.State) {
	pending := &pendingVerbs{verbs: []string{""}} // of the greeting
	return &reader{Reader: fwp.NewReader(from, greetingLimit), pending: pending},
		&State{pendingReplies: 1, pending: pending}
}

// The limits of what is read, in bytes and in JSON values. The specification states none; a greeting has a few short
// fields, and what the suite sends, which a server may send back, has at most 8 MiB and few values.
const (
	greetingLimit = 64 << 10
	replyLimit    = 16 << 20
	valuesLimit   = 100_000
)

// Text returns a reply the way transcripts write it.
func (Codec) Text(m session.Message) string {
	if m.Lapse != nil && strings.HasPrefix(m.Lapse.Rule, session.ImpossibleReply) {
		return m.Lapse.Got
	}
	switch fwp.Kind(m.Kind) {
	case fwp.NullBulk:
		return "$-1"
	case fwp.Array:
		return fmt.Sprintf("* (array of %d)", len(m.Parts))
	}
	return string(rune(m.Kind)) + text.Excerpt(m.Text)
}

// Reply returns a message as fwp has it. Of an array the elements are simple strings.
func Reply(m session.Message) fwp.Reply {
	r := fwp.Reply{Kind: fwp.Kind(m.Kind), Text: m.Text}
	if r.Kind == fwp.Integer {
		r.Int, _ = strconv.ParseInt(string(m.Text), 10, 64) // the reader has checked it
		r.Text = nil
	}
	for _, p := range m.Parts {
		r.Array = append(r.Array, fwp.Reply{Kind: fwp.SimpleString, Text: p})
	}
	return r
}

// Message returns a reply as a conversation has it, in memory of its own. The text
// of an integer is its number; the parts of an array are the texts of its elements.
func Message(r fwp.Reply) session.Message {
	m := session.Message{Kind: byte(r.Kind), Text: bytes.Clone(r.Text)}
	if r.Kind == fwp.Integer {
		m.Text = strconv.AppendInt(nil, r.Int, 10)
	}
	for _, e := range r.Array {
		m.Parts = append(m.Parts, Message(e).Text)
	}
	return m
}

type reader struct {
	*fwp.Reader
	pending *pendingVerbs
}

func (r *reader) Read() (session.Message, error) {
	reply, err := r.Reader.Read()
	r.SetLimit(replyLimit) // of those after the greeting
	if err == nil && number.Exceeds(reply.Text, valuesLimit) {
		err = &fwp.SyntaxError{
			Rule: fwp.RuleTooLong, Offset: r.Offset(), Kind: reply.Kind,
			Expected: fmt.Sprintf("JSON of at most %d values, which is the most that is compared", valuesLimit),
			Got:      strconv.Quote(text.Excerpt(reply.Text)),
		}
	}
	if syntax, ok := errors.AsType[*fwp.SyntaxError](err); ok {
		return session.Message{}, r.pending.readError(syntax)
	}
	m := Message(reply)
	if err != nil {
		return m, err
	}
	if lapse := r.Lapse(); lapse != nil { // a line end shows elsewhere, too: the kind is told in its place
		m.Lapse = syntaxError(lapse)
	}
	return r.pending.mend(m, r.Offset()), nil
}

// TolerateLapses has replies be read on whose grammar is wrong, or whose kind, and whose meaning is certain.
func (r *reader) TolerateLapses() {
	r.pending.isReadingOn = true
	r.ReadOn()
}

func syntaxError(e *fwp.SyntaxError) *session.SyntaxError {
	return &session.SyntaxError{
		Rule: e.Rule.String(), Offset: e.Offset, Expected: e.Expected, Got: e.Got,
		IsLimit: e.Limit(),
	}
}

func (r *reader) Buffered() int { return len(r.Reader.Buffered()) }

// Pending treats an unfinished bulk string as one that is truncated, and anything
// else as a line without its end.
func (r *reader) Pending() (missing, rule string) {
	switch missing = r.Reader.Pending(); {
	case missing == "":
		return "", ""
	case r.Lapse() != nil:
		return missing, r.Lapse().Rule.String()
	case strings.Contains(missing, "bulk string"):
		return missing, fwp.RuleTruncated.String()
	}
	return missing, fwp.RuleLineEnd.String()
}

// State is the state of one connection, as its client knows it. In the zero State no
// HI is owed.
type State struct {
	conn           fwp.State
	hi             fwp.Hi
	isGreeted      bool // hi was received
	worker         string
	lastWrite      []byte // by the last write
	line           fwp.Command
	pendingReplies int
	pending        *pendingVerbs // nil: no reader has the answers
}

// Conn returns the state of the connection. (Client Lifecycle)
func (s *State) Conn() fwp.State { return s.conn }

// Hi returns the server's greeting, the zero Hi before it was received.
func (s *State) Hi() fwp.Hi { return s.hi }

// IsGreeted reports whether a HI was received.
func (s *State) IsGreeted() bool { return s.isGreeted }

// Worker returns the worker id of the last HELLO, empty if it has none.
func (s *State) Worker() string { return s.worker }

// Sent counts a reply for each line.
func (s *State) Sent(b []byte) {
	s.pendingReplies += bytes.Count(b, []byte{'\n'})
	s.pending.record(b)
	s.lastWrite, s.line = b, fwp.SplitCommand(bytes.TrimRight(b, "\r\n"))
	if s.line.Verb == fwp.HELLO {
		var hello struct {
			WID any `json:"wid"`
		}
		_ = json.Unmarshal(s.line.Args, &hello) // a HELLO that is not JSON has no worker id
		s.worker, _ = hello.WID.(string)
	}
	if s.line.Verb == fwp.END && s.conn != fwp.NotIdentified {
		s.conn = fwp.Ended
	}
}

// Role returns Answer or Unasked; FWP has no notices.
func (s *State) Role(session.Message) session.MessageRole {
	if s.pendingReplies > 0 {
		return session.Answer
	}
	return session.Unasked
}

// Received updates the state of the connection.
func (s *State) Received(m session.Message) {
	s.pendingReplies--
	if hi, ok := ReadHi(m); ok && s.conn == fwp.NotIdentified {
		s.hi, s.isGreeted = hi, true
	}
	s.conn = s.conn.Next(s.line.Verb, Reply(m))
}

// Status returns the present state of the conversation.
func (s *State) Status() session.Status {
	status := session.Status{OwedMessages: s.pendingReplies, Verb: s.line.Verb, Command: s.lastWrite,
		Phase: phases[s.conn]}
	if status.Phase != session.Greeting && status.Phase != session.Ended {
		status.Farewell = []byte(fwp.END + "\r\n")
	}
	return status
}

var phases = [...]session.Phase{
	fwp.NotIdentified: session.Greeting,
	fwp.Identified:    session.Serving,
	fwp.Quiet:         session.Restricted,
	fwp.Terminating:   session.Restricted,
	fwp.Ended:         session.Ended,
}

// ReadHi returns those fields of a greeting that are needed to continue, however bugy
// it is otherwise: only the checks about HI test it. It returns false if there is no
// JSON object behind "HI ".
func ReadHi(m session.Message) (hi fwp.Hi, ok bool) {
	text, ok := bytes.CutPrefix(m.Text, []byte("HI "))
	if !ok {
		return hi, false
	}
	v, _ := number.Decode(text)
	fields, ok := v.(map[string]any)
	if !ok {
		return hi, false
	}
	hi.Salt, _ = fields["s"].(string)
	if i, hasIterations := fields["i"]; hasIterations {
		var err error
		hi.Iterations, err = strconv.Atoi(fmt.Sprint(i))
		hi.Protected = err == nil && hi.Salt != ""
	}
	return hi, true
}
