package variations

import (
	"math"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// timeVariations are about times.
var timeVariations = []fakes.Variation{
	// About how times are written, and what the server's clock says.
	variation("time-clock-ahead", "AMB-36", "the server's clock is an hour ahead", clock(time.Hour)).Leaving(
		"workunit/enqueued-at-when-due", "jobs/scheduled-while-a-fetch-waits", "restart/keeps-contents"),
	variation("time-clock-behind", "AMB-36", "the server's clock is 20 s behind", clock(-20*time.Second)),
	variation("time-created-seconds", "Work units", "the server sets created_at without fractions of a second",
		do(func(e *event) { e.Object.SetTime("created_at", time.Now().Truncate(time.Second)) },
			valid(fwp.PUSH), func(e *event) bool { return e.Object.Given("created_at") == nil })),
	variation("time-given-milliseconds", "Work units", "a created_at is kept in whole milliseconds",
		do(func(e *event) { rewritten(e.Object, "created_at", "2006-01-02T15:04:05.000Z07:00") }, at(fakes.Defaulted))),
	variation("time-given-seconds", "Work units", "a created_at is kept in whole seconds",
		do(func(e *event) { rewritten(e.Object, "created_at", "2006-01-02T15:04:05Z07:00") }, at(fakes.Defaulted))),
	variation("time-lower-case", "Work units", "all times are written with a small t and z, which RFC 3339 allows",
		delivered(times(func(text string, _ time.Time) string { return strings.ToLower(text) }))),
	variation("time-many-digits", "Work units", "the server writes its own times with twelve digits of a second",
		delivered(func(job *object) {
			if t, is := job.Time("enqueued_at"); is {
				job.SetText("enqueued_at", t.UTC().Format("2006-01-02T15:04:05.000000000")+"000Z")
			}
		})),
	variation("time-milliseconds", "Work units", "the server writes its own times in whole milliseconds",
		delivered(serverTimes("2006-01-02T15:04:05.000Z07:00"))),
	variation("time-seconds", "Work units",
		"the server writes its own times without fractions, and with +00:00 for UTC",
		delivered(serverTimes("2006-01-02T15:04:05-07:00"))),
	variation("time-zone", "Work units", "all times are written with the server's offset",
		delivered(times(func(_ string, t time.Time) string {
			return t.In(time.FixedZone("", -9*3600-1800)).Format(time.RFC3339Nano)
		}))),
	// About when jobs come back, and when scheduled ones are enqueued.
	variation("expiry-enqueues", "AMB-01b",
		"a job whose reservation ran out is enqueued at once, whatever its retry is",
		do(func(e *event) { e.Set, e.Until = "retries", time.Now() }, at(fakes.Expired))),
	variation("reserve-ends-by-the-minute", "AMB-38", "a reservation ends at the next full minute after its time",
		do(func(e *event) { e.Until = e.Until.Add(time.Minute - 1).Truncate(time.Minute) }, at(fakes.Reserved))),
	variation("reserve-ends-late", "FWP-WU-05", "a reservation ends 20 s after its time",
		do(later(20*time.Second), at(fakes.Reserved))),
	variation("retries-at-once-nearly", "AMB-38", "a failed job is enqueued again after half a second",
		do(func(e *event) { e.Until = time.Now().Add(500 * time.Millisecond) }, at(fakes.Failed),
			func(e *event) bool { return e.Set == "retries" })),
	variation("retries-first", "AMB-27", "a job that comes back is the first of its queue",
		do(func(e *event) { e.Front = e.Object.Get("failure") != nil }, at(fakes.Enqueued))),
	setting("retries-growing", "AMB-38",
		"a job is enqueued again 10 s after its first failure, and three times as late after each further one",
		func(c *fakes.Config) {
			c.RetryDelay = func(failures int) time.Duration {
				return min(10*time.Second*time.Duration(math.Pow(3, float64(min(failures-1, 3)))), 140*time.Second)
			}
		}),
	setting("retries-late", "AMB-38", "a failed job is enqueued again after 80 s",
		func(c *fakes.Config) { c.RetryDelay = func(int) time.Duration { return 80 * time.Second } }),
	variation("retries-random", "AMB-38", "a failed job is enqueued again after 2 s to 70 s",
		catalogue.KeepBy(jid, at(fakes.Failed, fakes.Expired), func(failures *int64, e *event) {
			*failures++
			e.Until = time.Now().Add(drawn(2*time.Second, 70*time.Second, jid(e), *failures))
		})),
	setting("retries-soon", "AMB-38", "a failed job is enqueued again after 1 s",
		func(c *fakes.Config) { c.RetryDelay = func(int) time.Duration { return time.Second } }),
	setting("schedule-every-5s", "AMB-28",
		"the schedule and the retries are polled every 5 s, and reservations every 15 s", func(c *fakes.Config) {
			c.ScanEvery = 5 * time.Second
			add(c, do(func(e *event) {
				// rounded up, so that no reservation ends early
				e.Until = e.Until.Add(15*time.Second - 1).Truncate(15 * time.Second)
			}, at(fakes.Reserved)))
		}),
	variation("schedule-late", "AMB-28", "a scheduled job is enqueued 6 s late",
		do(later(6*time.Second), at(fakes.Scheduled), func(e *event) bool { return e.Set == "scheduled" })),
}

// rewritten writes a time of a job in another layout, in UTC.
func rewritten(job *object, field, layout string) {
	if t, is := job.Time(field); is {
		job.SetText(field, t.UTC().Format(layout))
	}
}

// serverTimes writes the server's own times in another layout.
func serverTimes(layout string) func(job *object) {
	return func(job *object) { rewritten(job, "enqueued_at", layout) }
}

// times writes every time of a job anew.
func times(write func(text string, t time.Time) string) func(job *object) {
	return func(job *object) {
		for _, name := range [...]string{"created_at", "at", "enqueued_at"} {
			if t, is := job.Time(name); is {
				job.SetText(name, write(job.Text(name), t))
			}
		}
	}
}

// clock moves the server's clock: its own times are moved, and it reads each at as a time of its clock. at is the one
// that the producer of a job has given.
func clock(ahead time.Duration) func() func(*event) {
	created := do(func(e *event) { e.Object.SetTime("created_at", time.Now().Add(ahead)) }, valid(fwp.PUSH),
		func(e *event) bool { return e.Object.Given("created_at") == nil })
	due := catalogue.KeepBy(jid, at(fakes.Defaulted, fakes.Delivered), func(given *string, e *event) {
		if t, is := e.Object.Time("at"); e.Point == fakes.Defaulted && is {
			*given = string(e.Object.Get("at"))
			if moved := t.Add(-ahead); moved.Year() >= 0 && moved.Year() <= 9999 { // else RFC 3339 cannot write it
				e.Object.SetTime("at", moved)
			}
		}
		if e.Point != fakes.Delivered {
			return
		}
		if *given != "" {
			e.Object.Set("at", *given)
			*given = ""
		}
		if t, is := e.Object.Time("enqueued_at"); is {
			e.Object.SetTime("enqueued_at", t.Add(ahead))
		}
	})
	return func() func(*event) { return catalogue.Both(created, due()) }
}
