package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpscript "github.com/fwpsuite/fwp/protocols/emqp/script"
	emqpsession "github.com/fwpsuite/fwp/protocols/emqp/session"
)

// breach is what is wrong with a message: the rule, its clause, and the pattern that the message should have matched,
// which is empty if nothing should have come.
type breach struct {
	rule, clause, expected string
}

// contentBreach is the breach of a message that should have matched a pattern.
func contentBreach(rule, clause, expected string) *breach {
	return &breach{rule: rule, clause: clause, expected: expected}
}

// extraBreach is the breach of a message that must not come.
func extraBreach(rule, clause string) *breach { return &breach{rule: rule, clause: clause} }

// Judge judges a message of the broker, and follows what it means. The reader has checked its frames.
func (l *emqpLaw) Judge(number int, m session.Message, at time.Time) law.Answer {
	if m.Kind != emqpsession.Message {
		return l.judgeZMTP(number, m)
	}
	c := l.conns[number]
	got, err := emqp.Parse(m.Parts)
	if c == nil || err != nil {
		return law.Answer{}
	}
	state := l.State(number)
	a := law.Answer{
		Reply: true, IsJudged: true, Verb: got.Command, State: state, Pattern: pattern(got), Normal: l.normalize(got),
		Outcome: got.Command + " " + state, Ends: got.Command == emqp.DISCONNECT,
	}
	a.Rules = l.decide(c, got)
	b, x := l.judge(number, c, got, at)
	if irregular := l.judgeRhythm(c, got, at); b == nil {
		b = irregular
	}
	if x != nil && x.isRequired && b == nil {
		a.Rules.KeptRules = append(a.Rules.KeptRules, ruleMissing)
	}
	if x != nil {
		a.JID = x.ID
	}
	if next := l.State(number); next != state {
		a.Transition = state + " > " + next
	}
	if b != nil {
		a.Violation = b.violation(got.Command, cmp.Or(a.JID, got.ID), emqpscript.Dialect{}.Text(m))
	}
	return a
}

// judge judges a message by its command, and returns the one that the broker passes on, if it does.
func (l *emqpLaw) judge(number int, c *conn, m emqp.Message, at time.Time) (b *breach, x *message) {
	switch m.Command {
	case emqp.REQUEST:
		x = l.find(m)
		b = l.judgeRequest(c, x, m)
	case emqp.SCHEDULE, emqp.UNSCHEDULE:
		x = l.find(m)
		b = l.judgeSchedule(number, c, x, m)
	case emqp.REPLY:
		b = l.judgeReply(number, c, m)
	case emqp.HEARTBEAT, emqp.ACK:
		b = l.judgeBeatOrACK(c, m, at)
	case emqp.KBAI, emqp.DISCONNECT:
		delete(l.pendingKBAIs, number)
		c.mayBeClosed = true
	}
	if !l.isUnique(m, x) && b == nil {
		b = contentBreach("id", "FRAME-04", "an id that no other message has")
	}
	return b, x
}

// violation returns a breach as one of a law.
func (b *breach) violation(command, id, got string) *law.Violation {
	return &law.Violation{
		Clause: prefix + b.clause, Rule: b.rule, JID: id, Expected: cmp.Or(b.expected, "no "+command), Got: got,
	}
}

// isAfterKBAI reports whether a peer gets a message that was sent when its KBAI was known to the broker.
func (l *emqpLaw) isAfterKBAI(c *conn, x *message) bool {
	return c.role == formerPeer && x != nil && x.at.Sub(c.kbaiAt) > l.terms.Slack
}

