package load_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/reports"
)

// everyNth has one command in n of a kind be treated by do.
func everyNth(n int64, verb string, do func(*fakes.Event)) func(*fakes.Event) {
	var k atomic.Int64
	return func(e *fakes.Event) {
		if e.Point != fakes.Ran || e.Command.Verb != verb {
			return
		}
		if k.Add(1)%n == 0 {
			do(e)
		}
	}
}

func hang(e *fakes.Event)  { e.Delay += 30 * second }
func reset(e *fakes.Event) { e.Delay += 3 * second; e.Reply, e.Close = fwp.Reply{}, true }

// What gets no reply is in every percentile, with the time that it had waited.
func TestCommandsWithoutAReplyAreInThePercentiles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		verb, series, flow string
		do                 func(*fakes.Event)
		low                time.Duration
		change             func(*plan.Workload)
	}{
		"hangs":        {"PUSH", "push", "job.fetched", hang, 4 * second, nil},
		"closed loop":  {"PUSH", "push", "job.acked", hang, 4 * second, setThink},
		"is cut":       {"PUSH", "push", "job.fetched", reset, 3 * second, nil},
		"an ack hangs": {"ACK", "ack", "job.acked", hang, 4 * second, nil},
		"fetches hang": {"FETCH", "fetch.found", "", hang, 4 * second, setThink},
		"short-lived":  {"PUSH", "push", "", hang, 4 * second, setChurn},
	} {
		w := steadyLoad()
		w.Producers = 20
		if test.change != nil {
			test.change(&w)
		}
		l := bench{load: w, hooks: []func(*fakes.Event){everyNth(50, test.verb, test.do)}, change: func(c *load.Config) {
			c.Timeout = 4 * second
			c.Thresholds = thresholds(test.series+".response.p99<500ms", test.series+".service.max<1s",
				test.series+".response.max>1s", test.series+".response.max<60m")
		}}.run(t)
		op := l.Op(test.series)
		if !assert.NotNil(t, op, name) {
			continue
		}
		for _, times := range []results.Latency{op.Response, op.Service} {
			assert.GreaterOrEqual(t, times.P99, test.low, name)
			assert.Contains(t, times.AtLeast, "p99", name)
			assert.NotZero(t, times.Unanswered, name)
			assert.Equal(t, op.Count+times.Unanswered, times.Count, name)
		}
		assert.Empty(t, op.Lateness.AtLeast, name)
		if test.flow != "" {
			assert.Contains(t, l.Flow(test.flow).Time.AtLeast, "max", name)
		}
		var got []string
		for _, r := range l.Thresholds {
			got = append(got, verdict(r))
		}
		assert.Equal(t, []string{"missed", "missed", "met", "undecided"}, got, name)
	}
}

// What is in flight at the end is awaited, and nothing of a right server is undecided: neither the fetches that wait on
// empty queues, nor what its clients have ended themselves.
func TestARightServerLeavesNothingUndecided(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*plan.Workload){
		"steady":      func(*plan.Workload) {},
		"closed loop": setThink,
		"short-lived": setChurn,
		"idle":        func(w *plan.Workload) { w.Rate, w.Consumers = 1, 20 },
		"disconnects": func(w *plan.Workload) { w.Disconnects = 0.2 },
	} {
		w := steadyLoad()
		change(&w)
		l := bench{load: w, hooks: []func(*fakes.Event){slowPush}}.run(t)
		for i := range l.Ops {
			o := &l.Ops[i]
			assert.Zero(t, o.Response.Unanswered+o.Service.Unanswered, "%s: %s", name, o.Op)
		}
		for _, f := range l.Flows {
			assert.Zero(t, f.Time.Unanswered, "%s: %s", name, f.Flow)
		}
	}
}

// A server that falls silent for good leaves all that was in flight open.
func TestSilenceForGood(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*plan.Workload){"open": func(*plan.Workload) {},
		"closed": setThink} {
		w := steadyLoad()
		change(&w)
		var silent atomic.Bool
		l := bench{load: w, hooks: []func(*fakes.Event){everyNth(150, "PUSH", func(*fakes.Event) { silent.Store(true) }),
			func(e *fakes.Event) {
				if silent.Load() && e.Point == fakes.Ran {
					hang(e)
				}
			}}, change: func(c *load.Config) { c.Timeout = 4 * second }}.run(t)
		response := l.Op("push").Response
		assert.Contains(t, response.AtLeast, "max", name)
		assert.GreaterOrEqual(t, response.Max, 4*second, name)
		code, words := l.Outcome(reports.ExitOptions{}).Values()
		assert.NotEqual(t, reports.ExitWell, code, words)
	}
}

func setThink(w *plan.Workload) { w.Rate, w.Think = 0, plan.Range{Min: 20 * ms, Max: 20 * ms} }

func setChurn(w *plan.Workload) {
	w.Producers, w.Connections, w.Churn = 0, 20, true
}

func thresholds(sources ...string) (all []validity.Threshold) {
	for _, source := range sources {
		threshold, err := validity.ParseThreshold(source, load.Ops()...)
		if err != nil {
			panic(err)
		}
		all = append(all, threshold)
	}
	return all
}

func verdict(r results.ThresholdResult) string {
	switch {
	case r.IsUndecided:
		return "undecided"
	case r.IsMet:
		return "met"
	}
	return "missed"
}
