// Package session is Workq as [session.Protocol]: the client speaks first, a command may have a block behind its
// line, and the server owes one reply to each command.
package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// The kinds of messages: a success, and the four errors.
const (
	OK          = '+'
	ClientError = 'C'
	ServerError = 'S'
	Timeout     = 'T'
	NotFound    = 'N'
)

// Codec is the client's side of Workq.
type Codec struct{}

// replyLimit is how many bytes of a reply are read. The document states no limit; a job has at most 1 MiB.
const replyLimit = 16 << 20

// Begin returns a conversation in which nothing is owed. (Protocol)
func (Codec) Begin(from io.Reader) (session.Reader, session.State) {
	s := &State{}
	return reader{workq.NewReader(from, replyLimit), s}, s
}

// Text returns a reply on one line: what stands on lines of its own is separated by blanks, a block is quoted, and the
// keys of inspect are a JSON object.
func (Codec) Text(m session.Message) string {
	if m.Kind != OK {
		return strings.TrimSpace("-" + words[m.Kind] + " " + text.Excerpt(m.Text))
	}
	all := []string{string(m.Text)}
	for i, p := range m.Parts {
		if isBlock(m.Parts, i) {
			all = append(all, `"`+text.Excerpt(p)+`"`)
		} else {
			all = append(all, text.Excerpt(p))
		}
	}
	return strings.Join(all, " ")
}

var words = map[byte]string{
	ClientError: workq.ClientError, ServerError: workq.ServerError, Timeout: workq.Timeout, NotFound: workq.NotFound,
}

// Shape is what the records of a reply are.
type Shape uint8

// The shapes.
const (
	NoRecords Shape = iota // OK alone
	Leased                 // a job with its payload
	Result                 // the result of a job
	Inspected              // keys; no record at all too
)

// partCounts has the number of parts that a record of each shape has.
var partCounts = map[Shape]int{Leased: 5, Result: 4, Inspected: 3}

// ShapeOf returns the shape of a success, and how many records it has.
func ShapeOf(m session.Message) (s Shape, records int) {
	if len(m.Parts) == 0 {
		return NoRecords, 0
	}
	records, _ = strconv.Atoi(string(m.Parts[0])) // the reader has checked it
	for s, n := range partCounts {
		if records > 0 && len(m.Parts)-1 == n*records {
			return s, records
		}
	}
	return Inspected, records
}

func isBlock(parts [][]byte, i int) bool {
	s, _ := ShapeOf(session.Message{Parts: parts})
	n := partCounts[s]
	return i > 0 && s != Inspected && i%n == 0
}

// Message returns a reply as a conversation has it. Its parts are the count of records, and of each record the words of
// its line, and the block or the keys as a JSON object. Its text is OK with or without the sign, or the description of
// an error.
func Message(r workq.Reply) session.Message {
	for kind, word := range words {
		if r.Error == word {
			return session.Message{Kind: kind, Text: []byte(r.Text)}
		}
	}
	m := session.Message{Kind: OK, Text: []byte("+OK")}
	if r.Bare {
		m.Text = m.Text[1:]
	}
	if r.Counted {
		m.Parts = append(m.Parts, strconv.AppendInt(nil, int64(len(r.Records)), 10))
	}
	for _, record := range r.Records {
		for _, word := range record.Head {
			m.Parts = append(m.Parts, []byte(word))
		}
		if record.Block != nil {
			m.Parts = append(m.Parts, record.Block)
		} else {
			m.Parts = append(m.Parts, object(record.Keys))
		}
	}
	return m
}

