package faults

import (
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// flushFaults are about FLUSH.
var flushFaults = []fakes.Fault{
	// These do not clear everything.
	fault("flush-ignored", "FLUSH-02", "FLUSH clears nothing", do(skip, at(fakes.Flushed))),
	fault("flush-keeps-held", "FLUSH-02", "a job that was held before a FLUSH can fail after it, and is retried",
		withJob(at(fakes.Delivered), notHeld, okayPush(pushIn(20*time.Second)),
			fakes.Expired, fakes.Failed, fakes.Acked)),
	fault("flush-keeps-long-names", "FLUSH-02", "FLUSH does not clear queues with names of more than 40 bytes",
		flushKeeps(longer(40))).Also("flush-keeps-default"),
	fault("flush-keeps-retries", "FLUSH-02", "FLUSH does not clear the jobs that wait for their retry",
		kept(fakes.Failed, "retries")),
	fault("flush-keeps-schedule", "FLUSH-02", "FLUSH does not clear the scheduled jobs",
		kept(fakes.Scheduled, "scheduled")),
	fault("flush-of-a-worker", "FLUSH-02", "the FLUSH of a worker is answered with OK and clears nothing",
		do(skip, at(fakes.Flushed), ofWorker)),
	fault("flush-once", "FLUSH-02", "only the first FLUSH clears anything", repeated(server, at(fakes.Flushed), skip)),
	fault("flush-revives-dead", "FLUSH-02", "FLUSH enqueues the dead jobs again", kept(fakes.Failed, "dead")),
	// About a FLUSH that is to be refused.
	fault("flush-arguments", "FLUSH-03", "FLUSH with an argument is carried out",
		do(accept, checked(fwp.FLUSH), about(fakes.AboutArguments))),
	fault("flush-before-hello", "FLUSH-01", "a FLUSH before HELLO is refused and carried out",
		do(enact, checked(fwp.FLUSH), about(fakes.AboutState), onOpen)),
	fault("flush-needs-no-hello", "STATE-01 FLUSH-01", "a FLUSH before HELLO is carried out and answered with OK",
		do(accept, checked(fwp.FLUSH), about(fakes.AboutState), onOpen)),
	fault("flush-refused-clears", "FLUSH-03", "FLUSH with an argument is refused and carried out nevertheless",
		do(enact, refusedFlush)),
	fault("flush-refused-clears-retries", "FLUSH-03",
		"FLUSH with an argument is refused, and discards the jobs that are to be retried",
		keepAll(either(at(fakes.Failed, fakes.Due), refusedFlush),
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
	fault("flush-breaks-queues", "PUSH-04 FLUSH-04",
		"a job of a queue that there was before a FLUSH is answered with OK and lost", flushBreaksQueues()),
	fault("flush-forgets-connections", "FLUSH-04", "after a FLUSH its connection is un-identified",
		do(forget, done(fwp.FLUSH))),
	fault("flush-forgets-producers", "FLUSH-04", "after a FLUSH the connections of other producers are un-identified",
		keepAll(parsed(), forgetsProducers)),
	fault("flush-other-answer", "FLUSH-01", "FLUSH is answered with a number", answer(fwp.FLUSH, fakes.Integer(1))),
	fault("flush-stops-retries", "STATE-09", "a job that fails after a FLUSH is never retried", afterFlush("retries")),
	fault("flush-stops-schedule", "STATE-11 FLUSH-02", "a job that is scheduled after a FLUSH never comes due",
		afterFlush("scheduled")),
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

func flushBreaksQueues() func() func(*event) {
	return keepAll(at(fakes.Enqueued, fakes.Flushed), func(broken *memory[string, bool], e *event) {
		if e.Point == fakes.Enqueued {
			e.Skip = *broken.Of(e.Object.Text("queue"))
			return
		}
		for _, is := range broken.All {
			*is = true
		}
	})
}
