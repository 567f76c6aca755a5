package fakeemqp

import (
	"github.com/fwpsuite/fwp/emqp"
)

// scheduleFaults are about SCHEDULE and UNSCHEDULE.
var scheduleFaults = []Fault{
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
}
