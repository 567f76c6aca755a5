package fakes

import (
	"errors"
	"fmt"
)

// About is what a command was refused for: one of the constants, or the name of the
// field whose value is missing, of the wrong type or out of range.
type About string

// What a command is refused for, fields apart.
const (
	AboutLineEnd   About = "line end"       // LF without CR, or CR without LF
	AboutLength    About = "line length"    // longer than Config.MaxLine
	AboutUTF8      About = "utf-8"          // not valid UTF-8
	AboutVerb      About = "verb"           // not one of the nine
	AboutState     About = "state"          // not in this state of the connection
	AboutArguments About = "arguments"      // too many, too few, or spaces too many
	AboutJSON      About = "json"           // not valid JSON
	AboutObject    About = "object"         // valid JSON, but not an object
	AboutLimit     About = "limit"          // one of Config's limits
	AboutJob       About = "unknown job"    // no such job is held by a worker
	AboutWorker    About = "unknown worker" // no such wid has said HELLO
)

// Refusal is why a command was answered with an error.
type Refusal struct {
	About About
	Text  string // what the client is told
}

// Error gives the text that the client is told.
func (r *Refusal) Error() string { return r.Text }

func refuse(about About, format string, args ...any) *Refusal {
	return &Refusal{About: about, Text: fmt.Sprintf(format, args...)}
}

// about tells what the event's command is refused for, "" if it is not.
func (e *Event) about() About {
	if r, ok := errors.AsType[*Refusal](e.Err); ok {
		return r.About
	}
	return ""
}

// accept has a command that was refused carried out.
func (e *Event) accept() { e.Err, e.Skip = nil, false }

// decline has a command refused that would have been carried out.
func (e *Event) decline(about About, text string) {
	if e.Err == nil {
		e.Err, e.Skip = refuse(about, "%s", text), true
	}
}
