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
	variation("time-clock-ahead", clock(time.Hour)),
	variation("time-clock-behind", clock(-20*time.Second)),
	variation("time-created-seconds",
		do(func(e *event) { e.Object.SetTime("created_at", time.Now().Truncate(time.Second)) },
			valid(fwp.PUSH), func(e *event) bool { return e.Object.Given("created_at") == nil })),
	variation("time-given-milliseconds",
		do(func(e *event) { rewritten(e.Object, "created_at", "2006-01-02T15:04:05.000Z07:00") }, at(fakes.Defaulted))),
	variation("time-given-seconds",
		do(func(e *event) { rewritten(e.Object, "created_at", "2006-01-02T15:04:05Z07:00") }, at(fakes.Defaulted))),
	variation("time-lower-case",
		delivered(times(func(text string, _ time.Time) string { return strings.ToLower(text) }))),
	variation("time-many-digits", delivered(func(job *object) {
		if t, is := job.Time("enqueued_at"); is {
			job.SetText("enqueued_at", t.UTC().Format("2006-01-02T15:04:05.000000000")+"000Z")
		}
	})),
	variation("time-milliseconds", delivered(serverTimes("2006-01-02T15:04:05.000Z07:00"))),
	variation("time-range",
		do(decline(fakes.About("at"), "a time is out of range"), valid(fwp.PUSH), func(e *event) bool {
			remote := func(name string) bool {
				t, is := e.Object.Time(name)
				return is && (t.UTC().Year() < 1970 || t.UTC().Year() > 2037)
			}
			return remote("at") || remote("created_at")
		})),
	variation("time-seconds", delivered(serverTimes("2006-01-02T15:04:05-07:00"))),
	variation("time-zone", delivered(times(func(_ string, t time.Time) string {
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
		catalogue.KeepBy(jid, at(fakes.Failed, fakes.Expired), func(failures *int64, e *event) {
			*failures++
			e.Until = time.Now().Add(drawn(2*time.Second, 70*time.Second, jid(e), *failures))
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
