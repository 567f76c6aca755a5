package fakeemqp

import (
	"bytes"
	"time"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// replyFaults are about REPLY and ACK.
var replyFaults = []Fault{
	fault("ack-ends-worker", "ACK-02 BEAT-06", "a worker that sends an ACK gets no REQUEST any more",
		catalogue.From(peerOf, catalogue.All(got(emqp.ACK), byWorker), gives(emqp.REQUEST), drop)),
	fault("ack-its-own-id", "ACK-01", "an ACK acknowledges itself",
		sent(func(e *Event) { set(atFirst, string(e.Frames[atID]))(e) }, emqp.ACK)),
	fault("ack-other-id", "ACK-01", "an ACK has an id that no message had", sent(set(atFirst, "unknown"), emqp.ACK)),
	fault("reply-always-owed", "REPLY-03 HEAD-02", "a REPLY goes to the client of the worker's first REQUEST",
		received(func(e *Event) {
			if len(e.Frames[atHeaders]) == 0 {
				set(atHeaders, emqp.ReplyRequested)(e)
			}
		}, emqp.REQUEST)),
	fault("reply-client-forgotten", "REPLY-01", "a client that sends nothing for 9 s is forgotten",
		catalogue.KeepBy(peerOf, anything, func(heard *time.Time, e *Event) {
			if !e.Sent {
				*heard = time.Now()
				return
			}
			e.Drop = is(e, emqp.REPLY) && time.Since(*heard) > 9*time.Second
		})),
	fault("reply-ends-worker", "REPLY-04", "a worker that has replied gets no REQUEST any more",
		catalogue.From(peerOf, got(emqp.REPLY), gives(emqp.REQUEST), drop)),
	fault("reply-first-header", "REPLY-01", "reply-requested counts as the first header only",
		catalogue.KeepBy(peerOf, catalogue.Any(asks, gives(emqp.REPLY)), func(first *bool, e *Event) {
			if e.Sent { // whether the header stands first in the last REQUEST of the client that has it
				e.Drop = !*first
				return
			}
			*first = bytes.HasPrefix(e.Frames[atHeaders], []byte(emqp.ReplyRequested))
		})),
	fault("reply-lost", "REPLY-01", "a REPLY is lost", sent(drop, emqp.REPLY)),
	fault("reply-not-requested", "REPLY-02 REPLY-01 REPLY-03", "a client that asked for no reply gets one",
		acksOf(emqp.REQUEST, emqp.Reply)),
	fault("reply-one-owed", "REPLY-01", "a worker owes one REPLY at most, to the client of its last REQUEST",
		catalogue.KeepBy(peerOf, catalogue.Any(gives(emqp.REQUEST), got(emqp.REPLY)), func(unanswered *bool, e *Event) {
			if e.Sent {
				*unanswered = *unanswered || wantsReply(e)
				return
			}
			e.Drop, *unanswered = !*unanswered, false
		})),
	fault("reply-trimmed", "REPLY-01", "blanks around a REPLY are lost",
		sent(change(atFirst, bytes.TrimSpace), emqp.REPLY)),
	fault("reply-true", "REPLY-01", "every REPLY says True", sent(set(atFirst, "True"), emqp.REPLY)),
}

// byWorker is the condition of a message of a worker, or to one.
func byWorker(e *Event) bool { return e.Role == Worker }

// asks is the condition of a REQUEST of a client that asks for a reply.
func asks(e *Event) bool { return !e.Sent && is(e, emqp.REQUEST) && wantsReply(e) }

// acksOf returns hooks that replace the ACKs of a command with other messages.
func acksOf(command string, with func(id, acknowledged string) emqp.Message) func() func(*Event) {
	return catalogue.From(acknowledgedOf, got(command), gives(emqp.ACK), func(e *Event) {
		e.Frames = with(idOf(e), queueOf(e)).Frames()
	})
}

// acknowledgedOf returns the id that an ACK is about, and that of any other message.
func acknowledgedOf(e *Event) string {
	if e.Sent && is(e, emqp.ACK) {
		return string(e.Frames[atFirst])
	}
	return idOf(e)
}
