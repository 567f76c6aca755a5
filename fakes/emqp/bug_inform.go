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
	bug("inform-example-hangs", catalogue.ActAfter(userOf, exampleInform, isReceived(emqp.READY), drop)),
	bug("inform-name-ascii", renameQueues(mapNames(toASCII))),
	bug("inform-name-cut", renameQueues(mapNames(beforeComma))),
	bug("inform-replaces", dropOtherWorkers),
	bug("inform-three-queues", renameQueues(func(all []emqp.Queue) []emqp.Queue { return all[:min(3, len(all))] })),
	// About HEARTBEAT, DISCONNECT and KBAI.
	bug("disconnect-schedules", scheduleAfterLeave),
	bug("heartbeat-before-inform",
		acknowledgeBy(emqp.PUBLISH, func(id, _ string) emqp.Message { return emqp.Heartbeat(id, time.Now()) })),
	bug("heartbeat-not-while-working", dropBusyHeartbeats),
	bug("kbai-ends-queue", endQueues),
	bug("kbai-loses-requests", loseRequests),
}

// exampleInform is the condition of an INFORM with the queues of the document's example.
func exampleInform(e *Event) bool {
	return !e.IsFromBroker && isCommand(e, emqp.INFORM) && queueOf(e) == "[40, 'email']"
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

// renameQueues returns a hook that changes the queues in each INFORM.
func renameQueues(edit func(queues []emqp.Queue) []emqp.Queue) func(*Event) {
	return actOnReceived(func(e *Event) {
		if queues, err := emqp.ParseQueues(queueOf(e)); err == nil && len(queues) > 0 {
			set(atFirst, emqp.FormatQueues(edit(queues)...))(e)
		}
	}, emqp.INFORM)
}

// mapNames returns a function that changes the name of each queue.
func mapNames(edit func(string) string) func([]emqp.Queue) []emqp.Queue {
	return func(queues []emqp.Queue) []emqp.Queue {
		for i, q := range queues {
			queues[i].Name = edit(q.Name)
		}
		return queues
	}
}

// toASCII returns a text with question marks for what is not in ASCII.
func toASCII(s string) string {
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

// scheduleAfterLeave has a broker go on with what is scheduled after a DISCONNECT.
func scheduleAfterLeave() func(*Event) {
	return catalogue.WithMemory(isFromPeer, func(hasLeft *bool, e *Event) {
		switch {
		case isCommand(e, emqp.DISCONNECT):
			*hasLeft, e.Stay = true, true
		case *hasLeft:
			e.Drop = !isCommand(e, emqp.SCHEDULE, emqp.UNSCHEDULE)
		}
	})()
}

// dropOtherWorkers has a REQUEST reach the worker alone that was the last to name its queue.
func dropOtherWorkers() func(*Event) {
	match := catalogue.Any(isReceived(emqp.INFORM), isSent(emqp.REQUEST))
	return catalogue.WithMemory(match, func(owner *catalogue.Memory[string, string], e *Event) {
		if e.IsFromBroker {
			e.Drop = *owner.GetOrAdd(queueOf(e)) != e.Peer
			return
		}
		for _, queue := range queuesOf(e) {
			*owner.GetOrAdd(queue) = e.Peer
		}
	})()
}

// endQueues has the KBAI of a worker end its queues.
func endQueues() func(*Event) {
	type memory struct {
		queues, endedQueues catalogue.Memory[string, []string]
	} // queues by worker; endedQueues by queue
	return catalogue.WithMemory(isAny, func(m *memory, e *Event) {
		switch {
		case !e.IsFromBroker && isCommand(e, emqp.INFORM):
			*m.queues.GetOrAdd(e.Peer) = queuesOf(e)
		case !e.IsFromBroker && isCommand(e, emqp.KBAI):
			for _, queue := range *m.queues.GetOrAdd(e.Peer) {
				m.endedQueues.GetOrAdd(queue)
			}
		case e.IsFromBroker && isCommand(e, emqp.REQUEST):
			e.Drop = m.endedQueues.Has(queueOf(e))
		}
	})()
}

// loseRequests loses what waits in the queues of a worker when it sends KBAI.
func loseRequests() func(*Event) {
	type memory struct {
		queues  catalogue.Memory[string, []string] // by worker
		waiting catalogue.Memory[string, string]   // the queue, by id
		lostIDs catalogue.Memory[string, bool]     // by id
	}
	return catalogue.WithMemory(isAny, func(m *memory, e *Event) {
		switch {
		case !e.IsFromBroker && isCommand(e, emqp.INFORM):
			*m.queues.GetOrAdd(e.Peer) = queuesOf(e)
		case !e.IsFromBroker && isCommand(e, emqp.REQUEST):
			*m.waiting.GetOrAdd(idOf(e)) = queueOf(e)
		case e.IsFromBroker && isCommand(e, emqp.REQUEST):
			m.waiting.Forget(idOf(e))
			e.Drop = m.lostIDs.Has(idOf(e))
		case !e.IsFromBroker && isCommand(e, emqp.KBAI):
			for id, queue := range m.waiting.All {
				if slices.Contains(*m.queues.GetOrAdd(e.Peer), *queue) {
					m.lostIDs.GetOrAdd(id)
				}
			}
		}
	})()
}

// dropBusyHeartbeats has no worker get HEARTBEATs that owes a REPLY.
func dropBusyHeartbeats() func(*Event) {
	return catalogue.WithMemoryBy(peerOf, isAny, func(isBusy *bool, e *Event) {
		switch {
		case e.IsFromBroker && isCommand(e, emqp.REQUEST):
			*isBusy = *isBusy || wantsReply(e)
		case !e.IsFromBroker && isCommand(e, emqp.REPLY):
			*isBusy = false
		case e.IsFromBroker && isCommand(e, emqp.HEARTBEAT):
			e.Drop = *isBusy
		}
	})()
}
