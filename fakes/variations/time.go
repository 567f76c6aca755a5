package variations

import (
	"math"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// timeVariations are about times.
var timeVariations = []fakes.Variation{
	// About how times are written, and what the server's clock says.
	variation("time-clock-ahead", shiftClock(time.Hour)),
	variation("time-clock-behind", shiftClock(-20*time.Second)),
	variation("time-created-seconds",
		do(func(e *event) { e.Object.SetTime("created_at", time.Now().Truncate(time.Second)) },
			isValid(fwp.PUSH), func(e *event) bool { return e.Object.NonNull("created_at") == nil })),
	variation("time-given-milliseconds",
		do(func(e *event) { rewriteTime(e.Object, "created_at", "2006-01-02T15:04:05.000Z07:00") }, at(fakes.Defaulted))),
	variation("time-given-seconds",
		do(func(e *event) { rewriteTime(e.Object, "created_at", "2006-01-02T15:04:05Z07:00") }, at(fakes.Defaulted))),
	variation("time-lower-case",
		changeDelivered(mapTimes(func(text string, _ time.Time) string { return strings.ToLower(text) }))),
	variation("time-many-digits", changeDelivered(func(job *object) {
		if t, ok := job.Time("enqueued_at"); ok {
			job.SetText("enqueued_at", t.UTC().Format("2006-01-02T15:04:05.000000000")+"000Z")
		}
	})),
	variation("time-milliseconds", changeDelivered(serverTimes("2006-01-02T15:04:05.000Z07:00"))),
	variation("time-range",
		do(decline(fakes.About("at"), "a time is out of range"), isValid(fwp.PUSH), func(e *event) bool {
			remote := func(name string) bool {
				t, ok := e.Object.Time(name)
				return ok && (t.UTC().Year() < 1970 || t.UTC().Year() > 2037)
			}
			return remote("at") || remote("created_at")
		})),
	variation("time-seconds", changeDelivered(serverTimes("2006-01-02T15:04:05-07:00"))),
	variation("time-zone", changeDelivered(mapTimes(func(_ string, t time.Time) string {
		return t.In(time.FixedZone("", -9*3600-1800)).Format(time.RFC3339Nano)
	}))),
	// About when jobs come back, and when scheduled ones are enqueued.
	variation("expiry-enqueues", do(func(e *event) { e.Set, e.Until = "retries", time.Now() }, at(fakes.Expired))),
	variation("reserve-ends-by-the-minute",
		do(func(e *event) { e.Until = e.Until.Add(time.Minute - 1).Truncate(time.Minute) }, at(fakes.Reserved))),
	setting("retries-growing", func(c *fakes.Config) {
		c.RetryDelay = func(failures int) time.Duration {
			return min(10*time.Second*time.Duration(math.Pow(3, float64(min(failures-1, 3)))), 140*time.Second)
		}
	}),
	setting("retries-late",
		func(c *fakes.Config) { c.RetryDelay = func(int) time.Duration { return 80 * time.Second } }),
	variation("retries-random",
		catalogue.WithMemoryBy(jid, at(fakes.Failed, fakes.Expired), func(failures *int64, e *event) {
			*failures++
			e.Until = time.Now().Add(randomTime(2*time.Second, 70*time.Second, jid(e), *failures))
		})),
	setting("retries-soon",
		func(c *fakes.Config) { c.RetryDelay = func(int) time.Duration { return time.Second } }),
	setting("schedule-every-5s", func(c *fakes.Config) {
		c.ScanEvery = 5 * time.Second
		add(c, do(func(e *event) {
			// rounded up, so that no reservation ends early
			e.Until = e.Until.Add(15*time.Second - 1).Truncate(15 * time.Second)
		}, at(fakes.Reserved)))
	}),
}

// rewriteTime writes a time of a job in another layout, in UTC.
func rewriteTime(job *object, field, layout string) {
	if t, ok := job.Time(field); ok {
		job.SetText(field, t.UTC().Format(layout))
	}
}

// serverTimes writes the server's own times in another layout.
func serverTimes(layout string) func(job *object) {
	return func(job *object) { rewriteTime(job, "enqueued_at", layout) }
}

// mapTimes writes every time of a job anew.
func mapTimes(write func(text string, t time.Time) string) func(job *object) {
	return func(job *object) {
		for _, name := range [...]string{"created_at", "at", "enqueued_at"} {
			if t, ok := job.Time(name); ok {
				job.SetText(name, write(job.Text(name), t))
			}
		}
	}
}

// shiftClock moves the server's clock: its own times are moved, and it reads each at as a time of its clock. at is the
// one that the producer of a job has given.
func shiftClock(ahead time.Duration) func() func(*event) {
	createdHook := do(func(e *event) { e.Object.SetTime("created_at", time.Now().Add(ahead)) }, isValid(fwp.PUSH),
		func(e *event) bool { return e.Object.NonNull("created_at") == nil })
	dueHooks := catalogue.WithMemoryBy(jid, at(fakes.Defaulted, fakes.Delivered), func(scheduledTime *string, e *event) {
		if t, ok := e.Object.Time("at"); e.Point == fakes.Defaulted && ok {
			*scheduledTime = string(e.Object.Get("at"))
			if shifted := t.Add(-ahead); shifted.Year() >= 0 && shifted.Year() <= 9999 { // else RFC 3339 cannot write it
				e.Object.SetTime("at", shifted)
			}
		}
		if e.Point != fakes.Delivered {
			return
		}
		if *scheduledTime != "" {
			e.Object.Set("at", *scheduledTime)
			*scheduledTime = ""
		}
		if t, ok := e.Object.Time("enqueued_at"); ok {
			e.Object.SetTime("enqueued_at", t.Add(ahead))
		}
	})
	return func() func(*event) { return catalogue.Chain(createdHook, dueHooks()) }
}
