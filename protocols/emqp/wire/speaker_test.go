package wire_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/loadtest"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpwire "github.com/fwpsuite/fwp/protocols/emqp/wire"
)

// runLoad returns the report of a load on a broker with two ports.
func runLoad(t *testing.T, protocol emqpwire.Wire, hook func(*fakeemqp.Event), change func(*plan.Workload)) (
	report *results.Load,
) {
	t.Helper()
	longer := func(w *plan.Workload) {
		w.Drain = plan.Duration(20 * time.Second)
		if change != nil {
			change(w)
		}
	}
	return loadtest.Run(t, protocol, longer, func() (config load.Config, end func()) {
		front, back := memnet.NewPlace(), memnet.NewPlace()
		broker := fakeemqp.Start(fakeemqp.Config{Hook: hook}, front.MustListen(), back.MustListen())
		return load.Config{Dial: front.Dial, DialBackend: back.Dial}, broker.Close
	})
}

func TestEachJobIsAccountedFor(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		protocol emqpwire.Wire
		change   func(*plan.Workload)
	}{
		"sent":       {},
		"with REPLY": {protocol: emqpwire.Wire{Requests: true}},
		"large": {change: func(w *plan.Workload) {
			w.Payload = plan.Constant(1 << 16)
		}},
		"long work": {change: func(w *plan.Workload) {
			w.Consumers, w.Work = 30, plan.Range{Min: 11 * time.Second, Max: 12 * time.Second}
			w.Drain = plan.Duration(2 * time.Minute)
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := runLoad(t, test.protocol, nil, test.change)
			assert.Empty(t, l.Unreachable)
			assert.Empty(t, l.Findings)
			assert.True(t, l.Jobs.IsDrained, l.Jobs.DrainFailure)
			assert.EqualValues(t, 80, l.Jobs.Pushed)
			assert.EqualValues(t, 80, l.Jobs.Delivered)
			assert.EqualValues(t, 80, l.Jobs.Acked)
		})
	}
}

// delayTenth is a broker that sends the tenth REQUEST after the end of the load.
func delayTenth() func(*fakeemqp.Event) {
	n := 0
	return func(e *fakeemqp.Event) {
		if m, err := emqp.Parse(e.Frames); e.IsFromBroker && err == nil && m.Command == emqp.REQUEST {
			if n++; n == 10 {
				e.Delay = time.Hour
			}
		}
	}
}

// What a broker does wrong shows in the account of the jobs, or as a breach.
func TestBugsShow(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]results.FindingKind{
		"request-lost": results.FindingLost, "request-twice": results.FindingReturned,
		"request-message-cut": results.FindingAltered,
		"frame-request-six":   results.FindingGrammar, "heartbeat-date": results.FindingGrammar,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := fakeemqp.Bugs()
			i := slices.IndexFunc(all, func(f fakeemqp.Bug) bool { return f.Name == name })
			require.GreaterOrEqual(t, i, 0)
			loadtest.CheckFinding(t, runLoad(t, emqpwire.Wire{}, all[i].Hook(), nil), kind)
		})
	}
}

func TestAMessageThatIsHeldBackShows(t *testing.T) {
	t.Parallel()
	loadtest.CheckFinding(t, runLoad(t, emqpwire.Wire{}, delayTenth(), nil), results.FindingLost)
}
