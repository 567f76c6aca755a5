package results

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/reports"
)

// A count is named in thresholds as it is in JSON, so that one row and one field are all there is to a new one.
func TestCountsAreKeysOfTheJSON(t *testing.T) {
	t.Parallel()
	counted := func(part any, counts []count, key string, n int64) {
		require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{%q: %d}`, key, n), part))
		assert.Equal(t, n, sumOfFields(part, key), key)
		assert.True(t, slices.ContainsFunc(counts, func(c count) bool { return c.name == key }), key)
	}
	for i, key := range accountOrder {
		counted(new(LoadJobs), jobCounts, key, int64(i+1))
	}
	assert.Len(t, accountOrder, len(jobCounts))
	for i, key := range []string{"unserved", "dropped", "queued"} {
		counted(new(LoadRate), rateCounts, key, int64(i+1))
	}
	for part, counts := range map[any][]count{new(LoadJobs): jobCounts, new(LoadRate): rateCounts} {
		for _, c := range counts {
			for key := range strings.SplitSeq(c.denominatorKeys, "+") {
				if key != "" {
					require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{%q: 1}`, key), part))
					assert.Positive(t, sumOfFields(part, key), "%s is a part of %s", c.name, key)
				}
			}
		}
	}
}

func TestCountsAreAddedUp(t *testing.T) {
	t.Parallel()
	sum, part := LoadJobs{}, LoadJobs{IsDrained: true, DrainFailure: "why"}
	numbers := reflect.ValueOf(&part).Elem()
	for i, f := range reflect.VisibleFields(numbers.Type()) {
		if field := numbers.FieldByIndex(f.Index); field.Kind() == reflect.Int64 {
			field.SetInt(int64(1000 + i))
		}
	}
	Join(&sum, &part)
	Join(&sum, &LoadJobs{LostJobs: 5})
	part.LostJobs += 5
	part.IsDrained, part.DrainFailure = false, "" // what is no count stays
	assert.Equal(t, part, sum)

	rate := LoadRate{}
	Join(&rate, &LoadRate{Op: "push", Planned: 10, Done: 8, Queued: 5, Dropped: 1, Unserved: 1, Backlog: 4})
	Join(&rate, &LoadRate{Op: "push", Planned: 20, Done: 20, Queued: 6, Dropped: 2, Unserved: 3, Backlog: 5})
	assert.Equal(t, LoadRate{Op: "push", Planned: 30, Done: 28, Queued: 11, Dropped: 3, Unserved: 4, Backlog: 9}, rate)
}

func TestMetricsOfCounts(t *testing.T) {
	t.Parallel()
	l := &Load{Jobs: LoadJobs{Pushed: 200, Refused: 30, Doubtful: 20, Delivered: 180, LostJobs: 5, Missing: 7, Foreign: 20,
		Duplicated: 9, InDoubt: 2, Acked: 100}, Rate: LoadRate{Planned: 50, Dropped: 10}}
	for name, test := range map[string]struct {
		value, denominator float64
		ok                 bool
	}{
		"lost": {5, 200, false}, "missing": {7, 200, false}, // the queues were not drained
		"duplicated": {9, 180, true}, "foreign": {20, 200, true}, "pushed": {200, 250, true}, "refused": {30, 250, true},
		"doubtful": {20, 250, true}, "delivered": {180, 200, true}, "acked": {100, 200, true}, "in_doubt": {2, 200, true},
		"dropped": {10, 50, true}, "queued": {0, 50, true}, "connections.lost": {0, 0, false},
	} {
		m, ok := FindMetric(name, nil)
		require.True(t, ok, name)
		assert.Equal(t, MetricValue{Value: test.value, Denominator: test.denominator, OK: test.ok}, m.Get(l), name)
		_, isJobs := map[string]bool{"dropped": true, "queued": true, "connections.lost": true}[name]
		assert.Equal(t, !isJobs, m.IsAccount, "%s is about the jobs", name)
	}
	l.Jobs.IsDrained = true
	metric, _ := FindMetric("lost", nil)
	assert.True(t, metric.Get(l).OK)
	_, ok := FindMetric("taken_at_end", nil)
	assert.False(t, ok, "it has a row, and no metric")
}

