package faults

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// scheduleFaults are about jobs that are scheduled.
var scheduleFaults = []fakes.Fault{
	// About when a job that was scheduled is enqueued.
	fault("schedule-32-bits", "WU-06 STATE-11", "an at beyond 2038 counts as past",
		do(drop("at"), at(fakes.Defaulted), moment("at", func(at time.Time) bool { return at.Unix() > math.MaxInt32 }))),
	fault("schedule-dropped", "STATE-11 WU-06 FLUSH-03", "a scheduled job is discarded when it comes due",
		do(skip, due("scheduled"))),
	fault("schedule-early", "WU-06 STATE-11 WU-12", "a scheduled job is enqueued 2 s early",
		do(later(-2*time.Second), scheduled)),
	fault("schedule-ignored", "WU-06 STATE-11", "a job is enqueued at once, whatever its at is",
		do(drop("at"), at(fakes.Defaulted))),
	fault("schedule-in-turn", "STATE-11 WU-06", "a scheduled job waits for those that were scheduled before it",
		keepAll(scheduled, func(latest *time.Time, e *event) {
			if e.Until.Before(*latest) {
				e.Until = *latest
			}
			*latest = e.Until
		})),
	fault("schedule-odd-queue", "PUSH-04",
		"a scheduled job of a queue with an unusual name is discarded when it comes due",
		do(skip, at(fakes.Due), text("queue", func(s string) bool {
			return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || s == ""
		}))),
	fault("schedule-one-at-a-time", "STATE-11 WU-06", "of jobs with the same at only the first is enqueued",
		keep(func(e *event) string { return e.Object.Text("at") }, due("scheduled"), func(first *string, e *event) {
			*first = cmp.Or(*first, jid(e))
			e.Skip = *first != jid(e)
		})),
	fault("schedule-seconds", "WU-06 STATE-11", "an at is cut to whole seconds",
		do(shift("at", func(at time.Time) time.Time { return at.Truncate(time.Second).Add(time.Millisecond) }),
			at(fakes.Defaulted))),
	fault("schedule-with-its-connection", "PUSH-04 STATE-08",
		"a scheduled job is discarded when it comes due if the connection of its PUSH has ended",
		ifGone(fakes.Defaulted, due("scheduled"), skip)),
	fault("schedule-woken", "WU-06 STATE-11",
		"a scheduled job that is pushed while a FETCH waits at its queue is delivered at once",
		whileWaiting(1, at(fakes.Defaulted), drop("at"))),
	// About what a job that was scheduled has lost.
	fault("schedule-default-lost", "WU-04", "a scheduled job without queue goes to another queue than default",
		do(set("queue", `"standard"`), valid(fwp.PUSH), text("at", longer(0)), not(has("queue")))),
	fault("schedule-doubles", "STATE-05 ACK-02 RETRY-01", "a job that was scheduled is enqueued twice",
		do(func(e *event) {
			at, _ := e.Object.Time("at")
			e.Push(e.Object.Clone(), at)
		}, done(fwp.PUSH), moment("at", func(at time.Time) bool { return time.Until(at) > 0 }))),
	fault("schedule-drops-custom", "WU-11", "a job that was scheduled is delivered without custom",
		next(jid, scheduled, at(fakes.Delivered), drop("custom"))),
	fault("schedule-drops-reserve", "STATE-07", "a job that was scheduled is held for 1800 s",
		after(jid, scheduled, at(fakes.Reserved), lasts(1800*time.Second))),
	fault("schedule-drops-retry", "RETRY-01", "a job that was scheduled is retried whatever its retry is",
		after(jid, scheduled, at(fakes.Failed), retryIn(16*time.Second))),
	fault("schedule-enqueued-at-pushed", "WU-12", "the enqueued_at of a job that was scheduled is the time of its PUSH",
		do(copies("enqueued_at", "created_at"), at(fakes.Delivered), moment("at", anyTime))),
	fault("schedule-fails-once", "STATE-09", "a job that was scheduled is discarded when it fails",
		next(jid, scheduled, at(fakes.Failed), discard)),
	fault("schedule-integer-rounded", "WU-03 WU-11",
		"a job that was scheduled is delivered with its large integers rounded",
		next(jid, scheduled, at(fakes.Delivered), rounded)),
	fault("schedule-queue-spaces", "WU-16 PUSH-04", "a queue name with a space is accepted if the job is scheduled",
		do(accept, checked(fwp.PUSH), about("queue"), text("queue", longer(0)),
			moment("at", func(at time.Time) bool { return time.Until(at) > 0 }))),
	fault("schedule-reverses-args", "WU-03", "a job that was scheduled is delivered with its args in reverse order",
		next(jid, scheduled, at(fakes.Delivered), reverseArgs)),
}
