package faults

import (
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// scheduleFaults are about jobs that are scheduled.
var scheduleFaults = []fakes.Fault{
	// About when a job that was scheduled is enqueued.
	fault("schedule-dropped", do(skip, due("scheduled"))),
	fault("schedule-early", do(later(-2*time.Second), scheduled)),
	fault("schedule-ignored", do(drop("at"), at(fakes.Defaulted))),
	fault("schedule-in-turn", keepAll(scheduled, func(latest *time.Time, e *event) {
		if e.Until.Before(*latest) {
			e.Until = *latest
		}
		*latest = e.Until
	})),
	fault("schedule-with-its-connection", ifGone(fakes.Defaulted, due("scheduled"), skip)),
	// About what a job that was scheduled has lost.
	fault("schedule-default-lost",
		do(set("queue", `"standard"`), valid(fwp.PUSH), text("at", longer(0)), not(has("queue")))),
	fault("schedule-drops-reserve", after(jid, scheduled, at(fakes.Reserved), lasts(1800*time.Second))),
	fault("schedule-queue-spaces", do(accept, checked(fwp.PUSH), about("queue"), text("queue", longer(0)),
		moment("at", func(at time.Time) bool { return time.Until(at) > 0 }))),
}
