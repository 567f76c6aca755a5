package fakeemqp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// requestFaults are about REQUESTs, and what becomes of them.
var requestFaults = []Fault{
	// About REQUESTs: who gets them, and what they hold.
	fault("headers-first",
		sent(change(atHeaders, func(b []byte) []byte { return bytes.Split(b, []byte(","))[0] }), emqp.REQUEST)),
	fault("headers-lost", sent(set(atHeaders, ""), emqp.REQUEST)),
	fault("headers-none", sent(change(atHeaders, func(b []byte) []byte {
		if len(b) == 0 {
			return []byte("None")
		}
		return b
	}), emqp.REQUEST)),
	fault("request-any-case", alike(strings.ToLower)),
	fault("request-any-letter", alike(inASCII)),
	fault("request-any-worker", queuesOfUser),
	fault("request-binary-lost", loses(func(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 })),
	fault("request-forgotten",
		catalogue.KeepBy(idOf, catalogue.Any(got(emqp.REQUEST), gives(emqp.REQUEST)), func(at *time.Time, e *Event) {
			if !e.Sent {
				*at = time.Now()
			}
			e.Drop = time.Since(*at) > 9*time.Second
		})),
	fault("request-first-worker", catalogue.KeepBy(queueOf, gives(emqp.REQUEST), func(first *string, e *Event) {
		*first = cmp.Or(*first, e.Peer)
		e.Drop = *first != e.Peer
	})),
	fault("request-json-compacted", sent(change(atMessage, compacted), emqp.REQUEST)),
	fault("request-large-lost", loses(func(b []byte) bool { return len(b) > 64<<10 })),
	fault("request-lost", received(drop, emqp.REQUEST)),
	fault("request-message-cut",
		sent(change(atMessage, func(b []byte) []byte { return b[:max(len(b)-1, 0)] }), emqp.REQUEST)),
	fault("request-name-cut", alike(beforeComma)),
	fault("request-name-trimmed", alike(strings.TrimSpace)),
	fault("request-queue-changed", sent(set(atFirst, "default"), emqp.REQUEST)),
	fault("request-twice", sent(func(e *Event) { e.Again = 1 }, emqp.REQUEST)),
	fault("request-utf8-replaced",
		sent(change(atMessage, func(b []byte) []byte { return bytes.ToValidUTF8(b, []byte("?")) }), emqp.REQUEST)),
	// About REPLY and ACK.
	fault("ack-ends-worker",
		catalogue.From(peerOf, catalogue.All(got(emqp.ACK), byWorker), gives(emqp.REQUEST), drop)),
	fault("ack-first-id", catalogue.KeepBy(peerOf, gives(emqp.ACK), func(first *string, e *Event) {
		*first = cmp.Or(*first, string(e.Frames[atFirst]))
		set(atFirst, *first)(e)
	})),
	fault("ack-other-id", sent(set(atFirst, "unknown"), emqp.ACK)),
	fault("reply-always-owed", received(func(e *Event) {
		if len(e.Frames[atHeaders]) == 0 {
			set(atHeaders, emqp.ReplyRequested)(e)
		}
	}, emqp.REQUEST)),
	fault("reply-client-forgotten", catalogue.KeepBy(peerOf, anything, func(heard *time.Time, e *Event) {
		if !e.Sent {
			*heard = time.Now()
			return
		}
		e.Drop = is(e, emqp.REPLY) && time.Since(*heard) > 9*time.Second
	})),
	fault("reply-ends-worker", catalogue.From(peerOf, got(emqp.REPLY), gives(emqp.REQUEST), drop)),
	fault("reply-lost", sent(drop, emqp.REPLY)),
	fault("reply-not-requested", acksOf(emqp.REQUEST, emqp.Reply)),
	fault("reply-to-first-client",
		catalogue.Keep(catalogue.Any(asks, gives(emqp.REPLY)), func(first *string, e *Event) {
			*first = cmp.Or(*first, e.Peer)
			e.Peer = *first
		})),
	fault("reply-true", sent(set(atFirst, "True"), emqp.REPLY)),
}

// loses returns a hook that drops REQUESTs with certain messages.
func loses(when func(message []byte) bool) func(*Event) {
	return received(func(e *Event) { e.Drop = when(e.Frames[atMessage]) }, emqp.REQUEST)
}

// compacted returns JSON without white space, and any other text as it is.
func compacted(text []byte) []byte {
	var compact bytes.Buffer
	if json.Compact(&compact, text) != nil {
		return text
	}
	return compact.Bytes()
}

// alike returns hooks by which names of queues are the same if how makes the same of them.
func alike(how func(string) string) func() func(*Event) {
	informs := renamed(named(how))
	return catalogue.Keep(anything, func(names *catalogue.Memory[string, string], e *Event) {
		switch {
		case is(e, emqp.INFORM):
			informs(e)
		case is(e, emqp.REQUEST) && !e.Sent:
			*names.Of(idOf(e)) = queueOf(e)
			set(atFirst, how(queueOf(e)))(e)
		case is(e, emqp.REQUEST):
			set(atFirst, *names.Of(idOf(e)))(e)
		}
	})
}

// queuesOfUser has a worker get what is in the queues of the workers whose queues begin like its own.
func queuesOfUser() func(*Event) {
	return catalogue.Keep(got(emqp.INFORM), func(all *catalogue.Memory[string, []emqp.Queue], e *Event) {
		queues, err := emqp.ParseQueues(queueOf(e))
		if err != nil || len(queues) == 0 {
			return
		}
		others := all.Of(group([]byte(queues[0].Name)))
		set(atFirst, emqp.FormatQueues(slices.Concat(queues, *others)...))(e)
		*others = append(*others, emqp.Queue{Name: queues[0].Name})
	})()
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
