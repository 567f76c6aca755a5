package fakes

import (
	"bytes"
	"strings"
	"time"
)

// lostFaults are about jobs that are accepted and lost because of what they contain, or because of how long they wait.
func lostFaults() []Fault {
	losing := func(name, clauses, what string, lost func(e *Event) bool) Fault {
		return fault(name, clauses, "a job with "+what+" is answered with OK and lost",
			on(Defaulted, func(e *Event) { e.Skip = e.Skip || lost(e) }))
	}
	return []Fault{
		losing("push-nul-lost", "PUSH-04 FRAME-09", "an escaped U+0000", func(e *Event) bool {
			return bytes.Contains(e.Command.Args, []byte(`\u0000`))
		}),
		losing("push-planes-lost", "PUSH-04 FRAME-09 RESP-03 WU-03", "a character beyond U+FFFF", func(e *Event) bool {
			return bytes.ContainsFunc(e.Command.Args, func(r rune) bool { return r > 0xFFFF })
		}),
		losing("push-odd-queue-lost", "PUSH-04", "a colon or a slash in the name of its queue", func(e *Event) bool {
			return strings.ContainsAny(e.Object.Text("queue"), ":/")
		}),
		losing("push-long-jid-lost", "PUSH-04", "a jid of more than 255 bytes", func(e *Event) bool {
			return len(e.Object.Text("jid")) > 255
		}),
		losing("push-long-lost", "PUSH-04", "more than 65,535 bytes", func(e *Event) bool {
			return len(e.Command.Args) > 65535
		}),
		fault("queue-half-minute", "PUSH-04 STATE-09",
			"a job that waits for more than 30 s in its queue is lost",
			on(Delivered, func(e *Event) {
				if at, ok := asTime(e.Object.Get("enqueued_at")); ok && time.Since(at) > 30*time.Second {
					e.Skip = true
				}
			})),
	}
}
