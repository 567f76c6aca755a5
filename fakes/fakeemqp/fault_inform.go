package fakeemqp

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// informFaults are about workers and schedulers.
var informFaults = []Fault{
	// About INFORM and READY.
	fault("inform-example-hangs", "INF-03", "after an INFORM with the queues of the example no READY is handled",
		catalogue.From(userOf, exampleInform, got(emqp.READY), drop)),
	fault("inform-first-queue", "INF-02", "a worker has its first queue only",
		renamed(func(all []emqp.Queue) []emqp.Queue { return all[:1] })),
	fault("inform-identity-known", "INF-01", "the INFORM of a worker with a known identity is ignored",
		dropAgain(peerOf, got(emqp.INFORM))),
	fault("inform-name-ascii", "INF-01 INF-02 REQ-05",
		"letters that are not in ASCII are question marks in the queues of a worker",
		renamed(named(inASCII))),
	fault("inform-name-cut", "INF-01 INF-02 REPLY-04 REQ-02 REQ-04 REQ-05 REQ-07 SOCK-07",
		"the name of a queue ends before a comma",
		renamed(named(beforeComma))),
	fault("inform-replaces", "INF-01 REQ-03 REQ-06 KBAI-01", "a queue has one worker, the last one that named it",
		lastWorker),
	fault("inform-scheduler-ignored", "INF-04 SCHED-01 SCHED-02 UNSCH-01 BEAT-02 DISC-01 KBAI-02",
		"the INFORM of a scheduler is ignored", received(func(e *Event) { e.Drop = !informsWorker(e) }, emqp.INFORM)),
	fault("inform-three-queues", "INF-02", "a worker has its first three queues only",
		renamed(func(all []emqp.Queue) []emqp.Queue { return all[:min(3, len(all))] })),
	fault("inform-worker-ignored", "INF-01"+delivery, "the INFORM of a worker is ignored",
		received(func(e *Event) { e.Drop = informsWorker(e) }, emqp.INFORM)),
	fault("ready-ignored", "READY-01"+delivery, "READY is ignored", received(drop, emqp.READY)),
	fault("ready-once", "REQ-07 ACK-02 BEAT-05 INF-01 BEAT-06 INF-02 REPLY-04 REQ-04 REQ-06",
		"a worker gets one REQUEST, and no more", dropAgain(peerOf, got(emqp.READY))),
	// About SCHEDULE and UNSCHEDULE.
	fault("schedule-headers-lost", "SCHED-02", "the headers of a SCHEDULE do not arrive",
		sent(set(atHeaders, ""), emqp.SCHEDULE)),
	fault("schedule-lost", "SCHED-01 SCHED-02 INF-04", "a SCHEDULE is lost", received(drop, emqp.SCHEDULE)),
	fault("schedule-message-changed", "SCHED-01", "the message of a SCHEDULE is another one where it arrives",
		sent(set(atMessage, "{}"), emqp.SCHEDULE)),
	fault("schedule-queue-changed", "SCHED-01", "the queue of a SCHEDULE is missing where it arrives",
		sent(set(atFirst, ""), emqp.SCHEDULE)),
	fault("unschedule-lost", "UNSCH-01", "an UNSCHEDULE is lost", received(drop, emqp.UNSCHEDULE)),
	fault("unschedule-one", "UNSCH-01", "one scheduler alone gets an UNSCHEDULE",
		dropAgain(idOf, gives(emqp.UNSCHEDULE))),
	fault("unschedule-queue-needed", "UNSCH-01", "an UNSCHEDULE without a queue is lost",
		received(func(e *Event) { e.Drop = len(e.Frames[atFirst]) == 0 }, emqp.UNSCHEDULE)),
	// About HEARTBEAT, DISCONNECT and KBAI.
	fault("disconnect-goes-on", "DISC-02", "the broker goes on after a DISCONNECT",
		received(func(e *Event) { e.Stay = true }, emqp.DISCONNECT)),
	fault("disconnect-ignored", "DISC-01", "DISCONNECT is ignored", received(drop, emqp.DISCONNECT)),
	fault("disconnect-kbai-to-workers", "DISC-01", "after a DISCONNECT workers alone get a KBAI",
		sent(func(e *Event) { e.Drop = e.Role != Worker }, emqp.KBAI)),
	fault("disconnect-no-kbai", "DISC-01", "after a DISCONNECT there is no KBAI", sent(drop, emqp.KBAI)),
	fault("disconnect-of-clients", "DISC-01", "the DISCONNECT of a worker or scheduler is ignored",
		received(func(e *Event) { e.Drop = e.Role != Client }, emqp.DISCONNECT)),
	fault("heartbeat-alone-counts", "BEAT-06", "a worker without HEARTBEATs has disconnected, whatever else it sends",
		received(drop, emqp.ACK)),
	fault("heartbeat-before-inform", "BEAT-04", "a client gets HEARTBEATs after a PUBLISH",
		acksOf(emqp.PUBLISH, func(id, _ string) emqp.Message { return emqp.Heartbeat(id, time.Now()) })),
	fault("heartbeat-date", "BEAT-03", "a HEARTBEAT has a date",
		sent(set(atFirst, "2026-11-21T12:00:00Z"), emqp.HEARTBEAT)),
	fault("heartbeat-ignored", "BEAT-05 BEAT-01 SOCK-08", "the HEARTBEATs of a worker do not count",
		received(drop, emqp.HEARTBEAT)),
	fault("heartbeat-milliseconds", "BEAT-03", "a HEARTBEAT has milliseconds",
		sent(set(atFirst, strconv.FormatInt(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC).UnixMilli(), 10)), emqp.HEARTBEAT)),
	fault("heartbeat-no-scheduler", "BEAT-02", "schedulers get no HEARTBEATs",
		sent(func(e *Event) { e.Drop = e.Role == Scheduler }, emqp.HEARTBEAT)),
	fault("heartbeat-no-worker", "BEAT-01 BEAT-03 BEAT-05 SOCK-08", "workers get no HEARTBEATs",
		sent(func(e *Event) { e.Drop = e.Role == Worker }, emqp.HEARTBEAT)),
	fault("heartbeat-not-while-working", "BEAT-01", "a worker that owes a REPLY gets no HEARTBEATs", idleAlone),
	fault("heartbeat-ends", "BEAT-01 BEAT-02", "a peer gets three HEARTBEATs, and no more",
		catalogue.KeepBy(peerOf, gives(emqp.HEARTBEAT), func(n *int, e *Event) {
			*n++
			e.Drop = *n > 3
		})),
	fault("heartbeat-not-behind-schedule", "BEAT-02", "a scheduler that has got a SCHEDULE gets no HEARTBEATs",
		catalogue.From(peerOf, gives(emqp.SCHEDULE), gives(emqp.HEARTBEAT), drop)),
	fault("heartbeat-once", "BEAT-01 BEAT-02 BEAT-05 SOCK-08", "a peer gets one HEARTBEAT, and no more",
		dropAgain(peerOf, gives(emqp.HEARTBEAT))),
	fault("heartbeat-uptime", "BEAT-03", "a HEARTBEAT has the seconds since the broker was started",
		sent(set(atFirst, "12"), emqp.HEARTBEAT)),
	fault("kbai-ends-queue", "INF-01 REQ-06 KBAI-01",
		"the KBAI of a worker ends its queues for all workers", endsQueues),
	fault("kbai-loses-requests", "REQ-06 INF-01 KBAI-01", "what waits in the queues of a worker is lost with its KBAI",
		losesRequests),
	fault("kbai-scheduler-ignored", "KBAI-02", "the KBAI of a scheduler is ignored",
		received(func(e *Event) { e.Drop = e.Role == Scheduler }, emqp.KBAI)),
	fault("kbai-scheduler-unschedule", "KBAI-02", "a scheduler that has sent KBAI gets UNSCHEDULEs", unscheduleAlone),
	fault("kbai-worker-ignored", "KBAI-01", "the KBAI of a worker is ignored",
		received(func(e *Event) { e.Drop = e.Role == Worker }, emqp.KBAI)),
}

// delivery has the clauses of whatever needs a worker that gets a REQUEST.
const delivery = " ACK-02 BEAT-01 BEAT-03 BEAT-05 BEAT-06 BEAT-07 FRAME-07 HEAD-01 HEAD-02 INF-01 INF-02 INF-03 " +
	"PUB-01 READY-01 REPLY-04 SOCK-07 SOCK-08 REQ-01 REQ-04 REQ-05 REQ-06 REQ-07 SOCK-03"

// informsWorker reports whether an INFORM is that of a worker.
func informsWorker(e *Event) bool { return string(e.Frames[atHeaders]) == emqp.TypeWorker }

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

// unscheduleAlone has a scheduler that has sent KBAI get nothing but UNSCHEDULEs.
func unscheduleAlone() func(*Event) {
	return catalogue.KeepBy(peerOf, anything, func(left *bool, e *Event) {
		switch {
		case !e.Sent && e.Role == Scheduler && is(e, emqp.KBAI):
			*left, e.Drop = true, true
		case e.Sent && *left:
			e.Drop = !is(e, emqp.UNSCHEDULE)
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
