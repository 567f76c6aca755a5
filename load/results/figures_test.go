package results

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/reports"
)

func figuresOf(p reports.Page) map[string]reports.Figure {
	all := map[string]reports.Figure{}
	for _, b := range p.Blocks {
		if f, ok := b.(reports.Figure); ok {
			all[f.Title] = f
		}
	}
	return all
}

func TestPicturesOfALoad(t *testing.T) {
	t.Parallel()
	times := Latency{Count: 100, Min: 500, P50: 2000, P90: 3000, P99: 4000, P999: 5000, P9999: 5500, Max: 6000}
	l := &Load{
		Validity: Validity{IsValid: true}, Rate: LoadRate{Op: "push", Done: 1000, Achieved: 100},
		Phases: []Phase{{Name: "measure", Took: 10 * time.Minute}},
		Ops: []LoadOp{
			{Op: "connect", Count: 50, Response: times}, {Op: "ack", Count: 100, Rate: 1, Response: times, Service: times},
			{Op: "push", Count: 100, Rate: 1, Response: times}, {Op: "fetch.waited", Count: 100, Rate: 1, Response: times},
			{Op: "fail", Count: 9, Rate: 1, Response: Latency{Count: 9}},
		},
	}
	for i := range 601 {
		l.Series = append(l.Series, Second{At: time.Duration(i) * time.Second, Length: time.Second, Achieved: float64(i % 3)})
	}
	var titles []string
	for _, op := range l.picturedOps() {
		titles = append(titles, op.Op)
	}
	assert.Equal(t, []string{"push", "ack"}, titles, "the one that the load is about comes first")

	all := figuresOf(l.Page(reports.PageOptions{Figures: true}))
	require.Contains(t, all, "Rate over time")
	rate := all["Rate over time"]
	assert.Contains(t, rate.Description, "Each point stands for 3 seconds.")
	chart := rate.Drawing.(*reports.Chart)
	require.Len(t, chart.Curves, 1, "a closed loop has no target")
	assert.Len(t, chart.Curves[0].Points, 201)
	assert.Equal(t, reports.Point{X: 0, Y: 1}, chart.Curves[0].Points[0], "the mean of three seconds")
	assert.Equal(t, "measure", chart.Bands[0].Name)
	assert.NotContains(t, all, "Times over time of push", "no second has times")
	assert.Empty(t, figuresOf(l.Page(reports.PageOptions{})))

	percentiles := all["Percentiles of push"].Drawing.(*reports.Chart)
	require.Len(t, percentiles.Curves, 1, "only the response has values")
	points := percentiles.Curves[0].Points
	assert.Equal(t, reports.Point{X: 0, Y: 1000}, points[0], "no histogram tells apart what is shorter than 1 us")
	assert.Equal(t, reports.Point{X: 0.99, Y: 6000}, points[len(points)-1], "one of 100 values is the longest")
}

func TestTheMapOfTimes(t *testing.T) {
	t.Parallel()
	l := &Load{Heat: LoadHeat{Op: "push", Edges: []time.Duration{1000, 2000, 4000}}}
	for i := range 450 {
		l.Heat.Columns = append(l.Heat.Columns, HeatSecond{At: time.Duration(i) * time.Second, Counts: []int64{1, int64(i)}})
	}
	p := page{hasPictures: true}
	p.heatFigure(l)
	h := figuresOf(p.Page)["Map of response times of push"].Drawing.(*reports.Heat)
	require.Len(t, h.Columns, 225, "two seconds in a column")
	assert.Equal(t, []int64{2, 0 + 1, 0}, h.Columns[0].Counts)
	assert.Equal(t, []int64{2, 448 + 449, 0}, h.Columns[224].Counts)
	assert.InDelta(t, float64(2*time.Second), h.ColumnWidth, 0)
	assert.Equal(t, []float64{1000, 2000, 4000}, h.Edges)
	none := page{hasPictures: true}
	none.heatFigure(&Load{})
	assert.Empty(t, none.Blocks)
}

func TestSeriesAsCSVLeavesOutTimesOfNoValues(t *testing.T) {
	t.Parallel()
	l := &Load{
		Ops: []LoadOp{{Op: "push"}, {Op: "ack"}},
		Series: []Second{
			{Length: time.Second, Phase: "measure", Ops: []SecondOp{{Op: "push", Count: 1, LatenessP99: 5},
				{Op: "info", Errors: 2}}},
			{At: time.Second, Length: time.Second, Flows: []SecondFlow{{Flow: "job.acked", Count: 2, Max: 9}}},
		},
	}
	ops, flows := l.seriesNames()
	assert.Equal(t, []string{"push", "info"}, ops, "those of the table first, and none without a value")
	assert.Equal(t, []string{"job.acked"}, flows)
	_, first := l.Series[0].row(false, ops, flows, nil)
	_, second := l.Series[1].row(false, ops, flows, nil)
	assert.Equal(t, "0,1000000000,measure,0,0,0,0,0,0,,0,2,0,0,1,0,0,,5,0,0,0,0,0,0,2,0,,,,,,,,0,0,,,,",
		strings.Join(first, ","))
	assert.Equal(t, "1000000000,1000000000,,0,0,0,0,0,0,,0,0,0,0,0,0,0,,,,,,,,0,0,0,,,,,,,,2,0,,0,0,9",
		strings.Join(second, ","))
}

// A long drain does not squeeze the picture of the load, and the last milliseconds of a phase are no fall of the rate.
func TestPicturesAreAboutTheLoad(t *testing.T) {
	t.Parallel()
	l := &Load{Rate: LoadRate{Op: "push", Done: 1000, Achieved: 100}, Phases: []Phase{
		{Name: "measure", Took: 30010 * time.Millisecond},
		{Name: "drain", From: 30010 * time.Millisecond, Took: 210 * time.Second},
	}}
	l.Validity.IsValid = true
	for i := range 30 {
		l.Series = append(l.Series, Second{
			At: time.Duration(i) * time.Second, Length: time.Second, Phase: "measure", Achieved: 100,
		})
	}
	l.Series = append(l.Series, Second{At: 30 * time.Second, Length: 10 * time.Millisecond, Phase: "measure"})
	for i := range 210 {
		l.Series = append(l.Series, Second{At: time.Duration(30+i) * time.Second, Length: time.Second, Phase: "drain"})
	}
	figure := figuresOf(l.Page(reports.PageOptions{Figures: true}))["Rate over time"]
	chart, ok := figure.Drawing.(*reports.Chart)
	require.True(t, ok)
	points := chart.Curves[0].Points
	for _, at := range points {
		if at.X <= float64(29*time.Second) {
			assert.InDelta(t, 100, at.Y, 0.1)
			continue
		}
		assert.Zero(t, at.Y, "of the drain")
	}
	assert.Less(t, points[len(points)-1].X, float64(40*time.Second))
	assert.LessOrEqual(t, chart.Bands[1].Until, float64(40*time.Second))
	assert.Contains(t, figure.Description, "The last 203 seconds of the drain are not shown.")

	l.Series = l.Series[:31]
	for len(l.Series) < 700 { // so that a point is several seconds: none of them is of two phases
		i := len(l.Series)
		l.Series = append(l.Series, Second{At: time.Duration(i) * time.Second, Length: time.Second, Phase: "measure"})
		l.Series[i].Achieved = 100
	}
	l.Series[699].Phase, l.Series[699].Achieved = "drain", 0
	for _, group := range l.spans() {
		for _, s := range group {
			assert.Equal(t, group[0].Phase, s.Phase)
		}
	}
}
