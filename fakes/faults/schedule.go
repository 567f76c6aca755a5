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
	fault("schedule-32-bits",
		do(drop("at"), at(fakes.Defaulted), moment("at", func(at time.Time) bool { return at.Unix() > math.MaxInt32 }))),
	fault("schedule-dropped", do(skip, due("scheduled"))),
	fault("schedule-early", do(later(-2*time.Second), scheduled)),
	fault("schedule-ignored", do(drop("at"), at(fakes.Defaulted))),
	fault("schedule-in-turn", keepAll(scheduled, func(latest *time.Time, e *event) {
		if e.Until.Before(*latest) {
			e.Until = *latest
		}
		*latest = e.Until
	})),
	fault("schedule-odd-queue", do(skip, at(fakes.Due), text("queue", func(s string) bool {
		return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || s == ""
	}))),
	fault("schedule-one-at-a-time",
		keep(func(e *event) string { return e.Object.Text("at") }, due("scheduled"), func(first *string, e *event) {
			*first = cmp.Or(*first, jid(e))
			e.Skip = *first != jid(e)
		})),
	fault("schedule-seconds",
		do(shift("at", func(at time.Time) time.Time { return at.Truncate(time.Second).Add(time.Millisecond) }),
			at(fakes.Defaulted))),
	fault("schedule-with-its-connection", ifGone(fakes.Defaulted, due("scheduled"), skip)),
	fault("schedule-woken", whileWaiting(1, at(fakes.Defaulted), drop("at"))),
	// About what a job that was scheduled has lost.
	fault("schedule-default-lost",
		do(set("queue", `"standard"`), valid(fwp.PUSH), text("at", longer(0)), not(has("queue")))),
	fault("schedule-doubles", do(func(e *event) {
		at, _ := e.Object.Time("at")
		e.Push(e.Object.Clone(), at)
	}, done(fwp.PUSH), moment("at", func(at time.Time) bool { return time.Until(at) > 0 }))),
	fault("schedule-drops-custom", next(jid, scheduled, at(fakes.Delivered), drop("custom"))),
	fault("schedule-drops-reserve", after(jid, scheduled, at(fakes.Reserved), lasts(1800*time.Second))),
	fault("schedule-drops-retry", after(jid, scheduled, at(fakes.Failed), retryIn(16*time.Second))),
	fault("schedule-enqueued-at-pushed",
		do(copies("enqueued_at", "created_at"), at(fakes.Delivered), moment("at", anyTime))),
	fault("schedule-fails-once", next(jid, scheduled, at(fakes.Failed), discard)),
	fault("schedule-integer-rounded", next(jid, scheduled, at(fakes.Delivered), rounded)),
	fault("schedule-queue-spaces", do(accept, checked(fwp.PUSH), about("queue"), text("queue", longer(0)),
		moment("at", func(at time.Time) bool { return time.Until(at) > 0 }))),
	fault("schedule-reverses-args", next(jid, scheduled, at(fakes.Delivered), reverseArgs)),
}
