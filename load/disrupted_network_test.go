package load_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/target/proxy"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
	"github.com/fwpsuite/fwp/reports"
)

// network is a target whose network is disrupted.
type network struct{ proxy *proxy.Proxy }

func (n network) Begin(_ context.Context, d disrupt.Disruption) (func(context.Context) error, error) {
	c := proxy.Condition{Delay: d.Link.Delay, Jitter: d.Link.Jitter, Rate: d.Link.Rate, Segment: d.Link.Segment}
	switch {
	case d.Action == target.Reset:
		n.proxy.Reset()
	case d.Action == target.Partition && d.Direction == disrupt.ToServer:
		c.HeldSides = []proxy.Side{proxy.Client}
	case d.Action == target.Partition && d.Direction == disrupt.ToClients:
		c.HeldSides = []proxy.Side{proxy.Server}
	case d.Action == target.Partition:
		c.HeldSides = []proxy.Side{proxy.Client, proxy.Server}
	}
	n.proxy.Set(c)
	return func(context.Context) error {
		n.proxy.Set(proxy.Condition{})
		return nil
	}, nil
}

// runBehindProxy runs a load on a conforming server whose network is disrupted.
func runBehindProxy(t *testing.T, d disrupt.Disruption) (report *results.Load) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		behind, front := memnet.NewPlace(), memnet.NewPlace()
		server := fakes.NewServer(fakes.Config{Hook: slowCommand, Listen: behind.Listen})
		defer server.Close()
		l := front.MustListen()
		p := proxy.New(proxy.Config{Dial: behind.Dial})
		defer p.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go p.Serve(ctx, l) //nolint:errcheck // it ends with ctx
		d.At = 5 * second
		report = load.Run(t.Context(), load.Config{
			Workload: plan.Workload{
				Producers: 2, Consumers: 4, Rate: 5, Duration: plan.Duration(60 * second),
				ReserveFor: plan.Duration(time.Minute), Drain: plan.Duration(6 * time.Minute),
			},
			Seed: 1, Run: "test", CoarseTimers: true, ClauseOf: fwpsuite.ClauseOf, Protocol: fwpwire.New(""),
			Dial:     front.Dial,
			Schedule: []disrupt.Disruption{d}, Disrupt: network{p},
		}).Report
		evaluateQuiet(report, nil)
	})
	return report
}

// What a bad network does to a conforming server is no finding: late replies, closed connections, commands without a
// reply. Everything is accounted for.
func TestABadNetworkIsNotBlamedOnTheServer(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]disrupt.Disruption{
		"both directions":          {Action: target.Partition, Length: 5 * second},
		"to the server":            {Action: target.Partition, Length: 5 * second, Direction: disrupt.ToServer},
		"to the clients":           {Action: target.Partition, Length: 5 * second, Direction: disrupt.ToClients},
		"longer than the patience": {Action: target.Partition, Length: 40 * second},
		"replies beyond patience":  {Action: target.Partition, Length: 40 * second, Direction: disrupt.ToClients},
		"slow": {
			Action: target.Slow, Length: 30 * second, Link: disrupt.Link{Delay: 3 * second, Jitter: second},
		},
		"slower than the patience": {Action: target.Slow, Length: 40 * second, Link: disrupt.Link{Rate: 5}},
		"segments":                 {Action: target.Slow, Length: 10 * second, Link: disrupt.Link{Segment: 1}},
		"reset":                    {Action: target.Reset},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sample(t, name, "to the clients", "reset")
			l := runBehindProxy(t, d)
			code, words := l.Outcome(reports.ExitOptions{}).Values()
			assert.Equal(t, reports.ExitWell, code, words)
			assert.Empty(t, l.Findings)
			assert.True(t, l.Disruptions.IsResolved)
			assert.Zero(t, l.Jobs.LostJobs+l.Jobs.Duplicated)
			assert.GreaterOrEqual(t, l.Disruptions.List[0].FirstServed, time.Duration(0))
		})
	}
}
