package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/fwp"
)

// answerOf says which of the ways a reply to a command is. (Responses)
func answerOf(verb string, r fwp.Reply) model.Answer {
	okay := r.Kind == fwp.SimpleString && string(r.Text) == "OK"
	switch {
	case r.Kind == fwp.ErrorReply:
		return model.Refused
	case verb == fwp.INFO && r.Kind == fwp.BulkString:
		return model.Data
	case verb == fwp.FETCH && r.Kind == fwp.NullBulk:
		return model.Nothing
	case verb == fwp.FETCH && r.Kind == fwp.BulkString && object(r.Text) != nil:
		return model.Delivered
	case verb == fwp.BEAT && (r.Kind == fwp.BulkString || r.Kind == fwp.SimpleString) && object(r.Text) != nil:
		return model.Told
	case okay && verb != fwp.INFO && verb != fwp.FETCH:
		return model.Okay
	}
	return model.Foreign
}

// object reads a JSON object with its numbers as they are, nil if it is none.
func object(text []byte) map[string]any {
	if !json.Valid(text) { // a decoder would not look at what comes behind the object
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var fields map[string]any
	if d.Decode(&fields) != nil {
		return nil
	}
	return fields
}

// Text writes a reply as an S: line does.
func Text(r fwp.Reply) string {
	switch r.Kind {
	case fwp.NullBulk:
		return "$-1"
	case fwp.Integer:
		return fmt.Sprintf(":%d", r.Int)
	}
	return string(r.Kind) + string(r.Text)
}
