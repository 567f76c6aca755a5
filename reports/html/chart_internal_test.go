package html

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/reports"
)

func TestShare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scale scale
		want  map[float64]float64 // of values
	}{
		"linear":    {scale{reports.Linear, 0, 200}, map[float64]float64{0: 0, 50: .25, 200: 1, -5: 0, 900: 1}},
		"log":       {scale{reports.Log, 1, 10_000}, map[float64]float64{1: 0, 100: .5, 10_000: 1, 0: 0}},
		"quantiles": {scale{reports.Tail, 0, .9999}, map[float64]float64{0: 0, .9: .25, .99: .5, .9999: 1, 1: 1}},
		"no span":   {scale{reports.Linear, 3, 3}, map[float64]float64{3: 0, 4: 0}},
	} {
		for value, want := range c.want {
			assert.InDelta(t, want, c.scale.share(value), 1e-6, "%s: %v", name, value)
		}
	}
}

func TestTicks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scale scale
		want  []float64
	}{
		"steps of 20":  {scale{reports.Linear, 0, 100}, []float64{0, 20, 40, 60, 80, 100}},
		"steps of 50":  {scale{reports.Linear, 0, 240}, []float64{0, 50, 100, 150, 200}},
		"below 0":      {scale{reports.Linear, -10, 10}, []float64{-10, -5, 0, 5, 10}},
		"no span":      {scale{reports.Linear, 7, 7}, []float64{7}},
		"few decades":  {scale{reports.Log, 1, 100}, []float64{1, 2, 5, 10, 20, 50, 100}},
		"many decades": {scale{reports.Log, 1, 1e6}, []float64{1, 10, 100, 1e3, 1e4, 1e5, 1e6}},
		"quantiles":    {scale{reports.Tail, 0, .9995}, []float64{0, .5, .9, .99, .999}},
		"quantiles without an end": {scale{reports.Tail, 0, 1},
			[]float64{0, .5, .9, .99, .999, .9999, .99999, .999999, .9999999}},
	} {
		assert.InDeltaSlice(t, c.want, c.scale.ticks(), 1e-9, name)
	}
}

func TestRangeHasRoom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind                             reports.Scale
		low, high, minimum, minimumAbove float64
	}{
		"from 0 on":        {reports.Linear, 40, 100, 0, 105},
		"below 0":          {reports.Linear, -3, 100, -3, 105},
		"one value":        {reports.Linear, 0, 0, 0, 1e-9},
		"log":              {reports.Log, 115, 1000, 100, 1150},
		"log of one value": {reports.Log, 115, 115, 100, 230},
		"log from 1 on":    {reports.Log, 0, 0, 1 / 1.15, 2.3},
		"quantiles":        {reports.Tail, .5, .999, 0, .999},
		"a few quantiles":  {reports.Tail, 0, .5, 0, .9},
	} {
		got := rangeOf(c.kind, c.low, c.high)
		assert.InDelta(t, c.minimum, got.minimum, 1e-9, name)
		assert.InDelta(t, c.minimumAbove, got.maximum, 1e-9, name)
	}
}

// chartOf returns a chart of one curve.
func chartOf(points ...reports.Point) *reports.Chart {
	return &reports.Chart{
		X: reports.Axis{Title: "seconds"}, Y: reports.Axis{Title: "rate", Unit: reports.PerSec},
		Curves: []reports.Curve{{Name: "push", Points: points}},
	}
}