func TestRowsOfTheAccount(t *testing.T) {
	t.Parallel()
	names := func(j *LoadJobs, isResolved bool) string {
		var all []string
		for _, row := range j.rows(&LoadDisruptions{IsResolved: isResolved}) {
			all = append(all, row.Name)
		}
		return strings.Join(all, ", ")
	}
	row := func(j *LoadJobs, isResolved bool, name string) reports.Bar {
		for _, row := range j.rows(&LoadDisruptions{IsResolved: isResolved}) {
			if row.Name == name {
				return row
			}
		}
		return reports.Bar{}
	}
	assert.Equal(t, "pushed, delivered, acknowledged, duplicated", names(&LoadJobs{}, false))
	assert.Equal(t, "pushed, delivered, acknowledged, lost, duplicated", names(&LoadJobs{IsDrained: true}, false),
		"that none is lost is known then")
	j := &LoadJobs{LostJobs: 3, Foreign: 1, Missing: 4, Waiting: 2, InDoubt: 1, FetchesLost: 1, OutOfOrder: 1,
		ClientCounts: ClientCounts{TakenAtEnd: 1}}
	assert.Equal(t, "pushed, delivered, acknowledged, waiting, taken at end, out of order, missing, in doubt, lost, "+
		"duplicated, foreign", names(j, false))
	for name, style := range map[string]reports.Style{
		"lost": reports.Bad, "foreign": reports.Bad, "duplicated": reports.Plain, "missing": reports.Plain,
	} {
		assert.Equal(t, style, row(j, false, name).Style, name)
	}
	stopped := &LoadDisruptions{LostByKill: 3, DuplicatedByStop: 1}
	for _, row := range (&LoadJobs{LostJobs: 3, Duplicated: 2}).rows(stopped) {
		want := map[string]reports.Style{"lost": reports.Caution, "duplicated": reports.Bad}[row.Name]
		assert.Equal(t, want, row.Style, "%s: a kill excuses three losses, and one delivery", row.Name)
	}
	for _, tile := range (&LoadJobs{Pushed: 9, IsDrained: true, LostJobs: 3}).tiles(stopped) {
		assert.NotEqual(t, reports.Bad, tile.Style, tile.Word)
	}
	assert.Equal(t, "may come back after the end", row(j, false, "waiting").Words)
	assert.Contains(t, row(j, true, "waiting").Words, "not delivered again after their reservation")
	assert.Equal(t, "of these: may have gone with the one unanswered fetch", row(j, false, "in doubt").Words)
	j.FetchesLost = 1200
	assert.Equal(t, "of these: may have gone with one of 1,200 failed fetches", row(j, false, "in doubt").Words)
}

func TestUnitsOfMetrics(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		unit    Unit
		value   float64
		isShare bool
		words   string
		other   float64
		exact   string
	}{
		{UnitTime, 20.04e6, false, "20 ms", 20e6, "20.04ms"}, {UnitTime, 1500, false, "1.5 us", 1500, "1.5 us"},
		{UnitRate, 5000.4, false, "5,000 /s", 5000, "5000.4 /s"}, {UnitRate, 0.994, true, "99.4 %", 0.99, "99.4 %"},
		{UnitRate, 0.9999516697395886, false, "1 /s", 1, "0.99995 /s"},
		{UnitNumber, 12_345, false, "12,345", 0, "12,345"}, {UnitNumber, 0.5, false, "0.5", 0.6, "0.5"},
	} {
		assert.Equal(t, test.words, test.unit.Words(test.value, test.isShare))
		assert.Equal(t, test.exact, test.unit.DistinctWords(test.value, test.other, test.isShare))
	}
	assert.InDelta(t, 60e9, UnitTime.Factors()["m"], 0)
	assert.InDelta(t, 1.0/60, UnitRate.Factors()["/m"], 1e-12)
	assert.Len(t, UnitNumber.Factors(), 1)
	for example, m := range map[string]Metric{
		"20ms": {Unit: UnitTime}, "5000/s": {Unit: UnitRate}, "5000/s or 99%": {Unit: UnitRate, HasShare: true},
		"10 or 0.1%": {HasShare: true}, "10": {},
	} {
		assert.Equal(t, example, m.Example())
	}
}

func TestFindingsInWords(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]LoadFinding{
		"9 worker connections closed": {Kind: FindingClosed, Count: 9},
		"1 worker connection closed":  {Kind: FindingClosed, Count: 1},
		"2,221 wrong replies":         {Kind: FindingReply, Count: 2221},
	} {
		assert.Equal(t, want, f.String())
	}
}
