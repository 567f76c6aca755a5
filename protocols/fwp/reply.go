package fwp

import (
	"bytes"
	"fmt"

	"github.com/fwpsuite/fwp/internal/base/number"
)

// Kind is the type of a reply. Its values are the bytes with which RESP marks them,
// except [NullBulk], which RESP writes as a bulk string of length -1. The zero Kind is
// not a reply. (Server Protocol Sender; RESP)
type Kind byte

// The kinds of replies in RESP version 2. The protocol's own responses are simple
// strings, errors, bulk strings and null bulk strings; integers and arrays are read too,
// so that a wrong reply can be reported as what it is.
const (
	SimpleString Kind = '+' // one line of text
	ErrorReply   Kind = '-' // one line of text: the command failed
	Integer      Kind = ':' // a signed 64-bit number
	BulkString   Kind = '$' // bytes, announced by their number
	NullBulk     Kind = '_' // no value, sent as $-1
	Array        Kind = '*' // replies, announced by their number
)

// String returns the name of the kind: "simple string", "null bulk string" and so on.
func (k Kind) String() string {
	switch k {
	case SimpleString:
		return "simple string"
	case ErrorReply:
		return "error"
	case Integer:
		return "integer"
	case BulkString:
		return "bulk string"
	case NullBulk:
		return "null bulk string"
	case Array:
		return "array"
	}
	return fmt.Sprintf("kind %q", byte(k))
}

// Answers reports whether a reply of this kind can be the response to verb. An empty verb stands for the greeting of
// a new connection. An error can answer every command. Every kind can answer a verb that the specification does not
// have. (Client Commands, Responses)
func (k Kind) Answers(verb string) bool {
	switch verb {
	case FETCH:
		return k == BulkString || k == NullBulk || k == ErrorReply
	case INFO:
		return k == BulkString || k == ErrorReply
	case BEAT:
		return k == SimpleString || k == BulkString || k == ErrorReply
	case "", HELLO, FLUSH, END, PUSH, ACK, FAIL:
		return k == SimpleString || k == ErrorReply
	}
	return true
}

// Reply is one server response. (Server Protocol Sender)
type Reply struct {
	// Kind determines which of the other fields is used.
	Kind Kind

	// Text is the line of a simple string or an error, without its marker and
	// CRLF, or the payload of a bulk string. It aliases the bytes that it was
	// decoded from: after [Decode] the argument, after [Reader.Read] a buffer
	// that the next Read overwrites; see Clone.
	Text []byte

	// Int is the value of an integer.
	Int int64

	// Array holds the elements of an array, in order.
	Array []Reply
}

// Clone returns a copy that shares no memory with r.
func (r Reply) Clone() Reply {
	r.Text = bytes.Clone(r.Text)
	if r.Array != nil {
		elements := make([]Reply, len(r.Array))
		for i, e := range r.Array {
			elements[i] = e.Clone()
		}
		r.Array = elements
	}
	return r
}

// State returns the state in a reply to BEAT, a bulk or a simple string. It is "" if the reply has no state. (BEAT
// Command)
func (r Reply) State() string {
	if r.Kind != BulkString && r.Kind != SimpleString {
		return ""
	}
	state, _ := number.Object(r.Text)["state"].(string)
	return state
}

// Err returns a *[ReplyError] with a copy of the text if r is an error reply, and
// nil for every other kind.
func (r Reply) Err() error {
	if r.Kind != ErrorReply {
		return nil
	}
	return &ReplyError{Text: string(r.Text)}
}

// ReplyError is an error reply: the server refused the command or could not carry it out. The connection stays in the
// state that it had before the command. (Server Protocol Sender; Client Commands)
type ReplyError struct {
	// Text is the server's line, without the leading minus.
	Text string
}

// Error quotes the server's text.
func (e *ReplyError) Error() string {
	return fmt.Sprintf("the server answered with the error %q", e.Text)
}
