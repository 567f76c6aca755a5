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
	what, why string
	holds     func(catalogue, *scenarios.Expect, mutant) bool
}

// row returns the class as it would be written if its place were a word.
func (c class) row() []allow.Row {
	return []allow.Row{{What: c.what, Why: c.why, In: "internal/proof/classes.go"}}
}

// classes are all of them: docs/proofs.md has the reasons, too.
var classes = []class{
	{"any", "docs/scripts.md: <any> is any reply, $ is any bulk string, /re/ is a text with a match", anyText},
	{"word", "docs/scripts.md: a type word is any value of this type, and ... any more parts", typeWord},
	{"window", "docs/scripts.md: a reply may come until its window ends", inWindow},
	{"note", "the clauses of the line are notes: what comes is recorded only", note},
	{"optional", "AMB-18, FWP-WU-04 to 11: a job that is fetched need not have the optional fields", optional},
	{"at", "FWP-WU-06: at says when a job runs, not that its worker gets it", atOnly},
	{"again", "the law judges no times of a job that a PUSHB or an operator has enqueued; FWP's own scripts do",
		enqueuedOtherwise},
	{"twice", "WORKQ-LINE-10: what becomes of a connection behind a malformed command is open", behindMalformed},
	{"inspect", "docs/scripts.md: other fields may be there; inspect/job has all keys", keyOfInspect},
	{"last", "docs/scripts.md: a broker may push at any time, and no line looks behind the last one of a connection",
		lastLine},
	{"own id", "EMQP-FRAME-04: the id of a message is of its sender's making", senderID},
}

// changed returns the other reply; nil if it is the same one at another time, or twice, or none.
func (m mutant) changed() []byte {
	if m.change.change == nil || m.change.name == "twice" {
		return nil
	}
	return m.change.change(m.reply)
}

func source(e *scenarios.Expect) string { return e.Choices[0].String() }

// anyText: the line says nothing of the text, or only a part of it.
func anyText(_ catalogue, e *scenarios.Expect, m mutant) bool {
	got, says := m.changed(), source(e)
	switch {
	case got == nil:
		return false
	case says == "<any>":
		return true
	}
	re, is := strings.CutPrefix(says, "$/")
	return got[0] == '$' && !bytes.HasPrefix(got, []byte("$-1")) &&
		(says == "$" || is && regexp.MustCompile(strings.TrimSuffix(re, "/")).Match(respParts(got)[0]))
}

var typeWords = regexp.MustCompile(`\b(string|int|number|time)\b(\([^)]*\))?`)

// typeWord: one part is another one of its type.
func typeWord(c catalogue, e *scenarios.Expect, m mutant) bool {
	got := m.changed()
	if got == nil || m.change.name != "field" && m.change.name != "character" || c.name == "fwp" {
		return false
	}
	says := strings.Split(strings.Trim(source(e), "[]"), ", ")
	right, changed := frames(m.raw), frames(got)
	for i := range right {
		if !bytes.Equal(right[i], changed[i]) {
			return i < len(says) && typeWords.MatchString(says[i])
		}
	}
	return strings.HasSuffix(source(e), " ...") || typeWords.MatchString(source(e)) && c.name == "workq" &&
		strings.Contains(source(e), m.change.at[strings.LastIndexByte(m.change.at, ' ')+1:]+`":int(`)
}

// inWindow: it comes later, and not too late.
func inWindow(_ catalogue, e *scenarios.Expect, m mutant) bool {
	return m.change.late > 0 && e.Within.To > 2*m.change.late
}

// note: all clauses of the line are notes.
func note(c catalogue, e *scenarios.Expect, _ mutant) bool {
	return !slices.ContainsFunc(e.Marks, func(mark scenarios.Mark) bool {
		clause, _ := c.on.Peer.ClauseByID(mark.Clause)
		return clause.Level != reports.LevelNote
	})
}

// optional: a job lacks optional fields that the line does not name, or names as ones that may be absent.
func optional(c catalogue, e *scenarios.Expect, m mutant) bool {
	return departs(m, func(field string, is bool) bool {
		return !is && mayLack(e, field, "queue", "reserve_for", "retry", "backtrace", "custom", "at")
	})
}

func mayLack(e *scenarios.Expect, field string, all ...string) bool {
	named := strings.Contains(source(e), `"`+field+`":`)
	return slices.Contains(all, field) && (!named || strings.Contains(source(e), "absent"))
}

// atOnly: at has another value.
func atOnly(_ catalogue, e *scenarios.Expect, m mutant) bool {
	return departs(m, func(field string, _ bool) bool { return mayLack(e, field, "at") })
}

// enqueuedOtherwise: a job that came by a command of the profile has other times.
func enqueuedOtherwise(c catalogue, e *scenarios.Expect, m mutant) bool {
	return c.name == "fwp-faktory" && departs(m, func(field string, _ bool) bool {
		return mayLack(e, field, "at", "enqueued_at")
	})
}

// departs reports whether the changed object of FWP has other fields than the right one, and whether f allows each
// difference. f gets the name of a field, and whether the changed object still has it. A field that only the changed
// object has is allowed: "other fields may be there" (docs/scripts.md).
func departs(m mutant, f func(field string, is bool) bool) bool {
	got := m.changed()
	if got == nil || got[0] != '$' || object(m.raw) == nil || object(got) == nil {
		return false
	}
	right, now := object(m.raw), object(got)
	var all []string
	for field, value := range right {
		if other, is := now[field]; !is || !reflect.DeepEqual(decoded(value), decoded(other)) {
			all = append(all, field)
		}
	}
	return len(all) > 0 && !slices.ContainsFunc(all, func(field string) bool {
		_, is := now[field]
		return !f(field, is)
	})
}

func decoded(value json.RawMessage) (v any) {
	_ = json.Unmarshal(value, &v)
	return v
}

// behindMalformed: a malformed command is refused twice.
func behindMalformed(c catalogue, e *scenarios.Expect, m mutant) bool {
	return c.name == "workq" && m.change.name == "twice" && source(e) == "-CLIENT-ERROR"
}

// keyOfInspect: a key of inspect that the line does not name, or its value.
func keyOfInspect(c catalogue, e *scenarios.Expect, m mutant) bool {
	if c.name != "workq" || m.change.name != "field" || !bytes.Contains(m.raw, []byte("\r\npayload-size ")) {
		return false
	}
	right, got := bytes.Split(m.raw, []byte("\r\n")), bytes.Split(m.changed(), []byte("\r\n"))
	for i := range right {
		if key, _, _ := strings.Cut(string(right[i]), " "); !bytes.Equal(right[i], got[i]) {
			return slices.Contains([]string{"payload", "max-attempts", "max-fails"}, key) &&
				!strings.Contains(source(e), `"`+key+`"`)
		}
	}
	return false
}

// lastLine: the last message of eMQP that a connection expects comes twice.
func lastLine(c catalogue, e *scenarios.Expect, m mutant) bool {
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

// senderID: only the id of a message of eMQP is another one. Ids are compared on each connection, so that it may be
// that of a KBAI or a HEARTBEAT to another peer.
func senderID(c catalogue, e *scenarios.Expect, m mutant) bool {
	got := m.changed()
	switch {
	case c.name != "emqp" || got == nil:
		return false
	case m.change.name == "another": // in a play it may be another one than in the recording
		return strings.Contains(source(e), `"KBAI", string`) || strings.Contains(source(e), `"HEARTBEAT", string`)
	}
	right, other := frames(m.raw), frames(got)
	for i := range right {
		if len(right) != len(other) || i != ownID && !bytes.Equal(right[i], other[i]) {
			return false
		}
	}
	return true
}
