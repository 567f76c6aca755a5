package oracle

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/fwp"
)

// Line is what the text says of a client line, whatever the state.
type Line struct {
	fwp.Command
	Form   model.Answer   // Okay: well formed, Refused: malformed, Either: the text leaves it open
	Clause string         // that a server breaks which does otherwise
	Should bool           // the clause only recommends that
	Fields map[string]any // of its JSON argument, nil if there is none
}

// ReadLine reads a line, without its CRLF, as the specification does. (Client Commands)
func ReadLine(line []byte) Line {
	l := Line{Command: fwp.SplitCommand(line), Form: model.Refused, Clause: "FWP-FRAME-03"}
	command, known := model.About(l.Verb)
	switch {
	case !utf8.Valid(line): // AMB-13
		l.Form, l.Clause = model.Either, "FWP-FRAME-09"
		l.Fields = object(bytes.ToValidUTF8(l.Args, []byte("\ufffd")))
	case bytes.IndexByte(line, '\n') >= 0:
		l.Clause = "FWP-FRAME-08"
	case bytes.IndexByte(line, '\r') >= 0:
	case !known: // nobody says that there are no other verbs, but they are words
		_, lower := model.About(strings.ToUpper(l.Verb))
		if word.MatchString(l.Verb) && !lower {
			l.Form = model.Either
		}
	case l.Verb == fwp.FETCH:
		l.queues(line)
	case command.Fields == nil:
		if l.Clause = command.Malformed; l.Args == nil {
			l.Form, l.Clause = model.Okay, model.ClauseOf(model.ForeignReply+l.Verb)
		}
	default:
		l.argument(command)
	}
	return l
}

var word = regexp.MustCompile(`^[A-Za-z]+$`)

// queues judges the names that a FETCH lists.
func (l *Line) queues(line []byte) {
	if _, err := fwp.ParseCommand(line); err != nil {
		return
	}
	l.Form, l.Clause = model.Okay, model.ClauseOf(model.ForeignReply+l.Verb)
	for q := range strings.FieldsSeq(string(l.Args)) {
		if !plainQueue.MatchString(q) { // AMB-14
			l.Form = model.Either
		}
	}
}

// argument judges what must be a JSON object after a single space.
func (l *Line) argument(command model.Command) {
	trimmed := bytes.Trim(l.Args, " \t")
	fields := object(trimmed)
	switch {
	case !json.Valid(trimmed):
		l.Clause = command.Malformed
	case fields == nil:
		l.Clause = command.NoObject
	case len(trimmed) == len(l.Args): // else AMB-05
		l.Fields, l.Form, l.Clause = fields, model.Okay, model.ClauseOf(model.ForeignReply+l.Verb)
		if l.typed(command.Fields) {
			l.odd()
		}
	}
}

// typed judges the types of the fields.
func (l *Line) typed(fields []model.Field) bool {
	for _, f := range fields {
		value, there := l.Fields[f.Name]
		blank := value == nil && !f.Required // AMB-18
		if !there && !f.Required || blank && l.Verb == fwp.PUSH || Is(value, f.Kind) {
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

// odd opens what the text leaves open although every field has its type.
func (l *Line) odd() {
	f := l.Fields
	text := func(name string) string { s, _ := f[name].(string); return s }
	open := false
	switch l.Verb {
	case fwp.HELLO:
		l.oddHello(text("wid"))
	case fwp.PUSH:
		l.oddJob(text)
	case fwp.ACK:
		open = l.unknown()
	case fwp.FAIL: // AMB-35
		open = l.unknown() || f["errtype"] == nil || f["message"] == nil || f["backtrace"] == nil
	case fwp.BEAT:
		open = l.unknown("current_state", "rss_kb") || text("wid") == "" || l.oddBeat()
	}
	if open {
		l.Form = model.Either
	}
}

// oddBeat tells whether a BEAT says something odd of its worker, be it null. (AMB-18)
func (l *Line) oddBeat() bool {
	state, said := l.Fields["current_state"]
	memory, told := l.Fields["rss_kb"]
	usual := !said || state == "quiet" || state == "terminate"
	return !usual || told && (!Is(memory, "int") || !within(memory, 0, 1<<40))
}

// oddHello opens another version, and what is half a consumer. (AMB-08)
func (l *Line) oddHello(wid string) {
	f, consumer := l.Fields, 0
	for _, name := range []string{"hostname", "wid", "pid", "labels"} {
		if f[name] != nil {
			consumer++
		}
	}
	if f["v"] != json.Number("2") || consumer%4 != 0 || consumer == 4 && wid == "" || l.unknown("v") {
		l.Form, l.Clause = model.Either, "FWP-HELLO-05"
	}
}

var plainQueue = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (l *Line) oddJob(text func(string) string) {
	f := l.Fields
	queue, named := f["queue"].(string)
	jid := text("jid")
	switch {
	case named && strings.ContainsAny(queue, " \t\r\n"): // no FETCH can name it in one word
		l.Form, l.Clause = model.Either, "FWP-WU-16"
	case named && !plainQueue.MatchString(queue), len(jid) < 16 || len(jid) > 64, text("jobtype") == "", // AMB-14, AMB-15
		len(l.Args) > 32<<10, l.unknown("enqueued_at", "failure") || f["enqueued_at"] != nil || f["failure"] != nil,
		!within(f["retry"], -1, 1<<31), !within(f["backtrace"], 0, 1<<31), !within(f["reserve_for"], 60, 1<<31), // AMB-17
		f["created_at"] == "":
		l.Form = model.Either
	}
}

// unknown tells whether there are fields beside those of the table and the named ones.
func (l *Line) unknown(but ...string) bool {
	command, _ := model.About(l.Verb)
	for name := range l.Fields {
		listed := slices.ContainsFunc(command.Fields, func(f model.Field) bool { return f.Name == name })
		if !listed && !slices.Contains(but, name) {
			return true
		}
	}
	return false
}

// within tells whether a value is absent or an integer that is plainly in the range.
func within(value any, least, most int64) bool {
	n, is := value.(json.Number)
	i, err := strconv.ParseInt(string(n), 10, 64)
	return !is || err == nil && i >= least && i <= most
}

var integer = regexp.MustCompile(`^-?[0-9]+(\.0+)?([eE]\+?[0-9]+)?$`)

// Is tells whether a value, its numbers kept as json.Number, is of a type of the
// field tables; "time" takes blank for one that is omitted.
func Is(value any, kind string) bool {
	switch x := value.(type) {
	case string:
		if kind == "time" && x != "" {
			_, err := time.Parse(time.RFC3339, x)
			return err == nil
		}
		return kind == "string" || kind == "time"
	case json.Number:
		return kind == "int" && integer.MatchString(string(x))
	case []any:
		return kind == "array" || kind == "strings" && !slices.ContainsFunc(x, func(e any) bool { return !Is(e, "string") })
	case map[string]any:
		return kind == "object"
	}
	return false
}
