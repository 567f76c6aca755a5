package load

import (
	"math"
	"time"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
)

// Limits of the map of response times.
const (
	heatRows    = 8        // for each ten times as long
	heatDecades = 8        // from a microsecond
	heatColumns = 4 * 3600 // seconds that are kept
)

// AddHeat adds the response times that a kind of command had in a second to a map.
func AddHeat(heat *results.LoadHeat, second *measure.Set, op measure.Op) {
	times := second.Times(measure.SeriesOf(op, measure.Response))
	if times.Count() == 0 || len(heat.Columns) == heatColumns {
		return
	}
	if heat.Op == "" {
		heat.Op = string(op)
		for i := 1; i <= heatRows*heatDecades; i++ {
			edge := float64(time.Microsecond) * math.Pow(10, float64(i)/heatRows)
			heat.Edges = append(heat.Edges, time.Duration(edge))
		}
	}
	heat.Columns = append(heat.Columns, results.HeatSecond{At: second.From, Counts: times.Rows(heat.Edges)})
}
