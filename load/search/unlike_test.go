package search

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/results"
)

func TestUnlike(t *testing.T) {
	t.Parallel()
	loads := func(change ...func(*results.Load)) []*results.Load {
		all := make([]*results.Load, max(1, len(change)))
		for i := range all {
			all[i] = &results.Load{Machine: results.Machine{OS: "linux", Arch: "amd64", Cores: 2, CPU: "x"}}
			all[i].Plan.Workload = json.RawMessage(`{"payload":"100","seed":"1","drain":"1m"}`)
			if len(change) > 0 {
				change[i](all[i])
			}
		}
		return all
	}
	workload := func(text string) func(*results.Load) {
		return func(l *results.Load) { l.Plan.Workload = json.RawMessage(text) }
	}
	same := func(*results.Load) {}
	for name, test := range map[string]struct {
		a, b  []*results.Load
		want  []results.LoadDifference
		words string
	}{
		"alike":                         {loads(), loads(), nil, ""},
		"seed and drain are none of it": {loads(), loads(workload(`{"payload":"100","seed":"2","drain":"9m"}`)), nil, ""},
		"a payload": {loads(), loads(workload(`{"payload":"61440","seed":"1","drain":"1m"}`)),
			[]results.LoadDifference{{Name: "payload", A: "100", B: "61440", Decides: true}}, "payload 100 and 61440"},
		"a machine": {loads(), loads(func(l *results.Load) { l.Machine.Arch, l.Machine.Cores = "arm64", 64 }),
			[]results.LoadDifference{{Name: "architecture", A: "amd64", B: "arm64", Decides: true},
				{Name: "processors", A: "2", B: "64", Decides: true}}, "processors 2 and 64"},
		"a model and a kernel": {loads(), loads(func(l *results.Load) { l.Machine.CPU, l.Machine.Kernel = "y", "6.1" }),
			[]results.LoadDifference{{Name: "CPU", A: "x", B: "y"}, {Name: "kernel", A: "linux", B: "linux 6.1"}}, ""},
		"one side is several loads": {loads(same, workload(`{"payload":"7"}`)), loads(same, workload(`{"payload":"7"}`)),
			[]results.LoadDifference{{Name: "payload", A: "100, 7", B: "100, 7", Decides: true}}, "payload 100, 7 and 100, 7"},
		"nothing but words": {loads(func(l *results.Load) { l.Plan = results.LoadPlan{Words: "p"} }),
			loads(func(l *results.Load) { l.Plan = results.LoadPlan{Words: "q"} }),
			[]results.LoadDifference{{Name: "plan", A: "p", B: "q", Decides: true}}, "plan p and q"},
	} {
		got := Differences(test.a, test.b)
		assert.Equal(t, test.want, got, name)
		reason := (&results.LoadComparison{Differences: got}).Unequal()
		if test.words == "" {
			assert.Empty(t, reason, name)
			continue
		}
		assert.Contains(t, reason, test.words, name)
	}
}

// A margin of time counts where it is more than the share.
func TestAMarginOfTime(t *testing.T) {
	t.Parallel()
	for i, want := range []Verdict{Regression, NoChange} {
		c := &results.LoadComparison{Margin: 0.05}
		if i == 1 {
			c.MarginTime = 1_000_000
		}
		for pair := range 8 {
			for side, value := range map[string]float64{A: 1e6, B: 1.5e6} { // 1 and 1.5 ms
				c.Blocks = append(c.Blocks, results.LoadBlock{Side: side, Pair: pair + 1,
					Figures: []results.LoadFigure{{Metric: "push.response.p99", Value: value + float64(pair)}}})
			}
		}
		Judge(c, []string{"push.response.p99"})
		assert.Equal(t, string(want), c.Ratios[0].Verdict)
	}
}
