package emqpsubject

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/session/emqpsession"
	"github.com/fwpsuite/fwp/scenarios/emqpdialect"
)

// breach is what is wrong with a message: the clause and the pattern that it should have matched, which is empty if
// nothing should have come.
type breach struct{ clause, expected string }

// The rules of a law. Behind explore.RuleUnasked stands the clause, and behind ruleContent the command. All that is
// missing is one family: which clause it breaks depends on what was sent before.
const (
	ruleMissing = "missing"
	ruleContent = "content"
)

// Came judges a message of the broker, and follows what it means. The reader has checked its frames.
func (l *emqpLaw) Came(number int, m session.Message, _ time.Time) law.Answer {
	if m.Kind != emqpsession.Message {
		return l.ofZMTP(number, m)
	}
	c := l.conns[number]
	got, err := emqp.Parse(m.Parts)
	if c == nil || err != nil {
		return law.Answer{}
	}
	state := l.State(number)
	a := law.Answer{
		Reply: true, Judged: true, Verb: got.Command, State: state, Pattern: pattern(got), Normal: l.normal(got),
		Outcome: got.Command + " " + state,
	}
	b, about := l.judge(number, c, got)
	if about != nil {
		a.Job = about.ID
	}
	if moved := l.State(number); moved != state {
		a.Moved = state + " > " + moved
	}
	if b != nil {
		a.Violation = b.violation(got.Command, cmp.Or(a.Job, got.ID), emqpdialect.Dialect{}.Text(m))
	}
	return a
}

// judge judges a message by its command, and returns the one that the broker passes on, if it does.
func (l *emqpLaw) judge(number int, c *conn, m emqp.Message) (b *breach, about *message) {
	switch m.Command {
	case emqp.REQUEST:
		about = l.find(m)
		b = l.judgeRequest(c, about, m)
	case emqp.SCHEDULE, emqp.UNSCHEDULE:
		about = l.find(m)
		b = l.judgeSchedule(number, c, about, m)
	case emqp.REPLY:
		b = l.judgeReply(number, c, m)
	case emqp.HEARTBEAT:
		if c.role == client && !c.mayBeClosed {
			b = &breach{clause: "BEAT-04"}
		}
	case emqp.KBAI, emqp.DISCONNECT:
		delete(l.farewells, number)
		c.mayBeClosed = true
	}
	return b, about
}

// violation returns a breach as one of a law.
func (b *breach) violation(command, id, got string) *law.Violation {
	v := law.Violation{
		Clause: prefix + b.clause, Rule: ruleContent + " " + command, JID: id, Expected: b.expected, Got: got,
	}
	if b.expected == "" {
		v.Rule, v.Expected = explore.RuleUnasked+" "+b.clause, "no "+command
	}
	return &v
}

// after reports whether a peer gets a message that was sent when its KBAI was known to the broker.
func (l *emqpLaw) after(c *conn, x *message) bool {
	return c.role == gone && x != nil && x.at.Sub(c.left) > l.terms.Slack
}

// judgeRequest judges a REQUEST. x is the one that was sent, nil if none was.
func (l *emqpLaw) judgeRequest(c *conn, x *message, m emqp.Message) *breach {
	clause := l.requestClause(c, x, m)
	if x != nil {
		x.over = true
	}
	switch {
	case clause != "":
		return &breach{clause: clause}
	case l.leaving, c.role == gone, x == nil: // nothing follows from it
		return nil
	}
	c.credit, c.delivered, c.acked, c.replied, c.idled = c.credit-1, c.delivered+1, false, false, false
	l.disrupted = ""
	if h, _ := emqp.ParseHeaders(x.text(1)); h.Has(emqp.ReplyRequested) && !x.early {
		c.outstanding = append(c.outstanding, x)
	}
	return x.compared(m, "REQ-01", "HEAD-01", "REQ-04")
}

// requestClause returns the clause by which a REQUEST must not come, "" if it may.
func (l *emqpLaw) requestClause(c *conn, x *message, m emqp.Message) string {
	switch {
	case l.leaving, c.role == gone:
		return l.partingClause(c, x)
	case slices.ContainsFunc(l.foreign, func(id string) bool { return m.ID == id || mentions(m.Fields[2], id) }):
		return "FRAME-06"
	case x == nil && (l.unbounded || l.open[string(m.Fields[0])]):
		return ""
	case x == nil:
		return "REQ-01"
	case x.over && !l.open[x.text(0)]:
		return "REQ-03"
	case c.role != worker || !slices.Contains(c.queues, x.text(0)):
		return "REQ-02"
	}
	return ""
}

// partingClause is requestClause for a broker that leaves, and for a worker that has left.
func (l *emqpLaw) partingClause(c *conn, x *message) string {
	switch {
	case l.leaving && x != nil && x.late:
		return "DISC-02"
	case !l.leaving && l.after(c, x):
		return map[role]string{worker: "KBAI-01", scheduler: "KBAI-02"}[c.roleBeforeKBAI]
	}
	return ""
}

// compared compares the queue, the headers and the text of what the broker passes on with what was sent. A clause that
// is empty is about nothing.
func (x *message) compared(m emqp.Message, queue, headers, text string) *breach {
	frames := []string{"string", "string", "string"}
	for i, clause := range []string{queue, headers, text} {
		same := string(m.Fields[i]) == x.text(i)
		if clause == headers {
			sent, _ := emqp.ParseHeaders(x.text(i))
			got, _ := emqp.ParseHeaders(string(m.Fields[i])) // Parse has checked both
			same = sent.String() == got.String() && (x.text(i) == "") == (len(m.Fields[i]) == 0)
		}
		if same || clause == "" {
			continue
		}
		switch {
		case clause == "HEAD-01" && x.text(i) == "":
			clause = "HEAD-02"
		case clause == "REQ-04" && (!utf8.ValidString(x.text(i)) || strings.Contains(x.text(i), "\x00")):
			clause = "REQ-05"
		}
		frames[i] = fmt.Sprintf("%q", x.text(i))
		return &breach{clause, asLine(m.Command, frames...)}
	}
	return nil
}

