package fakes

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fwp"
)

// plainFaults are about what any client does: it greets, pushes, and stays for long.
func plainFaults() []Fault {
	return []Fault{
		fault("hello-declined-always", "HELLO-16 HELLO-15 HELLO-03 AUTH-03",
			"every HELLO is declined",
			when(Checked, fwp.HELLO, func(e *Event) {
				if e.Err == nil {
					e.decline(AboutArguments, "HELLO is not understood")
				}
			})),
		fault("push-refused-always", "PUSH-01 STATE-03",
			"every PUSH is refused",
			when(Checked, fwp.PUSH, func(e *Event) {
				if e.Err == nil {
					e.decline(AboutLimit, "there are too many queues")
				}
			})),
		fault("link-commands-close", "STATE-13 LINK-03",
			"a connection is closed with its 1,001st command",
			on(Ran, func(e *Event) {
				if e.Conn.Commands > 1000 {
					e.Reply, e.Close = fwp.Reply{}, true
				}
			})),
		statefulFault("worker-closed-after-a-minute", "STATE-13",
			"the connection of a consumer is closed 65 s after its HELLO", closedAfterAMinute),
		fault("fail-message-empty-refused", "FAIL-01",
			"a FAIL whose message is empty is refused",
			when(Checked, fwp.FAIL, func(e *Event) {
				if e.Err == nil && string(e.Object.Get("message")) == `""` {
					e.decline("message", "there is no message")
				}
			})),
	}
}

// plainTextFaults are about texts that any client may send, and about times that it may choose.
func plainTextFaults() []Fault {
	return []Fault{
		fault("line-flush-lower-case", "FRAME-03", "flush is carried out in lower case", on(LineRead, func(e *Event) {
			if string(e.Line) == "flush" {
				e.Line = []byte(fwp.FLUSH)
			}
		})),
		fault("line-flush-refused-clears", "FLUSH-01",
			"flush is refused in lower case, and carried out",
			on(Ran, func(e *Event) {
				if bytes.Equal(e.Line, []byte("flush")) {
					e.Conn.server.store.Clear(&Event{Conn: e.Conn})
				}
			})),
		fault("queue-beyond-ascii-lost", "PUSH-04",
			"a job of a queue whose name has characters beyond ASCII is answered with OK and lost",
			when(Defaulted, fwp.PUSH, func(e *Event) {
				e.Skip = strings.IndexFunc(e.Object.Text("queue"), func(r rune) bool { return r >= utf8.RuneSelf }) >= 0
			})),
		fault("reserve-minutes", "WU-05",
			"a reservation lasts for whole minutes",
			on(Reserved, func(e *Event) {
				e.Until = time.Now().Add(time.Until(e.Until).Round(time.Second).Truncate(time.Minute))
			})),
	}
}

// plainJobFaults are about jobs as any client pushes them, names included.
func plainJobFaults() []Fault {
	return []Fault{
		fault("job-custom-long", "WU-11",
			"custom of more than 4 KiB is dropped",
			when(Defaulted, fwp.PUSH, func(e *Event) {
				if len(e.Object.Get("custom")) > 4<<10 {
					e.Object.Delete("custom")
				}
			})),
		fault("job-created-at-ahead", "WU-10",
			"a created_at that is ahead becomes the time of the PUSH",
			when(Defaulted, fwp.PUSH, func(e *Event) {
				if at, ok := asTime(e.Object.Get("created_at")); ok && time.Until(at) > time.Minute {
					e.Object.setTime("created_at", time.Now())
				}
			})),
		fault("job-jobtype-trimmed", "FETCH-01",
			"a jobtype loses the white space at its ends",
			delivered(func(job *Object) { job.SetText("jobtype", strings.TrimSpace(job.Text("jobtype"))) })),
		fault("job-ids-blanks", "STATE-07",
			"blanks around the jid of an ACK do not count",
			when(Checked, fwp.ACK, func(e *Event) {
				if e.Err == nil {
					e.Object.SetText("jid", strings.TrimSpace(e.Object.Text("jid")))
				}
			})),
		fault("queue-default-capitals", "FETCH-08 FETCH-04",
			"the queue default is also that of its name in capitals",
			queueNames(func(s string) string {
				if strings.EqualFold(s, defaultQueue) {
					return defaultQueue
				}
				return s
			})),
	}
}

// closedAfterAMinute closes connections while nothing is sent on them, or with their next command.
func closedAfterAMinute() func(*Event) {
	const after = 65 * time.Second
	var greeted notes[int64, time.Time]
	return on(Writing, func(e *Event) {
		if e.Conn.Worker == "" {
			return
		}
		at, known := greeted.take(e.Conn.ID)
		if !known {
			at = time.Now()
		}
		greeted.put(e.Conn.ID, at)
		if left := after - time.Since(at); left > 0 {
			e.Later = &Later{After: left, Close: true}
		} else {
			e.Close = true
		}
	})
}
