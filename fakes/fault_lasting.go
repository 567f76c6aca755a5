package fakes

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// lastingFaults are about what becomes of a job on its way through the sets, and about numbers
// that need more bits.
func lastingFaults() []Fault {
	return []Fault{
		statefulFault("retry-drops-custom", "WU-11",
			"a job that failed comes back without custom", changedAgain("Failed", func(job *Object) { job.Delete("custom") })),
		statefulFault("retry-reverses-args", "WU-03",
			"a job that failed comes back with its args in reverse order", changedAgain("Failed", reverseArgs)),
		statefulFault("retry-new-created-at", "WU-10",
			"a job that failed comes back with the time of its FAIL in created_at",
			changedAgain("Failed", func(job *Object) { job.Set("created_at", stamp(time.Now())) })),
		statefulFault("schedule-drops-custom", "WU-11",
			"a job that was scheduled is delivered without custom",
			changedAgain("scheduled", func(job *Object) { job.Delete("custom") })),
		statefulFault("schedule-reverses-args", "WU-03",
			"a job that was scheduled is delivered with its args in reverse order",
			changedAgain("scheduled", reverseArgs)),
		statefulFault("schedule-fails-once", "STATE-09",
			"a job that was scheduled is discarded when it fails", scheduledFails),
		fault("schedule-32-bits", "WU-06 STATE-11",
			"an at beyond 2038 counts as past",
			when(Defaulted, fwp.PUSH, func(e *Event) {
				if at, ok := asTime(e.Object.Get("at")); ok && at.Unix() > math.MaxInt32 {
					e.Object.Delete("at")
				}
			})),
		fault("reserve-32-bits", "WU-05",
			"a reservation is counted in milliseconds of 32 bits",
			on(Reserved, func(e *Event) {
				if left := time.Until(e.Until).Milliseconds(); left > math.MaxInt32 {
					e.Until = time.Now().Add(time.Duration(max(0, int32(left))) * time.Millisecond)
				}
			})),
		fault("retry-8-bits", "WU-07",
			"of a retry only the last eight bits count",
			on(Failed, func(e *Event) {
				if n, _ := e.Object.Int("retry"); n > 0 && n%256 == 0 {
					e.Set = ""
				}
			})),
		statefulFault("retry-counted-by-worker", "WU-07 STATE-09 RETRY-03",
			"the failures of all jobs of a worker count for each", countedByWorker),
	}
}

// readingFaults are about forms of arguments that JSON allows and a server may not expect.
func readingFaults() []Fault {
	return []Fault{
		fault("queue-escaped", "PUSH-01 PUSH-04",
			"escapes in the queue of a job are not decoded",
			when(Checked, fwp.PUSH, func(e *Event) {
				if raw := e.Object.Get("queue"); e.Err == nil && bytes.IndexByte(raw, '\\') >= 0 {
					e.Object.SetText("queue", strings.Trim(string(raw), `"`))
				}
			})),
		fault("job-id-escaped", "ACK-01",
			"escapes in the jid of a report are not decoded",
			on(Checked, func(e *Event) {
				verb, raw := e.Command.Verb, e.Object.Get("jid")
				if (verb == fwp.ACK || verb == fwp.FAIL) && e.Err == nil && bytes.IndexByte(raw, '\\') >= 0 {
					e.decline(AboutJob, "no such job is being worked on")
				}
			})),
		fault("line-json-spaces", "BEAT-01 WU-00 ACK-01 FAIL-01",
			"an argument with a blank behind a colon is refused",
			on(Checked, func(e *Event) {
				if verb := e.Command.Verb; verb == fwp.PUSH || verb == fwp.BEAT || verb == fwp.ACK || verb == fwp.FAIL {
					if bytes.Contains(e.Command.Args, []byte(`": `)) {
						e.decline(AboutArguments, verb+" takes one JSON object after a single space")
					}
				}
			})),
		fault("hello-wid-plain", "HELLO-16",
			"the HELLO of a consumer whose wid has a colon or a dot is declined",
			when(Checked, fwp.HELLO, func(e *Event) {
				if strings.ContainsAny(e.Object.Text("wid"), ":.") {
					e.decline("wid", "a wid has letters, digits and dashes")
				}
			})),
		fault("hello-ten-labels", "HELLO-16",
			"the HELLO of a consumer with more than ten labels is declined",
			when(Checked, fwp.HELLO, func(e *Event) {
				if labels, _ := asStrings(e.Object.Get("labels")); len(labels) > 10 {
					e.decline("labels", "there are too many labels")
				}
			})),
	}
}

// changedAgain changes jobs that have been in a set when they are delivered.
func changedAgain(how string, change func(job *Object)) func() func(*Event) {
	return func() func(*Event) {
		var was notes[string, bool]
		return func(e *Event) {
			switch {
			case how == "Failed" && e.Point == Failed, e.Point == Scheduled && e.Set == how:
				was.put(e.Object.Text("jid"), true)
			case e.Point == Delivered:
				if is, _ := was.take(e.Object.Text("jid")); is {
					change(e.Object)
				}
			}
		}
	}
}

// reverseArgs reverses the args.
func reverseArgs(job *Object) {
	var args []json.RawMessage
	if json.Unmarshal(job.Get("args"), &args) != nil {
		return
	}
	slices.Reverse(args)
	if b, err := json.Marshal(args); err == nil {
		job.Set("args", string(b))
	}
}

func scheduledFails() func(*Event) {
	var was notes[string, bool]
	return func(e *Event) {
		switch {
		case e.Point == Scheduled && e.Set == "scheduled":
			was.put(e.Object.Text("jid"), true)
		case e.Point == Failed:
			if is, _ := was.take(e.Object.Text("jid")); is {
				e.Set = ""
			}
		}
	}
}

func countedByWorker() func(*Event) {
	var mu sync.Mutex
	failed := map[string]int64{}
	return on(Failed, func(e *Event) {
		if e.Conn == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		failed[e.Conn.Worker]++
		if n, ok := e.Object.Int("retry"); ok && n >= 0 && failed[e.Conn.Worker] > n {
			e.Set = "dead"
		}
	})
}
