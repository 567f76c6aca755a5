package results

import (
	"reflect"
	"strings"
)

// count is a number of a part of a run. One row is all that there is about it beside its field: the metric of
// thresholds, and its row in the account of the jobs.
type count struct {
	name  string // its key in JSON, and the name of the metric; rows have blanks in it
	whole string // the keys of what it is a part of: "pushed+refused"
	flags countFlags
	doc   string // what the metric is; empty: it is none
	words string // of its row
}

type countFlags uint8

const (
	alwaysShown countFlags = 1 << iota // in the account, also if there are none
	finding                            // of the target: drawn in red
	ifDrained                          // no data unless the queues were drained
)

// metricsOf returns the metrics of the counts of a part, which is that of the account or not.
func metricsOf(counts []count, account bool, part func(*Load) any) (all []Metric) {
	for _, c := range counts {
		if c.doc == "" {
			continue
		}
		all = append(all, Metric{Name: c.name, Shared: true, Account: account, Doc: c.doc, Get: func(l *Load) Reading {
			r := partOf(number(part(l), c.name), number(part(l), c.whole))
			r.OK = r.OK && (c.flags&ifDrained == 0 || l.Jobs.Drained)
			return r
		}})
	}
	return all
}

// partOf returns a part of a whole; without a whole there is no data.
func partOf(part, whole int64) Reading {
	return Reading{Value: float64(part), Whole: float64(whole), OK: whole > 0}
}

// number returns the sum of the numbers of a part of a run that have these keys in JSON: "delivered+foreign".
func number(part any, keys string) (sum int64) {
	fields := reflect.ValueOf(part).Elem()
	for key := range strings.SplitSeq(keys, "+") {
		for i := range fields.NumField() {
			if keyOf(fields.Type().Field(i)) == key {
				sum += fields.Field(i).Int()
			}
		}
	}
	return sum
}

// keyOf returns the key of a field in JSON.
func keyOf(field reflect.StructField) string {
	key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return key
}

// rateCounts holds the counts of the arrivals.
var rateCounts = []count{
	{name: "unserved", whole: "planned", doc: "arrivals that still waited for a connection at the end, of those planned"},
	{name: "dropped", whole: "planned", doc: "arrivals that --overload drop gave up, of those planned"},
	{name: "queued", whole: "planned", doc: "arrivals that waited for a connection and got it, of those planned"},
}
