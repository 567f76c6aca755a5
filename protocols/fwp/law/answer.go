package law

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// answer returns the way in which a reply answers the command, and keeps the object that it brings. (Responses)
func (k *call) answer(r fwp.Reply) model.Answer {
	if r.Kind == fwp.BulkString && (k.added != nil || k.Verb == fwp.FETCH) {
		k.object = number.Object(r.Text)
	}
	if k.added != nil && k.object != nil {
		return model.Data
	}
	return k.standardAnswer(r)
}

// standardAnswer is answer for a command of the specification.
func (k *call) standardAnswer(r fwp.Reply) model.Answer {
	bulk := r.Kind == fwp.BulkString
	switch {
	case r.Kind == fwp.ErrorReply:
		return model.Refused
	case k.Verb == fwp.INFO && bulk && len(bytes.TrimSpace(r.Text)) > 0: // "various information about the server"
		return model.Data
	case k.Verb == fwp.FETCH && r.Kind == fwp.NullBulk:
		return model.NullReply
	case k.Verb == fwp.FETCH && k.object != nil:
		return model.Delivered
	case k.Verb == fwp.INFO, k.Verb == fwp.FETCH:
		return model.Foreign
	case k.Verb == fwp.BEAT && r.State() != "":
		return model.Notified
	case r.Kind == fwp.SimpleString && string(r.Text) == "OK":
		return model.Okay
	}
	return model.Foreign
}

// judgeText judges the text of a reply that must be UTF-8. (Conventions)
func (w *World) judgeText(k *call, a model.Answer, r fwp.Reply) *law.Violation {
	if utf8.Valid(r.Text) || !w.mustBeUTF8(k, a, r) {
		return nil
	}
	v := &law.Violation{
		Clause: "FWP-FRAME-09", Rule: "text", Expected: "a text in UTF-8", Got: fmt.Sprintf("%.300q", Text(r)),
		Detail: "the text of the command was UTF-8",
	}
	if a == model.Delivered {
		v.JID, v.Detail = k.deliveredJID(), "all commands were UTF-8"
	}
	return v
}

// mustBeUTF8 is true of a line of text if its command was UTF-8, and of a job if all commands were. INFO has texts of
// others, too.
func (w *World) mustBeUTF8(k *call, a model.Answer, r fwp.Reply) bool {
	switch {
	case !utf8.Valid(k.bytes()):
		return false
	case a != model.Delivered:
		return r.Kind == fwp.ErrorReply || r.Kind == fwp.SimpleString
	case w.hasOtherBytes, w.Shared:
		return false
	}
	j := w.Jobs[k.deliveredJID()]
	return j != nil && j.pushFields != nil && j.Unjudged == Judged
}

// isASCII reports whether a text has no byte that may belong to a longer character.
func isASCII(text []byte) bool {
	return !slices.ContainsFunc(text, func(b byte) bool { return b >= utf8.RuneSelf })
}

// deliveredJID returns the jid of the job that the reply brought, "" if it has none.
func (k *call) deliveredJID() string {
	jid, _ := k.object["jid"].(string)
	return jid
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

// replyViolation is the violation that a reply is not one of those that the command may have.
func (w *World) replyViolation(c *Conn, k *call, a model.Answer, r fwp.Reply, now time.Time) *law.Violation {
	v := &law.Violation{
		Clause: k.clause, Rule: "reply", IsRecommendation: k.IsRecommendation, Expected: k.answers.String(),
		Got:   fmt.Sprintf("%.300s", Text(r)),
		Place: place(k, a.String()),
	}
	switch {
	case a == model.Foreign && k.isFailure(r):
		v.Clause, v.Rule, v.IsRecommendation, v.Detail = "FWP-RESP-02", "failure", false,
			"a failure that is not encoded as an error"
	case a == model.Foreign && k.clause == "FWP-BEAT-03":
		if v.Rule = "foreign"; r.Kind != fwp.BulkString && r.Kind != fwp.SimpleString {
			v.Clause = "FWP-BEAT-04"
		}
	case a == model.Foreign && k.answers&^model.Refused != 0:
		v.Clause, v.Rule = cmp.Or(model.ClauseOf(model.ImpossibleReply+k.Verb), k.clause), "foreign"
	case a == model.Notified:
		v.Clause, v.Rule, v.Detail = k.ownClause, "state", "no operator has ordered it"
	case a == model.Refused:
		v.Rule, v.Clause = "refused", w.refusalClause(c, k)
		if k.isEarlierClause || v.Clause != k.clause {
			v.CommandClause = k.ownClause
		}
	}
	if k.Verb == fwp.FETCH && k.answers&model.Delivered != 0 {
		v.Expected = w.expectedDelivery(k, now)
	}
	return v
}

// isFailure reports whether a reply that is none of the command's tells a failure: it begins like an error where the
// command may be refused, or is a word or a number where it has to be. (Responses)
func (k *call) isFailure(r fwp.Reply) bool {
	begins := func(word string) bool {
		return len(r.Text) >= len(word) && bytes.EqualFold(r.Text[:len(word)], []byte(word))
	}
	word := r.Kind == fwp.SimpleString && !begins("OK") || r.Kind == fwp.Integer
	return k.answers&model.Refused != 0 && begins("ERR") || k.answers&^model.Ended == model.Refused && word
}

// place names a command and how it was answered.
func place(k *call, answer string) string {
	if _, ok := model.LookupCommand(k.Verb); !ok && k.added == nil {
		return "another command: " + answer
	}
	return k.Verb + ": " + answer
}
