package fakes

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// fieldFaults are about single fields that the producer left out, or that only the
// server may set.
func fieldFaults() []Fault {
	return []Fault{
		fault("job-created-at-missing", "WU-10",
			"created_at stays empty if the producer left it out",
			omitted("created_at", `""`)),
		fault("job-custom-invented", "WU-11", "a job without custom gets an empty one", omitted("custom", "{}")),
		fault("job-at-past-lost", "WU-06 PUSH-04",
			"a job whose at is in the past is answered with OK and lost",
			when(Defaulted, fwp.PUSH, func(e *Event) {
				if at, ok := asTime(e.Object.Get("at")); ok && at.Before(time.Now()) {
					e.Skip = true
				}
			})),
		statefulFault("job-enqueued-at-kept", "WU-12",
			"enqueued_at of the producer is kept, if there is one",
			keep("enqueued_at")),
		statefulFault("job-failure-kept", "WU-13", "failure of the producer is kept, if there is one", keep("failure")),
	}
}

// keep delivers a read-only field as the PUSH had it.
func keep(field string) func() func(*Event) {
	return func() func(*Event) {
		var sent notes[string, json.RawMessage]
		return func(e *Event) {
			switch {
			case e.Point == Checked && e.Command.Verb == fwp.PUSH && e.Object.Get(field) != nil:
				sent.put(e.Object.Text("jid"), e.Object.Get(field))
			case e.Point == Delivered:
				if value, ok := sent.take(e.Object.Text("jid")); ok {
					e.Object.Set(field, string(value))
				}
			}
		}
	}
}

// redeliveryFaults are about the fields of a job that is delivered again.
func redeliveryFaults() []Fault {
	return []Fault{
		statefulFault("job-enqueued-at-stale", "WU-12",
			"enqueued_at keeps its first value",
			first(Delivered, "enqueued_at")),
		statefulFault("job-failure-first", "WU-13 WU-09", "failure keeps its first value", first(Failed, "failure")),
		fault("job-failure-not-expired", "WU-13",
			"a job whose reservation ran out has no failure",
			on(Expired, func(e *Event) { e.Object.Delete("failure") })),
	}
}

// first keeps the value that a field had when its job came to a point first.
func first(p Point, field string) func() func(*Event) {
	return func() func(*Event) {
		var values notes[string, json.RawMessage]
		return on(p, func(e *Event) {
			jid := e.Object.Text("jid")
			value, ok := values.take(jid)
			if ok {
				e.Object.Set(field, string(value))
			} else {
				value = slices.Clone(e.Object.Get(field))
			}
			values.put(jid, value)
		})
	}
}
