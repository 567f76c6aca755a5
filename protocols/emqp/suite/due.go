package suite

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/emqp"
)

// newDue returns what is missing if a message does not come on any of the connections.
func newDue(clause, id, expected string, conns ...int) *law.DueMessage {
	return &law.DueMessage{Conns: conns, Missing: law.Violation{
		Clause: prefix + clause, Rule: ruleMissing, JID: id, Expected: expected, Got: "nothing",
	}}
}

// NextMessage implements [law.Pusher].
func (l *emqpLaw) NextMessage(time.Time) *law.DueMessage {
	for _, n := range slices.Sorted(maps.Keys(l.pendingKBAIs)) {
		return newDue("DISC-01", fmt.Sprint("-", n), `["", "eMQP/1.0", "KBAI", string]`, n)
	}
	if l.isLeaving {
		return nil
	}
	for _, x := range l.messages {
		if d := l.messageDue(x); d != nil {
			return d
		}
	}
	for _, r := range l.replies {
		if r.isRequired && !r.isDone {
			return newDue("REPLY-01", r.ID, fmt.Sprintf(`["", "eMQP/1.0", "REPLY", string, %q]`, r.Fields[0]), r.to...)
		}
	}
	return nil
}

// messageDue returns what is due of one message.
func (l *emqpLaw) messageDue(x *message) *law.DueMessage {
	if x.isDone || !x.isRequired {
		return nil
	}
	last := fmt.Sprintf("%q", x.text(len(x.Fields)-1))
	if !utf8.ValidString(last) || !isPrintable(x.text(len(x.Fields)-1)) {
		last = "string"
	}
	expected := scriptLine(x.Command, "string", "string", last)
	if x.Command == emqp.REQUEST {
		return l.requestDue(x, expected)
	}
	return l.scheduleDue(x, expected)
}

// scheduleDue returns what is due of a SCHEDULE, which one of the schedulers gets, or of an UNSCHEDULE, which each
// gets.
func (l *emqpLaw) scheduleDue(x *message, expected string) *law.DueMessage {
	maps.DeleteFunc(x.to, func(n int, _ bool) bool { return l.conns[n] == nil || l.conns[n].role != scheduler })
	schedulers := slices.Sorted(maps.Keys(x.to))
	switch {
	case len(schedulers) == 0:
		return nil
	case x.Command == emqp.UNSCHEDULE:
		plain := func(n int) bool { return !l.conns[n].namesQueues && !l.conns[n].isNameless }
		first := schedulers[max(0, slices.IndexFunc(schedulers, plain))]
		return newDue(l.schedulerClause(l.conns[first], x.Command, "UNSCH-01"), x.ID, expected, first)
	}
	return newDue(l.schedulerClause(l.conns[schedulers[0]], x.Command, "SCHED-01"), x.ID, expected, schedulers...)
}

// schedulerClause returns the clause by which a scheduler has to get a message: that of what was to change nothing
// before, of a peer that is not the plainest and has got nothing yet, or of the message.
func (l *emqpLaw) schedulerClause(c *conn, command, clause string) string {
	switch {
	case l.disturbanceClause != "":
		return l.disturbanceClause[len(prefix):]
	case !l.passedCommands[command]: // to no scheduler
	case c.isNameless && c.deliveries == 0:
		return "SOCK-07"
	case c.namesQueues && c.deliveries == 0:
		return "INF-04"
	}
	return clause
}

// requestDue returns what is due of a REQUEST, which one of the workers gets.
func (l *emqpLaw) requestDue(x *message, expected string) *law.DueMessage {
	queue := x.text(0)
	if l.unknownQueues[queue] {
		return nil
	}
	all := l.workersOf(queue)
	i := slices.IndexFunc(all, func(n int) bool { return l.conns[n].isReady && !l.conns[n].informUncertain })
	if i < 0 {
		return nil
	}
	all[0], all[i] = all[i], all[0] // the script expects it there
	return newDue(l.requestClause(x, l.conns[all[0]]), x.ID, expected, all...)
}

// cause is something that may keep a REQUEST from its worker, and the clause by which it must not.
type cause struct{ clause, detail string }

// causes are what may keep a REQUEST from a worker, the rarer ones first.
func causes(x *message, c *conn) (all []cause) {
	const short, idle = 255, 8 * time.Second
	text, queue := x.Fields[2], x.text(0)
	position := slices.Index(c.queues, queue)
	size := fmt.Sprint(bits.Len(uint(len(text))), " bits")
	for _, row := range []struct {
		cause

		applies bool
	}{
		{cause{"ACK-02", ""}, c.hasAcked},
		{cause{"REPLY-04", ""}, c.hasReplied},
		{cause{"REQ-05", size}, !utf8.Valid(text) || slices.Contains(text, 0)},
		{cause{"REQ-04", size}, len(text) == 0 || len(text) > short},
		{cause{"INF-02", fmt.Sprint(bits.Len(uint(max(position, 0))), " bits")}, position > 0},
		{cause{"INF-01", "weight"}, slices.Contains(c.oddQueues, queue)},
		{cause{"BEAT-05", ""}, c.wasIdle || x.at.Sub(c.lastSent) > idle},
		{cause{"REQ-06", ""}, x.hasWaited},
		{cause{"SOCK-07", ""}, c.isNameless},
	} {
		if row.applies {
			all = append(all, row.cause)
		}
	}
	return all
}

// requestClause returns the clause by which a worker has to get a REQUEST: that of the cause in spite of which the
// fewest have come. What several have come in spite of is no cause.
func (l *emqpLaw) requestClause(x *message, c *conn) string {
	const limit = 3
	if l.disturbanceClause != "" {
		return l.disturbanceClause[len(prefix):]
	}
	clause, minimum := "REQ-01", limit
	switch {
	case x.hasWaited:
		clause = "REQ-06"
	case c.deliveries > 0:
		clause = "REQ-07"
	}
	for _, reason := range causes(x, c) {
		if n := l.causeCounts[reason]; n < minimum {
			clause, minimum = reason.clause, n
		}
	}
	return clause
}

// Missed implements [law.Pusher].
func (l *emqpLaw) Missed(d *law.DueMessage) {
	id := d.Missing.JID
	for n := range l.pendingKBAIs {
		if id == fmt.Sprint("-", n) {
			delete(l.pendingKBAIs, n)
			return
		}
	}
	for _, r := range l.replies {
		if r.ID == id && !r.isDone && len(r.to) > 0 { // the worker has replied all the same
			l.recordReply(r, r.to[0])
		}
	}
	for _, n := range d.Conns { // what the worker was given for its READY is not known
		if c := l.conns[n]; c != nil {
			c.isReady = false
		}
	}
	for _, x := range l.messages {
		if x.ID == id && x.Command == emqp.REQUEST { // whatever keeps it may keep the next one
			l.unknownQueues[x.text(0)] = true
		}
	}
	l.StopJudging(id)
}
