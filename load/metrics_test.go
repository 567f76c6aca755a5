package load_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/rule"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
)

// ruledBench returns a run of some seconds of load on a server that follows rules.
func ruledBench(t *testing.T, change func(*plan.Workload), rules ...string) bench {
	t.Helper()
	b := bench{load: steadyLoad()}
	change(&b.load)
	all, err := fakes.Rules().ParseFile(strings.Join(rules, "\n"))
	require.NoError(t, err)
	b.hooks = append(b.hooks, rule.Hooks(all...))
	return b
}

// TestEachMetricIsFilled: a metric has a value other than 0 in some run, one of each family. Those of a worker under
// load are filled by package workerload, which alone knows of jobs that are held at the end.
func TestEachMetricIsFilled(t *testing.T) {
	t.Parallel()
	shrink := func(w *plan.Workload) { w.Producers, w.Queues.Number = 1, 1 }
	drops := ruledBench(t, shrink, "on ran PUSH: delay 30ms")
	drops.change = func(c *load.Config) { c.Overload = client.Drop }
	reports := []*results.Load{
		stress().run(t), drops.run(t),
		disruptedBench{schedule: halfSecondSchedule(target.Kill, 5)}.run(t).Report,
		ruledBench(t, shrink, "on ran PUSH: delay 30ms").run(t),
		ruledBench(t, func(w *plan.Workload) { w.FailShare = 0.1 }, "on checked PUSH; each 9: refuse no",
			"on delivered; each 7: again", "on delivered; each 13: set jobtype '\"other\"'",
			"on ran FETCH if reply ~ jid; first 1: silent, close").run(t),
		ruledBench(t, func(w *plan.Workload) { shrink(w); w.Consumers, w.Prefill = 1, 100 },
			"on pushed; each 50: skip", "on enqueued; each 5: front", "on ran PUSH; each 40: close").run(t),
	}
	filled := map[string]bool{}
	for _, m := range results.Metrics(load.Ops()) {
		name := cmp.Or(m.Family, m.Name)
		filled[name] = filled[name] || name == "held" || strings.HasPrefix(name, "worker.")
		for _, l := range reports {
			r := m.Get(l)
			filled[name] = filled[name] || r.OK && r.Value > 0
		}
	}
	for name, isFilled := range filled {
		assert.True(t, isFilled, "nothing fills the metric %s, or no run of this test does what it counts", name)
	}
}
