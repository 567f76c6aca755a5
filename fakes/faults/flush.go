package faults

import (
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// flushFaults are about FLUSH.
var flushFaults = []fakes.Fault{
	// These do not clear everything.
	fault("flush-ignored", do(skip, at(fakes.Flushed))),
	fault("flush-keeps-held", withJob(at(fakes.Delivered), notHeld, okayPush(pushIn(20*time.Second)),
		fakes.Expired, fakes.Failed, fakes.Acked)),
	// About a FLUSH that is to be refused.
	fault("flush-arguments", do(accept, checked(fwp.FLUSH), about(fakes.AboutArguments))),
	fault("flush-before-hello", do(enact, checked(fwp.FLUSH), about(fakes.AboutState), onOpen)),
	fault("flush-needs-no-hello", do(accept, checked(fwp.FLUSH), about(fakes.AboutState), onOpen)),
	fault("flush-refused-clears", do(enact, refusedFlush)),
	// About what a FLUSH does to what comes after it.
	fault("flush-breaks-queues", keepAll(at(fakes.Enqueued, fakes.Flushed), flushBreaks)),
	fault("flush-forgets-connections", do(forget, done(fwp.FLUSH))),
	fault("flush-forgets-producers", keepAll(parsed(), forgetsProducers)),
	fault("flush-other-answer", answer(fwp.FLUSH, fakes.Integer(1))),
}

func refusedFlush(e *event) bool {
	return checked(fwp.FLUSH)(e) && e.About() == fakes.AboutArguments && e.Conn.Identified
}

// forgetsProducers has a FLUSH of one connection un-identify the producers that have sent a command on others.
func forgetsProducers(forgotten *memory[int64, bool], e *event) {
	switch id := e.Conn.ID; {
	case e.Command.Verb == fwp.FLUSH && e.Conn.Identified:
		for other, is := range forgotten.All {
			*is = other != id
		}
	case !e.Conn.IsProducer():
	case *forgotten.Of(id):
		forget(e)
		forgotten.Forget(id)
	}
}

// flushBreaks loses the jobs that are pushed behind a FLUSH to a queue that had one before it.
func flushBreaks(broken *memory[string, bool], e *event) {
	if e.Point == fakes.Enqueued {
		e.Skip = *broken.Of(e.Object.Text("queue"))
		return
	}
	for _, is := range broken.All {
		*is = true
	}
}
