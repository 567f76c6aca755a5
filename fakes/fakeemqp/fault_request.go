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
	fault("headers-first", "HEAD-01", "the first header alone arrives",
		sent(change(atHeaders, func(b []byte) []byte { return bytes.Split(b, []byte(","))[0] }), emqp.REQUEST)),
	fault("headers-lost", "HEAD-01", "headers do not arrive", sent(set(atHeaders, ""), emqp.REQUEST)),
	fault("headers-blank", "HEAD-02", "headers that are not there arrive as a blank",
		sent(noHeadersAre(" "), emqp.REQUEST)),
	fault("headers-none", "HEAD-02", "headers that are not there arrive as None", sent(noHeadersAre("None"), emqp.REQUEST)),
	fault("request-any-case", "REQ-02", "the names of queues are the same in small letters and in capitals",
		alike(strings.ToLower)),
	fault("request-any-letter", "REQ-02 INF-01", "all letters that are not in ASCII are the same in names of queues",
		alike(inASCII)),
	fault("request-any-worker", "REQ-02", "a worker gets REQUESTs of queues whose names begin like those of its own",
		queuesOfUser),
	fault("request-binary-lost", "REQ-05", "a REQUEST of a message with a NUL is lost",
		loses(func(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 })),
	fault("request-cut-at-nul", "REQ-05", "a message ends before its first NUL",
		sent(change(atMessage, func(b []byte) []byte {
			b, _, _ = bytes.Cut(b, []byte{0})
			return b
		}), emqp.REQUEST)),
	fault("request-does-not-wait", "REQ-06"+delivery, "a REQUEST that finds no READY worker is lost", dropUnlessReady),
	fault("request-empty-lost", "REQ-04", "a REQUEST with an empty message is lost",
		loses(func(b []byte) bool { return len(b) == 0 })),
	fault("request-forgotten", "REQ-06", "a REQUEST that waits for more than 9 s is lost",
		catalogue.KeepBy(idOf, catalogue.Any(got(emqp.REQUEST), gives(emqp.REQUEST)), func(at *time.Time, e *Event) {
			if !e.Sent {
				*at = time.Now()
			}
			e.Drop = time.Since(*at) > 9*time.Second
		})),
	fault("request-first-worker", "BEAT-07 INF-01", "the first worker of a queue gets its REQUESTs, even after its end",
		catalogue.KeepBy(queueOf, gives(emqp.REQUEST), func(first *string, e *Event) {
			*first = cmp.Or(*first, e.Peer)
			e.Drop = *first != e.Peer
		})),
	fault("request-json-compacted", "REQ-04", "the JSON of a message is written anew",
		sent(change(atMessage, compacted), emqp.REQUEST)),
	fault("request-large-lost", "REQ-04 REQ-05", "a REQUEST of a message with more than 64 KiB is lost",
		loses(func(b []byte) bool { return len(b) > 64<<10 })),
	fault("request-long-lost", "REQ-04 REQ-05", "a REQUEST of a message with more than 255 bytes is lost",
		loses(func(b []byte) bool { return len(b) > 255 })),
	fault("request-lost", "REQ-01"+delivery, "a REQUEST is lost", received(drop, emqp.REQUEST)),
	fault("request-message-cut", "REQ-04 REQ-01 INF-01 INF-02 REQ-05 ACK-02 BEAT-07 REPLY-04 REQ-06 REQ-07",
		"the last byte of a message is lost",
		sent(change(atMessage, func(b []byte) []byte { return b[:max(len(b)-1, 0)] }), emqp.REQUEST)),
	fault("request-message-quoted", "REQ-04 REQ-05", "quotes in a message are doubled",
		sent(change(atMessage, func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte(`"`), []byte(`""`))
		}), emqp.REQUEST)),
	fault("request-message-trimmed", "REQ-04 REQ-05", "blanks around a message are lost",
		sent(change(atMessage, bytes.TrimSpace), emqp.REQUEST)),
	fault("request-name-cut", "REQ-02", "what stands behind a comma in the name of a queue does not count",
		alike(beforeComma)),
	fault("request-name-trimmed", "REQ-02", "blanks at the end of the name of a queue do not count",
		alike(strings.TrimSpace)),
	fault("request-queue-changed", "REQ-01", "the queue of a REQUEST is missing where it arrives",
		sent(set(atFirst, "default"), emqp.REQUEST)),
	fault("request-twice", "REQ-03 ACK-02 BEAT-01 INF-02 DISC-01 DISC-02 KBAI-01 REPLY-04 REQ-02 REQ-04 REQ-06 REQ-07",
		"a worker gets each REQUEST twice", sent(func(e *Event) { e.Again = 1 }, emqp.REQUEST)),
	fault("request-utf8-replaced", "REQ-05", "bytes of a message that are not UTF-8 are replaced",
		sent(change(atMessage, func(b []byte) []byte { return bytes.ToValidUTF8(b, []byte("?")) }), emqp.REQUEST)),
	// About REPLY and ACK.
	fault("ack-ends-worker", "ACK-02 BEAT-05 BEAT-06", "a worker that sends an ACK gets no REQUEST any more",
		catalogue.From(peerOf, catalogue.All(got(emqp.ACK), byWorker), gives(emqp.REQUEST), drop)),
	fault("ack-its-own-id", "ACK-01", "an ACK acknowledges itself",
		sent(func(e *Event) { set(atFirst, string(e.Frames[atID]))(e) }, emqp.ACK)),
	fault("ack-other-id", "ACK-01", "an ACK has an id that no message had", sent(set(atFirst, "unknown"), emqp.ACK)),
	fault("reply-always-owed", "REPLY-03 REPLY-02 HEAD-02 REPLY-01",
		"a REPLY goes to the client of the worker's first REQUEST",
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
	fault("reply-ends-worker", "REPLY-04 FRAME-06 FRAME-07 INF-02 REPLY-02",
		"a worker that has replied gets no REQUEST any more",
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
	fault("reply-one-owed", "REPLY-01 REPLY-03", "a worker owes one REPLY at most, to the client of its last REQUEST",
		catalogue.KeepBy(peerOf, catalogue.Any(gives(emqp.REQUEST), got(emqp.REPLY)), func(unanswered *bool, e *Event) {
			if e.Sent {
				*unanswered = *unanswered || wantsReply(e)
				return
			}
			e.Drop, *unanswered = !*unanswered, false
		})),
	fault("reply-to-first-client", "REPLY-01 REPLY-03 KBAI-01",
		"a REPLY goes to the client that was the first to ask for one",
		catalogue.Keep(catalogue.Any(asks, gives(emqp.REPLY)), func(first *string, e *Event) {
			*first = cmp.Or(*first, e.Peer)
			e.Peer = *first
		})),
	fault("reply-trimmed", "REPLY-01", "blanks around a REPLY are lost",
		sent(change(atFirst, bytes.TrimSpace), emqp.REPLY)),
	fault("reply-true", "REPLY-01", "every REPLY says True", sent(set(atFirst, "True"), emqp.REPLY)),
}

// noHeadersAre writes a text where there are no headers.
func noHeadersAre(text string) func(*Event) {
	return change(atHeaders, func(b []byte) []byte {
		if len(b) == 0 {
			return []byte(text)
		}
		return b
	})
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

// credit is what a worker has: its queues, and READYs that were not used up.
type credit struct {
	queues []string
	ready  int
}

// dropUnlessReady drops a REQUEST for which no worker is ready.
func dropUnlessReady() func(*Event) {
	return catalogue.Keep(anything, func(peers *catalogue.Memory[string, credit], e *Event) {
		switch c := peers.Of(e.Peer); {
		case e.Sent && is(e, emqp.REQUEST):
			c.ready--
		case e.Sent:
		case is(e, emqp.INFORM):
			c.queues = queuesOf(e)
		case is(e, emqp.READY):
			c.ready++
		case is(e, emqp.KBAI):
			c.queues = nil
		case is(e, emqp.REQUEST):
			e.Drop = true
			for _, c := range peers.All {
				e.Drop = e.Drop && (c.ready <= 0 || !slices.Contains(c.queues, queueOf(e)))
			}
		}
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
