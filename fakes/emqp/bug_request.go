package emqp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/emqp"
)

// requestBugs are about REQUESTs, and what becomes of them.
var requestBugs = []Bug{
	// About REQUESTs: who gets them, and what they hold.
	bug("headers-first",
		actOnSent(change(atHeaders, func(b []byte) []byte { return bytes.Split(b, []byte(","))[0] }), emqp.REQUEST)),
	bug("request-any-case", mergeQueueNames(strings.ToLower)),
	bug("request-any-letter", mergeQueueNames(toASCII)),
	bug("request-any-worker", shareUserQueues),
	bug("request-first-worker", catalogue.WithMemoryBy(queueOf, isSent(emqp.REQUEST), func(first *string, e *Event) {
		*first = cmp.Or(*first, e.Peer)
		e.Drop = *first != e.Peer
	})),
	bug("request-json-compacted", actOnSent(change(atMessage, compactJSON), emqp.REQUEST)),
	bug("request-large-lost", loseMatching(func(b []byte) bool { return len(b) > 64<<10 })),
	bug("request-message-cut",
		actOnSent(change(atMessage, func(b []byte) []byte { return b[:max(len(b)-1, 0)] }), emqp.REQUEST)),
	bug("request-name-cut", mergeQueueNames(beforeComma)),
	bug("request-name-trimmed", mergeQueueNames(strings.TrimSpace)),
	bug("request-utf8-replaced",
		actOnSent(change(atMessage, func(b []byte) []byte { return bytes.ToValidUTF8(b, []byte("?")) }), emqp.REQUEST)),
	// About REPLY and ACK.
	bug("ack-first-id", catalogue.WithMemoryBy(peerOf, isSent(emqp.ACK), func(first *string, e *Event) {
		*first = cmp.Or(*first, string(e.Frames[atFirst]))
		set(atFirst, *first)(e)
	})),
	bug("reply-not-requested", acknowledgeBy(emqp.REQUEST, emqp.Reply)),
	bug("reply-to-first-client",
		catalogue.WithMemory(catalogue.Any(requestsReply, isSent(emqp.REPLY)), func(first *string, e *Event) {
			*first = cmp.Or(*first, e.Peer)
			e.Peer = *first
		})),
	// About a message after which the broker serves no more the queues that it names.
	bug("malformed-short-hangs",
		loseNamed(catalogue.All(isMalformed, func(e *Event) bool { return len(e.Frames) <= atID }))),
	bug("publish-hangs", loseNamed(func(e *Event) bool { return isCommand(e, emqp.PUBLISH) })),
}

// isMalformed is the condition of a message of a peer that breaks the document.
func isMalformed(e *Event) bool { return !e.IsFromBroker && !isCommand(e) }

// loseNamed returns hooks that lose the REQUESTs behind a message that matches, if it names their queue.
func loseNamed(match func(*Event) bool) func() func(*Event) {
	return catalogue.WithMemory(isFromPeer, func(queueNames *catalogue.Memory[string, bool], e *Event) {
		switch {
		case match(e):
			for _, f := range e.Frames {
				*queueNames.GetOrAdd(string(f)) = true
			}
		case isCommand(e, emqp.REQUEST):
			e.Drop = queueNames.Has(queueOf(e))
		}
	})
}

// loseMatching returns a hook that drops REQUESTs with certain messages.
func loseMatching(match func(message []byte) bool) func(*Event) {
	return actOnReceived(func(e *Event) { e.Drop = match(e.Frames[atMessage]) }, emqp.REQUEST)
}

// compactJSON returns JSON without white space, and any other text as it is.
func compactJSON(text []byte) []byte {
	var compact bytes.Buffer
	if json.Compact(&compact, text) != nil {
		return text
	}
	return compact.Bytes()
}

// mergeQueueNames returns hooks by which queues are the same if edit makes the same of their names.
func mergeQueueNames(edit func(string) string) func() func(*Event) {
	informs := renameQueues(mapNames(edit))
	return catalogue.WithMemory(isAny, func(names *catalogue.Memory[string, string], e *Event) {
		switch {
		case isCommand(e, emqp.INFORM):
			informs(e)
		case isCommand(e, emqp.REQUEST) && !e.IsFromBroker:
			*names.GetOrAdd(idOf(e)) = queueOf(e)
			set(atFirst, edit(queueOf(e)))(e)
		case isCommand(e, emqp.REQUEST):
			set(atFirst, *names.GetOrAdd(idOf(e)))(e)
		}
	})
}

// shareUserQueues has a worker get what is in the queues of the workers whose queues begin like its own.
func shareUserQueues() func(*Event) {
	return catalogue.WithMemory(isReceived(emqp.INFORM), func(all *catalogue.Memory[string, []emqp.Queue], e *Event) {
		queues, err := emqp.ParseQueues(queueOf(e))
		if err != nil || len(queues) == 0 {
			return
		}
		userQueues := all.GetOrAdd(group([]byte(queues[0].Name)))
		set(atFirst, emqp.FormatQueues(slices.Concat(queues, *userQueues)...))(e)
		*userQueues = append(*userQueues, emqp.Queue{Name: queues[0].Name})
	})()
}

// requestsReply is the condition of a REQUEST of a client that asks for a reply.
func requestsReply(e *Event) bool {
	return !e.IsFromBroker && isCommand(e, emqp.REQUEST) && wantsReply(e)
}

// acknowledgeBy returns hooks that replace the ACKs of a command with other messages.
func acknowledgeBy(command string, newMessage func(id, acknowledged string) emqp.Message) func() func(*Event) {
	return catalogue.ActAfter(acknowledgedOf, isReceived(command), isSent(emqp.ACK), func(e *Event) {
		e.Frames = newMessage(idOf(e), queueOf(e)).Frames()
	})
}

// acknowledgedOf returns the id that an ACK is about, and that of any other message.
func acknowledgedOf(e *Event) string {
	if e.IsFromBroker && isCommand(e, emqp.ACK) {
		return string(e.Frames[atFirst])
	}
	return idOf(e)
}
