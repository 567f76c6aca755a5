package run_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/reports"
)

// A server may close the connection of a producer at any time, so that a check in which it did is played again.
func TestAProducerThatIsDisconnectedIsTriedAgain(t *testing.T) {
	t.Parallel()
	const script = "connect as producer\nclause FWP-PUSH-01\nC: PUSH $job\nS: +OK\n"
	for name, test := range map[string]struct {
		closes int64 // how many PUSHes are answered with a close
		want   reports.Verdict
	}{"once": {1, reports.Pass}, "always": {100, reports.Fail}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var pushes atomic.Int64
			hook := func(e *fakes.Event) {
				if e.Point == fakes.Ran && e.Command.Verb == fwp.PUSH && pushes.Add(1) <= test.closes {
					e.Reply, e.Close = fwp.Reply{}, true
				}
			}
			runScripts(t, hook, map[string]string{"a": script}, func(r *reports.Report) {
				assert.Equal(t, test.want, r.Checks[0].Verdict, r.Checks[0].Cause)
				assert.Equal(t, 2, r.Checks[0].Attempts)
			})
		})
	}
}

// An order to end on one connection of a worker is for all of its connections: the server may close the others too.
func TestAWorkerThatIsToEndMayBeDisconnectedEverywhere(t *testing.T) {
	t.Parallel()
	const workers = `connect as consumer {"wid":"$wid"}
connect other as consumer {"wid":"$wid"}
`
	const quietBeat = `C: BEAT {"wid":"$wid","current_state":"quiet"}
S: ${"state":"quiet"} | +{"state":"quiet"}
`
	for name, test := range map[string]struct {
		script string
		want   reports.Verdict
	}{
		"told":     {workers + quietBeat + "clause FWP-FETCH-03\nC[other]: FETCH $queue\nS[other]: $-1\n", reports.Inconclusive},
		"not told": {workers + "clause FWP-FETCH-03\nC[other]: FETCH $queue\nS[other]: $-1\n", reports.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var first int64
			hook := func(e *fakes.Event) {
				if e.Point != fakes.Ran || e.Conn.Worker == "" || e.Command.Verb == fwp.HELLO {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if e.Command.Verb == fwp.BEAT && e.Object.Get("current_state") != nil {
					first, e.Reply = e.Conn.ID, fwp.Reply{Kind: fwp.BulkString, Text: []byte(`{"state":"quiet"}`)}
				} else if e.Conn.ID != first && e.Command.Verb == fwp.FETCH {
					e.Reply, e.Close = fwp.Reply{}, true
				}
			}
			runScripts(t, hook, map[string]string{"a": test.script}, func(r *reports.Report) {
				assert.Equal(t, test.want, r.Checks[0].Verdict, "%s: %v", r.Checks[0].Cause, r.Checks[0].Findings)
			})
		})
	}
}