// judgeRequest judges a REQUEST. x is the one that was sent, nil if none was.
func (l *emqpLaw) judgeRequest(c *conn, x *message, m emqp.Message) *breach {
	b := l.requestBreach(c, x, m)
	if x != nil {
		x.isDone = true
	}
	c.isReady = false // a broker may take all READYs before it as one
	switch {
	case b != nil:
		return b
	case l.isLeaving, c.role == formerPeer, x == nil: // nothing follows from it
		return nil
	}
	for _, reason := range causes(x, c) {
		l.causeCounts[reason]++
	}
	c.deliveries, c.lastRequest, c.hasAcked, c.hasReplied, c.wasIdle = c.deliveries+1, x, false, false, false
	l.disturbanceClause = ""
	if h, _ := emqp.ParseHeaders(x.text(1)); h.Has(emqp.ReplyRequested) && !x.repliedEarly {
		x.isAmbiguous = m.ID != x.ID && slices.ContainsFunc(l.messages, func(y *message) bool {
			return y.from != x.from && y.equals(x.Message)
		})
		c.outstanding = append(c.outstanding, x)
	}
	return x.compare(m, "REQ-01", "HEAD-01", "REQ-04")
}

// requestBreach returns why a REQUEST must not come, nil if it may.
func (l *emqpLaw) requestBreach(c *conn, x *message, m emqp.Message) *breach {
	switch {
	case l.isLeaving, c.role == formerPeer:
		return l.partingBreach(c, x)
	case l.hasForeignVersion(m), c.role != worker && c.hasForeignInform:
		return extraBreach("version", "FRAME-06")
	case x == nil && (l.isUnbounded || l.unknownQueues[string(m.Fields[0])]):
		return nil
	case x == nil && c.worksFor(string(m.Fields[0])):
		return extraBreach("request-unknown", "REQ-01")
	case x == nil: // whoever has sent it
		return l.queueBreach(c, string(m.Fields[0]))
	case x.isDone && !x.isUnjudged && (x.isAnswered || !l.unknownQueues[x.text(0)]):
		return extraBreach("request-again", "REQ-03")
	case !c.worksFor(x.text(0)):
		return l.queueBreach(c, x.text(0))
	}
	return nil
}

// queueBreach is the breach of a REQUEST of a queue that is not one of the peer's.
func (l *emqpLaw) queueBreach(c *conn, queue string) *breach {
	if l.isMisaddressed(c, l.workersOf(queue)) {
		return extraBreach("request-queue", "SOCK-07")
	}
	return extraBreach("request-queue", "REQ-02")
}

// isMisaddressed reports whether a peer without an identity gets what is for one of some others, one of which has none
// either.
func (l *emqpLaw) isMisaddressed(c *conn, others []int) bool {
	return c.isNameless && slices.ContainsFunc(others, func(n int) bool {
		return l.conns[n] != nil &&
			l.conns[n].isNameless
	})
}

// worksFor reports whether a connection is that of a worker of a queue.
func (c *conn) worksFor(queue string) bool {
	return c.role == worker && slices.Contains(c.queues, queue)
}

// hasForeignVersion reports whether the broker passes on what it was sent in a message of another version.
func (l *emqpLaw) hasForeignVersion(m emqp.Message) bool {
	return slices.ContainsFunc(l.foreignIDs, func(id string) bool {
		return m.ID == id || mentions(m.Fields[len(m.Fields)-1], id)
	})
}

// partingBreach is requestBreach for a broker that leaves, and for a worker that has left.
func (l *emqpLaw) partingBreach(c *conn, x *message) *breach {
	switch {
	case l.isLeaving && x != nil && x.isAfterDisconnect:
		return extraBreach("after-disconnect", "DISC-02")
	case !l.isLeaving && l.isAfterKBAI(c, x):
		return c.kbaiBreach()
	}
	return nil
}

// kbaiBreach returns the breach of a message to a peer that has sent KBAI.
func (c *conn) kbaiBreach() *breach {
	if c.roleBeforeKBAI == scheduler {
		return extraBreach("after-kbai", "KBAI-02")
	}
	return extraBreach("after-kbai", "KBAI-01")
}

