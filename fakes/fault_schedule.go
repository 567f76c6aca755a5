package fakes

import (
	"regexp"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

var plainQueue = regexp.MustCompile(`^[a-z0-9-]+$`)

// scheduleFaults are about scheduled jobs, the last two about queues with unusual names.
func scheduleFaults() []Fault {
	return []Fault{
		fault("schedule-early", "WU-06 STATE-11",
			"a scheduled job is enqueued 2 s early",
			on(Scheduled, func(e *Event) {
				if e.Set == "scheduled" {
					e.Until = e.Until.Add(-2 * time.Second)
				}
			})),
		fault("schedule-ignored", "WU-06 STATE-11",
			"a job is enqueued at once, whatever its at is",
			when(Defaulted, fwp.PUSH, func(e *Event) { e.Object.Delete("at") })),

		fault("schedule-odd-queue", "PUSH-04",
			"a scheduled job of a queue with an unusual name is discarded when it comes due",
			on(Due, func(e *Event) { e.Skip = !plainQueue.MatchString(e.Object.Text("queue")) })),
		fault("schedule-queue-spaces", "WU-16 PUSH-04",
			"a queue name with a space is accepted if the job is scheduled",
			when(Checked, fwp.PUSH, func(e *Event) {
				at, ok := asTime(e.Object.Get("at"))
				if ok && at.After(time.Now()) && e.about() == "queue" && e.Object.Text("queue") != "" {
					e.accept()
				}
			})),
	}
}
