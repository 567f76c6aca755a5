package results_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// drawingOf returns the one picture of a page that has it drawn.
func drawingOf[D reports.Drawing](t *testing.T, p reports.Page) D {
	t.Helper()
	var all []D
	for _, b := range p.Blocks {
		if f, ok := b.(reports.Figure); ok {
			drawing, ok := f.Drawing.(D)
			require.True(t, ok, f.Title)
			all = append(all, drawing)
		}
	}
	require.Len(t, all, 1)
	return all[0]
}

// Of a rate that was tried several times the last step counts, and times are drawn from 1 us on.
func TestThePictureOfASearch(t *testing.T) {
	t.Parallel()
	c := sampleCapacity()
	c.Steps = append(c.Steps, results.CapacityStep{Rate: 1000, Result: results.StepFailed})
	c.Steps[0].Response.P50 = 500
	c.Steps[6].Response.P99 = 7_000_000
	chart := drawingOf[*reports.Chart](t, c.Page(reports.PageOptions{Figures: true}))
	require.Len(t, chart.Curves, 3)
	assert.Equal(t, []reports.Band{{Name: "held", Until: 4000}}, chart.Bands)
	for i, name := range []string{"p50", "p99", "p99.9"} {
		assert.Equal(t, name, chart.Curves[i].Name)
		var rates []float64
		for _, at := range chart.Curves[i].Points {
			rates = append(rates, at.X)
		}
		assert.Equal(t, []float64{2000, 4000, 6000, 8000}, rates, "each rate once, in their order; no step without times")
	}
	assert.InDelta(t, 1000, chart.Curves[0].Points[0].Y, 0)
	assert.InDelta(t, 7e6, chart.Curves[1].Points[1].Y, 0)
	c.Rate = 0
	assert.Empty(t, drawingOf[*reports.Chart](t, c.Page(reports.PageOptions{Figures: true})).Bands)
}

// A comparison is drawn in the styles of its verdicts, noise without any, and a ratio without an interval not at all.
func TestThePictureOfAComparison(t *testing.T) {
	t.Parallel()
	c := comparedLoads()
	c.Ratios = append(c.Ratios, results.LoadRatio{Metric: "beat.response.p50", Ratio: 1.1})
	forest := drawingOf[*reports.Forest](t, c.Page(reports.PageOptions{Figures: true}))
	assert.InDelta(t, 0.05, forest.Margin, 0)
	require.Len(t, forest.Rows, 4)
	for i, want := range []struct {
		style    reports.Style
		isStrong bool
	}{{reports.Good, true}, {reports.Bad, false}, {reports.Unclear, false}, {reports.Plain, false}} {
		assert.Equal(t, want.style, forest.Rows[i].Style, forest.Rows[i].Name)
		assert.Equal(t, want.isStrong, forest.Rows[i].Strong, forest.Rows[i].Name)
	}
	c.AA = true
	for _, row := range drawingOf[*reports.Forest](t, c.Page(reports.PageOptions{Figures: true})).Rows {
		assert.Equal(t, reports.Plain, row.Style, row.Name)
	}
	c.NoVerdict = "measured one after the other"
	for _, b := range c.Page(reports.PageOptions{Figures: true}).Blocks {
		_, figure := b.(reports.Figure)
		assert.False(t, figure, "ratios that decide nothing are not drawn")
	}
}
