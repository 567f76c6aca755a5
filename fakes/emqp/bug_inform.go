package emqp

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/emqp"
)

// informBugs are about workers and schedulers.
var informBugs = []Bug{
	// About INFORM and READY.
	bug("inform-example-hangs", catalogue.From(userOf, exampleInform, got(emqp.READY), drop)),
	bug("inform-name-ascii", renamed(named(inASCII))),
	bug("inform-name-cut", renamed(named(beforeComma))),
	bug("inform-replaces", lastWorker),
	bug("inform-three-queues", renamed(func(all []emqp.Queue) []emqp.Queue { return all[:min(3, len(all))] })),
	// About HEARTBEAT, DISCONNECT and KBAI.
	bug("disconnect-schedules", schedulesOn),
	bug("heartbeat-before-inform",
		acksOf(emqp.PUBLISH, func(id, _ string) emqp.Message { return emqp.Heartbeat(id, time.Now()) })),
	bug("heartbeat-not-while-working", idleAlone),
	bug("kbai-ends-queue", endsQueues),
	bug("kbai-loses-requests", losesRequests),
}

// exampleInform is the condition of an INFORM with the queues of the document's example.
func exampleInform(e *Event) bool {
	return !e.Sent && is(e, emqp.INFORM) && queueOf(e) == "[40, 'email']"
}

// userOf returns what the ids of all messages of one user begin with.
func userOf(e *Event) string { return group(e.Frames[atID]) }

// group returns the beginning of a name that all names of one user have: what stands before its last two dashes.
func group(name []byte) string {
	for range 2 {
		name = name[:max(bytes.LastIndexByte(name, '-'), 0)]
	}
	return string(name)
}

// renamed returns a hook that changes the queues in each INFORM.
func renamed(how func(queues []emqp.Queue) []emqp.Queue) func(*Event) {
	return received(func(e *Event) {
		if queues, err := emqp.ParseQueues(queueOf(e)); err == nil && len(queues) > 0 {
			set(atFirst, emqp.FormatQueues(how(queues)...))(e)
		}
	}, emqp.INFORM)
}

// named returns a function that changes the name of each queue.
func named(how func(string) string) func([]emqp.Queue) []emqp.Queue {
	return func(queues []emqp.Queue) []emqp.Queue {
		for i, q := range queues {
			queues[i].Name = how(q.Name)
		}
		return queues
	}
}

// inASCII returns a text with question marks for what is not in ASCII.
func inASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r > '~' {
			return '?'
		}
		return r
	}, s)
}

// beforeComma returns what stands before the first comma.
func beforeComma(s string) string {
	s, _, _ = strings.Cut(s, ",")
	return s
}

// schedulesOn has a broker go on with what is scheduled after a DISCONNECT.
func schedulesOn() func(*Event) {
	return catalogue.Keep(fromPeer, func(left *bool, e *Event) {
		switch {
		case is(e, emqp.DISCONNECT):
			*left, e.Stay = true, true
		case *left:
			e.Drop = !is(e, emqp.SCHEDULE, emqp.UNSCHEDULE)
		}
	})()
}

// lastWorker has a REQUEST reach the worker alone that was the last to name its queue.
func lastWorker() func(*Event) {
	watched := catalogue.Any(got(emqp.INFORM), gives(emqp.REQUEST))
	return catalogue.Keep(watched, func(owner *catalogue.Memory[string, string], e *Event) {
		if e.Sent {
			e.Drop = *owner.Of(queueOf(e)) != e.Peer
			return
		}
		for _, queue := range queuesOf(e) {
			*owner.Of(queue) = e.Peer
		}
	})()
}

// endsQueues has the KBAI of a worker end its queues.
func endsQueues() func(*Event) {
	type memory struct {
		queues, ended catalogue.Memory[string, []string]
	} // by worker; by queue
	return catalogue.Keep(anything, func(m *memory, e *Event) {
		switch {
		case !e.Sent && is(e, emqp.INFORM):
			*m.queues.Of(e.Peer) = queuesOf(e)
		case !e.Sent && is(e, emqp.KBAI):
			for _, queue := range *m.queues.Of(e.Peer) {
				m.ended.Of(queue)
			}
		case e.Sent && is(e, emqp.REQUEST):
			e.Drop = m.ended.Has(queueOf(e))
		}
	})()
}

// losesRequests loses what waits in the queues of a worker when it sends KBAI.
func losesRequests() func(*Event) {
	type memory struct {
		queues  catalogue.Memory[string, []string] // by worker
		waiting catalogue.Memory[string, string]   // the queue, by id
		lost    catalogue.Memory[string, bool]     // by id
	}
	return catalogue.Keep(anything, func(m *memory, e *Event) {
		switch {
		case !e.Sent && is(e, emqp.INFORM):
			*m.queues.Of(e.Peer) = queuesOf(e)
		case !e.Sent && is(e, emqp.REQUEST):
			*m.waiting.Of(idOf(e)) = queueOf(e)
		case e.Sent && is(e, emqp.REQUEST):
			m.waiting.Forget(idOf(e))
			e.Drop = m.lost.Has(idOf(e))
		case !e.Sent && is(e, emqp.KBAI):
			for id, queue := range m.waiting.All {
				if slices.Contains(*m.queues.Of(e.Peer), *queue) {
					m.lost.Of(id)
				}
			}
		}
	})()
}

// idleAlone has no worker get HEARTBEATs that owes a REPLY.
func idleAlone() func(*Event) {
	return catalogue.KeepBy(peerOf, anything, func(busy *bool, e *Event) {
		switch {
		case e.Sent && is(e, emqp.REQUEST):
			*busy = *busy || wantsReply(e)
		case !e.Sent && is(e, emqp.REPLY):
			*busy = false
		case e.Sent && is(e, emqp.HEARTBEAT):
			e.Drop = *busy
		}
	})()
}
