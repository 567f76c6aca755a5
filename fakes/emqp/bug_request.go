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
		sent(change(atHeaders, func(b []byte) []byte { return bytes.Split(b, []byte(","))[0] }), emqp.REQUEST)),
	bug("request-any-case", alike(strings.ToLower)),
	bug("request-any-letter", alike(inASCII)),
	bug("request-any-worker", queuesOfUser),
	bug("request-first-worker", catalogue.KeepBy(queueOf, gives(emqp.REQUEST), func(first *string, e *Event) {
		*first = cmp.Or(*first, e.Peer)
		e.Drop = *first != e.Peer
	})),
	bug("request-json-compacted", sent(change(atMessage, compacted), emqp.REQUEST)),
	bug("request-large-lost", loses(func(b []byte) bool { return len(b) > 64<<10 })),
	bug("request-message-cut",
		sent(change(atMessage, func(b []byte) []byte { return b[:max(len(b)-1, 0)] }), emqp.REQUEST)),
	bug("request-name-cut", alike(beforeComma)),
	bug("request-name-trimmed", alike(strings.TrimSpace)),
	bug("request-utf8-replaced",
		sent(change(atMessage, func(b []byte) []byte { return bytes.ToValidUTF8(b, []byte("?")) }), emqp.REQUEST)),
	// About REPLY and ACK.
	bug("ack-first-id", catalogue.KeepBy(peerOf, gives(emqp.ACK), func(first *string, e *Event) {
		*first = cmp.Or(*first, string(e.Frames[atFirst]))
		set(atFirst, *first)(e)
	})),
	bug("reply-not-requested", acksOf(emqp.REQUEST, emqp.Reply)),
	bug("reply-to-first-client",
		catalogue.Keep(catalogue.Any(asks, gives(emqp.REPLY)), func(first *string, e *Event) {
			*first = cmp.Or(*first, e.Peer)
			e.Peer = *first
		})),
	// About a message after which the broker serves no more the queues that it names.
	bug("malformed-short-hangs",
		hangs(catalogue.All(malformed, func(e *Event) bool { return len(e.Frames) <= atID }))),
	bug("publish-hangs", hangs(func(e *Event) bool { return is(e, emqp.PUBLISH) })),
}

// malformed is the condition of a message of a peer that breaks the document.
func malformed(e *Event) bool { return !e.Sent && !is(e) }

// hangs returns hooks by which REQUESTs are lost behind a message for which when is true.
func hangs(when func(*Event) bool) func() func(*Event) {
	return catalogue.Keep(fromPeer, func(named *catalogue.Memory[string, bool], e *Event) {
		switch {
		case when(e):
			for _, f := range e.Frames {
				*named.Of(string(f)) = true
			}
		case is(e, emqp.REQUEST):
			e.Drop = named.Has(queueOf(e))
		}
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