// judgeSchedule judges a SCHEDULE or UNSCHEDULE that a scheduler gets. Whether others get it too is open.
func (l *emqpLaw) judgeSchedule(number int, c *conn, x *message, m emqp.Message) *breach {
	switch {
	case l.leaving, x == nil, len(m.Fields) != len(x.Fields):
		return nil
	case c.roleBeforeKBAI == scheduler && l.after(c, x):
		x.over = true
		return &breach{clause: "KBAI-02"}
	case c.role != scheduler:
		return nil
	}
	delete(x.to, number)
	x.over = x.over || m.Command == emqp.SCHEDULE || len(x.to) == 0
	if m.Command == emqp.SCHEDULE {
		return x.compared(m, "SCHED-01", "SCHED-02", "SCHED-01")
	}
	return x.compared(m, "", "", "UNSCH-01") // its queue is ignored
}

// judgeReply judges a REPLY that a client gets.
func (l *emqpLaw) judgeReply(number int, c *conn, m emqp.Message) *breach {
	if l.leaving || c.role == gone {
		return nil
	}
	var mine *reply // one that the client may get
	for _, r := range l.replies {
		if !slices.Contains(r.to, number) || r.over {
			continue
		}
		mine = r
		if string(r.Fields[0]) == string(m.Fields[0]) {
			l.replied(r, number)
			return nil
		}
	}
	asked, pending := l.asked(number)
	others := slices.ContainsFunc(l.replies, func(r *reply) bool { return string(r.Fields[0]) == string(m.Fields[0]) })
	switch {
	case !asked:
		return &breach{clause: "REPLY-02"}
	case mine != nil:
		l.replied(mine, number)
		return &breach{"REPLY-01", fmt.Sprintf(`["", "eMQP/1.0", "REPLY", string, %q]`, mine.Fields[0])}
	case others:
		return &breach{clause: "REPLY-03"}
	case pending:
		return &breach{clause: "REPLY-01"}
	}
	return &breach{clause: "REPLY-02"}
}

// asked reports whether a client has asked for REPLYs, and whether it still awaits one.
func (l *emqpLaw) asked(number int) (asked, pending bool) {
	for _, x := range l.messages {
		if h, _ := emqp.ParseHeaders(x.text(1)); x.from == number && x.Command == emqp.REQUEST && h.Has(emqp.ReplyRequested) {
			asked = true
			pending = pending || l.awaits(x)
		}
	}
	return asked, pending
}

// awaits reports whether a REQUEST has no REPLY yet.
func (l *emqpLaw) awaits(x *message) bool {
	if !x.over {
		return true
	}
	for _, c := range l.conns {
		if slices.Contains(c.outstanding, x) {
			return true
		}
	}
	return false
}

// replied records that a client has got a REPLY: the worker owes it none for one of its REQUESTs any more.
func (l *emqpLaw) replied(r *reply, to int) {
	r.over = true
	c := l.conns[r.worker]
	if c == nil {
		return
	}
	if i := slices.IndexFunc(c.outstanding, func(x *message) bool { return x.from == to }); i >= 0 {
		c.outstanding = slices.Delete(c.outstanding, i, i+1)
		return
	}
	for _, x := range l.messages { // it was on its way to the worker
		h, _ := emqp.ParseHeaders(x.text(1))
		asks := x.from == to && slices.Contains(c.queues, x.text(0)) && h.Has(emqp.ReplyRequested)
		if asks && !x.over && !x.early {
			x.early = true
			return
		}
	}
}

// asLine returns a message as an S: line, with frames behind an id of any kind.
func asLine(command string, frames ...string) string {
	return fmt.Sprintf(`["", "eMQP/1.0", %q, string, %s]`, command, strings.Join(frames, ", "))
}

// pattern is a message as an S: line, without what differs from play to play.
func pattern(m emqp.Message) string {
	const long = 300
	frames := []string{`""`, `"eMQP/1.0"`, fmt.Sprintf("%q", m.Command)}
	last := ""
	if len(m.Fields) > 0 {
		last = string(m.Fields[len(m.Fields)-1])
	}
	if m.Command == emqp.KBAI || len(last) > long || !printable(last) {
		return "[" + strings.Join(append(frames, "..."), ", ") + "]"
	}
	frames = append(frames, "string")
	for range len(m.Fields) - 1 {
		frames = append(frames, "string")
	}
	return "[" + strings.Join(append(frames, fmt.Sprintf("%q", last)), ", ") + "]"
}

// printable reports whether a text can stand in a line.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0xfffd || r == 0x7f })
}

// normal returns a message in parts that are the same on brokers that mean the same: names are without the prefix of
// the play, and ids are left out.
func (l *emqpLaw) normal(m emqp.Message) []string {
	parts := []string{m.Command}
	for i, f := range m.Fields {
		name := []string{"queue", "headers", "message"}[min(i, 2)]
		if len(m.Fields) == 1 {
			name = "message"
		}
		if m.Command == emqp.HEARTBEAT || m.Command == emqp.ACK {
			break
		}
		parts = append(parts, name+": "+strings.ReplaceAll(string(f), l.terms.Prefix+"-", "$"))
	}
	return parts
}
