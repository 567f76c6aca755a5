package session

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// pendingVerbs has the verbs of the commands whose answers were not read, the oldest first.
type pendingVerbs struct {
	isReadingOn bool // the reader reads on
	mu          sync.Mutex
	verbs       []string
	lineStart   []byte // the beginning of a line that is not complete
}

// longestVerb is how much of a line is kept until it is complete.
const longestVerb = 16

// record records the commands in bytes that are sent, if a reader needs them.
func (a *pendingVerbs) record(b []byte) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for line := range bytes.Lines(b) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			a.lineStart = append(a.lineStart, line[:min(len(line), longestVerb-len(a.lineStart))]...)
			break
		}
		line = slices.Concat(a.lineStart, line[:min(len(line), longestVerb)])
		a.verbs, a.lineStart = append(a.verbs, fwp.SplitCommand(bytes.TrimRight(line, "\r\n")).Verb), nil
	}
}

// next returns the verb of the command that is answered next, "" for the greeting; nothing is known of an answer that
// no command asked for.
func (a *pendingVerbs) next() (verb string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ok = len(a.verbs) > 0; ok {
		verb, a.verbs = a.verbs[0], a.verbs[1:]
	}
	return verb, ok
}

// readError returns the error of a reply that cannot be read. One that is beyond a limit of ours may be wrong whatever
// it contains.
func (a *pendingVerbs) readError(e *fwp.SyntaxError) *session.SyntaxError {
	err := syntaxError(e)
	if verb, ok := a.next(); ok && e.Foreign(verb) {
		err.Rule, err.IsLimit = session.ImpossibleReply+verb, false
		err.Expected, err.Got = "a reply that "+cmp.Or(verb, "a new connection")+" has", "the "+e.Kind.String()+" "+e.Got
	}
	return err
}

// mend returns a reply whose kind is none of its command's as the one that it certainly means, with the departure as
// its Lapse, and any other reply unchanged. An empty bulk string is a null where the command has one, and else empty.
func (a *pendingVerbs) mend(m session.Message, offset int64) session.Message {
	verb, _ := a.next()
	if !a.isReadingOn {
		return m
	}
	switch {
	case m.Lapse == nil || m.Lapse.Rule != fwp.RuleNull.String() || fwp.Kind(m.Kind) != fwp.BulkString:
	case verb == fwp.FETCH:
		m.Kind, m.Text = byte(fwp.NullBulk), nil
	default:
		m.Lapse = nil
	}
	kind, text, expected := intendedReply(verb, m)
	if expected == "" {
		return m
	}
	return session.Message{Kind: byte(kind), Text: text, Lapse: &session.SyntaxError{
		Rule: session.ImpossibleReply + verb, Offset: offset, Expected: expected, Got: Codec{}.Text(m),
	}}
}

// intendedReply returns what a reply to a verb certainly means if its kind is none of those that the verb has, and
// which kinds these are; "" if it is one of them, or what it means is not certain. (Client Commands, Responses)
func intendedReply(verb string, m session.Message) (kind fwp.Kind, text []byte, expected string) {
	kind, word := fwp.Kind(m.Kind), strings.ToLower(string(bytes.TrimSpace(m.Text)))
	if kind != fwp.SimpleString && kind != fwp.BulkString && (kind != fwp.Array || len(m.Parts) > 0) {
		return 0, nil, ""
	}
	hash := kind == fwp.SimpleString && number.Object(m.Text) != nil
	switch {
	case hash && (verb == fwp.INFO || verb == fwp.FETCH):
		return fwp.BulkString, m.Text, "a bulk string"
	case verb == fwp.FETCH && slices.Contains([]string{"", "null", "nil"}, word):
		return fwp.NullBulk, nil, "$-1"
	case word == "ok" && hasOK(verb) && (kind != fwp.SimpleString || string(m.Text) != "OK"):
		return fwp.SimpleString, []byte("OK"), "+OK"
	}
	return 0, nil, ""
}

// hasOK reports whether OK is one of the replies to a verb.
func hasOK(verb string) bool {
	return slices.Contains([]string{fwp.HELLO, fwp.FLUSH, fwp.END, fwp.PUSH, fwp.ACK, fwp.FAIL, fwp.BEAT}, verb)
}
