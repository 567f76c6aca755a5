package results

// count is a number of a part T of a run. One row is all that there is about it beside its key in JSON: how it is added
// up over generators, the metric of thresholds, and its row in the account of the jobs.
type count[T any] struct {
	name  string // of the metric; rows have blanks in it
	of    func(*T) *int64
	whole func(*T) int64 // of which it is a part
	doc   string         // what the metric is; empty: it is none
	words string         // of its row
	flags countFlags
}

type countFlags uint8

const (
	alwaysShown countFlags = 1 << iota // in the account, also if there are none
	finding                            // of the target: drawn in red
	ifDrained                          // no data unless the queues were drained
)

// addCounts adds the counts of one to those of sum.
func addCounts[T any](counts []count[T], sum, one *T) {
	for _, c := range counts {
		*c.of(sum) += *c.of(one)
	}
}

// metricsOf returns the metrics of counts.
func metricsOf[T any](counts []count[T], part func(*Load) *T) (all []Metric) {
	_, account := any(new(T)).(*LoadJobs)
	for _, c := range counts {
		if c.doc == "" {
			continue
		}
		all = append(all, Metric{Name: c.name, Shared: true, Account: account, Doc: c.doc, Get: func(l *Load) Reading {
			r := partOf(*c.of(part(l)), c.whole(part(l)))
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

// rateCounts holds the counts of the arrivals.
var rateCounts = []count[LoadRate]{
	{name: "unserved", of: func(r *LoadRate) *int64 { return &r.Unserved }, whole: (*LoadRate).planned,
		doc: "arrivals that still waited for a connection at the end, of those planned"},
	{name: "dropped", of: func(r *LoadRate) *int64 { return &r.Dropped }, whole: (*LoadRate).planned,
		doc: "arrivals that --overload drop gave up, of those planned"},
	{name: "queued", of: func(r *LoadRate) *int64 { return &r.Queued }, whole: (*LoadRate).planned,
		doc: "arrivals that waited for a connection and got it, of those planned"},
	{of: func(r *LoadRate) *int64 { return &r.Planned }},
	{of: func(r *LoadRate) *int64 { return &r.Done }},
	{of: func(r *LoadRate) *int64 { return &r.Backlog }}, // at most: their longest moments need not have been the same
}

func (r *LoadRate) planned() int64 { return r.Planned }

// Add adds the counts of a part of the load. Where some parts have all producers, the rate of the load is theirs: they
// come first.
func (r *LoadRate) Add(part *LoadRate) {
	if r.Op == "" {
		r.Op = part.Op
	}
	if r.Op == part.Op {
		addCounts(rateCounts, r, part)
	}
}
