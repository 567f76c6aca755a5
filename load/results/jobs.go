package results

import (
	"iter"
	"reflect"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// LoadJobs is the account of the jobs of a run.
type LoadJobs struct {
	Pushed   int64 `json:"pushed" join:"sum"`   // push answered with OK
	Refused  int64 `json:"refused" join:"sum"`  // push answered with an error
	Doubtful int64 `json:"doubtful" join:"sum"` // push without an answer: may be there or not
	// Delivered counts jobs that were delivered at least once, Redelivered further deliveries that are allowed: after
	// fail, after the reservation, or after an ack without an answer.
	Delivered   int64 `json:"delivered" join:"sum"`
	Redelivered int64 `json:"redelivered" join:"sum"`
	Acked       int64 `json:"acked" join:"sum"`  // ack answered with OK
	Failed      int64 `json:"failed" join:"sum"` // fail answered with OK
	// LostJobs counts jobs that were accepted and never delivered, beyond FetchesLost; it means something only if
	// IsDrained.
	LostJobs int64 `json:"lost" join:"sum"`
	// Duplicated counts deliveries of a job that a worker held or whose end was known.
	Duplicated int64 `json:"duplicated" join:"sum"`
	// Foreign counts deliveries that are not of this run, or from a queue that was not asked for, or changed.
	Foreign int64 `json:"foreign" join:"sum"`
	// OutOfOrder counts jobs delivered after one that was pushed later to the same queue. No clause forbids it.
	OutOfOrder int64 `json:"out_of_order" join:"sum"`
	HeldJobs   int64 `json:"held" join:"sum"`     // delivered and neither acknowledged nor failed at the end
	Waiting    int64 `json:"waiting" join:"sum"`  // may come back after the end: failed, or their reservation runs
	Missing    int64 `json:"missing" join:"sum"`  // accepted and never delivered
	InDoubt    int64 `json:"in_doubt" join:"sum"` // of these, as many as a lost fetch may have taken
	// FetchesLost counts fetches that ended without an answer: each may have taken a job.
	FetchesLost int64 `json:"fetches_lost" join:"sum"`
	ClientCounts
	// UncountedParts is what the account of several generators does not have: "what segment 3/4 did is not known" for
	// example. Empty if it is whole.
	UncountedParts string `json:"unknown,omitempty"`
	// IsDrained is set if the queues of the run were seen empty at the end, and every job that is missing is known to be
	// lost or may have gone with a fetch without an answer.
	IsDrained bool `json:"drained"`
	// DrainFailure is why not, if not.
	DrainFailure string `json:"not_drained,omitempty" from:"target"`
}

// ClientCounts are those counts of the account that clients keep, in their status.
type ClientCounts struct {
	// TakenAtEnd counts jobs of fetches whose reply was awaited before their connection was closed.
	TakenAtEnd int64 `json:"taken_at_end" join:"sum"`
}

// jobCounts holds the counts of the account, in the order of metrics.
var jobCounts = []count{
	{"lost", "pushed", finding | needsDrain, "jobs accepted and never delivered, of those pushed",
		"accepted and never delivered"},
	{"missing", "pushed", needsDrain, "jobs accepted but not delivered before the end, of those pushed",
		"accepted but not delivered before the end"},
	{"duplicated", "delivered", showAlways | finding, "jobs delivered while reserved, or after ACK or final FAIL, of " +
		"those delivered",
		"delivered while reserved, or after ACK or final FAIL"},
	{"foreign", "delivered+foreign", finding,
		"jobs that are not of this run, altered, or from a wrong queue, of those delivered",
		"not of this run, from a wrong queue, or changed"},
	{"redelivered", "delivered", 0, "further deliveries that are allowed, of the jobs delivered",
		"again, as allowed: after FAIL, reserve_for or an unanswered ACK"},
	{"out_of_order", "delivered", 0, "jobs delivered after one that was pushed later, of those delivered",
		"after a job that was pushed later; no clause forbids this"},
	{"pushed", sentKeys, showAlways, "push answered with OK, of those sent", "accepted with OK"},
	{"refused", sentKeys, 0, "push answered with an error, of those sent", "answered with an error"},
	{"doubtful", sentKeys, 0, "push without a reply, of those sent", "pushed without a reply; it may exist or not"},
	{"delivered", "pushed", showAlways, "jobs delivered at least once, of those pushed", "at least once"},
	{"acked", "pushed", showAlways, "ack answered with OK, of the jobs pushed", ""},
	{"failed", "pushed", 0, "fail answered with OK, of the jobs pushed", "reported with FAIL"},
	{"held", "pushed", 0, "jobs delivered without ACK or FAIL at the end, of those pushed",
		"delivered, without ACK or FAIL at the end"},
	{"waiting", "pushed", 0, "jobs that may come back after the end, of those pushed", "may come back after the end"},
	{"in_doubt", "pushed", 0, "missing jobs that a fetch without a reply may have taken, of those pushed", ""},
	{"taken_at_end", "", 0, "", "delivered by the last FETCH of a connection before it closed"},
}

// sentKeys holds the keys of the pushes that were sent.
const sentKeys = "pushed+refused+doubtful"

// accountOrder is the order in which the account is read.
var accountOrder = []string{
	"pushed", "refused", "doubtful", "delivered", "redelivered", "acked", "failed", "held", "waiting", "taken_at_end",
	"out_of_order", "missing", "in_doubt", "lost", "duplicated", "foreign",
}

// Counts returns the counts of the account with their names, in the order in which the account is read.
func (j *LoadJobs) Counts() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for _, name := range accountOrder {
			if !yield(name, sumOfFields(j, name)) {
				return
			}
		}
	}
}

