package validity

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// The window is cut into so many parts of the same number of seconds, and a figure of each is the median of its
// seconds. There is a trend if Kendall's S of the parts is at least driftTrend, of 45 (p is 0.002 if nothing changes),
// and the last three parts differ from the first three by more than a share.
const (
	driftParts      = 10
	driftTrend      = 33
	minDriftSeconds = 20 // seconds
)

// driftFigure is a figure of a second that is tested for a trend, and by which share it may change.
type driftFigure struct {
	name  string
	share float64
	words func(float64) string
	get   func(*results.Second, *results.SecondOp) float64
}

func driftTime(x float64) string { return reports.Duration(time.Duration(x)) }

// drifts are the figures that are tested.
var drifts = []driftFigure{
	{"the achieved rate", 0.1, reports.Rate, func(s *results.Second, _ *results.SecondOp) float64 { return s.Achieved }},
	{"the median", 0.25, driftTime,
		func(_ *results.Second, o *results.SecondOp) float64 { return float64(o.ResponseP50) }},
	{"the p99", 0.5, driftTime, func(_ *results.Second, o *results.SecondOp) float64 { return float64(o.ResponseP99) }},
	{"the server's memory", 0.2, func(x float64) string { return reports.Size(int64(x)) },
		func(s *results.Second, _ *results.SecondOp) float64 {
			if s.Server == nil {
				return 0
			}
			return float64(s.Server.MemoryBytes)
		}},
}

// driftRemarks returns a remark for each figure that rose or fell all the time while measuring, if the load was the
// same all the time. The window is never moved because of that.
func (l run) driftRemarks() (remarks []string) {
	seconds := slices.DeleteFunc(slices.Clone(l.Series), func(s results.Second) bool {
		return s.Phase != "measure" || s.Length < 900*time.Millisecond
	})
	if len(seconds) < minDriftSeconds || l.Disruptions != nil || !isConstant(seconds) {
		return nil
	}
	for _, figure := range drifts {
		var values []float64
		for i := range seconds {
			op := reports.Find(seconds[i].Ops, func(o *results.SecondOp) bool { return o.Op == l.Rate.Op })
			if v := figure.get(&seconds[i], cmp.Or(op, &results.SecondOp{})); v > 0 {
				values = append(values, v)
			}
		}
		from, to, hasTrend := trendOf(values)
		way := "rose"
		if to < from {
			way = "fell"
		}
		if hasTrend && max(from, to) > min(from, to)*(1+figure.share) {
			remarks = append(remarks, fmt.Sprintf("No steady state: %s %s from %s to %s while measuring.", figure.name, way,
				figure.words(from), figure.words(to)))
		}
	}
	return remarks
}

// isConstant reports whether the plan has the same rate in all of some seconds, or none.
func isConstant(seconds []results.Second) bool {
	for i := range seconds {
		if a, b := seconds[0].Target, seconds[i].Target; max(a, b) > 1.05*min(a, b) {
			return false
		}
	}
	return true
}

// trendOf returns the medians of the first three and of the last three parts of some values, and whether they have a
// trend.
func trendOf(values []float64) (from, to float64, hasTrend bool) {
	each := len(values) / driftParts
	if each == 0 {
		return 0, 0, false
	}
	var parts []float64
	for part := range slices.Chunk(values[len(values)-each*driftParts:], each) {
		parts = append(parts, median(part))
	}
	order := 0
	for i, a := range parts {
		for _, b := range parts[i+1:] {
			switch {
			case b > a:
				order++
			case b < a:
				order--
			}
		}
	}
	return median(parts[:3]), median(parts[driftParts-3:]), max(order, -order) >= driftTrend
}

func median(values []float64) float64 { return slices.Sorted(slices.Values(values))[len(values)/2] }