// compare compares the queue, the headers and the text of what the broker passes on with what was sent. A clause that
// is empty is about nothing.
func (x *message) compare(m emqp.Message, queue, headers, text string) *breach {
	frames := []string{"string", "string", "string"}
	for i, clause := range []string{queue, headers, text} {
		isSame := string(m.Fields[i]) == x.text(i)
		if clause == headers {
			sent, _ := emqp.ParseHeaders(x.text(i))
			got, _ := emqp.ParseHeaders(string(m.Fields[i])) // Parse has checked both
			isSame = slices.Equal(sortHeaders(sent), sortHeaders(got)) && (x.text(i) == "") == (len(m.Fields[i]) == 0)
		}
		if isSame || clause == "" {
			continue
		}
		switch {
		case clause == "HEAD-01" && x.text(i) == "":
			clause = "HEAD-02"
		case clause == "REQ-04" && (!utf8.ValidString(x.text(i)) || strings.Contains(x.text(i), "\x00")):
			clause = "REQ-05"
		}
		frames[i] = fmt.Sprintf("%q", x.text(i))
		return contentBreach(strings.ToLower(m.Command)+"-content", clause, scriptLine(m.Command, frames...))
	}
	return nil
}

// sortHeaders returns headers in an order that does not depend on that in which they came.
func sortHeaders(h emqp.Headers) emqp.Headers {
	slices.SortFunc(h, func(a, b emqp.Header) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
	return h
}

// judgeSchedule judges a SCHEDULE or UNSCHEDULE that a scheduler gets. Whether others get it too is open.
func (l *emqpLaw) judgeSchedule(number int, c *conn, x *message, m emqp.Message) *breach {
	switch {
	case !l.isLeaving && c.role != formerPeer && (l.hasForeignVersion(m) || c.role != scheduler && c.hasForeignInform):
		return extraBreach("version", "FRAME-06")
	case x == nil && c.role == scheduler && !l.isLeaving && l.mentionsPlay(m): // no other client uses its names
		return contentBreach(strings.ToLower(m.Command)+"-content", "SCHED-01",
			scriptLine(m.Command, "a message that was sent"))
	case l.isLeaving, x == nil, len(m.Fields) != len(x.Fields):
		return nil
	case c.roleBeforeKBAI == scheduler && l.isAfterKBAI(c, x):
		x.isDone = true
		return c.kbaiBreach()
	case c.role != scheduler:
		return nil
	}
	l.recordDelivery(number, c, x)
	if m.Command == emqp.SCHEDULE {
		return x.compare(m, "SCHED-01", "SCHED-02", "SCHED-01")
	}
	return x.compare(m, "", "", "UNSCH-01") // its queue is ignored
}

// recordDelivery records that a scheduler has got a message.
func (l *emqpLaw) recordDelivery(number int, c *conn, x *message) {
	if x.isReached || x.Command == emqp.SCHEDULE {
		l.passedCommands[x.Command] = true
	}
	x.isReached, l.disturbanceClause = true, ""
	delete(x.to, number)
	c.deliveries++
	x.isDone = x.isDone || x.Command == emqp.SCHEDULE || len(x.to) == 0
}

// scriptLine returns a message as an S: line, with frames behind an id of any kind.
func scriptLine(command string, frames ...string) string {
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
	if m.Command == emqp.KBAI || len(last) > long || !isPrintable(last) {
		return "[" + strings.Join(append(frames, "..."), ", ") + "]"
	}
	frames = append(frames, "string")
	for range len(m.Fields) - 1 {
		frames = append(frames, "string")
	}
	return "[" + strings.Join(append(frames, fmt.Sprintf("%q", last)), ", ") + "]"
}

// isPrintable reports whether a text can stand in a line.
func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0xfffd || r == 0x7f })
}

// normalize returns a message in parts that are the same on brokers that mean the same: names are without the prefix of
// the play, and ids are left out.
func (l *emqpLaw) normalize(m emqp.Message) []string {
	if !l.terms.Compared {
		return nil
	}
	parts := []string{m.Command}
	for i, f := range m.Fields {
		name := []string{"queue", "headers", "message"}[min(i, 2)]
		if len(m.Fields) == 1 {
			name = "message"
		}
		if m.Command == emqp.HEARTBEAT || m.Command == emqp.ACK {
			break
		}
		parts = append(parts, name+": "+strings.ReplaceAll(string(f), l.terms.NamePrefix+"-", "$"))
	}
	return parts
}
