package emqpsubject

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/emqp"
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
		return due("UNSCH-01", x.ID, expected, schedulers[0])
	}
	return due("SCHED-01", x.ID, expected, schedulers...)
}

// requestDue returns what is due of a REQUEST, which one of the workers gets.
func (l *emqpLaw) requestDue(x *message, expected string) *law.Due {
	queue := x.text(0)
	if l.open[queue] {
		return nil
	}
	all := l.workersOf(queue)
	i := slices.IndexFunc(all, func(n int) bool { return l.conns[n].credit > 0 && !l.conns[n].informUncertain })
	if i < 0 {
		return nil
	}
	all[0], all[i] = all[i], all[0] // the script expects it there
	return due(l.explained(x, l.conns[all[0]]), x.ID, expected, all...)
}

// explained returns the clause by which a worker has to get a REQUEST, which follows from what may keep it from that.
func (l *emqpLaw) explained(x *message, c *conn) string {
	const idle = 8 * time.Second
	kind := kindOf(x.Fields[2])
	switch {
	case l.disrupted != "":
		return l.disrupted[len(prefix):]
	case kind.clause != "" && !l.came[kind]:
		return kind.clause
	case len(c.queues) > 1 && !c.came[x.text(0)] && x.text(0) != c.queues[0]:
		return "INF-02"
	case c.acked:
		return "ACK-02"
	case c.replied:
		return "REPLY-04"
	case c.idled, x.at.Sub(c.lastSent) > idle:
		return "BEAT-05"
	case c.delivered > 0:
		return "REQ-07"
	case x.waited:
		return "REQ-06"
	}
	return "REQ-01"
}

// kind is a kind of texts, of which one may be lost because of what it is, and the clause that it breaks then.
type kind struct {
	clause string
	bits   int // of its length
}

// kindOf returns the kind of a text; a short one has no clause.
func kindOf(text []byte) kind {
	const short = 255
	k := kind{bits: bits.Len(uint(len(text)))}
	switch {
	case !utf8.Valid(text) || slices.Contains(text, 0):
		k.clause = "REQ-05"
	case len(text) == 0, len(text) > short:
		k.clause = "REQ-04"
	}
	return k
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
		if c := l.conns[r.worker]; r.ID == id && c != nil {
			c.outstanding = nil
		}
	}
	for _, n := range d.Conns { // what the worker was given for its READY is not known
		if c := l.conns[n]; c != nil {
			c.credit = min(c.credit, 0)
		}
	}
	l.Unjudge(id)
}
