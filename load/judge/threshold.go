package judge

import (
	"math"
	"strings"

	"github.com/fwpsuite/fwp/load/results"
)

// Threshold is a requirement of the user on a run, in the form METRIC OPERATOR VALUE: "push.response.p99<20ms".
//
// Metrics (Metrics returns all of them; OP is a kind of command, such as push or fetch.found, see LoadOp):
//
//	OP.response.STAT OP.service.STAT OP.lateness.STAT   a time
//	FLOW.STAT                                           a time; FLOW is one of LoadFlows
//	lateness.STAT                                       a time: the longest of all commands
//	rate OP.rate                                        a second: arrivals that succeeded; commands that were answered
//	errors OP.errors OP.count                           a number
//	lost duplicated foreign ...                         a number: the account of the jobs, see LoadJobs
//	dropped queued unserved connections.lost findings   a number
//
// For a command that has kinds (fetch, with fetch.found and others), errors, count and rate are about all of them;
// times are those of each kind.
//
// STAT is min, mean, p50, p90, p99, p99.9, p99.99 or max. Operators are < <= > >= == and !=. A time needs a unit: ns,
// us, ms, s or m. A rate may have /s, /m or /h. A rate or a number may be a share in % of what it is a part of: of the
// target rate, of the commands sent, of the jobs pushed, of the arrivals planned.
type Threshold struct {
	// Source is the threshold as it was given.
	Source string
	// Metric is one of Metrics, and Operator one of "<", "<=", ">", ">=", "==" and "!=".
	Metric   string
	Operator string
	// Value is in nanoseconds for a time and in 1/s for a rate; if Share is set it is a share: 0.001 for 0.1 %.
	Value float64
	Share bool
}

// Evaluate compares l with t. Without data t is not met. If l is INVALID, t is judged only if it is about the account
// of the jobs, which is exact whatever else the generator had to do. A figure that is a lower bound meets > and >=
// only.
func (t Threshold) Evaluate(l *results.Load) results.ThresholdResult {
	result := results.ThresholdResult{Threshold: t.Source, NoData: true, Actual: "no data"}
	m, ok := results.FindMetric(t.Metric, []string{results.OpOf(t.Metric)})
	if !ok {
		result.Actual = "no metric of this name"
		return result
	}
	result.Expected = t.Operator + " " + m.Unit.Words(t.Value, t.Share)
	if !l.Validity.Valid && !m.Account {
		result.NotJudged, result.Actual = true, "the run is INVALID"
		return result
	}
	actual := m.Get(l)
	value := actual.Value
	if t.Share {
		value /= actual.Whole
	}
	if !actual.OK || math.IsNaN(value) || math.IsInf(value, 0) {
		return result
	}
	result.NoData = false
	result.Actual = m.Unit.Words(value, t.Share)
	if result.Actual == m.Unit.Words(t.Value, t.Share) && value != t.Value { // 20.04 ms, not 20 ms
		result.Actual = m.Unit.Exact(value, t.Share)
	}
	meets, known := operators[t.Operator]
	result.Met = known && meets(value, t.Value)
	if actual.AtLeast {
		result.Actual = "at least " + result.Actual
		result.Met = result.Met && strings.HasPrefix(t.Operator, ">")
	}
	return result
}

// operators holds the operators of thresholds.
var operators = map[string]func(a, b float64) bool{
	"<":  func(a, b float64) bool { return a < b },
	"<=": func(a, b float64) bool { return a <= b },
	">":  func(a, b float64) bool { return a > b },
	">=": func(a, b float64) bool { return a >= b },
	"==": func(a, b float64) bool { return a == b },
	"!=": func(a, b float64) bool { return a != b },
}
