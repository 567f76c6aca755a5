package results

import (
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// LoadJobs is the account of the jobs of a run.
type LoadJobs struct {
	Pushed   int64 `json:"pushed"`   // push answered with OK
	Refused  int64 `json:"refused"`  // push answered with an error
	Doubtful int64 `json:"doubtful"` // push without an answer: may be there or not
	// Delivered counts jobs that were delivered at least once, Redelivered further deliveries that are allowed: after
	// fail, after the reservation, or after an ack without an answer.
	Delivered   int64 `json:"delivered"`
	Redelivered int64 `json:"redelivered"`
	Acked       int64 `json:"acked"`  // ack answered with OK
	Failed      int64 `json:"failed"` // fail answered with OK
	// Lost counts jobs that were accepted and never delivered, beyond FetchesLost; it means something only if Drained.
	Lost int64 `json:"lost"`
	// Duplicated counts deliveries of a job that a worker held or whose end was known.
	Duplicated int64 `json:"duplicated"`
	// Foreign counts deliveries that are not of this run, or from a queue that was not asked for, or changed.
	Foreign int64 `json:"foreign"`
	// OutOfOrder counts jobs delivered after one that was pushed later to the same queue. No clause forbids it.
	OutOfOrder int64 `json:"out_of_order"`
	Held       int64 `json:"held"`     // delivered and neither acknowledged nor failed at the end
	Waiting    int64 `json:"waiting"`  // may come back after the end: failed, or their reservation runs
	Missing    int64 `json:"missing"`  // accepted and never delivered
	InDoubt    int64 `json:"in_doubt"` // of these, as many as a lost fetch may have taken
	// FetchesLost counts fetches that ended without an answer: each may have taken a job.
	FetchesLost int64 `json:"fetches_lost"`
	// TakenAtEnd counts jobs of fetches whose reply was awaited before their connection was closed.
	TakenAtEnd int64 `json:"taken_at_end"`
	// Part is set in the report of an agent whose jobs cross to others: what is missing is known to all of them together.
	Part bool `json:"part,omitempty"`
	// Drained is set if the queues of the run were seen empty at the end.
	Drained bool `json:"drained"`
	// NotDrained is why not, if not.
	NotDrained string `json:"not_drained,omitempty"`
}

// jobCounts holds the counts of the account, in the order of metrics.
var jobCounts = []count[LoadJobs]{
	{name: "lost", of: func(j *LoadJobs) *int64 { return &j.Lost }, whole: (*LoadJobs).pushed, flags: finding | ifDrained,
		doc: "jobs accepted and never delivered, of those pushed", words: "accepted and never delivered"},
	{name: "missing", of: func(j *LoadJobs) *int64 { return &j.Missing }, whole: (*LoadJobs).pushed, flags: ifDrained,
		doc:   "jobs accepted and not delivered until the end, of those pushed",
		words: "accepted and not delivered until the end"},
	{name: "duplicated", of: func(j *LoadJobs) *int64 { return &j.Duplicated }, whole: (*LoadJobs).delivered,
		doc:   "jobs delivered while held or after their end, of those delivered",
		words: "delivered while held, or after their end", flags: alwaysShown | finding},
	{name: "foreign", of: func(j *LoadJobs) *int64 { return &j.Foreign },
		whole: func(j *LoadJobs) int64 { return j.Delivered + j.Foreign }, flags: finding,
		doc:   "jobs that are not of this run, altered, or from a wrong queue, of those delivered",
		words: "not of this run, from a wrong queue, or changed"},
	{name: "redelivered", of: func(j *LoadJobs) *int64 { return &j.Redelivered }, whole: (*LoadJobs).delivered,
		doc:   "further deliveries that are allowed, of the jobs delivered",
		words: "again, and rightly: after fail, reserve_for or an unanswered ack"},
	{name: "out_of_order", of: func(j *LoadJobs) *int64 { return &j.OutOfOrder }, whole: (*LoadJobs).delivered,
		doc:   "jobs delivered after one that was pushed later, of those delivered",
		words: "after one that was pushed later: no clause forbids it"},
	{name: "pushed", of: func(j *LoadJobs) *int64 { return &j.Pushed }, whole: (*LoadJobs).sent, flags: alwaysShown,
		doc: "push answered with OK, of those sent", words: "accepted with OK"},
	{name: "refused", of: func(j *LoadJobs) *int64 { return &j.Refused }, whole: (*LoadJobs).sent,
		doc: "push answered with an error, of those sent", words: "answered with an error"},
	{name: "doubtful", of: func(j *LoadJobs) *int64 { return &j.Doubtful }, whole: (*LoadJobs).sent,
		doc: "push without a reply, of those sent", words: "pushed without an answer: it may be there or not"},
	{name: "delivered", of: func(j *LoadJobs) *int64 { return &j.Delivered }, whole: (*LoadJobs).pushed,
		flags: alwaysShown,
		doc:   "jobs delivered at least once, of those pushed", words: "at least once"},
	{name: "acked", of: func(j *LoadJobs) *int64 { return &j.Acked }, whole: (*LoadJobs).pushed, flags: alwaysShown,
		doc: "ack answered with OK, of the jobs pushed"},
	{name: "failed", of: func(j *LoadJobs) *int64 { return &j.Failed }, whole: (*LoadJobs).pushed,
		doc: "fail answered with OK, of the jobs pushed", words: "reported with fail"},
	{name: "held", of: func(j *LoadJobs) *int64 { return &j.Held }, whole: (*LoadJobs).pushed,
		doc:   "jobs delivered and neither acknowledged nor failed at the end, of those pushed",
		words: "delivered, and neither acknowledged nor failed at the end"},
	{name: "waiting", of: func(j *LoadJobs) *int64 { return &j.Waiting }, whole: (*LoadJobs).pushed,
		doc: "jobs that may come back after the end, of those pushed", words: "may come back after the end"},
	{name: "in_doubt", of: func(j *LoadJobs) *int64 { return &j.InDoubt }, whole: (*LoadJobs).pushed,
		doc: "missing jobs that a fetch without a reply may have taken, of those pushed"},
	{name: "taken_at_end", of: func(j *LoadJobs) *int64 { return &j.TakenAtEnd },
		words: "brought by the last fetch of a connection, before it was closed"},
	{name: "fetches_lost", of: func(j *LoadJobs) *int64 { return &j.FetchesLost }},
}

// accountOrder is the order in which the account is read.
var accountOrder = []string{
	"pushed", "refused", "doubtful", "delivered", "redelivered", "acked", "failed", "held", "waiting", "taken_at_end",
	"out_of_order", "missing", "in_doubt", "lost", "duplicated", "foreign",
}

// sent returns how many pushes there were.
func (j *LoadJobs) sent() int64 { return j.Pushed + j.Refused + j.Doubtful }

func (j *LoadJobs) pushed() int64    { return j.Pushed }
func (j *LoadJobs) delivered() int64 { return j.Delivered }

// Add adds the counts of another account; whether the queues were drained stays as it is.
func (j *LoadJobs) Add(other *LoadJobs) { addCounts(jobCounts, j, other) }

// rows returns the rows that have something to show. In a run whose doubts are resolved nothing may come back any more.
func (j *LoadJobs) rows(resolved bool) (rows []reports.Bar) {
	for _, name := range accountOrder {
		c := reports.Find(jobCounts, func(c *count[LoadJobs]) bool { return c.name == name })
		row := reports.Bar{Name: strings.ReplaceAll(name, "_", " "), Value: *c.of(j), Words: c.words}
		if row.Value == 0 && c.flags&alwaysShown == 0 && (name != "lost" || !j.Drained) {
			continue
		}
		if c.flags&finding != 0 && row.Value > 0 {
			row.Style = reports.Bad
		}
		switch {
		case name == "acked":
			row.Name = "acknowledged"
		case name == "waiting" && resolved:
			row.Words = "reported without a confirmation, and not back after their reservation"
		case name == "in_doubt":
			row.Words = "of these: may have gone with " + unanswered(j.FetchesLost)
		}
		rows = append(rows, row)
	}
	return rows
}

// unanswered returns the fetches that ended without an answer, in words.
func unanswered(fetches int64) string {
	if fetches == 1 {
		return "the one unanswered fetch"
	}
	return "one of " + text.Grouped(fetches) + " failed fetches"
}
