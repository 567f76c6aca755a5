package fakes

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/rfc3339"
)

func pushFaults() []Fault {
	return []Fault{
		fault("push-other-answer", "PUSH-01",
			"an accepted PUSH is answered with a number",
			answer(fwp.PUSH, integer(1))),
		statefulFault("push-lost", "PUSH-04 PUSH-01 LINK-03",
			"every 50th PUSH is answered with OK and lost",
			every(50, Defaulted, skip)),
		statefulFault("push-lost-rarely", "PUSH-04",
			"every 500th PUSH is answered with OK and lost",
			every(500, Defaulted, skip)),
		statefulFault("push-lost-seldom", "PUSH-04",
			"every 5,000th PUSH is answered with OK and lost",
			every(5000, Defaulted, skip)),
		fault("push-broken-ok", "PUSH-02 WU-00 RESP-02",
			"a PUSH of broken JSON is answered with OK",
			pretend(fwp.PUSH, AboutJSON)),
		fault("push-refused-enqueued", "PUSH-03",
			"a PUSH that is refused is enqueued nevertheless",
			when(Checked, fwp.PUSH, func(e *Event) {
				if e.Err != nil && e.Conn.Identified && e.Object.Text("jid") != "" {
					e.Skip = false
				}
			})),
		fault("push-not-object", "WU-00 PUSH-02 RESP-02",
			"a PUSH whose argument is not an object is answered with OK",
			pretend(fwp.PUSH, AboutObject)),
		fault("push-queue-spaces", "WU-16 PUSH-04",
			"a queue name with a space is accepted",
			when(Checked, fwp.PUSH, func(e *Event) {
				if e.about() == "queue" && e.Object.Text("queue") != "" {
					e.accept()
				}
			})),
	}
}

func requiredFaults() []Fault {
	return []Fault{
		statefulFault("job-jid-optional", "WU-01 RESP-02",
			"a job without jid, or with one that is not a string, gets one from the server",
			makeJID),
		fault("job-jobtype-optional", "WU-02 RESP-02", "jobtype may be missing or of any type", allow(fwp.PUSH, "jobtype")),
		fault("job-args-any-type", "WU-03 RESP-02", "args may be missing or of any type", allow(fwp.PUSH, "args")),
		fault("job-integer-rounded", "WU-03", "integers in args beyond 2^53 are rounded", argsChanged(roundable)),
		fault("job-integer-32", "WU-03", "integers in args are cut to 32 bits", argsChanged(cut32)),
		fault("job-integer-signless", "WU-03",
			"integers in args below -2^31 lose their sign",
			argsChanged(signless)),
		fault("job-args-reversed", "WU-03",
			"args are delivered in reverse order",
			argsChanged(func(args []json.RawMessage) bool {
				slices.Reverse(args)
				return true
			})),
	}
}

func makeJID() func(*Event) {
	var made atomic.Int64
	return when(Checked, fwp.PUSH, func(e *Event) {
		if e.about() == "jid" {
			e.Object.SetText("jid", fmt.Sprintf("made-by-the-server-%d", made.Add(1)))
			e.accept()
		}
	})
}

// argsChanged changes the args of a PUSH; change reports whether there was anything to
// change. Numbers in elements of type any are rounded by encoding/json.
func argsChanged[E any](change func(args []E) bool) func(*Event) {
	return when(Checked, fwp.PUSH, func(e *Event) {
		var args []E
		if json.Unmarshal(e.Object.Get("args"), &args) != nil || !change(args) {
			return
		}
		if b, err := json.Marshal(args); err == nil {
			e.Object.Set("args", string(b))
		}
	})
}

// roundable reports whether there is a number that rounding may change.
func roundable(args []any) bool {
	return slices.ContainsFunc(args, func(arg any) bool {
		f, ok := arg.(float64)
		return ok && (f >= 1<<53 || f <= -(1<<53))
	})
}

// cut32 keeps the lower half of integers.
func cut32(args []json.RawMessage) bool {
	for i, arg := range args {
		if n, err := strconv.ParseInt(string(arg), 10, 64); err == nil {
			args[i] = json.RawMessage(strconv.FormatInt(int64(int32(n)), 10)) //nolint:gosec // that is the fault
		}
	}
	return true
}

// signless removes the sign of integers that do not fit 32 bits.
func signless(args []json.RawMessage) bool {
	for i, arg := range args {
		if n, err := strconv.ParseInt(string(arg), 10, 64); err == nil && n < math.MinInt32 {
			args[i] = arg[1:]
		}
	}
	return true
}

func optionalFaults() []Fault {
	return []Fault{
		fault("job-queue-default", "WU-04",
			"a job without queue goes to another queue than default",
			omitted("queue", `"standard"`)),
		fault("job-reserve-default", "WU-05",
			"a job without reserve_for is held for 60 s",
			omitted("reserve_for", "60")),
		fault("job-reserve-early", "WU-05 STATE-07",
			"a reservation ends after half its time",
			on(Reserved, func(e *Event) { e.Until = e.Until.Add(-time.Until(e.Until) / 2) })),
		fault("job-reserve-short", "WU-05b",
			"a reserve_for under 60 s is accepted and used",
			allow(fwp.PUSH, "reserve_for")),
		fault("job-at-offset", "WU-06",
			"the offset of at is read as UTC",
			when(Defaulted, fwp.PUSH, func(e *Event) {
				if t, err := rfc3339.Parse(e.Object.Text("at")); err == nil {
					_, offset := t.Zone()
					e.Object.Set("at", stamp(t.Add(time.Duration(offset)*time.Second)))
				}
			})),
		fault("job-at-anything", "WU-06b", "an at that is not a time counts as omitted", allow(fwp.PUSH, "at")),
		fault("job-custom-dropped", "WU-11",
			"custom is not delivered",
			when(Defaulted, fwp.PUSH, func(e *Event) { e.Object.Delete("custom") })),
		fault("job-custom-any-type", "WU-11 WU-14", "custom may be of any type", allow(fwp.PUSH, "custom")),
		fault("job-retry-any-type", "WU-14", "retry may be of any type", allow(fwp.PUSH, "retry")),
	}
}

// omitted changes the default of a field.
func omitted(field, value string) func(*Event) {
	return when(Checked, fwp.PUSH, func(e *Event) {
		if e.Err == nil && given(e.Object, field) == nil {
			e.Object.Set(field, value)
		}
	})
}

func readOnlyFaults() []Fault {
	return []Fault{
		fault("job-created-at-replaced", "WU-10",
			"created_at is the time of the PUSH, whatever the producer sent",
			when(Defaulted, fwp.PUSH, func(e *Event) { e.Object.Set("created_at", stamp(time.Now())) })),
		fault("job-enqueued-at-first", "WU-12",
			"enqueued_at is the time of creation",
			on(Delivered, func(e *Event) { e.Object.Set("enqueued_at", string(e.Object.Get("created_at"))) })),
		fault("job-failure-dropped", "WU-13 FAIL-06",
			"failure is not delivered",
			on(Delivered, func(e *Event) { e.Object.Delete("failure") })),
		fault("job-failure-mute", "FAIL-06",
			"failure does not contain what the worker reported",
			on(Failed, func(e *Event) { e.Object.Set("failure", `{"failed":true}`) })),
	}
}
