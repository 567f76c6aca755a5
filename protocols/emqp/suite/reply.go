package suite

import (
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/protocols/emqp"
)

// reply follows a REPLY of a worker. It names no REQUEST: where several want one, which of their clients gets it is
// open.
func (l *emqpLaw) reply(number int, c *conn, m emqp.Message, at time.Time) {
	r, under := &reply{Message: m, worker: number, at: at}, 0
	for _, before := range l.replies {
		under += b2i(before.worker == number && !before.over)
	}
	r.firm = under < len(c.outstanding) // what a second REPLY to one REQUEST brings is open
	for _, x := range c.outstanding {
		l.answers(r, x)
	}
	for _, x := range l.messages { // the REQUEST may be on its way
		if !x.over && x.from != none && x.asks(c) {
			r.to = append(r.to, x.from)
		}
	}
	if r.over = len(r.to) == 0; r.over { // no client awaits it
		l.disrupted = prefix + "REPLY-04"
	}
	l.replies = append(l.replies[max(0, len(l.replies)-most):], r)
}

// answers records that a REPLY may be for x, a REQUEST that its worker has got.
func (l *emqpLaw) answers(r *reply, x *message) {
	for _, alike := range l.messages {
		if x.unsure && alike.sameAs(x.Message) {
			r.to = append(r.to, alike.from)
		}
	}
	r.firm = r.firm && x.from != none && !x.unsure // it may be for that one
	if x.from != none {
		r.to = append(r.to, x.from)
	}
}

// asks reports whether a message is for a queue of the worker c, and asks for a REPLY.
func (x *message) asks(c *conn) bool {
	h, _ := emqp.ParseHeaders(x.text(1))
	return slices.Contains(c.queues, x.text(0)) && h.Has(emqp.ReplyRequested)
}

// judgeReply judges a REPLY that a client gets.
func (l *emqpLaw) judgeReply(number int, c *conn, m emqp.Message) *breach {
	switch {
	case l.leaving:
		return nil
	case c.role == gone:
		return l.replyAfterKBAI(c, m)
	case l.ofAnotherVersion(m):
		return unasked("version", "FRAME-06")
	}
	var mine, same *reply // one that the client may get, and one that says the same: a firm one, if there is one
	for _, r := range l.replies {
		if !slices.Contains(r.to, number) || r.over {
			continue
		}
		mine = r
		if r.says(m) && (same == nil || r.firm && !same.firm) {
			same = r
		}
	}
	if same == nil {
		return l.notMine(number, c, m, mine)
	}
	l.replied(same, number)
	return nil
}

// notMine judges a REPLY that is none of those that a client may get; mine is one of them, nil if there is none.
func (l *emqpLaw) notMine(number int, c *conn, m emqp.Message, mine *reply) *breach {
	asked, pending := l.asked(number)
	other := slices.IndexFunc(l.replies, func(r *reply) bool { return len(r.to) > 0 && r.says(m) })
	switch {
	case other >= 0 && l.takenForAnother(c, l.replies[other].to):
		return unasked("reply-other", "SOCK-07")
	case !asked, !pending && other >= 0 && l.handed(number, l.replies[other].worker):
		return unasked("reply-unasked", "REPLY-02")
	case mine != nil:
		l.replied(mine, number)
		return wrong("reply-content", "REPLY-01", fmt.Sprintf(`["", "eMQP/1.0", "REPLY", string, %q]`, mine.Fields[0]))
	case other >= 0:
		return unasked("reply-other", "REPLY-03")
	case pending:
		return unasked("reply-unknown", "REPLY-01")
	}
	return unasked("reply-unasked", "REPLY-02")
}

// says reports whether a message has the content of the REPLY.
func (r *reply) says(m emqp.Message) bool { return string(r.Fields[0]) == string(m.Fields[0]) }

// replyAfterKBAI judges a REPLY to a client that has sent KBAI: no worker may have sent it since.
func (l *emqpLaw) replyAfterKBAI(c *conn, m emqp.Message) *breach {
	for _, r := range l.replies {
		if r.says(m) && r.at.Sub(c.left) > l.terms.Slack {
			return c.afterKBAI()
		}
	}
	return nil
}

// handed reports whether the last REQUEST that a worker has got is one of a client that asks for no reply.
func (l *emqpLaw) handed(from, worker int) bool {
	c := l.conns[worker]
	if c == nil || c.latest == nil || c.latest.from != from {
		return false
	}
	h, _ := emqp.ParseHeaders(c.latest.text(1))
	return !h.Has(emqp.ReplyRequested)
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
	if i := slices.IndexFunc(c.outstanding, func(x *message) bool { return x.from == to || x.unsure }); i >= 0 {
		x := c.outstanding[i]
		x.answered = len(c.outstanding) == 1 && !x.unsure
		c.outstanding = slices.Delete(c.outstanding, i, i+1)
		return
	}
	for _, x := range l.messages { // it was on its way to the worker
		if x.from == to && x.asks(c) && !x.over && !x.early {
			x.early = true
			return
		}
	}
}
