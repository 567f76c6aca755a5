package load_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/reports"
)

// A server that serves again is served from at once, however long it was away: the pauses between attempts to connect
// are not its own. In a closed loop the time until it takes connections again is in the times.
func TestTheGeneratorsPausesAreNotTheServers(t *testing.T) {
	t.Parallel()
	const away = 10 * second
	for name, rate := range map[string]plan.Rate{"closed": 0, "open": 100} {
		l := disruptedBench{
			schedule: []disrupt.Disruption{{At: 3 * second, Action: target.Kill, Length: away}},
			change: func(c *load.Config) {
				w := &c.Workload
				w.Producers, w.Consumers, w.Rate, w.Work = 10, 10, rate, plan.Range{}
				w.Duration = plan.Duration(22 * second)
				if rate == 0 {
					w.Think = plan.Range{Min: 50 * ms, Max: 50 * ms}
				}
			},
		}.run(t).Report
		if !assert.NotNil(t, l.Disruptions, name) {
			continue
		}
		d := &l.Disruptions.List[0]
		assert.Less(t, d.FirstServed, 200*ms, name)
		assert.Less(t, d.RateBack, 500*ms, name)
		assert.GreaterOrEqual(t, d.RateBack, 0*ms, name)
		response := pushes(t, l).Response
		assert.GreaterOrEqual(t, response.Max, away-200*ms, name)
		assert.LessOrEqual(t, response.Max, away+200*ms, name)
		assert.LessOrEqual(t, l.Disruptions.LongestDelivery, away+500*ms, name)
	}
}

// What no figure of the whole run shows is told below the first line.
func TestWhatHappenedIsTold(t *testing.T) {
	t.Parallel()
	silence := []string{"Nothing was answered from 4.0 s to 7.0 s."}
	for name, test := range map[string]struct {
		rate plan.Rate
		hook func(*fakes.Event)
		want []string
	}{
		"open":               {100, stallServer(4*second, 3*second), silence},
		"closed":             {0, stallServer(4*second, 3*second), silence},
		"less than a second": {100, stallServer(4*second, 900*ms), nil},
		"few arrivals":       {0.5, stallServer(4*second, 3*second), nil},
		"jobs are late": {
			100, slowFetches(8*second, 10*second), []string{"From 8 s on, push to fetch is 10 s instead of 1 ms."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := steadyLoad()
			w.Rate, w.Duration = test.rate, plan.Duration(15*second)
			if test.rate == 0 {
				w.Think = plan.Range{Min: 50 * ms, Max: 50 * ms}
			}
			l := bench{hooks: []func(*fakes.Event){test.hook}, load: w}.run(t)
			assert.Equal(t, test.want, l.Anomalies())
			outcome(t, l, reports.ExitWell, "accounted for")
		})
	}
}

// slowFetches has jobs be fetched no sooner than a while after their push, if that is later than some time after the
// first.
func slowFetches(from, by time.Duration) func(*fakes.Event) {
	var first atomic.Pointer[time.Time]
	return eachNth(fakes.Defaulted, 1, func(e *fakes.Event) {
		now := time.Now()
		if first.CompareAndSwap(nil, &now); now.Sub(*first.Load()) >= from {
			e.Object.SetTime("at", now.Add(by))
		}
	})
}