// plainNumber matches a number that JSON writes in the same way.
var plainNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,19})$`)

// object returns keys as a JSON object in their order: numbers as numbers, anything else as strings. A payload is
// always a string.
func object(keys []workq.Key) []byte {
	b := []byte{'{'}
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(k.Name) // strings can always be written
		b = append(append(b, name...), ':')
		if plainNumber.MatchString(k.Value) && !strings.HasPrefix(k.Name, "payload") || k.Name == "payload-size" {
			b = append(b, k.Value...)
			continue
		}
		value, _ := json.Marshal(k.Value) // as above
		b = append(b, value...)
	}
	return append(b, '}')
}

type reader struct {
	*workq.Reader
	state *State
}

// Read reads a reply. Only fail and inspect may be answered with OK without its sign: there the document writes it both
// ways. (Protocol; fail, Reply; inspect, Reply)
func (r reader) Read() (session.Message, error) {
	at := r.Offset()
	reply, err := r.Reader.Read()
	if err == nil && !r.state.nextBare() && reply.Bare {
		return session.Message{}, &session.SyntaxError{
			Rule: string(workq.RuleSign), Offset: at, Expected: "+ in front of OK", Got: `"OK"`,
		}
	}
	if syntax, ok := errors.AsType[*workq.SyntaxError](err); ok {
		return session.Message{}, syntaxError(syntax)
	}
	if err != nil {
		return session.Message{}, err
	}
	m := Message(reply)
	if lapse := r.Lapse(); lapse != nil {
		m.Lapse = syntaxError(lapse)
	}
	return m, nil
}

// TolerateLapses has lines that end with LF alone be read on.
func (r reader) TolerateLapses() { r.AcceptLapses() }

func syntaxError(e *workq.SyntaxError) *session.SyntaxError {
	return &session.SyntaxError{
		Rule: string(e.Rule), Offset: e.Offset, Expected: e.Expected, Got: e.Got, IsLimit: e.Rule == workq.RuleTooLong,
	}
}

func (r reader) Buffered() int { return len(r.Reader.Buffered()) }

func (r reader) Pending() (detail, rule string) {
	detail, violation := r.Reader.Pending()
	return detail, string(violation)
}

// State is the state of one connection, as its client knows it: a new connection is served at once.
type State struct {
	mu     sync.Mutex
	bareOK []bool // of the commands whose replies were not read: OK may be without its sign; guarded by mu

	partial        []byte // of a command that is not complete yet
	lastCommand    []byte // the last complete command
	pendingReplies int
	// by a malformed command with a block, after which the document leaves open where the next one begins
	isLost bool
}

// nextBare reports, for the next reply that is read, whether OK may be without its sign.
func (s *State) nextBare() (bare bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.bareOK) > 0 {
		bare, s.bareOK = s.bareOK[0], s.bareOK[1:]
	}
	return bare
}

func (s *State) expectReply(verb string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bareOK = append(s.bareOK, verb == workq.Fail || strings.HasPrefix(verb, workq.Inspect))
}

// Partial returns what was sent of a command that is not complete yet.
func (s *State) Partial() []byte { return s.partial }

// Sent implements [session.State].
func (s *State) Sent(b []byte) {
	for s.partial = append(slices.Clip(s.partial), b...); len(s.partial) > 0; {
		c, n, err := workq.ParseCommand(s.partial)
		if errors.Is(err, workq.ErrShort) {
			return
		}
		n = cmp.Or(n, len(s.partial))
		s.lastCommand, s.partial = s.partial[:n:n], s.partial[n:]
		s.pendingReplies++
		s.expectReply(c.Verb)
		s.isLost = s.isLost || err != nil && strings.Count(string(s.lastCommand), "\n") > 1
	}
}

// Role implements [session.State].
func (s *State) Role(session.Message) session.MessageRole {
	switch {
	case s.pendingReplies > 0:
		return session.Answer
	case s.isLost:
		return session.Notice
	}
	return session.Unasked
}

// Received implements [session.State].
func (s *State) Received(session.Message) { s.pendingReplies = max(0, s.pendingReplies-1) }

// Status implements [session.State]. (Protocol)
func (s *State) Status() session.Status {
	status := session.Status{Phase: session.Serving, OwedMessages: s.pendingReplies, Command: s.lastCommand}
	if s.isLost {
		status.Phase = session.Restricted
	}
	verb, _, _ := strings.Cut(string(s.lastCommand), " ")
	status.Verb = strings.TrimRight(verb, "\r\n")
	return status
}