// A point without a value interrupts the line; what stands alone is a dot, and a chart without a value is none.
func TestCurvesHaveGaps(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		points      []reports.Point
		lines, dots int
	}{
		"one line":       {[]reports.Point{{X: 0, Y: 1}, {X: 1, Y: 2}, {X: 2, Y: 1}}, 1, 0},
		"two lines":      {[]reports.Point{{X: 0, Y: 1}, {X: 1, Y: 2}, {X: 2, Y: nan}, {X: 3, Y: 1}, {X: 4, Y: 1}}, 2, 0},
		"a line, a dot":  {[]reports.Point{{X: 0, Y: 1}, {X: 1, Y: 2}, {X: 2, Y: inf}, {X: 3, Y: 1}}, 1, 1},
		"dots at an end": {[]reports.Point{{X: 0, Y: 1}, {X: 1, Y: nan}, {X: 2, Y: nan}}, 0, 1},
	} {
		s := &svg{}
		s.chart(chartOf(c.points...))
		assert.Equal(t, c.lines, strings.Count(s.out.String(), "<polyline"), name)
		assert.Equal(t, c.dots, strings.Count(s.out.String(), "<circle"), name)
		assert.NotContains(t, s.out.String(), "NaN", name)
		assert.NotContains(t, s.out.String(), "Inf", name)
	}
	s := &svg{}
	s.chart(chartOf(reports.Point{X: 1, Y: nan}))
	assert.Zero(t, s.height, "nothing is drawn")
}

// Phases are shaded by turns, and named where there is room; they widen the axis.
func TestBands(t *testing.T) {
	t.Parallel()
	c := chartOf(reports.Point{X: 10, Y: 1}, reports.Point{X: 20, Y: 1})
	c.Bands = []reports.Band{{Name: "warm-up", From: 0, Until: 10}, {Name: "measure", From: 10, Until: 99},
		{Name: "drain", From: 99, Until: 100}}
	p, ok := plotOf(c)
	require.True(t, ok)
	assert.InDelta(t, p.left, p.px(0), 1e-9)
	assert.InDelta(t, 105, p.x.maximum, 1e-9)
	s := &svg{}
	s.chart(c)
	assert.Equal(t, 2, strings.Count(s.out.String(), "<rect"), "every second one")
	assert.Contains(t, s.out.String(), ">warm-up<")
	assert.Contains(t, s.out.String(), ">measure<")
	assert.NotContains(t, s.out.String(), ">drain<")
}

// Equal shades above each other are one cell, empty rows none, and the shade goes with the logarithm.
func TestHeat(t *testing.T) {
	t.Parallel()
	h := &reports.Heat{ColumnWidth: 1, Minimum: 1, Edges: []float64{10, 100, 1000, 10_000}, Columns: []reports.HeatColumn{
		{At: 0, Counts: []int64{0, 5, 5}}, {At: 1, Counts: []int64{0, 1000, 1, 0}}, {At: 2, Counts: []int64{0, 0, 0, 0, 7}},
	}}
	s := &svg{}
	s.heat(h)
	svgText := s.out.String()
	assert.Equal(t, 3, strings.Count(svgText, "M"), "two rows in one cell, and two cells; none beyond the edges")
	assert.Equal(t, 3, strings.Count(svgText, "<path"), "three shades")
	assert.Contains(t, svgText, `fill-opacity="1.00"`)
	for name, heat := range map[string]*reports.Heat{
		"no columns": {Edges: h.Edges}, "no edges": {Columns: h.Columns},
		"no counts": {Edges: h.Edges, Columns: []reports.HeatColumn{{Counts: []int64{0, 0}}}},
	} {
		s := &svg{}
		s.heat(heat)
		assert.Zero(t, s.height, name)
	}
}

// The whole names of situations are in a picture for small screens, too, where they begin alike.
func TestLongNamesOfRunsAreWhole(t *testing.T) {
	t.Parallel()
	names := []string{"outage/refused-while-idle", "outage/refused-while-working", "beat/first",
		"outage/unread-while-working"}
	row := reports.MatrixRow{
		ID: "FWP-BEAT-06", Verdicts: make([]reports.Verdict, len(names)), IsKnown: make([]bool, len(names)),
		Causes: make([]string, len(names)),
	}
	for i := range row.Verdicts {
		row.Verdicts[i] = reports.Fail
	}
	m := &reports.Matrix{Runs: names, Families: []reports.Family{{Name: "BEAT", Rows: []reports.MatrixRow{row}}}}
	for _, width := range []float64{wideWidth, narrowWidth} {
		s := &svg{width: width}
		s.matrix(m)
		for _, name := range names {
			assert.Contains(t, s.out.String(), ">"+name+"<")
		}
	}
}
