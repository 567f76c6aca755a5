package load

import (
	"math"
	"time"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/reports"
)

// Limits of the map of response times.
const (
	heatRows    = 8        // for each ten times as long
	heatDecades = 8        // from a microsecond
	heatColumns = 4 * 3600 // seconds that are kept
)

// addHeat adds the response times of a second to the map.
func (f *figures) addHeat(second *measure.Set, op measure.Op) {
	times := second.Times(measure.SeriesOf(op, measure.Response))
	if times.Count() == 0 || len(f.heat.Columns) == heatColumns {
		return
	}
	if f.heat.Op == "" {
		f.heat.Op = string(op)
		for i := 1; i <= heatRows*heatDecades; i++ {
			edge := float64(time.Microsecond) * math.Pow(10, float64(i)/heatRows)
			f.heat.Edges = append(f.heat.Edges, time.Duration(edge))
		}
	}
	f.heat.Columns = append(f.heat.Columns, reports.HeatSecond{At: second.From, Counts: times.Rows(f.heat.Edges)})
}
