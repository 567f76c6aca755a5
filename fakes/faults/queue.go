package faults

import (
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// queueFaults are about queues.
var queueFaults = []fakes.Fault{
	// These confuse or change the names of queues.
	fault("queue-case-folded", "FETCH-04 WU-04", "queue names are in lower case", queues(strings.ToLower)).
		Also("queue-underscore"),
	fault("queue-cut-255", "FETCH-04", "queue names are cut after 255 bytes",
		queues(func(s string) string { return s[:min(255, len(s))] })).Also("queue-cut-64"),
	fault("queue-default-capitals", "FETCH-08 FETCH-04 WU-04", "the queue default is also that of its name in capitals",
		queues(func(s string) string {
			if strings.EqualFold(s, defaultQueue) {
				return defaultQueue
			}
			return s
		})),
	fault("queue-dots", "FETCH-04 WU-04", "a dot in a queue name becomes a dash",
		queues(func(s string) string { return strings.ReplaceAll(s, ".", "-") })),
	fault("queue-escaped", "PUSH-01 PUSH-04", "escapes in the queue of a job are not decoded",
		do(func(e *event) { e.Object.SetText("queue", strings.Trim(string(e.Object.Get("queue")), `"`)) },
			valid(fwp.PUSH), escaped("queue"))),
	fault("queue-numbers", "FETCH-04", "the zeros that lead the name of a queue do not count", queues(digits)),
	fault("queue-pattern", "FETCH-04",
		"an asterisk or a question mark in a queue of a FETCH stands for other characters",
		moreQueues(func(named, known string) bool {
			ok, err := path.Match(named, known)
			return ok && err == nil
		})).Also("queue-expression"),
	fault("queue-prefix", "FETCH-04", "a FETCH takes jobs of queues whose names begin with one that it names too",
		moreQueues(func(named, known string) bool { return strings.HasPrefix(known, named) })),
	// These lose the jobs of a queue, or have it return others.
	fault("queue-beyond-ascii-lost", "PUSH-04",
		"a job of a queue whose name has characters beyond ASCII is answered with OK and lost",
		loses(text("queue", func(s string) bool {
			return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0
		}))),
	fault("queue-half-minute", "PUSH-04 STATE-09", "a job that waits for more than 30 s in its queue is lost",
		do(skip, at(fakes.Delivered), moment("enqueued_at", func(at time.Time) bool {
			return time.Since(at) > 30*time.Second
		}))),
	fault("queue-is-a-set", "FETCH-04 STATE-11", "a FETCH from a queue named scheduled returns a job that is scheduled",
		keepAll(either(scheduled, both(ran(), foundNone)), func(kept **object, e *event) {
			switch {
			case e.Point == fakes.Scheduled:
				*kept = e.Object.Clone()
			case *kept != nil && slices.Contains(e.Queues, "scheduled"):
				e.Reply = fakes.Bulk((*kept).Append(nil))
				*kept = nil
			}
		})),
	fault("queue-of-the-server", "PUSH-04",
		"a job of a queue that is named retries or dead is answered with OK and lost",
		do(skip, at(fakes.Enqueued), text("queue", func(s string) bool { return s == "retries" || s == "dead" }))),
}

// digits returns a name of digits without the zeros that lead it, and any other as it is.
func digits(name string) string {
	if name == "" || strings.Trim(name, "0123456789") != "" {
		return name
	}
	last := len(name) - 1
	return strings.TrimLeft(name[:last], "0") + name[last:]
}
