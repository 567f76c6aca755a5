package oracle

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/jsonnum"
)

// answerOf returns the way in which a reply answers a command. (Responses)
func answerOf(verb string, r fwp.Reply) model.Answer {
	bulk := r.Kind == fwp.BulkString
	switch {
	case r.Kind == fwp.ErrorReply:
		return model.Refused
	case verb == fwp.INFO && bulk && len(bytes.TrimSpace(r.Text)) > 0: // "various information about the server"
		return model.Data
	case verb == fwp.FETCH && r.Kind == fwp.NullBulk:
		return model.Nothing
	case verb == fwp.FETCH && bulk && jsonnum.Object(r.Text) != nil:
		return model.Delivered
	case verb == fwp.INFO, verb == fwp.FETCH:
		return model.Foreign
	case verb == fwp.BEAT && r.State() != "":
		return model.Notified
	case r.Kind == fwp.SimpleString && string(r.Text) == "OK":
		return model.Okay
	}
	return model.Foreign
}

// garbled judges the text of a reply: it is UTF-8 where that of its command was. Jobs and INFO have texts of others,
// too. (Conventions)
func garbled(k *call, r fwp.Reply) *law.Violation {
	if !isText(r) || utf8.Valid(r.Text) || !utf8.Valid(k.bytes()) {
		return nil
	}
	return &law.Violation{
		Clause: "FWP-FRAME-09", Rule: "text", Expected: "a text in UTF-8", Got: fmt.Sprintf("%.300q", Text(r)),
		What: "the text of the command was UTF-8",
	}
}

// isText reports whether a reply is a line of text.
func isText(r fwp.Reply) bool { return r.Kind == fwp.ErrorReply || r.Kind == fwp.SimpleString }

// answer returns the way in which a reply answers the command.
func (k *call) answer(r fwp.Reply) model.Answer {
	if k.added != nil && r.Kind == fwp.BulkString && jsonnum.Object(r.Text) != nil {
		return model.Data
	}
	return answerOf(k.Verb, r)
}

// Text returns a reply as an S: line has it.
func Text(r fwp.Reply) string {
	switch r.Kind {
	case fwp.NullBulk:
		return "$-1"
	case fwp.Integer:
		return fmt.Sprintf(":%d", r.Int)
	}
	return string(r.Kind) + string(r.Text)
}