// pushes returns how many pushes there were.
func (j *LoadJobs) pushes() int64 { return sumOfFields(j, sentKeys) }

// rows returns the rows that have something to show. In a run whose doubts are resolved nothing may come back any more,
// and what its disruptions excuse is no finding.
func (j *LoadJobs) rows(d *LoadDisruptions) (rows []reports.Bar) {
	isResolved := d.isResolved()
	for _, name := range accountOrder {
		c := reports.Find(jobCounts, func(c *count) bool { return c.name == name })
		row := reports.Bar{Name: strings.ReplaceAll(name, "_", " "), Value: sumOfFields(j, name), Words: c.words}
		if row.Value == 0 && c.flags&showAlways == 0 && (name != "lost" || !j.IsDrained) {
			continue
		}
		switch {
		case c.flags&finding != 0 && row.Value > d.excusedCount(name):
			row.Style = reports.Bad
		case c.flags&finding != 0 && row.Value > 0:
			row.Style = reports.Caution
		}
		switch {
		case name == "acked":
			row.Name = "acknowledged"
		case name == "waiting" && isResolved:
			row.Words = "reported without a confirmation, and not delivered again after their reservation"
		case name == "in_doubt":
			row.Words = "of these: may have gone with " + fetchWords(j.FetchesLost)
		}
		rows = append(rows, row)
	}
	return rows
}

// fetchWords returns the fetches that ended without an answer, in words.
func fetchWords(fetches int64) string {
	if fetches == 1 {
		return "the one unanswered fetch"
	}
	return "one of " + text.GroupDigits(fetches) + " failed fetches"
}

// count is a number of a part of a run. One row is all that there is about it beside its field: the metric of
// thresholds, and its row in the account of the jobs.
type count struct {
	name            string // its key in JSON, and the name of the metric; rows have blanks in it
	denominatorKeys string // the keys of the whole that it is a part of: "pushed+refused"
	flags           countFlags
	doc             string // what the metric is; empty: it is none
	words           string // of its row
}

type countFlags uint8

const (
	showAlways countFlags = 1 << iota // in the account, also if there are none
	finding                           // of the target: drawn in red
	needsDrain                        // no data unless the queues were drained
)

// metricsOf returns the metrics of the counts of a part, which is that of the account or not.
func metricsOf(counts []count, isAccount bool, part func(*Load) any) (all []Metric) {
	for _, c := range counts {
		if c.doc == "" {
			continue
		}
		all = append(all, Metric{Name: c.name, HasShare: true, IsAccount: isAccount, Doc: c.doc,
			Get: func(l *Load) MetricValue {
				r := shareOf(sumOfFields(part(l), c.name), sumOfFields(part(l), c.denominatorKeys))
				r.OK = r.OK && (c.flags&needsDrain == 0 || l.Jobs.IsDrained)
				if c.name == "refused" {
					r = r.withDeadShare(l, "push")
				}
				return r
			}})
	}
	return all
}

// shareOf returns a part of a whole; without a whole there is no data.
func shareOf(part, denominator int64) MetricValue {
	return MetricValue{Value: float64(part), Denominator: float64(denominator), OK: denominator > 0}
}

// sumOfFields returns the sum of the numbers of a part of a run that have these keys in JSON: "delivered+foreign".
func sumOfFields(part any, keys string) (sum int64) {
	object := reflect.ValueOf(part).Elem()
	for key := range strings.SplitSeq(keys, "+") {
		for _, field := range reflect.VisibleFields(object.Type()) {
			if !field.Anonymous && keyOf(field) == key {
				sum += object.FieldByIndex(field.Index).Int()
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

// ServerClock is what the times tell about the clock of the target that it writes into jobs with a time.
type ServerClock struct {
	// Ahead is the least difference that explains them, negative if the target's clock is behind; 0 if they contradict
	// each other.
	Ahead time.Duration `json:"ahead_ns"`
	// Early is how many jobs came before their time by the generator's clock and not by the target's. They are findings
	// only if its times contradict each other.
	Early int64 `json:"early,omitempty"`
}

// LoadFlows returns the names of the times of jobs, in the order of tables. The first two are end-to-end latencies,
// from the intended start of a push:
//
//	job.fetched   until the job was delivered for the first time
//	job.acked     until its ack was answered
//	job.late      from the time of a job, by a delay or for its next try, until it was delivered
func LoadFlows() []string { return []string{"job.fetched", "job.acked", "job.late"} }
