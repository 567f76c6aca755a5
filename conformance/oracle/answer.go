package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/fwp"
)

// answerOf returns the way in which a reply answers a command. (Responses)
func answerOf(verb string, r fwp.Reply) model.Answer {
	bulk := r.Kind == fwp.BulkString
	switch {
	case r.Kind == fwp.ErrorReply:
		return model.Refused
	case verb == fwp.INFO && bulk:
		return model.Data
	case verb == fwp.FETCH && r.Kind == fwp.NullBulk:
		return model.Nothing
	case verb == fwp.FETCH && bulk && object(r.Text) != nil:
		return model.Delivered
	case verb == fwp.INFO, verb == fwp.FETCH:
		return model.Foreign
	case verb == fwp.BEAT && stateOf(r) != "":
		return model.Notified
	case r.Kind == fwp.SimpleString && string(r.Text) == "OK":
		return model.Okay
	}
	return model.Foreign
}

// stateOf returns the state in a reply to a BEAT, "" if it has none. (BEAT Command, AMB-02)
func stateOf(r fwp.Reply) string {
	if r.Kind != fwp.BulkString && r.Kind != fwp.SimpleString {
		return ""
	}
	state, _ := object(r.Text)["state"].(string)
	return state
}

// object decodes a JSON object, its numbers kept as json.Number; nil if it is not one.
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
