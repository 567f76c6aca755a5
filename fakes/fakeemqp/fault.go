package fakeemqp

import (
	"bytes"
	"slices"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// Fault is a way in which a broker breaks the document. Its hook is the [Config.Hook] of a broker.
type Fault = catalogue.Fault[Event]

// Faults returns the catalogue, sorted by name.
func Faults() []Fault {
	return catalogue.SortFaults(
		frameFaults(), answerFaults(), replyFaults(), informFaults(), requestFaults(), waitFaults(), messageFaults(),
		schedulerFaults(), heartbeatFaults(), endFaults(), malformedFaults(), contentFaults(), peerFaults(),
		owedFaults(),
	)
}

// fault returns one whose hook has no state. The clauses are separated by blanks and lack the prefix that they share.
func fault(name, clauses, summary string, hook func(*Event)) Fault {
	return statefulFault(name, clauses, summary, func() func(*Event) { return hook })
}

func statefulFault(name, clauses, summary string, hook func() func(*Event)) Fault {
	return catalogue.NewFault(name, "EMQP-", clauses, summary, hook)
}

// Indices of frames.
const (
	atEmpty = iota
	atVersion
	atCommand
	atID
	atFirst // of those behind the id
	atHeaders
	atMessage
)

// is reports whether a message has one of the commands, and all frames of it; every message does if none is named.
func is(e *Event, commands ...string) bool {
	m, err := emqp.Parse(e.Frames)
	return err == nil && (len(commands) == 0 || slices.Contains(commands, m.Command))
}

// sent returns a hook that acts on messages that the broker is about to send.
func sent(act func(*Event), commands ...string) func(*Event) {
	return func(e *Event) {
		if e.Sent && is(e, commands...) {
			act(e)
		}
	}
}

// received returns a hook that acts on messages of peers before they are handled.
func received(act func(*Event), commands ...string) func(*Event) {
	return func(e *Event) {
		if !e.Sent && is(e, commands...) {
			act(e)
		}
	}
}

// group returns the beginning of a name that all names of one user have: what stands before its last two dashes.
func group(name []byte) string {
	for range 2 {
		name = name[:max(bytes.LastIndexByte(name, '-'), 0)]
	}
	return string(name)
}

// acksOf returns a hook that replaces the ACKs of a command with other messages.
func acksOf(command string, with func(id, acknowledged string) emqp.Message) func() func(*Event) {
	return func() func(*Event) {
		ids := map[string]bool{}
		return func(e *Event) {
			switch {
			case !e.Sent && is(e, command):
				ids[string(e.Frames[atID])] = true
			case e.Sent && is(e, emqp.ACK) && ids[string(e.Frames[atFirst])]:
				e.Frames = with(string(e.Frames[atID]), string(e.Frames[atFirst])).Frames()
			}
		}
	}
}

func drop(e *Event) { e.Drop = true }

// set returns a function that replaces one frame.
func set(i int, text string) func(*Event) {
	return change(i, func([]byte) []byte { return []byte(text) })
}

// change returns a function that changes one frame. The frames of a message may be those of another one that waits.
func change(i int, how func([]byte) []byte) func(*Event) {
	return func(e *Event) {
		e.Frames = slices.Clone(e.Frames)
		e.Frames[i] = how(e.Frames[i])
	}
}

// frameFaults are about the frames of all messages.
func frameFaults() []Fault {
	identity := func(e *Event) { e.Frames = append([][]byte{[]byte(e.Peer)}, e.Frames...) }
	shorter := func(e *Event) { e.Frames = e.Frames[:len(e.Frames)-1] }
	longer := func(e *Event) { e.Frames = append(slices.Clone(e.Frames), []byte("more")) }
	return []Fault{
		fault("frame-identity", "FRAME-01", "an ACK has the identity of its peer as first frame", sent(identity, emqp.ACK)),
		fault("frame-not-empty", "FRAME-01",
			"the first frame of a REQUEST is not empty", sent(set(atEmpty, "x"), emqp.REQUEST)),
		fault("frame-version-lower", "FRAME-02", "an ACK has emqp/1.0", sent(set(atVersion, "emqp/1.0"), emqp.ACK)),
		fault("frame-version-next", "FRAME-02", "a REPLY has eMQP/1.1", sent(set(atVersion, "eMQP/1.1"), emqp.REPLY)),
		fault("frame-command-lower", "FRAME-03", "an ACK is called ack", sent(set(atCommand, "ack"), emqp.ACK)),
		fault("frame-command-ready", "FRAME-03", "the broker sends READY instead of HEARTBEAT", sent(func(e *Event) {
			e.Frames = emqp.Ready(string(e.Frames[atID])).Frames()
		}, emqp.HEARTBEAT)),
		fault("frame-id-empty", "FRAME-04", "an ACK has no id", sent(set(atID, ""), emqp.ACK)),
		fault("frame-id-same", "FRAME-04", "all HEARTBEATs have the same id", sent(set(atID, "heartbeat"), emqp.HEARTBEAT)),
		fault("frame-id-same-ack", "FRAME-04", "all ACKs have the same id", sent(set(atID, "ack"), emqp.ACK)),
		fault("frame-ack-four", "FRAME-05", "an ACK has four frames", sent(shorter, emqp.ACK)),
		fault("frame-heartbeat-four", "FRAME-05", "a HEARTBEAT has no timestamp", sent(shorter, emqp.HEARTBEAT)),
		fault("frame-kbai-five", "FRAME-05", "a KBAI has a fifth frame", sent(longer, emqp.KBAI)),
		fault("frame-request-six", "FRAME-05", "a REQUEST is passed on without its message", sent(shorter, emqp.REQUEST)),
		fault("frame-version-any", "FRAME-06", "the version of a message does not matter", func(e *Event) {
			if !e.Sent && len(e.Frames) > atVersion {
				set(atVersion, emqp.Version)(e)
			}
		}),
	}
}

// answerFaults are about ACK.
func answerFaults() []Fault {
	return []Fault{
		fault("ack-its-own-id", "ACK-01", "an ACK acknowledges itself", sent(func(e *Event) {
			set(atFirst, string(e.Frames[atID]))(e)
		}, emqp.ACK)),
		fault("ack-other-id", "ACK-01", "an ACK has an id that no message had", sent(set(atFirst, "unknown"), emqp.ACK)),
		statefulFault("ack-ends-worker", "ACK-02 BEAT-06",
			"a worker that sends an ACK gets no REQUEST any more", func() func(*Event) {
				ended := map[string]bool{}
				return func(e *Event) {
					switch {
					case !e.Sent && e.Role == Worker && is(e, emqp.ACK):
						ended[e.Peer] = true
					case e.Sent && is(e, emqp.REQUEST) && ended[e.Peer]:
						e.Drop = true
					}
				}
			}),
	}
}

// replyFaults are about REPLY.
func replyFaults() []Fault {
	return []Fault{
		fault("reply-lost", "REPLY-01", "a REPLY is lost", sent(drop, emqp.REPLY)),
		fault("reply-true", "REPLY-01", "every REPLY says True", sent(set(atFirst, "True"), emqp.REPLY)),
		statefulFault("reply-not-requested", "REPLY-02 REPLY-01 REPLY-03",
			"a client that asked for no reply gets one", acksOf(emqp.REQUEST, emqp.Reply)),
		statefulFault("reply-always-owed", "REPLY-03 HEAD-02", "a REPLY goes to the client of the worker's first REQUEST",
			func() func(*Event) {
				return received(func(e *Event) {
					if len(e.Frames[atHeaders]) == 0 {
						set(atHeaders, emqp.ReplyRequested)(e)
					}
				}, emqp.REQUEST)
			}),
		statefulFault("reply-ends-worker", "REPLY-04",
			"a worker that has replied gets no REQUEST any more", func() func(*Event) {
				replied := map[string]bool{}
				return func(e *Event) {
					switch {
					case !e.Sent && is(e, emqp.REPLY):
						replied[e.Peer] = true
					case e.Sent && is(e, emqp.REQUEST) && replied[e.Peer]:
						e.Drop = true
					}
				}
			}),
	}
}

// delivery has the clauses of whatever needs a worker that gets a REQUEST.
const delivery = " ACK-02 BEAT-01 BEAT-03 BEAT-05 BEAT-06 BEAT-07 FRAME-07 HEAD-01 HEAD-02 INF-01 INF-02 INF-03 " +
	"PUB-01 READY-01 REPLY-04 SOCK-07 SOCK-08 REQ-01 REQ-04 REQ-05 REQ-06 REQ-07 SOCK-03"

// informFaults are about INFORM and READY.
func informFaults() []Fault {
	worker := func(e *Event) bool { return string(e.Frames[atHeaders]) == emqp.TypeWorker }
	return []Fault{
		fault("inform-worker-ignored", "INF-01"+delivery, "the INFORM of a worker is ignored", received(func(e *Event) {
			e.Drop = worker(e)
		}, emqp.INFORM)),
		fault("inform-first-queue", "INF-02", "a worker has its first queue only", received(func(e *Event) {
			if queues, err := emqp.ParseQueues(string(e.Frames[atFirst])); err == nil && len(queues) > 1 {
				set(atFirst, emqp.FormatQueues(queues[0]))(e)
			}
		}, emqp.INFORM)),
		statefulFault("inform-example-hangs", "INF-03",
			"after an INFORM with the queues of the example no READY is handled",
			func() func(*Event) {
				hangs := map[string]bool{}
				return func(e *Event) {
					switch {
					case !e.Sent && is(e, emqp.INFORM) && string(e.Frames[atFirst]) == "[40, 'email']":
						hangs[group(e.Frames[atID])] = true
					case !e.Sent && is(e, emqp.READY):
						e.Drop = hangs[group(e.Frames[atID])]
					}
				}
			}),
		fault("inform-scheduler-ignored", "INF-04 SCHED-01 SCHED-02 UNSCH-01 BEAT-02 DISC-01 KBAI-02",
			"the INFORM of a scheduler is ignored", received(func(e *Event) { e.Drop = !worker(e) }, emqp.INFORM)),
		fault("ready-ignored", "READY-01"+delivery, "READY is ignored", received(drop, emqp.READY)),
		statefulFault("ready-once", "REQ-07 ACK-02 INF-01 BEAT-06 INF-02 REPLY-04 REQ-04 REQ-06",
			"a worker gets one REQUEST, and no more",
			func() func(*Event) {
				ready := map[string]bool{}
				return received(func(e *Event) {
					e.Drop = ready[e.Peer]
					ready[e.Peer] = true
				}, emqp.READY)
			}),
	}
}

// requestFaults are about who gets a REQUEST.
func requestFaults() []Fault {
	return []Fault{
		fault("request-lost", "REQ-01"+delivery, "a REQUEST is lost", received(drop, emqp.REQUEST)),
		fault("request-twice", "REQ-03 ACK-02 BEAT-01 INF-02 DISC-01 DISC-02 KBAI-01 REPLY-04 REQ-02 REQ-04 REQ-06 REQ-07",
			"a worker gets each REQUEST twice", sent(func(e *Event) { e.Again = 1 }, emqp.REQUEST)),
		statefulFault("request-any-worker", "REQ-02",
			"a worker gets REQUESTs of queues whose names begin like those of its own",
			func() func(*Event) {
				all := map[string][]emqp.Queue{}
				return received(func(e *Event) {
					queues, err := emqp.ParseQueues(string(e.Frames[atFirst]))
					if err != nil || len(queues) == 0 {
						return
					}
					begin := group([]byte(queues[0].Name))
					set(atFirst, emqp.FormatQueues(slices.Concat(queues, all[begin])...))(e)
					all[begin] = append(all[begin], emqp.Queue{Name: queues[0].Name})
				}, emqp.INFORM)
			}),
	}
}

// waitFaults are about REQUESTs that wait, and workers that end.
func waitFaults() []Fault {
	return []Fault{
		statefulFault("request-does-not-wait", "REQ-06"+delivery,
			"a REQUEST that finds no READY worker is lost", func() func(*Event) {
				queues, credit := map[string][]emqp.Queue{}, map[string]int{}
				return func(e *Event) {
					switch {
					case e.Sent && is(e, emqp.REQUEST):
						credit[e.Peer]--
					case !e.Sent && is(e, emqp.INFORM):
						queues[e.Peer], _ = emqp.ParseQueues(string(e.Frames[atFirst])) // is has checked it
					case !e.Sent && is(e, emqp.READY):
						credit[e.Peer]++
					case !e.Sent && is(e, emqp.KBAI):
						delete(queues, e.Peer)
					case !e.Sent && is(e, emqp.REQUEST):
						e.Drop = true
						for peer, all := range queues {
							named := slices.ContainsFunc(all, func(q emqp.Queue) bool { return q.Name == string(e.Frames[atFirst]) })
							e.Drop = e.Drop && (!named || credit[peer] <= 0)
						}
					}
				}
			}),
		statefulFault("request-first-worker", "BEAT-07 INF-01",
			"the first worker of a queue gets its REQUESTs, even after its end",
			func() func(*Event) {
				first := map[string]string{}
				return sent(func(e *Event) {
					queue := string(e.Frames[atFirst])
					if first[queue] == "" {
						first[queue] = e.Peer
					}
					e.Drop = first[queue] != e.Peer
				}, emqp.REQUEST)
			}),
	}
}

// messageFaults are about the frames of a REQUEST.
func messageFaults() []Fault {
	message := func(when func([]byte) bool) func(*Event) {
		return received(func(e *Event) { e.Drop = when(e.Frames[atMessage]) }, emqp.REQUEST)
	}
	const shortSize = 255
	return []Fault{
		fault("request-queue-changed", "REQ-01", "the queue of a REQUEST is missing where it arrives",
			sent(set(atFirst, "default"), emqp.REQUEST)),
		fault("request-message-cut", "REQ-04 REQ-01 INF-01 INF-02 REQ-05 ACK-02 BEAT-07 REPLY-04 REQ-06 REQ-07",
			"the last byte of a message is lost",
			sent(change(atMessage, func(b []byte) []byte { return b[:max(len(b)-1, 0)] }), emqp.REQUEST)),
		fault("request-message-trimmed", "REQ-04", "blanks around a message are lost",
			sent(change(atMessage, bytes.TrimSpace), emqp.REQUEST)),
		fault("request-message-quoted", "REQ-04",
			"quotes in a message are doubled", sent(change(atMessage, func(b []byte) []byte {
				return bytes.ReplaceAll(b, []byte(`"`), []byte(`""`))
			}), emqp.REQUEST)),
		fault("request-empty-lost", "REQ-04", "a REQUEST with an empty message is lost",
			message(func(b []byte) bool { return len(b) == 0 })),
		fault("request-long-lost", "REQ-04", "a REQUEST of a message with more than 255 bytes is lost",
			message(func(b []byte) bool { return len(b) > shortSize })),
		fault("request-large-lost", "REQ-04", "a REQUEST of a message with more than 64 KiB is lost",
			message(func(b []byte) bool { return len(b) > 64<<10 })),
		fault("request-binary-lost", "REQ-05", "a REQUEST of a message with a NUL is lost",
			message(func(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 })),
		fault("headers-lost", "HEAD-01", "headers do not arrive", sent(set(atHeaders, ""), emqp.REQUEST)),
		fault("headers-first", "HEAD-01", "the first header alone arrives",
			sent(change(atHeaders, func(b []byte) []byte { return bytes.Split(b, []byte(","))[0] }), emqp.REQUEST)),
		fault("headers-none", "HEAD-02",
			"headers that are not there arrive as None", sent(change(atHeaders, func(b []byte) []byte {
				if len(b) == 0 {
					return []byte("None")
				}
				return b
			}), emqp.REQUEST)),
	}
}
