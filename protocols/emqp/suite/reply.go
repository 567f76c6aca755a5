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
	r, pending := &reply{Message: m, worker: number, at: at}, 0
	for _, prev := range l.replies {
		pending += b2i(prev.worker == number && !prev.isDone)
	}
	r.isRequired = pending < len(c.outstanding) // what a second REPLY to one REQUEST brings is open
	for _, x := range c.outstanding {
		l.addRecipients(r, x)
	}
	for _, x := range l.messages { // the REQUEST may be on its way
		if !x.isDone && x.from != none && x.requestsReply(c) {
			r.to = append(r.to, x.from)
		}
	}
	if r.isDone = len(r.to) == 0; r.isDone { // no client awaits it
		l.disturbanceClause = prefix + "REPLY-04"
	}
	l.replies = append(l.replies[max(0, len(l.replies)-maxMessages):], r)
}

// addRecipients records that a REPLY may be for x, a REQUEST that its worker has got.
func (l *emqpLaw) addRecipients(r *reply, x *message) {
	for _, y := range l.messages {
		if x.isAmbiguous && y.equals(x.Message) {
			r.to = append(r.to, y.from)
		}
	}
	r.isRequired = r.isRequired && x.from != none && !x.isAmbiguous // it may be for that one
	if x.from != none {
		r.to = append(r.to, x.from)
	}
}

// requestsReply reports whether a message is for a queue of the worker c, and asks for a REPLY.
func (x *message) requestsReply(c *conn) bool {
	h, _ := emqp.ParseHeaders(x.text(1))
	return slices.Contains(c.queues, x.text(0)) && h.Has(emqp.ReplyRequested)
}

// judgeReply judges a REPLY that a client gets.
func (l *emqpLaw) judgeReply(number int, c *conn, m emqp.Message) *breach {
	switch {
	case l.isLeaving:
		return nil
	case c.role == formerPeer:
		return l.replyAfterKBAI(c, m)
	case l.hasForeignVersion(m):
		return extraBreach("version", "FRAME-06")
	}
	var candidate, match *reply // one that the client may get, and one that says the same: a firm one, if there is one
	for _, r := range l.replies {
		if !slices.Contains(r.to, number) || r.isDone {
			continue
		}
		candidate = r
		if r.matches(m) && (match == nil || r.isRequired && !match.isRequired) {
			match = r
		}
	}
	if match == nil {
		return l.judgeOtherReply(number, c, m, candidate)
	}
	l.recordReply(match, number)
	return nil
}

// judgeOtherReply judges a REPLY that is none of those that a client may get; candidate is one of them, nil if there is
// none.
func (l *emqpLaw) judgeOtherReply(number int, c *conn, m emqp.Message, candidate *reply) *breach {
	isRequested, isPending := l.replyRequests(number)
	other := slices.IndexFunc(l.replies, func(r *reply) bool { return len(r.to) > 0 && r.matches(m) })
	switch {
	case other >= 0 && l.isMisaddressed(c, l.replies[other].to):
		return extraBreach("reply-other", "SOCK-07")
	case !isRequested, !isPending && other >= 0 && l.hasPlainRequest(number, l.replies[other].worker):
		return extraBreach("reply-unasked", "REPLY-02")
	case candidate != nil:
		l.recordReply(candidate, number)
		return contentBreach("reply-content", "REPLY-01", fmt.Sprintf(`["", "eMQP/1.0", "REPLY", string, %q]`,
			candidate.Fields[0]))
	case other >= 0:
		return extraBreach("reply-other", "REPLY-03")
	case isPending:
		return extraBreach("reply-unknown", "REPLY-01")
	}
	return extraBreach("reply-unasked", "REPLY-02")
}

// matches reports whether a message has the content of the REPLY.
func (r *reply) matches(m emqp.Message) bool { return string(r.Fields[0]) == string(m.Fields[0]) }

// replyAfterKBAI judges a REPLY to a client that has sent KBAI: no worker may have sent it since.
func (l *emqpLaw) replyAfterKBAI(c *conn, m emqp.Message) *breach {
	for _, r := range l.replies {
		if r.matches(m) && r.at.Sub(c.kbaiAt) > l.terms.Slack {
			return c.kbaiBreach()
		}
	}
	return nil
}

// hasPlainRequest reports whether the last REQUEST that a worker has got is one of a client that asks for no reply.
func (l *emqpLaw) hasPlainRequest(from, worker int) bool {
	c := l.conns[worker]
	if c == nil || c.lastRequest == nil || c.lastRequest.from != from {
		return false
	}
	h, _ := emqp.ParseHeaders(c.lastRequest.text(1))
	return !h.Has(emqp.ReplyRequested)
}

// replyRequests reports whether a client has asked for REPLYs, and whether it still awaits one.
func (l *emqpLaw) replyRequests(number int) (isRequested, isPending bool) {
	for _, x := range l.messages {
		if h, _ := emqp.ParseHeaders(x.text(1)); x.from == number && x.Command == emqp.REQUEST && h.Has(emqp.ReplyRequested) {
			isRequested = true
			isPending = isPending || l.awaitsReply(x)
		}
	}
	return isRequested, isPending
}

// awaitsReply reports whether a REQUEST has no REPLY yet.
func (l *emqpLaw) awaitsReply(x *message) bool {
	if !x.isDone {
		return true
	}
	for _, c := range l.conns {
		if slices.Contains(c.outstanding, x) {
			return true
		}
	}
	return false
}

// recordReply records that a client has got a REPLY: the worker owes it none for one of its REQUESTs any more.
func (l *emqpLaw) recordReply(r *reply, to int) {
	r.isDone = true
	c := l.conns[r.worker]
	if c == nil {
		return
	}
	if i := slices.IndexFunc(c.outstanding, func(x *message) bool { return x.from == to || x.isAmbiguous }); i >= 0 {
		x := c.outstanding[i]
		x.isAnswered = len(c.outstanding) == 1 && !x.isAmbiguous
		c.outstanding = slices.Delete(c.outstanding, i, i+1)
		return
	}
	for _, x := range l.messages { // it was on its way to the worker
		if x.from == to && x.requestsReply(c) && !x.isDone && !x.repliedEarly {
			x.repliedEarly = true
			return
		}
	}
}
