package script

import (
	"bytes"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
)

// IsImpossible reports whether a reply is not in the command's list of responses. Every
// command may be answered with an error; other verbs may have any reply. (Client
// Commands, Responses)
func (Dialect) IsImpossible(command []byte, m session.Message) bool {
	verb, r := fwp.SplitCommand(bytes.TrimRight(command, "\r\n")).Verb, fwpsession.Reply(m)
	okay := r.Kind == fwp.SimpleString && string(r.Text) == "OK"
	switch {
	case r.Kind == fwp.ErrorReply:
		return false
	case verb == "":
		hash, isHi := bytes.CutPrefix(r.Text, []byte("HI "))
		return r.Kind != fwp.SimpleString || !isHi || !isObject(hash)
	}
	switch verb {
	case fwp.HELLO, fwp.FLUSH, fwp.END, fwp.PUSH, fwp.ACK, fwp.FAIL:
		return !okay
	case fwp.INFO:
		return r.Kind != fwp.BulkString
	case fwp.FETCH:
		return r.Kind != fwp.NullBulk && (r.Kind != fwp.BulkString || !isObject(r.Text))
	case fwp.BEAT:
		return !okay && !isState(r)
	}
	return false
}

// isState reports whether a reply to BEAT is meant to order a state, even if it is not the JSON hash that it has to be:
// that is for the line that expects a state. (BEAT Command)
func isState(r fwp.Reply) bool {
	hash := bytes.HasPrefix(bytes.TrimSpace(r.Text), []byte("{"))
	return hash && (r.Kind == fwp.SimpleString || r.Kind == fwp.BulkString)
}

func isObject(b []byte) bool { return number.Object(b) != nil }
