package fakeemqp

import (
	"slices"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// heartbeatFaults are about HEARTBEAT, DISCONNECT and KBAI.
var heartbeatFaults = []Fault{
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
	fault("heartbeat-once", "BEAT-01 BEAT-02 BEAT-05 SOCK-08", "a peer gets one HEARTBEAT, and no more",
		dropAgain(peerOf, gives(emqp.HEARTBEAT))),
	fault("heartbeat-uptime", "BEAT-03", "a HEARTBEAT has the seconds since the broker was started",
		sent(set(atFirst, "12"), emqp.HEARTBEAT)),
	fault("kbai-ends-queue", "INF-01 REQ-06 KBAI-01", "the KBAI of a worker ends its queues for all workers", endsQueues),
	fault("kbai-loses-requests", "REQ-06 INF-01 KBAI-01", "what waits in the queues of a worker is lost with its KBAI",
		losesRequests),
	fault("kbai-scheduler-ignored", "KBAI-02", "the KBAI of a scheduler is ignored",
		received(func(e *Event) { e.Drop = e.Role == Scheduler }, emqp.KBAI)),
	fault("kbai-scheduler-unschedule", "KBAI-02", "a scheduler that has sent KBAI gets UNSCHEDULEs", unscheduleAlone),
	fault("kbai-worker-ignored", "KBAI-01", "the KBAI of a worker is ignored",
		received(func(e *Event) { e.Drop = e.Role == Worker }, emqp.KBAI)),
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
