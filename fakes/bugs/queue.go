package bugs

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// queueFaults are about queues.
var queueFaults = []fakes.Fault{
	// These confuse or change the names of queues.
	fault("queue-case-folded", queues(strings.ToLower)),
	fault("queue-cut-255", queues(func(s string) string { return s[:min(255, len(s))] })),
	fault("queue-dots", queues(func(s string) string { return strings.ReplaceAll(s, ".", "-") })),
	fault("queue-escaped",
		do(func(e *event) { e.Object.SetText("queue", strings.Trim(string(e.Object.Get("queue")), `"`)) },
			valid(fwp.PUSH), func(e *event) bool { return bytes.IndexByte(e.Object.Get("queue"), '\\') >= 0 })),
	fault("queue-numbers", queues(digits)),
	fault("queue-prefix", prefixQueues()),
	// These lose the jobs of a queue, or have it return others.
	fault("queue-is-a-set", keepAll(either(scheduled, both(ran(), foundNone)), func(kept **object, e *event) {
		switch {
		case e.Point == fakes.Scheduled:
			*kept = e.Object.Clone()
		case *kept != nil && slices.Contains(e.Queues, "scheduled"):
			e.Reply = fakes.Bulk((*kept).Append(nil))
			*kept = nil
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
