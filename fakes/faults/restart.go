package faults

import (
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
)

// restartFaults are about what a restart must keep.
var restartFaults = []fakes.Fault{
	fault("restart-ascii", beforeRestart(fakes.Enqueued, fakes.Delivered, func(e *event) {
		reshape(e.Object, "args", texts(func(s string) string { return strings.Map(ascii, s) }))
	})),
	fault("restart-doubles", beforeRestart(fakes.Enqueued, fakes.Delivered, again)),
	fault("restart-drops-custom", beforeRestart(fakes.Enqueued, fakes.Delivered, drop("custom"))),
	fault("restart-drops-held", beforeRestart(fakes.Reserved, fakes.Expired, discard)),
	fault("restart-drops-schedule", beforeRestart(fakes.Scheduled, fakes.Due, skip)),
	fault("restart-forgets", do(skip, at(fakes.Restarted), func(e *event) bool { return !e.Reset })),
	fault("restart-forgets-acks", beforeRestart(fakes.Reserved, fakes.Acked, skip)),
	fault("restart-forgets-failures", forgetsFailures()),
	fault("restart-returns-done", returnsDone()),
	fault("restart-runs-schedule",
		next(server, at(fakes.Restarted), at(fakes.Greeting), func(e *event) { e.Then(func() { runSchedule(e) }) })),
}

// runSchedule enqueues the scheduled jobs.
func runSchedule(e *event) {
	for _, j := range e.Conn.Server().Jobs() {
		if job := unit(j); !j.Due.IsZero() && job.Get("failure") == nil && e.Remove(j.JID) {
			job.SetTime("enqueued_at", time.Now())
			e.Push(job, time.Time{})
		}
	}
}

// forgetsFailures tries a job again that its first failure after a restart ends, if it had failed before the restart.
func forgetsFailures() func() func(*event) {
	type failures struct {
		restarts int
		failed   memory[string, int]
	}
	return keepAll(at(fakes.Restarted, fakes.Failed), func(f *failures, e *event) {
		if e.Point == fakes.Restarted {
			f.restarts++
			return
		}
		before, known := f.failed.Take(jid(e))
		*f.failed.Of(jid(e)) = f.restarts
		if n, _ := e.Object.Int("retry"); known && before < f.restarts && n > 0 && e.Set == "dead" {
			retry(e)
		}
	})
}

// returnsDone enqueues the jobs that were acknowledged before a restart.
func returnsDone() func() func(*event) {
	type jobs struct{ done, back [][]byte }
	return keepAll(at(fakes.Acked, fakes.Restarted, fakes.Greeting), func(j *jobs, e *event) {
		switch e.Point {
		case fakes.Acked:
			j.done = append(j.done, e.Object.Append(nil))
		case fakes.Restarted:
			j.back, j.done = j.done, nil
		default:
			for _, unit := range j.back {
				e.Then(func() { _ = e.Conn.Server().Push(unit) }) // lost beyond a limit
			}
			j.back = nil
		}
	})
}
