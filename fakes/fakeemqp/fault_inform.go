package fakeemqp

import (
	"bytes"
	"strings"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// informFaults are about INFORM and READY.
var informFaults = []Fault{
	fault("inform-example-hangs", "INF-03", "after an INFORM with the queues of the example no READY is handled",
		catalogue.From(userOf, exampleInform, got(emqp.READY), drop)),
	fault("inform-first-queue", "INF-02", "a worker has its first queue only",
		renamed(func(all []emqp.Queue) []emqp.Queue { return all[:1] })),
	fault("inform-identity-known", "INF-01", "the INFORM of a worker with a known identity is ignored",
		dropAgain(peerOf, got(emqp.INFORM))),
	fault("inform-name-ascii", "INF-01", "letters that are not in ASCII are question marks in the queues of a worker",
		renamed(named(inASCII))),
	fault("inform-name-cut", "INF-01", "the name of a queue ends before a comma", renamed(named(beforeComma))),
	fault("inform-replaces", "INF-01 REQ-03 REQ-06 KBAI-01", "a queue has one worker, the last one that named it",
		lastWorker),
	fault("inform-scheduler-ignored", "INF-04 SCHED-01 SCHED-02 UNSCH-01 BEAT-02 DISC-01 KBAI-02",
		"the INFORM of a scheduler is ignored", received(func(e *Event) { e.Drop = !informsWorker(e) }, emqp.INFORM)),
	fault("inform-three-queues", "INF-02", "a worker has its first three queues only",
		renamed(func(all []emqp.Queue) []emqp.Queue { return all[:min(3, len(all))] })),
	fault("inform-worker-ignored", "INF-01"+delivery, "the INFORM of a worker is ignored",
		received(func(e *Event) { e.Drop = informsWorker(e) }, emqp.INFORM)),
	fault("ready-ignored", "READY-01"+delivery, "READY is ignored", received(drop, emqp.READY)),
	fault("ready-once", "REQ-07 ACK-02 INF-01 BEAT-06 INF-02 REPLY-04 REQ-04 REQ-06",
		"a worker gets one REQUEST, and no more", dropAgain(peerOf, got(emqp.READY))),
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
