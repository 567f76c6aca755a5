package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/allow"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// class is an allowance whose place is a rule: where it holds, a changed reply means the same as the right one.
type class struct {
	name, reason string
	holds        func(catalogue, *scenarios.Expect, mutant) bool
}

// row returns the class as it would be written if its place were a word.
func (c class) row() []allow.Row {
	return []allow.Row{{Item: c.name, Reason: c.reason, Source: "internal/proof/classes.go"}}
}

// classes are all of them: docs/proofs.md has the reasons, too.
var classes = []class{
	{"any", "docs/scripts.md: <any> is any reply, $ is any bulk string, /re/ is a text with a match", isAnyText},
	{"word", "docs/scripts.md: a type word is any value of this type, and ... any more parts", isTypeWord},
	{"window", "docs/scripts.md: a reply may come until its window ends", isInWindow},
	{"note", "the clauses of the line are notes: what comes is recorded only", isNote},
	{"optional", "AMB-18, FWP-WU-04 to 11: a job that is fetched need not have the optional fields", isOptional},
	{"at", "FWP-WU-06: at says when a job runs, not that its worker gets it", isTimeOnly},
	{"again", "the law judges no times of a job that a PUSHB or an operator has enqueued; FWP's own scripts do",
		isOtherEnqueuedAt},
	{"twice", "WORKQ-LINE-10: what becomes of a connection behind a malformed command is open", isBehindMalformed},
	{"inspect", "docs/scripts.md: other fields may be there; inspect/job has all keys", isInspectKey},
	{"last", "docs/scripts.md: a broker may push at any time, and no line looks behind the last one of a connection",
		isLastLine},
	{"own id", "EMQP-FRAME-04: the id of a message is of its sender's making", isSenderID},
}

// text returns the other reply; nil if it is the same one at another time, or twice, or none.
func (m mutant) text() []byte {
	if m.change.change == nil || m.change.name == "twice" {
		return nil
	}
	return m.change.change(m.reply)
}

func source(e *scenarios.Expect) string { return e.Choices[0].String() }

// isAnyText: the line says nothing of the text, or only a part of it.
func isAnyText(_ catalogue, e *scenarios.Expect, m mutant) bool {
	got, expected := m.text(), source(e)
	switch {
	case got == nil:
		return false
	case expected == "<any>":
		return true
	}
	re, ok := strings.CutPrefix(expected, "$/")
	return got[0] == '$' && !bytes.HasPrefix(got, []byte("$-1")) &&
		(expected == "$" || ok && regexp.MustCompile(strings.TrimSuffix(re, "/")).Match(respParts(got)[0]))
}

var typeWords = regexp.MustCompile(`\b(string|int|number|time)\b(\([^)]*\))?`)

// isTypeWord: one part is another one of its type.
func isTypeWord(c catalogue, e *scenarios.Expect, m mutant) bool {
	got := m.text()
	if got == nil || m.change.name != "field" && m.change.name != "character" || c.name == "fwp" {
		return false
	}
	expected := strings.Split(strings.Trim(source(e), "[]"), ", ")
	original, result := frames(m.raw), frames(got)
	for i := range original {
		if !bytes.Equal(original[i], result[i]) {
			return i < len(expected) && typeWords.MatchString(expected[i])
		}
	}
	return strings.HasSuffix(source(e), " ...") || typeWords.MatchString(source(e)) && c.name == "workq" &&
		strings.Contains(source(e), m.change.at[strings.LastIndexByte(m.change.at, ' ')+1:]+`":int(`)
}

// isInWindow: it comes later, and not too late.
func isInWindow(_ catalogue, e *scenarios.Expect, m mutant) bool {
	return m.change.delay > 0 && e.Window.To > 2*m.change.delay
}

// isNote: all clauses of the line are notes.
func isNote(c catalogue, e *scenarios.Expect, _ mutant) bool {
	return !slices.ContainsFunc(e.Marks, func(mark scenarios.ClauseMark) bool {
		clause, _ := c.fixture.Entry.ClauseByID(mark.Clause)
		return clause.Level != reports.LevelNote
	})
}

