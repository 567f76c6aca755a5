package validity

import (
	"math"

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
// STAT is min, mean, max or a percentile, such as p50, p95 or p99.9. Operators are < <= > >= == and !=. A time needs
// a unit: ns, us, ms, s or m. A rate may have /s, /m or /h. A rate or a number may be a share in % of what it is a
// part of: of the target rate, of the commands sent, of the jobs pushed, of the arrivals planned.
type Threshold struct {
	// Source is the threshold as it was given.
	Source string
	// Metric is one of Metrics, and Operator one of "<", "<=", ">", ">=", "==" and "!=".
	Metric   string
	Operator string
	// Value is in nanoseconds for a time and in 1/s for a rate; if IsShare is set it is a share: 0.001 for 0.1 %.
	Value   float64
	IsShare bool
}

// Evaluate compares l with t. Without data t is not met. If l is INVALID, t is judged only if it is about the account
// of the jobs, which is exact whatever else the generator had to do. What only a complete drain shows of that is not
// judged after another one. A figure that may be several is compared at both ends: both meet it, or
// neither, or it is undecided.
func (t Threshold) Evaluate(l *results.Load) results.ThresholdResult {
	result := results.ThresholdResult{Threshold: t.Source, NoData: true, Actual: "no data"}
	m, ok := results.FindMetric(t.Metric, []string{results.OpOf(t.Metric)})
	if !ok {
		result.Actual = "no metric of this name"
		return result
	}
	result.Expected = t.Operator + " " + m.Unit.Words(t.Value, t.IsShare)
	if !l.Validity.IsValid && !m.IsAccount {
		result.NotJudged, result.Actual, result.DelayVerdict = true, "the run is INVALID", t.delayVerdict(l, m)
		return result
	}
	actual := m.Get(l).BoundByGenerator(&l.Validity, m)
	if !actual.OK && m.IsAccount && l.IsUndecided() {
		result.NotJudged, result.Actual = true, "unknown, because the drain was not complete"
		return result
	}
	value := actual.Value
	if t.IsShare {
		value = actual.Share(value)
	}
	if !actual.OK || math.IsNaN(value) || math.IsInf(value, 0) {
		return result
	}
	result.NoData = false
	result.Actual = m.Unit.DistinctWords(value, t.Value, t.IsShare)
	if actual.Uncertainty != "" && !t.IsShare {
		result.Actual += " (" + actual.Uncertainty + ")"
	}
	t.judge(actual, value, &result)
	t.doubt(l, m, &result)
	return result
}

// judge compares a value, and all else that it may be.
func (t Threshold) judge(actual results.MetricValue, value float64, result *results.ThresholdResult) {
	low, high := value, value
	if actual.Bounds != nil {
		result.Actual = actual.Bounds.Words(value) + result.Actual
		low, high = actual.Bounds.Low, actual.Bounds.High
	}
	meetsLow, meetsHigh := t.meets(low), t.meets(high)
	result.IsMet, result.IsUndecided = meetsLow && meetsHigh, meetsLow != meetsHigh
}

// doubt notes that t is missed, and delays of the generator may be why.
func (t Threshold) doubt(l *results.Load, m results.Metric, result *results.ThresholdResult) {
	if d := t.delayVerdict(l, m); !result.IsMet && !result.IsUndecided && d == results.DelayVerdictOpen {
		result.DelayVerdict = d
	}
}

// delayVerdict returns whether a run meets t, however much of its times is a delay of its generator: they are upper
// bounds. It may be INVALID because of such delays.
func (t Threshold) delayVerdict(l *results.Load, m results.Metric) results.DelayVerdict {
	actual := m.Get(l).BoundByDelays(l, m)
	switch {
	case !l.Validity.IsValid && !l.IsDelayed():
		return ""
	case !actual.OK:
		return results.DelayVerdictOpen
	}
	low, high := actual.Value, actual.Value
	if actual.Bounds != nil {
		low, high = actual.Bounds.Low, actual.Bounds.High
	}
	if t.IsShare {
		low, high = actual.Share(low), actual.Share(high)
	}
	switch a, b := t.meets(low), t.meets(high); {
	case a && b:
		return results.DelayVerdictMet
	case !a && !b:
		return results.DelayVerdictMissed
	}
	return results.DelayVerdictOpen
}

// meets reports whether a value meets t. No value meets an unknown operator.
func (t Threshold) meets(value float64) bool {
	meets, ok := operators[t.Operator]
	return ok && meets(value, t.Value)
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
