package bugs

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// queueBugs are about queues.
var queueBugs = []fakes.Bug{
	// These confuse or change the names of queues.
	bug("queue-case-folded", changeQueues(strings.ToLower)),
	bug("queue-cut-255", changeQueues(func(s string) string { return s[:min(255, len(s))] })),
	bug("queue-dots", changeQueues(func(s string) string { return strings.ReplaceAll(s, ".", "-") })),
	bug("queue-escaped",
		do(func(e *event) { e.Object.SetText("queue", strings.Trim(string(e.Object.Get("queue")), `"`)) },
			isValid(fwp.PUSH), func(e *event) bool { return bytes.IndexByte(e.Object.Get("queue"), '\\') >= 0 })),
	bug("queue-numbers", changeQueues(digits)),
	bug("queue-prefix", prefixQueues()),
	// These lose the jobs of a queue, or have it return others.
	bug("queue-is-a-set", withMemory(anyOf(isScheduled, allOf(atRan(), hasNoJob)), func(job **object, e *event) {
		switch {
		case e.Point == fakes.Scheduled:
			*job = e.Object.Clone()
		case *job != nil && slices.Contains(e.Queues, "scheduled"):
			e.Reply = fakes.Bulk((*job).Append(nil))
			*job = nil
		}
	})),
}

// digits returns a name of digits without the zeros that lead it, and any other as it is.
func digits(name string) string {
	if name == "" || strings.Trim(name, "0123456789") != "" {
		return name
	}
	last := len(name) - 1
	return strings.TrimLeft(name[:last], "0") + name[last:]
}
