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
	fault("flush-keeps-beyond-ascii", flushKeeps(beyondASCII)),
	fault("flush-keeps-held", withJob(at(fakes.Delivered), notHeld, okayPush(pushIn(20*time.Second)),
		fakes.Expired, fakes.Failed, fakes.Acked)),
	fault("flush-keeps-long-names", flushKeeps(longer(40))),
	fault("flush-keeps-retries", kept(fakes.Failed, "retries")),
	fault("flush-keeps-schedule", kept(fakes.Scheduled, "scheduled")),
	fault("flush-of-a-worker", do(skip, at(fakes.Flushed), ofWorker)),
	fault("flush-once", repeated(server, at(fakes.Flushed), skip)),
	fault("flush-revives-dead", kept(fakes.Failed, "dead")),
	// About a FLUSH that is to be refused.
	fault("flush-arguments", do(accept, checked(fwp.FLUSH), about(fakes.AboutArguments))),
	fault("flush-before-hello", do(enact, checked(fwp.FLUSH), about(fakes.AboutState), onOpen)),
	fault("flush-needs-no-hello", do(accept, checked(fwp.FLUSH), about(fakes.AboutState), onOpen)),
	fault("flush-refused-clears", do(enact, refusedFlush)),
	fault("flush-refused-clears-retries", keepAll(either(at(fakes.Failed, fakes.Due), refusedFlush),
		func(failed *memory[string, bool], e *event) {
			switch {
			case e.Point == fakes.Checked:
				for _, cleared := range failed.All {
					*cleared = true
				}
			case e.Set == "retries" && e.Point == fakes.Failed:
				*failed.Of(jid(e)) = false
			case e.Set == "retries" && failed.Has(jid(e)):
				e.Skip = *failed.Of(jid(e))
			}
		})),
	// About what a FLUSH does to what comes after it.
	fault("flush-breaks-jids", flushBreaks(jid)),
	fault("flush-breaks-queues", flushBreaks(func(e *event) string { return e.Object.Text("queue") })),
	fault("flush-forgets-connections", do(forget, done(fwp.FLUSH))),
	fault("flush-forgets-producers", keepAll(parsed(), forgetsProducers)),
	fault("flush-other-answer", answer(fwp.FLUSH, fakes.Integer(1))),
	fault("flush-stops-retries", afterFlush("retries")),
	fault("flush-stops-schedule", afterFlush("scheduled")),
}

func refusedFlush(e *event) bool {
	return checked(fwp.FLUSH)(e) && e.About() == fakes.AboutArguments && e.Conn.Identified
}

// flushKeeps clears everything but the jobs of some queues.
func flushKeeps(keeps func(queue string) bool) func(*event) {
	return on(valid(fwp.FLUSH), func(e *event) {
		kept := stored(e, func(j fakes.StoredJob) bool { return keeps(j.Queue) })
		e.Skip = true
		e.Clear()
		for _, j := range kept {
			e.Push(unit(j), time.Time{})
		}
	})
}

// kept pushes the jobs that had come to a set again after a FLUSH.
func kept(p fakes.Point, set string) func() func(*event) {
	type job struct {
		unit  *object
		until time.Time
	}
	came := func(e *event) bool { return e.Point == p && e.Set == set }
	return keepAll(either(came, at(fakes.Due), done(fwp.FLUSH)), func(waiting *memory[string, job], e *event) {
		switch {
		case came(e):
			*waiting.Of(jid(e)) = job{e.Object.Clone(), e.Until}
		case e.Point == fakes.Due:
			waiting.Forget(jid(e))
		default:
			for _, j := range waiting.All {
				unit, until := j.unit, j.until
				e.Then(func() { e.Push(unit, until) })
			}
			waiting.Clear()
		}
	})
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

// flushBreaks loses the jobs that are pushed behind a FLUSH and have something that one before it had.
func flushBreaks(of func(*event) string) func() func(*event) {
	return keepAll(at(fakes.Enqueued, fakes.Flushed), func(broken *memory[string, bool], e *event) {
		if e.Point == fakes.Enqueued {
			e.Skip = *broken.Of(of(e))
			return
		}
		for _, is := range broken.All {
			*is = true
		}
	})
}
