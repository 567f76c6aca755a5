package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
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

// ThresholdResult is the result of one threshold.
type ThresholdResult struct {
	// Threshold is the threshold as it was given: "push.response.p99<20ms".
	Threshold string `json:"threshold"`
	// Met reports whether the run meets it; without data it does not.
	Met bool `json:"met"`
	// NotJudged is set if the run is INVALID and the threshold is not about the account of the jobs.
	NotJudged bool `json:"not_judged,omitempty"`
	// Expected and Actual are both sides in words: "< 20 ms" and "31.4 ms", or "no data".
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
	// NoData is set if there was nothing to compare with.
	NoData bool `json:"no_data,omitempty"`
}

// Evaluate compares l with t. Without data t is not met. If l is INVALID, t is judged only if it is about the account
// of the jobs, which is exact whatever else the generator had to do. A figure that is a lower bound meets > and >=
// only.
func (t Threshold) Evaluate(l *Load) ThresholdResult {
	result := ThresholdResult{Threshold: t.Source, NoData: true, Actual: "no data"}
	m, ok := findMetric(t.Metric, []string{opOf(t.Metric)})
	if !ok {
		result.Actual = "no metric of this name"
		return result
	}
	result.Expected = t.Operator + " " + m.dimension.words(t.Value, t.Share)
	if !l.Validity.Valid && !m.account {
		result.NotJudged, result.Actual = true, "the run is INVALID"
		return result
	}
	actual := m.of(l)
	value := actual.value
	if t.Share {
		value /= actual.whole
	}
	if !actual.ok || math.IsNaN(value) || math.IsInf(value, 0) {
		return result
	}
	result.NoData = false
	result.Actual = m.dimension.words(value, t.Share)
	if result.Actual == m.dimension.words(t.Value, t.Share) && value != t.Value { // 20.04 ms, not 20 ms
		result.Actual = m.dimension.exact(value, t.Share)
	}
	meets, known := operators[t.Operator]
	result.Met = known && meets(value, t.Value)
	if actual.atLeast {
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

// dimension is what kind of number a metric is.
type dimension uint8

const (
	aNumber dimension = iota
	aTime
	aRate
)

// words writes a value for people.
func (d dimension) words(value float64, share bool) string {
	switch {
	case share:
		return percent(value)
	case d == aTime:
		return short(time.Duration(value))
	case d == aRate:
		return digits(value) + " /s"
	case value == math.Trunc(value):
		return text.Grouped(int64(value))
	default:
		return digits(value)
	}
}

// exact writes a value in full.
func (d dimension) exact(value float64, share bool) string {
	full := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	switch {
	case share:
		return full(value*100) + " %"
	case d == aTime:
		return fmt.Sprint(time.Duration(value))
	case d == aRate:
		return full(value) + " /s"
	default:
		return full(value)
	}
}