// isOptional: a job lacks optional fields that the line does not name, or names as ones that may be absent.
func isOptional(c catalogue, e *scenarios.Expect, m mutant) bool {
	return departs(m, func(field string, ok bool) bool {
		return !ok && mayLack(e, field, "queue", "reserve_for", "retry", "backtrace", "custom", "at")
	})
}

func mayLack(e *scenarios.Expect, field string, all ...string) bool {
	isNamed := strings.Contains(source(e), `"`+field+`":`)
	return slices.Contains(all, field) && (!isNamed || strings.Contains(source(e), "absent"))
}

// isTimeOnly: at has another value.
func isTimeOnly(_ catalogue, e *scenarios.Expect, m mutant) bool {
	return departs(m, func(field string, _ bool) bool { return mayLack(e, field, "at") })
}

// isOtherEnqueuedAt: a job that came by a command of the extension has other times.
func isOtherEnqueuedAt(c catalogue, e *scenarios.Expect, m mutant) bool {
	return c.name == "fwp-faktory" && departs(m, func(field string, _ bool) bool {
		return mayLack(e, field, "at", "enqueued_at")
	})
}

// departs reports whether the changed object of FWP has other fields than the right one, and whether f allows each
// difference. f gets the name of a field, and whether the changed object still has it. A field that only the changed
// object has is allowed: "other fields may be there" (docs/scripts.md).
func departs(m mutant, f func(field string, ok bool) bool) bool {
	got := m.text()
	if got == nil || got[0] != '$' || object(m.raw) == nil || object(got) == nil {
		return false
	}
	original, now := object(m.raw), object(got)
	var all []string
	for field, value := range original {
		if other, ok := now[field]; !ok || !reflect.DeepEqual(decode(value), decode(other)) {
			all = append(all, field)
		}
	}
	return len(all) > 0 && !slices.ContainsFunc(all, func(field string) bool {
		_, ok := now[field]
		return !f(field, ok)
	})
}

func decode(value json.RawMessage) (v any) {
	_ = json.Unmarshal(value, &v)
	return v
}

// isBehindMalformed: a malformed command is refused twice.
func isBehindMalformed(c catalogue, e *scenarios.Expect, m mutant) bool {
	return c.name == "workq" && m.change.name == "twice" && source(e) == "-CLIENT-ERROR"
}

// isInspectKey: a key of inspect that the line does not name, or its value.
func isInspectKey(c catalogue, e *scenarios.Expect, m mutant) bool {
	if c.name != "workq" || m.change.name != "field" || !bytes.Contains(m.raw, []byte("\r\npayload-size ")) {
		return false
	}
	original, got := bytes.Split(m.raw, []byte("\r\n")), bytes.Split(m.text(), []byte("\r\n"))
	for i := range original {
		if key, _, _ := strings.Cut(string(original[i]), " "); !bytes.Equal(original[i], got[i]) {
			return slices.Contains([]string{"payload", "max-attempts", "max-fails"}, key) &&
				!strings.Contains(source(e), `"`+key+`"`)
		}
	}
	return false
}

// isLastLine: the last message of eMQP that a connection expects comes twice.
func isLastLine(c catalogue, e *scenarios.Expect, m mutant) bool {
	if c.name != "emqp" || m.change.name != "twice" {
		return false
	}
	for step := range m.script.Script.All() {
		if step.Place().Line > e.Line && slices.Contains(scenarios.ConnectionsOf(step), e.Conn) {
			return false
		}
	}
	return true
}

// isSenderID: only the id of a message of eMQP is another one. Ids are compared on each connection, so that it may be
// that of a KBAI or a HEARTBEAT to another peer.
func isSenderID(c catalogue, e *scenarios.Expect, m mutant) bool {
	got := m.text()
	switch {
	case c.name != "emqp" || got == nil:
		return false
	case m.change.name == "another": // in a play it may be another one than in the recording
		return strings.Contains(source(e), `"KBAI", string`) || strings.Contains(source(e), `"HEARTBEAT", string`)
	}
	original, other := frames(m.raw), frames(got)
	for i := range original {
		if len(original) != len(other) || i != ownID && !bytes.Equal(original[i], other[i]) {
			return false
		}
	}
	return true
}
