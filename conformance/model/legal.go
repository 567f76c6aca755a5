package model

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fwp"
)

// Verdict is what the text says of a command line, whatever the state.
type Verdict struct {
	Allowed Answer // Okay stands for being carried out
	Clause  string // that rules it
	Command fwp.Command
	Fields  map[string]any // of its JSON argument, nil if there is none
}

const either = Okay | Refused

// field is a row of the specification's tables.
type field struct {
	name, kind string
	required   bool
	clause     string // for a value that is missing or of the wrong type
}

// tables are the fields of the commands' arguments. What is missing and not required
// is judged by odd, where the text has more to say.
var tables = map[string][]field{
	fwp.HELLO: {{"hostname", "string", false, "FWP-HELLO-14"}, {"wid", "string", false, "FWP-HELLO-14"}, {"pid", "int", false, "FWP-HELLO-14"}, {"labels", "strings", false, "FWP-HELLO-14"}, {"pwdhash", "string", false, "FWP-AUTH-07"}},
	fwp.PUSH: {{"jid", "string", true, "FWP-WU-01"}, {"jobtype", "string", true, "FWP-WU-02"}, {"args", "array", true, "FWP-WU-03"},
		{"queue", "string", false, "FWP-WU-14"}, {"reserve_for", "int", false, "FWP-WU-05b"}, {"at", "time", false, "FWP-WU-06b"}, {"retry", "int", false, "FWP-WU-14"},
		{"backtrace", "int", false, "FWP-WU-14"}, {"created_at", "time", false, "FWP-WU-14"}, {"custom", "object", false, "FWP-WU-11"}},
	fwp.ACK:  {{"jid", "string", true, "FWP-ACK-03"}},
	fwp.FAIL: {{"jid", "string", true, "FWP-FAIL-02"}, {"errtype", "string", false, "FWP-FAIL-02"}, {"message", "string", false, "FWP-FAIL-02"}, {"backtrace", "strings", false, "FWP-FAIL-02"}},
	fwp.BEAT: {{"wid", "string", true, "FWP-BEAT-02"}},
}

// own are the clauses of each verb: that it is carried out, and that a malformed
// argument and one that is no object are refused.
var own = map[string][3]string{
	fwp.HELLO: {"FWP-HELLO-03", "FWP-HELLO-06", "FWP-HELLO-06"}, fwp.PUSH: {"FWP-PUSH-01", "FWP-PUSH-02", "FWP-WU-00"},
	fwp.FETCH: {"FWP-FETCH-01", "FWP-FRAME-03", ""}, fwp.ACK: {"FWP-ACK-01", "FWP-ACK-03", "FWP-ACK-03"},
	fwp.FAIL: {"FWP-FAIL-01", "FWP-FAIL-02", "FWP-FAIL-02"}, fwp.BEAT: {"FWP-BEAT-01", "FWP-BEAT-02", "FWP-BEAT-02"},
	fwp.INFO: {"FWP-INFO-01", "FWP-INFO-03", ""}, fwp.FLUSH: {"FWP-FLUSH-01", "FWP-FLUSH-03", ""}, fwp.END: {"FWP-END-01", "FWP-FRAME-03", ""},
}

// Judge reads a line, without its CRLF, as the specification does.
func Judge(line []byte) Verdict {
	c := fwp.SplitCommand(line)
	v := Verdict{Allowed: Refused, Clause: "FWP-FRAME-03", Command: c}
	clauses, known := own[c.Verb]
	switch {
	case !utf8.Valid(line): // AMB-13
		v.Allowed, v.Clause = either, "FWP-FRAME-09"
		v.Fields = object(bytes.ToValidUTF8(c.Args, []byte("\ufffd")))
	case bytes.IndexByte(line, '\n') >= 0:
		v.Clause = "FWP-FRAME-08"
	case bytes.IndexByte(line, '\r') >= 0:
	case !known: // nobody says that there are no other verbs, but they are words
		if word.MatchString(c.Verb) && own[strings.ToUpper(c.Verb)][0] == "" {
			v.Allowed = either
		}
	case c.Verb == fwp.FLUSH || c.Verb == fwp.INFO || c.Verb == fwp.END:
		v.Clause = clauses[1]
		if c.Args == nil {
			v.Allowed, v.Clause = Okay, clauses[0]
		}
	case c.Verb == fwp.FETCH:
		v.fetch(line, clauses[0])
	default:
		v.argument(clauses)
	}
	return v
}

