package bugs

import (
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
)

// retryBugs are about retries.
var retryBugs = []fakes.Bug{
	// About where a failed job goes, and when.
	bug("retry-negative-kept-late",
		do(revive, at(fakes.Failed), isFinal, hasInteger("retry", func(n int64) bool { return n < 0 }))),
	bug("retry-once-more", do(revive, at(fakes.Failed), isFinal,
		hasInteger("retry", func(n int64) bool { return n > 0 }))),
	bug("retry-woken", actWhileWaiting(1, allOf(at(fakes.Failed), not(isFinal)), dueNow)),
	bug("retry-woken-last", actWhileWaiting(1, allOf(at(fakes.Failed), isFinal), retryIn(0))),
	// About how often a job is tried again.
	bug("retry-counted-by-worker",
		withMemoryBy(worker, allOf(at(fakes.Failed), isConnected), func(failures *int64, e *event) {
			*failures++
			if n, ok := e.Object.Int("retry"); ok && n >= 0 && *failures > n {
				e.Set = "dead"
			}
		})),
	// About the fields of a job that comes back.
	bug("retry-first-key-counts", actNext(jid, at(fakes.Failed), at(fakes.Delivered), func(e *event) {
		e.Object.Set("args", strings.ReplaceAll(string(e.Object.Get("args")), `{"a":1,"a":2}`, `{"a":1}`))
	})),
}

// isFinal holds if a job that failed is not tried again.
func isFinal(e *event) bool { return e.Set != "retries" }

// revive tries a job again after 16 s to 74 s.
func revive(e *event) {
	n, _ := e.Object.Int("retry")
	retryIn(randomTime(16*time.Second, 74*time.Second, e, n))(e)
}
