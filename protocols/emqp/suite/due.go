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

// due returns what is missing if a message does not come on any of the connections.
func due(clause, id, expected string, conns ...int) *law.Due {
	return &law.Due{Conns: conns, Missing: law.Violation{
		Clause: prefix + clause, Rule: ruleMissing, JID: id, Expected: expected, Got: "nothing",
	}}
}

// Due implements [law.Pusher].
func (l *emqpLaw) Due(time.Time) *law.Due {
	for _, n := range slices.Sorted(maps.Keys(l.farewells)) {
		return due("DISC-01", fmt.Sprint("-", n), `["", "eMQP/1.0", "KBAI", string]`, n)
	}
	if l.leaving {
		return nil
	}
	for _, x := range l.messages {
		if d := l.dueFor(x); d != nil {
			return d
		}
	}
	for _, r := range l.replies {
		if r.firm && !r.over {
			return due("REPLY-01", r.ID, fmt.Sprintf(`["", "eMQP/1.0", "REPLY", string, %q]`, r.Fields[0]), r.to...)
		}
	}
	return nil
}

// dueFor returns what is due of one message.
func (l *emqpLaw) dueFor(x *message) *law.Due {
	if x.over || !x.firm {
		return nil
	}
	last := fmt.Sprintf("%q", x.text(len(x.Fields)-1))
	if !utf8.ValidString(last) || !printable(x.text(len(x.Fields)-1)) {
		last = "string"
	}
	expected := asLine(x.Command, "string", "string", last)
	if x.Command == emqp.REQUEST {
		return l.requestDue(x, expected)
	}
	return l.scheduleDue(x, expected)
}

// scheduleDue returns what is due of a SCHEDULE, which one of the schedulers gets, or of an UNSCHEDULE, which each
// gets.
func (l *emqpLaw) scheduleDue(x *message, expected string) *law.Due {
	maps.DeleteFunc(x.to, func(n int, _ bool) bool { return l.conns[n] == nil || l.conns[n].role != scheduler })
	schedulers := slices.Sorted(maps.Keys(x.to))
	switch {
	case len(schedulers) == 0:
		return nil
	case x.Command == emqp.UNSCHEDULE:
		plain := func(n int) bool { return !l.conns[n].withQueues && !l.conns[n].nameless }
		first := schedulers[max(0, slices.IndexFunc(schedulers, plain))]
		return due(l.unlessFirst(l.conns[first], x.Command, "UNSCH-01"), x.ID, expected, first)
	}
	return due(l.unlessFirst(l.conns[schedulers[0]], x.Command, "SCHED-01"), x.ID, expected, schedulers...)
}

// unlessFirst returns the clause by which a scheduler has to get a message: that of what was to change nothing before,
// of a peer that is not the plainest and has got nothing yet, or of the message.
func (l *emqpLaw) unlessFirst(c *conn, command, clause string) string {
	switch {
	case l.disrupted != "":
		return l.disrupted[len(prefix):]
	case !l.passed[command]: // to no scheduler
	case c.nameless && c.delivered == 0:
		return "SOCK-07"
	case c.withQueues && c.delivered == 0:
		return "INF-04"
	}
	return clause
}

// requestDue returns what is due of a REQUEST, which one of the workers gets.
func (l *emqpLaw) requestDue(x *message, expected string) *law.Due {
	queue := x.text(0)
	if l.open[queue] {
		return nil
	}
	all := l.workersOf(queue)
	i := slices.IndexFunc(all, func(n int) bool { return l.conns[n].ready && !l.conns[n].informUncertain })
	if i < 0 {
		return nil
	}
	all[0], all[i] = all[i], all[0] // the script expects it there
	return due(l.explained(x, l.conns[all[0]]), x.ID, expected, all...)
}

// cause is something that may keep a REQUEST from its worker, and the clause by which it must not.
type cause struct{ clause, about string }

// causes are what may keep a REQUEST from a worker, the rarer ones first.
func causes(x *message, c *conn) (all []cause) {
	const short, idle = 255, 8 * time.Second
	text, queue := x.Fields[2], x.text(0)
	position := slices.Index(c.queues, queue)
	size := fmt.Sprint(bits.Len(uint(len(text))), " bits")
	for _, may := range []struct {
		cause

		is bool
	}{
		{cause{"ACK-02", ""}, c.acked},
		{cause{"REPLY-04", ""}, c.replied},
		{cause{"REQ-05", size}, !utf8.Valid(text) || slices.Contains(text, 0)},
		{cause{"REQ-04", size}, len(text) == 0 || len(text) > short},
		{cause{"INF-02", fmt.Sprint(bits.Len(uint(max(position, 0))), " bits")}, position > 0},
		{cause{"INF-01", "weight"}, slices.Contains(c.oddly, queue)},
		{cause{"BEAT-05", ""}, c.idled || x.at.Sub(c.lastSent) > idle},
		{cause{"REQ-06", ""}, x.waited},
		{cause{"SOCK-07", ""}, c.nameless},
	} {
		if may.is {
			all = append(all, may.cause)
		}
	}
	return all
}

// explained returns the clause by which a worker has to get a REQUEST: that of the cause in spite of which the fewest
// have come. What several have come in spite of is no cause.
func (l *emqpLaw) explained(x *message, c *conn) string {
	const several = 3
	if l.disrupted != "" {
		return l.disrupted[len(prefix):]
	}
	clause, fewest := "REQ-01", several
	switch {
	case x.waited:
		clause = "REQ-06"
	case c.delivered > 0:
		clause = "REQ-07"
	}
	for _, why := range causes(x, c) {
		if n := l.came[why]; n < fewest {
			clause, fewest = why.clause, n
		}
	}
	return clause
}

// Missed implements [law.Pusher].
func (l *emqpLaw) Missed(d *law.Due) {
	id := d.Missing.JID
	for n := range l.farewells {
		if id == fmt.Sprint("-", n) {
			delete(l.farewells, n)
			return
		}
	}
	for _, r := range l.replies {
		if r.ID == id && !r.over && len(r.to) > 0 { // the worker has replied all the same
			l.replied(r, r.to[0])
		}
	}
	for _, n := range d.Conns { // what the worker was given for its READY is not known
		if c := l.conns[n]; c != nil {
			c.ready = false
		}
	}
	for _, x := range l.messages {
		if x.ID == id && x.Command == emqp.REQUEST { // whatever keeps it may keep the next one
			l.open[x.text(0)] = true
		}
	}
	l.Unjudge(id)
}
