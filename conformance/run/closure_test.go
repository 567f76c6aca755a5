package run_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
)

// closing ends connections with their next reply: those that a function picks.
func closing(picks func(*fakes.Event) bool) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Conn.Identified && picks(e) {
			e.Bytes, e.Close = nil, true
		}
	}
}

// What becomes of a worker's connection that the server closes while other checks use it.
func TestAWorkerThatIsClosedBesideOthers(t *testing.T) {
	t.Parallel()
	const waits = "connect as consumer\nclause FWP-FETCH-03\nC: FETCH $queue\nS: $-1\nC: FETCH $queue2\nS: $-1\n"
	sources := map[string]string{"a": waits, "b": waits, "c": waits}
	fetches := func(e *fakes.Event) bool { return e.Command.Verb == "FETCH" }
	tests := map[string]struct {
		picks func() func(*fakes.Event) bool
		want  reports.Verdict
	}{
		"each time": {func() func(*fakes.Event) bool { return fetches }, reports.Fail},
		"once": {func() func(*fakes.Event) bool {
			var once atomic.Bool
			return func(e *fakes.Event) bool { return fetches(e) && once.CompareAndSwap(false, true) }
		}, reports.Fail},
		"all at a time, once": {func() func(*fakes.Event) bool {
			var mu sync.Mutex
			ended := 0
			return func(e *fakes.Event) bool {
				mu.Lock()
				defer mu.Unlock()
				if !fetches(e) || ended == len(sources) {
					return false
				}
				ended++
				return true
			}
		}, reports.Inconclusive},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runScripts(t, closing(test.picks()), sources, func(r *reports.Report) {
				worst := reports.Pass
				for _, check := range r.Checks {
					worst = reports.Worst(worst, check.Verdict)
				}
				assert.Equal(t, test.want, worst, "%+v", r.Checks)
				for _, c := range r.Clauses {
					assert.False(t, c.ID == "FWP-STATE-13" && c.Verdict == reports.Fail && test.want != reports.Fail)
				}
			})
		})
	}
}
