package fakes

import "github.com/fwpsuite/fwp/fwp"

// nullFaults are about fields that are null or empty.
func nullFaults() []Fault {
	nulls := func(field string, act func(*Event)) func(*Event) {
		return func(e *Event) {
			if pushesNull(e, field) {
				act(e)
			}
		}
	}
	refusing := func(field string) func(*Event) {
		return nulls(field, func(e *Event) { e.decline(About(field), field+" is null") })
	}
	return []Fault{
		statefulFault("job-queue-null-lost", "WU-04",
			"a job whose queue is null is answered with OK and lost", afterNull("queue", Defaulted, skip)),
		fault("job-queue-null-refused", "WU-04", "a queue of null is refused", refusing("queue")),
		fault("job-reserve-null-refused", "WU-05", "a reserve_for of null is refused", refusing("reserve_for")),
		fault("job-backtrace-null-refused", "WU-08", "a backtrace of null is refused", refusing("backtrace")),
		fault("job-created-at-null-refused", "WU-10", "a created_at of null is refused", refusing("created_at")),
		fault("job-reserve-null-short", "WU-05",
			"a job whose reserve_for is null is held for 60 s",
			nulls("reserve_for", func(e *Event) { e.Object.Set("reserve_for", "60") })),
		statefulFault("retry-null-none", "WU-07 RETRY-04",
			"a job whose retry is null is discarded when it fails",
			afterNull("retry", Failed, func(e *Event) { e.Set = "" })),
		fault("job-args-empty-null", "WU-03",
			"args without an element are delivered as null",
			on(Delivered, func(e *Event) {
				if string(e.Object.Get("args")) == "[]" {
					e.Object.Set("args", "null")
				}
			})),
	}
}

// pushesNull reports whether a PUSH was checked that is right and has null in a field.
func pushesNull(e *Event, field string) bool {
	return e.Point == Checked && e.Command.Verb == fwp.PUSH && e.Err == nil && isNull(e.Object.Get(field))
}

// afterNull returns hooks that act at a point on each job that was pushed with null in a field.
func afterNull(field string, p Point, act func(*Event)) func() func(*Event) {
	return noted(func(e *Event) bool { return pushesNull(e, field) }, p, act)
}
