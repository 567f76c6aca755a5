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
	Form             model.Answer   // Okay: well formed, Refused: malformed, OkayOrRefused: the text is open
	Clause           string         // that a server breaks if it answers otherwise
	IsRecommendation bool           // the clause only recommends that
	Fields           map[string]any // of its JSON argument, nil if it has none
	HasUnusualQueue  bool           // a PUSH that is unusual only by the name of its queue, which is a word (AMB-14)
}

// ReadLine reads a line, without its CRLF, as the specification does. (Client Commands)
func ReadLine(line []byte) Line {
	l := Line{Command: fwp.SplitCommand(line), Form: model.Refused, Clause: "FWP-FRAME-03"}
	command, ok := model.LookupCommand(l.Verb)
	switch {
	case !utf8.Valid(line): // AMB-13
		l.Form, l.Clause = model.OkayOrRefused, "FWP-FRAME-09"
		l.Fields = number.Object(bytes.ToValidUTF8(l.Args, []byte("\ufffd")))
	case bytes.IndexByte(line, '\n') >= 0:
		l.Clause = "FWP-FRAME-08"
	case bytes.IndexByte(line, '\r') >= 0:
	case !ok: // the specification allows other verbs, but they are words
		_, isLower := model.LookupCommand(strings.ToUpper(l.Verb))
		if word.MatchString(l.Verb) && !isLower {
			l.Form = model.OkayOrRefused
		}
	case l.Verb == fwp.FETCH:
		l.readQueues(line)
	case command.Fields == nil && l.Args == nil:
		l.Form, l.Clause = model.Okay, model.ClauseOf(model.ImpossibleReply+l.Verb)
	case command.Fields == nil && len(bytes.Trim(l.Args, " \t")) > 0: // else it is about spaces
		l.Clause = command.Malformed
	case command.Fields == nil:
	default:
		l.readArgument(command)
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

// readQueues checks the names that a FETCH lists.
func (l *Line) readQueues(line []byte) {
	if _, err := fwp.ParseCommand(line); err != nil {
		return
	}
	l.Form, l.Clause = model.Okay, model.ClauseOf(model.ImpossibleReply+l.Verb)
	for _, q := range Words(string(l.Args)) {
		if !plainQueue.MatchString(q) { // AMB-14
			l.Form = model.OkayOrRefused
		}
	}
}

// readArgument reads what must be a JSON object after a single space.
func (l *Line) readArgument(command model.Command) {
	trimmed := bytes.Trim(l.Args, " \t")
	fields := number.Object(trimmed)
	switch {
	case !json.Valid(trimmed):
		l.Clause = command.Malformed
	case fields == nil:
		l.Clause = command.NoObject
	case len(trimmed) == len(l.Args): // else AMB-05
		l.Fields, l.Form, l.Clause = fields, model.Okay, model.ClauseOf(model.ImpossibleReply+l.Verb)
		if l.checkTypes(command.Fields) {
			l.findUnusual()
		}
	}
}

// checkTypes checks the types of the fields, and reports whether all are right.
func (l *Line) checkTypes(fields []model.Field) bool {
	for _, f := range fields {
		value, isPresent := l.Fields[f.Name]
		required := f.Required && !f.MayBeMissing
		isBlank := value == nil && !required // AMB-18
		if f.Clause == "" || !isPresent && !required || isBlank && l.Verb == fwp.PUSH || f.Type.Accepts(value) ||
			f.Type == model.TimeField && value == "" { // which is unusual
			continue
		}
		l.Form, l.Clause, l.IsRecommendation = model.Refused, f.Clause, f.Should
		if isBlank { // AMB-18, AMB-35
			l.Form = model.OkayOrRefused
		}
		return false
	}
	return true
}

// findUnusual finds what the specification leaves open although every field has its type.
func (l *Line) findUnusual() {
	f, isOpen := l.Fields, false
	switch l.Verb {
	case fwp.HELLO:
		l.findUnusualHello(l.text("wid"))
	case fwp.PUSH:
		l.findUnusualJob()
	case fwp.ACK:
		isOpen = l.hasUnknownFields()
	case fwp.FAIL: // AMB-35
		isOpen = l.hasUnknownFields() || f["errtype"] == nil || f["message"] == nil || f["backtrace"] == nil
	case fwp.BEAT:
		isOpen = l.hasUnknownFields() || l.text("wid") == "" || l.isUnusualBeat()
	}
	if isOpen {
		l.Form = model.OkayOrRefused
	}
}

// isUnusualBeat reports whether a BEAT has an unusual value, null included. (AMB-18)
func (l *Line) isUnusualBeat() bool {
	state, hasState := l.Fields["current_state"]
	memory, hasMemory := l.Fields["rss_kb"]
	usual := !hasState || state == "quiet" || state == "terminate"
	return !usual || hasMemory && (!model.IntField.Accepts(memory) || !inRange(memory, 0, 1<<40))
}

// findUnusualHello finds another version, and a worker with some of its fields only. (AMB-08)
func (l *Line) findUnusualHello(wid string) {
	count, total := 0, 0
	for _, f := range model.Fields(fwp.HELLO) {
		if f.IsWorkerField {
			total++
			if l.Fields[f.Name] != nil {
				count++
			}
		}
	}
	if l.Fields["v"] != json.Number("2") || count%total != 0 || count == total &&
		(wid == "" || l.Fields["hostname"] == "") ||
		l.hasUnknownFields() {
		l.Form, l.Clause = model.OkayOrRefused, "FWP-HELLO-05"
	}
}

// Names that every server takes for a queue, and names that every server that takes them treats like others. (AMB-14)
var (
	plainQueue = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
	usualQueue = regexp.MustCompile(`^[^\pZ\pC]{1,256}$`)
)

// findUnusualJob finds values of a work unit that a server need not take.
func (l *Line) findUnusualJob() {
	f := l.Fields
	queue, named := f["queue"].(string)
	jid, jobtype := l.text("jid"), l.text("jobtype")
	switch {
	case named && strings.ContainsAny(queue, " \t\r\n"): // no FETCH can name it in one word
		l.Form, l.Clause = model.OkayOrRefused, "FWP-WU-16"
	case named && !usualQueue.MatchString(queue), len(jid) < 16 || len(jid) > 64, // AMB-14, AMB-15
		jobtype == "" || len(jobtype) > 64,
		len(l.Args) > 32<<10, l.hasUnknownFields() || f["enqueued_at"] != nil || f["failure"] != nil,
		!inRange(f["retry"], -1, 1<<31), !inRange(f["backtrace"], 0, 1<<31), !inRange(f["reserve_for"], 60, 1<<31), // AMB-17
		f["created_at"] == "", l.hasSmallLetters():
		l.Form = model.OkayOrRefused
	case named && !plainQueue.MatchString(queue):
		l.Form, l.HasUnusualQueue = model.OkayOrRefused, true
	}
}

// hasSmallLetters reports whether a PUSH has times with a t or a z, which RFC 3339 (section 5.6) lets a server refuse.
func (l *Line) hasSmallLetters() bool {
	return strings.ContainsAny(l.text("at")+l.text("created_at"), "tz")
}

// hasUnknownFields reports whether there are fields that the specification does not have.
func (l *Line) hasUnknownFields() bool {
	fields := model.Fields(l.Verb)
	for name := range l.Fields {
		if !slices.ContainsFunc(fields, func(f model.Field) bool { return f.Name == name }) {
			return true
		}
	}
	return false
}

// inRange reports whether a value is absent or an integer that is plainly in the range.
func inRange(value any, minimum, maximum int64) bool {
	n, ok := value.(json.Number)
	i, err := strconv.ParseInt(string(n), 10, 64)
	return !ok || err == nil && i >= minimum && i <= maximum
}
