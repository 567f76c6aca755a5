package fakeemqp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/emqp"
)

// queuesOf returns the names in an INFORM.
func queuesOf(e *Event) (names []string) {
	queues, _ := emqp.ParseQueues(string(e.Frames[atFirst])) // is has checked it
	for _, q := range queues {
		names = append(names, q.Name)
	}
	return names
}

// asks reports whether a REQUEST asks for a reply.
func asks(e *Event) bool {
	h, _ := emqp.ParseHeaders(string(e.Frames[atHeaders])) // is has checked it
	return h.Has(emqp.ReplyRequested)
}

// renamed returns a hook that changes the names of queues in each INFORM.
func renamed(how func(queues []emqp.Queue) []emqp.Queue) func(*Event) {
	return received(func(e *Event) {
		if queues, err := emqp.ParseQueues(string(e.Frames[atFirst])); err == nil && len(queues) > 0 {
			set(atFirst, emqp.FormatQueues(how(queues)...))(e)
		}
	}, emqp.INFORM)
}

// name returns a function that changes the name of each queue.
func name(how func(string) string) func([]emqp.Queue) []emqp.Queue {
	return func(queues []emqp.Queue) []emqp.Queue {
		for i, q := range queues {
			queues[i].Name = how(q.Name)
		}
		return queues
	}
}

// alike returns a hook by which names of queues are the same if how makes the same of them.
func alike(how func(string) string) func() func(*Event) {
	return func() func(*Event) {
		names := map[string]string{} // by id
		informs := renamed(name(how))
		return func(e *Event) {
			switch {
			case is(e, emqp.INFORM):
				informs(e)
			case is(e, emqp.REQUEST) && !e.Sent:
				names[string(e.Frames[atID])] = string(e.Frames[atFirst])
				set(atFirst, how(string(e.Frames[atFirst])))(e)
			case is(e, emqp.REQUEST):
				set(atFirst, names[string(e.Frames[atID])])(e)
			}
		}
	}
}

// ascii returns a question mark for what is not in ASCII.
func ascii(r rune) rune {
	if r > '~' {
		return '?'
	}
	return r
}

// contentFaults change what REQUESTs and INFORMs contain.
func contentFaults() []Fault {
	const few = 3
	return []Fault{
		fault("inform-name-cut", "INF-01", "the name of a queue ends before a comma",
			renamed(name(func(s string) string { s, _, _ = strings.Cut(s, ","); return s }))),
		fault("inform-name-ascii", "INF-01", "letters that are not in ASCII are question marks in the queues of a worker",
			renamed(name(func(s string) string { return strings.Map(ascii, s) }))),
		fault("inform-three-queues", "INF-02", "a worker has its first three queues only",
			renamed(func(all []emqp.Queue) []emqp.Queue { return all[:min(few, len(all))] })),
		fault("request-cut-at-nul", "REQ-05", "a message ends before its first NUL",
			sent(change(atMessage, func(b []byte) []byte {
				b, _, _ = bytes.Cut(b, []byte{0})
				return b
			}), emqp.REQUEST)),
		fault("request-utf8-replaced", "REQ-05", "bytes of a message that are not UTF-8 are replaced",
			sent(change(atMessage, func(b []byte) []byte { return bytes.ToValidUTF8(b, []byte("?")) }), emqp.REQUEST)),
		fault("request-json-compacted", "REQ-04", "the JSON of a message is written anew",
			sent(change(atMessage, func(b []byte) []byte {
				var compact bytes.Buffer
				if json.Compact(&compact, b) != nil {
					return b
				}
				return compact.Bytes()
			}), emqp.REQUEST)),
		fault("frame-id-same-request", "FRAME-04 REQ-01 REQ-04 REQ-06 REQ-07 ACK-02 REPLY-04 INF-02",
			"all REQUESTs are passed on with the same id", sent(set(atID, "request"), emqp.REQUEST)),
		fault("frame-id-same-reply", "FRAME-04 REPLY-01", "all REPLYs have the same id",
			sent(set(atID, "reply"), emqp.REPLY)),
		statefulFault("request-any-case", "REQ-02",
			"the names of queues are the same in small letters and in capitals", alike(strings.ToLower)),
		statefulFault("request-any-letter", "REQ-02 INF-01",
			"all letters that are not in ASCII are the same in names of queues", alike(func(s string) string {
				return strings.Map(ascii, s)
			})),
		statefulFault("request-name-cut", "REQ-02", "what stands behind a comma in the name of a queue does not count",
			alike(func(s string) string { s, _, _ = strings.Cut(s, ","); return s })),
		statefulFault("request-name-trimmed", "REQ-02", "blanks at the end of the name of a queue do not count",
			alike(strings.TrimSpace)),
	}
}

// peerFaults are about several workers, and workers that leave.
func peerFaults() []Fault {
	return []Fault{
		statefulFault("inform-replaces", "INF-01 REQ-03 REQ-06 KBAI-01",
			"a queue has one worker, the last one that named it", lastWorker),
		statefulFault("kbai-ends-queue", "INF-01 REQ-06 KBAI-01",
			"the KBAI of a worker ends its queues for all workers", endsQueues),
		statefulFault("kbai-loses-requests", "REQ-06 INF-01 KBAI-01",
			"what waits in the queues of a worker is lost with its KBAI", losesRequests),
		statefulFault("inform-identity-known", "INF-01", "the INFORM of a worker with a known identity is ignored",
			func() func(*Event) {
				known := map[string]bool{}
				return received(func(e *Event) { e.Drop, known[e.Peer] = known[e.Peer], true }, emqp.INFORM)
			}),
		fault("unschedule-queue-needed", "UNSCH-01", "an UNSCHEDULE without a queue is lost", received(func(e *Event) {
			e.Drop = len(e.Frames[atFirst]) == 0
		}, emqp.UNSCHEDULE)),
		statefulFault("kbai-scheduler-unschedule", "KBAI-02", "a scheduler that has sent KBAI gets UNSCHEDULEs",
			unscheduleAlone),
		fault("disconnect-of-clients", "DISC-01", "the DISCONNECT of a worker or scheduler is ignored",
			received(func(e *Event) { e.Drop = e.Role != Client }, emqp.DISCONNECT)),
		statefulFault("heartbeat-not-while-working", "BEAT-01", "a worker that owes a REPLY gets no HEARTBEATs", idleAlone),
	}
}

