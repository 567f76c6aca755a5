package fakes

import (
	"errors"
	"fmt"
)

// About is the reason why a command is refused: one of the constants, or the name of the
// field whose value is missing, of the wrong type or out of range.
type About string

// The reasons that are not fields.
const (
	AboutLineEnd   About = "line end"       // LF without CR, or CR without LF
	AboutLength    About = "line length"    // longer than Config.MaxLine
	AboutUTF8      About = "utf-8"          // not valid UTF-8
	AboutVerb      About = "verb"           // not one of the nine
	AboutState     About = "state"          // not in this state of the connection
	AboutArguments About = "arguments"      // too many, too few, or too many spaces
	AboutJSON      About = "json"           // not valid JSON
	AboutObject    About = "object"         // valid JSON, but not an object
	AboutLimit     About = "limit"          // one of Config's limits
	AboutJob       About = "unknown job"    // no such job is held by a worker
	AboutWorker    About = "unknown worker" // no HELLO had this wid
)

// Refusal is why a command is answered with an error.
type Refusal struct {
	About About
	Text  string // of the reply, after ERR
}

// Error returns Text.
func (r *Refusal) Error() string { return r.Text }

func refuse(about About, format string, args ...any) *Refusal {
	return &Refusal{About: about, Text: fmt.Sprintf(format, args...)}
}

// about returns the reason why the event's command is refused, "" if it is not.
func (e *Event) about() About {
	if r, ok := errors.AsType[*Refusal](e.Err); ok {
		return r.About
	}
	return ""
}

// accept lets a command that was refused be carried out.
func (e *Event) accept() { e.Err, e.Skip = nil, false }

// decline refuses a command that would have been carried out.
func (e *Event) decline(about About, text string) {
	if e.Err == nil {
		e.Err, e.Skip = refuse(about, "%s", text), true
	}
}
