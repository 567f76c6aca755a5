package html_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/results"
)

func TestForest(t *testing.T) {
	t.Parallel()
	c := &results.LoadComparison{
		A: results.ComparedLoad{Name: "tcp://old:7419"}, B: results.ComparedLoad{Name: "<b>"}, Margin: 0.05, Pairs: 10,
		Ratios: []results.LoadRatio{
			{Metric: "rate", IsPrimary: true, A: 8300, B: 7500, Pairs: 10, Ratio: .9, Low: .88, High: .92, Verdict: "regression"},
			{Metric: "push.response.p50", A: 1e5, B: 1e5, Pairs: 10, Ratio: 1, Low: .98, High: 1.02, Verdict: "no change"},
			{Metric: "server.cpu", A: 2e4, B: 2e4, Pairs: 10, Ratio: 1.02, Low: .9, High: 1.2, Verdict: "inconclusive"},
		},
	}
	page := documentOf(t, "fwpbench compare", c)
	golden.File(t, "testdata/load-compare.html.golden", page)
	c.Ratios = nil
	page = documentOf(t, "fwpbench compare", c)
	assert.NotContains(t, string(page), "<figure")
}
