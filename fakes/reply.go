package fakes

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Simple returns a simple string.
func Simple(text string) fwp.Reply { return fwp.Reply{Kind: fwp.SimpleString, Text: []byte(text)} }

// OK returns the simple string OK.
func OK() fwp.Reply { return Simple("OK") }

// Bulk returns a bulk string.
func Bulk(text []byte) fwp.Reply { return fwp.Reply{Kind: fwp.BulkString, Text: text} }

// Integer returns an integer.
func Integer(n int64) fwp.Reply { return fwp.Reply{Kind: fwp.Integer, Int: n} }

// Null returns the null bulk string.
func Null() fwp.Reply { return fwp.Reply{Kind: fwp.NullBulk} }

// ErrorReply returns an error reply; the reason is an error or a string.
func ErrorReply(reason any) fwp.Reply {
	return fwp.Reply{Kind: fwp.ErrorReply, Text: fmt.Appendf(nil, "ERR %v", reason)}
}

// skippedReply returns the reply to a command that a hook keeps from having an effect.
func skippedReply(verb string) fwp.Reply {
	switch verb {
	case fwp.FETCH:
		return Null()
	case fwp.INFO:
		return Bulk([]byte("{}"))
	}
	return OK()
}

// AppendReply appends the bytes of a reply to dst. A reply without a Kind has none.
func AppendReply(dst []byte, r fwp.Reply) []byte {
	switch r.Kind {
	case fwp.SimpleString:
		return fwp.AppendSimple(dst, string(r.Text))
	case fwp.ErrorReply:
		return fwp.AppendError(dst, string(r.Text))
	case fwp.Integer:
		return fwp.AppendInteger(dst, r.Int)
	case fwp.BulkString:
		return fwp.AppendBulk(dst, r.Text)
	case fwp.NullBulk:
		return fwp.AppendNull(dst)
	case fwp.Array:
		dst = fmt.Appendf(dst, "*%d\r\n", len(r.Array))
		for _, element := range r.Array {
			dst = AppendReply(dst, element)
		}
	}
	return dst
}

// About is the reason for a refusal: one of the constants, or the name of a field that is missing, of the wrong type
// or out of range.
type About string

// The reasons that are not names of fields.
const (
	AboutLineEnd   About = "line end"       // LF without CR, or CR without LF
	AboutLength    About = "line length"    // longer than Config.MaxLine
	AboutUTF8      About = "utf-8"          // not valid UTF-8
	AboutVerb      About = "verb"           // not one of the nine
	AboutState     About = "state"          // not allowed in this state of the connection
	AboutArguments About = "arguments"      // too many, too few, or too many spaces
	AboutJSON      About = "json"           // not valid JSON
	AboutObject    About = "object"         // valid JSON, but not an object
	AboutLimit     About = "limit"          // one of Config's limits
	AboutJob       About = "unknown job"    // no worker has reserved such a job
	AboutWorker    About = "unknown worker" // no HELLO had this wid
)

// Refusal is the error for a command that gets an error reply.
type Refusal struct {
	About About
	Text  string // of the reply, after ERR
}

// Error returns Text.
func (r *Refusal) Error() string { return r.Text }

func refuse(about About, format string, args ...any) *Refusal {
	return &Refusal{About: about, Text: fmt.Sprintf(format, args...)}
}

// ParseReply reads a reply as scripts write it, in one line: "+OK", "-ERR busy", ":1", "$-1", "$text".
func ParseReply(text string) (fwp.Reply, error) {
	switch kind, rest := text[:min(1, len(text))], text[min(1, len(text)):]; {
	case strings.ContainsAny(text, "\r\n"):
	case text == "$-1":
		return Null(), nil
	case kind == "+":
		return Simple(rest), nil
	case kind == "-":
		return fwp.Reply{Kind: fwp.ErrorReply, Text: []byte(rest)}, nil
	case kind == "$":
		return Bulk([]byte(rest)), nil
	case kind == ":":
		if n, err := strconv.ParseInt(rest, 10, 64); err == nil {
			return Integer(n), nil
		}
	}
	return fwp.Reply{}, fmt.Errorf("%.40q: expected one line with +text, -ERR text, :number, $-1 or $text", text)
}

// replyText writes a reply as [ParseReply] reads it.
func replyText(r fwp.Reply) string {
	if r.Kind == fwp.BulkString {
		return "$" + string(r.Text)
	}
	return strings.TrimSuffix(string(AppendReply(nil, r)), "\r\n")
}
