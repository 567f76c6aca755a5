package fakes

import (
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// offsetFaults are about times of which a part is read wrongly.
func offsetFaults() []Fault {
	reread := func(change func(time.Time) time.Time) func(*Event) {
		return when(Defaulted, fwp.PUSH, func(e *Event) {
			if at, ok := asTime(e.Object.Get("at")); ok {
				e.Object.SetText("at", change(at).Format(time.RFC3339Nano))
			}
		})
	}
	return []Fault{
		fault("job-at-half-hours", "WU-06 STATE-11",
			"the minutes in the offset of at are ignored",
			reread(func(at time.Time) time.Time {
				_, offset := at.Zone()
				return at.Add(time.Duration(offset%3600) * time.Second)
			})),
		fault("job-at-east", "WU-06 STATE-11",
			"the offset of at is read as UTC if it is positive",
			reread(func(at time.Time) time.Time {
				_, offset := at.Zone()
				return at.Add(time.Duration(max(offset, 0)) * time.Second)
			})),
		fault("schedule-seconds", "WU-06 STATE-11",
			"an at is cut to whole seconds",
			reread(func(at time.Time) time.Time { return at.Truncate(time.Second).Add(time.Millisecond) })),
		fault("job-at-tenths-refused", "WU-06",
			"an at whose fraction has fewer than three digits is refused",
			when(Checked, fwp.PUSH, func(e *Event) {
				_, fraction, some := strings.Cut(e.Object.Text("at"), ".")
				if some && strings.IndexFunc(fraction, func(r rune) bool { return r < '0' || r > '9' }) < 3 {
					e.decline("at", "at has milliseconds")
				}
			})),
	}
}

// stampFaults are about times of which a part is not read.
func stampFaults() []Fault {
	return []Fault{
		fault("job-created-at-offset", "WU-10",
			"the offset of created_at is read as UTC",
			when(Defaulted, fwp.PUSH, func(e *Event) {
				text := e.Object.Text("created_at")
				if zone := len(text) - len("+00:00"); zone > 0 && (text[zone] == '+' || text[zone] == '-') {
					e.Object.SetText("created_at", text[:zone]+"Z")
				}
			})),
		fault("job-at-fraction-refused", "WU-06",
			"an at with a fraction of a second is refused",
			when(Checked, fwp.PUSH, func(e *Event) {
				if strings.Contains(e.Object.Text("at"), ".") {
					e.decline("at", "at has whole seconds")
				}
			})),
	}
}

// enqueuedFaults are about what enqueued_at says.
func enqueuedFaults() []Fault {
	moved := func(by time.Duration) func(*Event) {
		return on(Delivered, func(e *Event) {
			if at, ok := asTime(e.Object.Get("enqueued_at")); ok {
				e.Object.Set("enqueued_at", stamp(at.Add(by)))
			}
		})
	}
	return []Fault{
		fault("enqueued-at-fetched", "WU-12",
			"enqueued_at is the time of the FETCH",
			on(Delivered, func(e *Event) { e.Object.Set("enqueued_at", stamp(time.Now())) })),
		fault("enqueued-at-local", "WU-12",
			"enqueued_at is a local time, two hours behind, that is written as UTC",
			moved(-2*time.Hour)),
		fault("enqueued-at-local-ahead", "WU-12",
			"enqueued_at is a local time, two hours ahead, that is written as UTC",
			moved(2*time.Hour)),
	}
}
