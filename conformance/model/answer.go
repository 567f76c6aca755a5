package model

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

// Answer is a set of ways in which a command can be answered. (Client Commands,
// Responses)
type Answer uint16

// The ways.
const (
	Okay      Answer = 1 << iota // the simple string OK
	Refused                      // an error
	Delivered                    // a bulk string that holds a job
	Nothing                      // the null bulk string
	Data                         // a bulk string that holds anything
	Told                         // {"state": ...}, as a bulk or as a simple string (AMB-02)
	Ended                        // no reply, and the end of the connection
	Foreign                      // what the command's list of responses does not have

	anything = Okay | Refused | Delivered | Nothing | Data | Told | Ended
)

var patterns = []struct {
	answer Answer
	text   string
}{
	{Okay, "+OK"}, {Refused, "-"}, {Nothing, "$-1"}, {Delivered, "${}"}, {Data, "$"},
	{Told, `+{"state":string} | ${"state":string}`}, {Ended, "<close>"}, {Foreign, "<any>"},
}

// String writes the set as an S: line of a script expects it.
func (a Answer) String() string {
	var all []string
	for _, p := range patterns {
		if a&p.answer != 0 {
			all = append(all, p.text)
		}
	}
	return strings.Join(all, " | ")
}

// answerOf says which of the ways a reply to a command is.
func answerOf(verb string, r fwp.Reply) Answer {
	okay := r.Kind == fwp.SimpleString && string(r.Text) == "OK"
	switch {
	case r.Kind == fwp.ErrorReply:
		return Refused
	case verb == fwp.INFO && r.Kind == fwp.BulkString:
		return Data
	case verb == fwp.FETCH && r.Kind == fwp.NullBulk:
		return Nothing
	case verb == fwp.FETCH && r.Kind == fwp.BulkString && object(r.Text) != nil:
		return Delivered
	case verb == fwp.BEAT && (r.Kind == fwp.BulkString || r.Kind == fwp.SimpleString) && object(r.Text) != nil:
		return Told
	case okay && verb != fwp.INFO && verb != fwp.FETCH:
		return Okay
	}
	return Foreign
}

// object reads a JSON object with its numbers as they are, nil if it is none.
func object(text []byte) map[string]any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var fields map[string]any
	if d.Decode(&fields) != nil || d.More() {
		return nil
	}
	return fields
}