// lastWorker has a REQUEST reach the worker alone that was the last to name its queue.
func lastWorker() func(*Event) {
	owner := map[string]string{}
	return func(e *Event) {
		switch {
		case !e.Sent && is(e, emqp.INFORM):
			for _, queue := range queuesOf(e) {
				owner[queue] = e.Peer
			}
		case e.Sent && is(e, emqp.REQUEST):
			e.Drop = owner[string(e.Frames[atFirst])] != e.Peer
		}
	}
}

// endsQueues has the KBAI of a worker end its queues.
func endsQueues() func(*Event) {
	queues, ended := map[string][]string{}, map[string]bool{}
	return func(e *Event) {
		switch {
		case !e.Sent && is(e, emqp.INFORM):
			queues[e.Peer] = queuesOf(e)
		case !e.Sent && is(e, emqp.KBAI):
			for _, queue := range queues[e.Peer] {
				ended[queue] = true
			}
		case e.Sent && is(e, emqp.REQUEST):
			e.Drop = ended[string(e.Frames[atFirst])]
		}
	}
}

// losesRequests loses what waits in the queues of a worker when it sends KBAI.
func losesRequests() func(*Event) {
	queues, waiting, lost := map[string][]string{}, map[string]string{}, map[string]bool{}
	return func(e *Event) {
		switch {
		case !e.Sent && is(e, emqp.INFORM):
			queues[e.Peer] = queuesOf(e)
		case !e.Sent && is(e, emqp.REQUEST):
			waiting[string(e.Frames[atID])] = string(e.Frames[atFirst])
		case e.Sent && is(e, emqp.REQUEST):
			delete(waiting, string(e.Frames[atID]))
			e.Drop = lost[string(e.Frames[atID])]
		case !e.Sent && is(e, emqp.KBAI):
			for id, queue := range waiting {
				lost[id] = lost[id] || slices.Contains(queues[e.Peer], queue)
			}
		}
	}
}

// unscheduleAlone has a scheduler that has sent KBAI get nothing but UNSCHEDULEs.
func unscheduleAlone() func(*Event) {
	left := map[string]bool{}
	return func(e *Event) {
		switch {
		case !e.Sent && e.Role == Scheduler && is(e, emqp.KBAI):
			left[e.Peer], e.Drop = true, true
		case e.Sent && left[e.Peer]:
			e.Drop = !is(e, emqp.UNSCHEDULE)
		}
	}
}

// idleAlone has no worker get HEARTBEATs that owes a REPLY.
func idleAlone() func(*Event) {
	busy := map[string]bool{}
	return func(e *Event) {
		switch {
		case e.Sent && is(e, emqp.REQUEST):
			busy[e.Peer] = busy[e.Peer] || asks(e)
		case !e.Sent && is(e, emqp.REPLY):
			delete(busy, e.Peer)
		case e.Sent && is(e, emqp.HEARTBEAT):
			e.Drop = busy[e.Peer]
		}
	}
}

// owedFaults are about the clients that wait for a REPLY.
func owedFaults() []Fault {
	const long = 9 * time.Second
	return []Fault{
		statefulFault("reply-first-header", "REPLY-01", "reply-requested counts as the first header only",
			func() func(*Event) {
				first := map[string]bool{} // by client: whether it stands there in its last REQUEST that has it
				return func(e *Event) {
					switch {
					case !e.Sent && is(e, emqp.REQUEST) && asks(e):
						first[e.Peer] = bytes.HasPrefix(e.Frames[atHeaders], []byte(emqp.ReplyRequested))
					case e.Sent && is(e, emqp.REPLY):
						e.Drop = !first[e.Peer]
					}
				}
			}),
		fault("reply-trimmed", "REPLY-01", "blanks around a REPLY are lost",
			sent(change(atFirst, bytes.TrimSpace), emqp.REPLY)),
		statefulFault("reply-one-owed", "REPLY-01", "a worker owes one REPLY at most, to the client of its last REQUEST",
			func() func(*Event) {
				owes := map[string]bool{}
				return func(e *Event) {
					switch {
					case e.Sent && is(e, emqp.REQUEST):
						owes[e.Peer] = owes[e.Peer] || asks(e)
					case !e.Sent && is(e, emqp.REPLY):
						e.Drop = !owes[e.Peer]
						delete(owes, e.Peer)
					}
				}
			}),
		statefulFault("reply-client-forgotten", "REPLY-01", "a client that sends nothing for 9 s is forgotten",
			func() func(*Event) {
				heard := map[string]time.Time{}
				return func(e *Event) {
					if !e.Sent {
						heard[e.Peer] = time.Now()
						return
					}
					e.Drop = is(e, emqp.REPLY) && time.Since(heard[e.Peer]) > long
				}
			}),
	}
}
