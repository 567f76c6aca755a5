package fakes

import (
	"bytes"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// lastingFaults are about numbers that need more bits, and about what makes a failure the last one of its job.
func lastingFaults() []Fault {
	return []Fault{
		statefulFault("schedule-fails-once", "STATE-09",
			"a job that was scheduled is discarded when it fails",
			noted(isScheduled, Failed, func(e *Event) { e.Set = "" })),
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