var word = regexp.MustCompile(`^[A-Za-z]+$`)

func (v *Verdict) fetch(line []byte, clause string) {
	if _, err := fwp.ParseCommand(line); err != nil {
		return
	}
	v.Allowed, v.Clause = Okay, clause
	for q := range strings.FieldsSeq(string(v.Command.Args)) {
		if !plainQueue.MatchString(q) { // AMB-14
			v.Allowed = either
		}
	}
}

// argument judges what must be a JSON object after a single space.
func (v *Verdict) argument(clauses [3]string) {
	args := v.Command.Args
	trimmed := bytes.Trim(args, " \t")
	fields := object(trimmed)
	switch {
	case !json.Valid(trimmed):
		v.Clause = clauses[1]
		return
	case fields == nil:
		v.Clause = clauses[2]
		return
	case len(trimmed) != len(args): // AMB-05
		return
	}
	v.Fields, v.Allowed, v.Clause = fields, Okay, clauses[0]
	for _, f := range tables[v.Command.Verb] {
		value, there := fields[f.name]
		blank := value == nil && !f.required // AMB-18
		if !there && !f.required || blank && v.Command.Verb == fwp.PUSH {
			continue
		}
		if !Is(value, f.kind) {
			v.Allowed, v.Clause = Refused, f.clause
			if blank { // AMB-18, AMB-35
				v.Allowed = either
			}
			return
		}
	}
	v.odd()
}

// odd opens what the text leaves open although every field has its type.
func (v *Verdict) odd() {
	f := v.Fields
	text := func(name string) string { s, _ := f[name].(string); return s }
	open := false
	switch v.Command.Verb {
	case fwp.HELLO:
		v.oddHello(text("wid"))
	case fwp.PUSH:
		v.oddJob(text)
	case fwp.ACK:
		open = v.unknown()
	case fwp.FAIL: // AMB-35
		open = v.unknown() || f["errtype"] == nil || f["message"] == nil || f["backtrace"] == nil
	case fwp.BEAT:
		state := text("current_state")
		open = v.unknown("current_state", "rss_kb") || f["current_state"] != nil && state != "quiet" && state != "terminate" ||
			f["rss_kb"] != nil && !Is(f["rss_kb"], "int") || !within(f["rss_kb"], 0, 1<<40) || text("wid") == ""
	}
	if open {
		v.Allowed = either
	}
}

// oddHello opens another version, and what is half a consumer. (AMB-08)
func (v *Verdict) oddHello(wid string) {
	f, consumer := v.Fields, 0
	for _, name := range []string{"hostname", "wid", "pid", "labels"} {
		if f[name] != nil {
			consumer++
		}
	}
	if f["v"] != json.Number("2") || consumer%4 != 0 || consumer == 4 && wid == "" || v.unknown("v") {
		v.Allowed, v.Clause = either, "FWP-HELLO-05"
	}
}

var plainQueue = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (v *Verdict) oddJob(text func(string) string) {
	f := v.Fields
	queue, named := f["queue"].(string)
	jid := text("jid")
	switch {
	case named && strings.ContainsAny(queue, " \t\r\n"): // no FETCH could name it
		v.Allowed, v.Clause = Refused, "FWP-WU-16"
	case named && !plainQueue.MatchString(queue), len(jid) < 16 || len(jid) > 64, text("jobtype") == "", // AMB-14, AMB-15
		len(v.Command.Args) > 32<<10, v.unknown("enqueued_at", "failure") || f["enqueued_at"] != nil || f["failure"] != nil,
		!within(f["retry"], -1, 1<<31), !within(f["backtrace"], 0, 1<<31), !within(f["reserve_for"], 60, 1<<31), // AMB-17
		f["created_at"] == "":
		v.Allowed = either
	}
}

// unknown tells whether there are fields beside those of the table and the named ones.
func (v *Verdict) unknown(but ...string) bool {
	for name := range v.Fields {
		if !slices.Contains(but, name) && !slices.ContainsFunc(tables[v.Command.Verb], func(f field) bool { return f.name == name }) {
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
