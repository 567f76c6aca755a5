package fakeemqp

import (
	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// frameFaults are about the frames of all messages, and about a broker that stops to serve because of a message. What
// is not served any more are the queues that the message names.
var frameFaults = []Fault{
	fault("frame-ack-four", sent(shorter, emqp.ACK)),
	fault("frame-command-ready",
		sent(func(e *Event) { e.Frames = emqp.Ready(string(e.Frames[atID])).Frames() }, emqp.HEARTBEAT)),
	fault("frame-heartbeat-four", sent(shorter, emqp.HEARTBEAT)),
	fault("frame-id-same", sent(set(atID, "heartbeat"), emqp.HEARTBEAT)),
	fault("frame-id-same-ack", sent(set(atID, "ack"), emqp.ACK)),
	fault("frame-id-same-request", sent(set(atID, "request"), emqp.REQUEST)),
	fault("frame-not-empty", sent(set(atEmpty, "x"), emqp.REQUEST)),
	fault("frame-request-six", sent(shorter, emqp.REQUEST)),
	fault("frame-version-any", func(e *Event) {
		if !e.Sent && len(e.Frames) > atVersion {
			set(atVersion, emqp.Version)(e)
		}
	}),
	fault("frame-version-next", sent(set(atVersion, "eMQP/1.1"), emqp.REPLY)),
	fault("malformed-short-hangs",
		hangs(catalogue.All(malformed, func(e *Event) bool { return len(e.Frames) <= atID }))),
	fault("publish-hangs", hangs(func(e *Event) bool { return is(e, emqp.PUBLISH) })),
}

func shorter(e *Event) { e.Frames = e.Frames[:len(e.Frames)-1] }

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
