package fakeemqp

import (
	"slices"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// frameFaults are about the frames of all messages, and about a broker that stops to serve because of a message. What
// is not served any more are the queues that the message names.
var frameFaults = []Fault{
	fault("frame-ack-four", "FRAME-05", "an ACK has four frames", sent(shorter, emqp.ACK)),
	fault("frame-command-lower", "FRAME-03", "an ACK is called ack", sent(set(atCommand, "ack"), emqp.ACK)),
	fault("frame-command-ready", "FRAME-03", "the broker sends READY instead of HEARTBEAT",
		sent(func(e *Event) { e.Frames = emqp.Ready(string(e.Frames[atID])).Frames() }, emqp.HEARTBEAT)),
	fault("frame-heartbeat-four", "FRAME-05", "a HEARTBEAT has no timestamp", sent(shorter, emqp.HEARTBEAT)),
	fault("frame-id-empty", "FRAME-04", "an ACK has no id", sent(set(atID, ""), emqp.ACK)),
	fault("frame-id-same", "FRAME-04", "all HEARTBEATs have the same id", sent(set(atID, "heartbeat"), emqp.HEARTBEAT)),
	fault("frame-id-same-ack", "FRAME-04", "all ACKs have the same id", sent(set(atID, "ack"), emqp.ACK)),
	fault("frame-id-same-reply", "FRAME-04 REPLY-01", "all REPLYs have the same id",
		sent(set(atID, "reply"), emqp.REPLY)),
	fault("frame-id-same-request", "FRAME-04 REQ-01 REQ-04 REQ-06 REQ-07 ACK-02 REPLY-04 INF-02",
		"all REQUESTs are passed on with the same id", sent(set(atID, "request"), emqp.REQUEST)),
	fault("frame-identity", "FRAME-01", "an ACK has the identity of its peer as first frame", sent(identity, emqp.ACK)),
	fault("frame-kbai-five", "FRAME-05", "a KBAI has a fifth frame", sent(longer, emqp.KBAI)),
	fault("frame-not-empty", "FRAME-01", "the first frame of a REQUEST is not empty",
		sent(set(atEmpty, "x"), emqp.REQUEST)),
	fault("frame-request-six", "FRAME-05", "a REQUEST is passed on without its message", sent(shorter, emqp.REQUEST)),
	fault("frame-version-any", "FRAME-06", "the version of a message does not matter", func(e *Event) {
		if !e.Sent && len(e.Frames) > atVersion {
			set(atVersion, emqp.Version)(e)
		}
	}),
	fault("frame-version-lower", "FRAME-02", "an ACK has emqp/1.0", sent(set(atVersion, "emqp/1.0"), emqp.ACK)),
	fault("frame-version-next", "FRAME-02", "a REPLY has eMQP/1.1", sent(set(atVersion, "eMQP/1.1"), emqp.REPLY)),
	fault("malformed-command-hangs", "FRAME-07", "after a command that does not exist REQUESTs are lost",
		hangs(catalogue.All(malformed, func(e *Event) bool {
			return len(e.Frames) > atCommand && emqp.Shapes(string(e.Frames[atCommand])) == nil
		}))),
	fault("malformed-hangs", "FRAME-07 FRAME-06 INF-03",
		"after a malformed message REQUESTs are lost", hangs(malformed)),
	fault("malformed-short-hangs", "FRAME-07", "after a message of few frames REQUESTs are lost",
		hangs(catalogue.All(malformed, func(e *Event) bool { return len(e.Frames) <= atID }))),
	fault("publish-hangs", "PUB-01 BEAT-05 FRAME-06 FRAME-07 REPLY-04 REQ-07", "after a PUBLISH REQUESTs are lost",
		hangs(func(e *Event) bool { return is(e, emqp.PUBLISH) })),
	fault("publish-six-hangs", "PUB-01 BEAT-05 FRAME-06 FRAME-07 REPLY-04 REQ-07",
		"after a PUBLISH of six frames REQUESTs are lost",
		hangs(func(e *Event) bool { return is(e, emqp.PUBLISH) && len(e.Frames) == atMessage })),
}

func identity(e *Event) { e.Frames = append([][]byte{[]byte(e.Peer)}, e.Frames...) }
func shorter(e *Event)  { e.Frames = e.Frames[:len(e.Frames)-1] }
func longer(e *Event)   { e.Frames = append(slices.Clone(e.Frames), []byte("more")) }

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
