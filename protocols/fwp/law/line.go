package law

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// Line is a client line as the specification reads it in any state.
type Line struct {
	fwp.Command
	Form   model.Answer   // Okay: well formed, Refused: malformed, Either: the text leaves it open
	Clause string         // that a server breaks if it answers otherwise
	Should bool           // the clause only recommends that
	Fields map[string]any // of its JSON argument, nil if it has none
	Named  bool           // a PUSH that is unusual only by the name of its queue, which is a word (AMB-14)
}

// ReadLine reads a line, without its CRLF, as the specification does. (Client Commands)
func ReadLine(line []byte) Line {
	l := Line{Command: fwp.SplitCommand(line), Form: model.Refused, Clause: "FWP-FRAME-03"}
	command, known := model.About(l.Verb)
	switch {
	case !utf8.Valid(line): // AMB-13
		l.Form, l.Clause = model.Either, "FWP-FRAME-09"
		l.Fields = number.Object(bytes.ToValidUTF8(l.Args, []byte("\ufffd")))
	case bytes.IndexByte(line, '\n') >= 0:
		l.Clause = "FWP-FRAME-08"
	case bytes.IndexByte(line, '\r') >= 0:
	case !known: // the specification allows other verbs, but they are words
		_, lower := model.About(strings.ToUpper(l.Verb))
		if word.MatchString(l.Verb) && !lower {
			l.Form = model.Either
		}
	case l.Verb == fwp.FETCH:
		l.queues(line)
	case command.Fields == nil && l.Args == nil:
		l.Form, l.Clause = model.Okay, model.ClauseOf(model.ForeignReply+l.Verb)
	case command.Fields == nil && len(bytes.Trim(l.Args, " \t")) > 0: // else it is about spaces
		l.Clause = command.Malformed
	case command.Fields == nil:
	default:
		l.argument(command)
	}
	return l
}

// text returns a field that is a string; "" for any other.
func (l *Line) text(field string) string {
	text, _ := l.Fields[field].(string)
	return text
}

// Words splits a text as a FETCH lists the names of queues: at the spaces of ASCII, which no name can have. Those of
// Unicode are characters like any other. (FETCH Command)
func Words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || '\t' <= r && r <= '\r' })
}

var word = regexp.MustCompile(`^[A-Za-z]+$`)

// queues checks the names that a FETCH lists.
func (l *Line) queues(line []byte) {
	if _, err := fwp.ParseCommand(line); err != nil {
		return
	}
	l.Form, l.Clause = model.Okay, model.ClauseOf(model.ForeignReply+l.Verb)
	for _, q := range Words(string(l.Args)) {
		if !plainQueue.MatchString(q) { // AMB-14
			l.Form = model.Either
		}
	}
}

// argument reads what must be a JSON object after a single space.
func (l *Line) argument(command model.Command) {
	trimmed := bytes.Trim(l.Args, " \t")
	fields := number.Object(trimmed)
	switch {
	case !json.Valid(trimmed):
		l.Clause = command.Malformed
	case fields == nil:
		l.Clause = command.NoObject
	case len(trimmed) == len(l.Args): // else AMB-05
		l.Fields, l.Form, l.Clause = fields, model.Okay, model.ClauseOf(model.ForeignReply+l.Verb)
		if l.typed(command.Fields) {
			l.unusual()
		}
	}
}

// typed checks the types of the fields, and reports whether all are right.
func (l *Line) typed(fields []model.Field) bool {
	for _, f := range fields {
		value, there := l.Fields[f.Name]
		required := f.Required && !f.Lax
		blank := value == nil && !required // AMB-18
		if f.Clause == "" || !there && !required || blank && l.Verb == fwp.PUSH || f.Type.Is(value) ||
			f.Type == model.TimeField && value == "" { // which is unusual
			continue
		}
		l.Form, l.Clause, l.Should = model.Refused, f.Clause, f.Should
		if blank { // AMB-18, AMB-35
			l.Form = model.Either
		}
		return false
	}
	return true
}

// unusual finds what the specification leaves open although every field has its type.
func (l *Line) unusual() {
	f, open := l.Fields, false
	switch l.Verb {
	case fwp.HELLO:
		l.unusualHello(l.text("wid"))
	case fwp.PUSH:
		l.unusualJob()
	case fwp.ACK:
		open = l.unknown()
	case fwp.FAIL: // AMB-35
		open = l.unknown() || f["errtype"] == nil || f["message"] == nil || f["backtrace"] == nil
	case fwp.BEAT:
		open = l.unknown() || l.text("wid") == "" || l.unusualBeat()
	}
	if open {
		l.Form = model.Either
	}
}

// unusualBeat reports whether a BEAT has an unusual value, null included. (AMB-18)
func (l *Line) unusualBeat() bool {
	state, hasState := l.Fields["current_state"]
	memory, hasMemory := l.Fields["rss_kb"]
	usual := !hasState || state == "quiet" || state == "terminate"
	return !usual || hasMemory && (!model.IntField.Is(memory) || !within(memory, 0, 1<<40))
}

// unusualHello finds another version, and a worker with some of its fields only. (AMB-08)
func (l *Line) unusualHello(wid string) {
	has, of := 0, 0
	for _, f := range model.Fields(fwp.HELLO) {
		if f.Worker {
			of++
			if l.Fields[f.Name] != nil {
				has++
			}
		}
	}
	if l.Fields["v"] != json.Number("2") || has%of != 0 || has == of && (wid == "" || l.Fields["hostname"] == "") ||
		l.unknown() {
		l.Form, l.Clause = model.Either, "FWP-HELLO-05"
	}
}

// Names that every server takes for a queue, and names that every server that takes them treats like others. (AMB-14)
var (
	plainQueue = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
	usualQueue = regexp.MustCompile(`^[^\pZ\pC]{1,256}$`)
)

// unusualJob finds values of a work unit that a server need not take.
func (l *Line) unusualJob() {
	f := l.Fields
	queue, named := f["queue"].(string)
	jid, jobtype := l.text("jid"), l.text("jobtype")
	switch {
	case named && strings.ContainsAny(queue, " \t\r\n"): // no FETCH can name it in one word
		l.Form, l.Clause = model.Either, "FWP-WU-16"
	case named && !usualQueue.MatchString(queue), len(jid) < 16 || len(jid) > 64, // AMB-14, AMB-15
		jobtype == "" || len(jobtype) > 64,
		len(l.Args) > 32<<10, l.unknown() || f["enqueued_at"] != nil || f["failure"] != nil,
		!within(f["retry"], -1, 1<<31), !within(f["backtrace"], 0, 1<<31), !within(f["reserve_for"], 60, 1<<31), // AMB-17
		f["created_at"] == "", l.smallLetters():
		l.Form = model.Either
	case named && !plainQueue.MatchString(queue):
		l.Form, l.Named = model.Either, true
	}
}

// smallLetters reports whether a PUSH has times with a t or a z, which RFC 3339 (section 5.6) lets a server refuse.
func (l *Line) smallLetters() bool {
	return strings.ContainsAny(l.text("at")+l.text("created_at"), "tz")
}

// unknown reports whether there are fields that the specification does not have.
func (l *Line) unknown() bool {
	fields := model.Fields(l.Verb)
	for name := range l.Fields {
		if !slices.ContainsFunc(fields, func(f model.Field) bool { return f.Name == name }) {
			return true
		}
	}
	return false
}

// within reports whether a value is absent or an integer that is plainly in the range.
func within(value any, least, most int64) bool {
	n, is := value.(json.Number)
	i, err := strconv.ParseInt(string(n), 10, 64)
	return !is || err == nil && i >= least && i <= most
}
