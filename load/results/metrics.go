package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// Metric is a figure that a threshold can be about.
type Metric struct {
	Name string
	// Family is the name with words in capitals for what varies: "OP.response.STAT". It is empty if nothing varies.
	Family string
	Unit   Unit
	// HasShare is set if a share in % of something makes sense.
	HasShare bool
	// IsAccount is set if it is about the jobs and not about the rate or the times.
	IsAccount bool
	// Doc is what it is, in a few words.
	Doc string
	// Get returns its value in a run.
	Get func(*Load) MetricValue
}

// MetricValue is the value of a metric, and the whole that it is a part of; OK is false if there is no data.
type MetricValue struct {
	Value, Denominator float64
	OK                 bool
	Bounds             *Bounds // what else it may be; nil: nothing
	Uncertainty        string  // how uncertain it is, empty if it is not
	// DeadShare is the share of the time in which such commands only failed: a closed loop pauses then, so that few are
	// sent.
	DeadShare float64
}

// Share returns the value as a share of its whole, or of the time where that is more.
func (r MetricValue) Share(value float64) float64 { return max(value/r.Denominator, r.DeadShare) }

// Bounds are the ends of what a figure may be.
type Bounds struct{ Low, High float64 }

// Words returns what a value is among its bounds: "at least ", "at most ", or "about ".
func (b *Bounds) Words(value float64) string {
	switch {
	case b.Low < value && value < b.High:
		return "about "
	case value < b.High:
		return "at least "
	}
	return "at most "
}

// BoundByGenerator returns r with the bounds that the generator's own part of a closed loop gives to a metric: a rate
// may be higher, and a time shorter.
func (r MetricValue) BoundByGenerator(v *Validity, m Metric) MetricValue {
	high := r.Value
	if r.Bounds != nil {
		high = r.Bounds.High
	}
	switch {
	case m.Unit == UnitRate && v.Limit != "":
		r.Bounds = &Bounds{Low: r.Value, High: math.Inf(1)}
	case m.Unit == UnitTime && v.HasBounds && !strings.Contains(m.Name, "lateness") &&
		!strings.HasPrefix(m.Name, "recovery"):
		r.Bounds = &Bounds{High: high}
	}
	return r
}

// MetricNames returns the names of all figures that a Threshold can be about, in a load with these kinds of commands.
func MetricNames(ops ...string) []string {
	var names []string
	for _, m := range Metrics(ops) {
		names = append(names, m.Name)
	}
	return names
}

// MetricTable returns the figures that a Threshold can be about, each with the values it takes and its meaning. OP,
// STAT and FLOW stand for what varies.
func MetricTable() reports.Table {
	t := reports.Table{Columns: []reports.Column{{Title: "metric"}, {Title: "compared with"}, {Title: "meaning"}},
		Wrap: true}
	var names []string
	for _, m := range Metrics([]string{"OP"}) {
		name := cmp.Or(m.Family, m.Name)
		if slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		t.Rows = append(t.Rows, reports.Cells(name, m.Example(), m.Doc))
	}
	return t
}

// FindMetric returns the metric of that name, if it is one of those in a load with these kinds of commands.
func FindMetric(name string, ops []string) (Metric, bool) {
	if m := reports.Find(metricsLike(name, ops), func(m *Metric) bool { return m.Name == name }); m != nil {
		return *m, true
	}
	return Metric{}, false
}

// OpOf returns the kind of command that a metric of this name would be about, and the name itself if about none.
func OpOf(name string) string {
	for _, m := range append(sumMetrics(""), timeMetrics("", name)...) {
		if op, ok := strings.CutSuffix(name, m.Name); ok {
			return op
		}
	}
	return name
}

// Metrics returns all metrics. Of two that are equally near to a name that is none, the first is suggested.
func Metrics(ops []string) []Metric { return metricsLike("", ops) }

// metricsLike returns those that may have that name, and all if it is empty: there are hundreds, most of them of other
// commands than the one that it begins with.
func metricsLike(name string, ops []string) []Metric {
	all := runMetrics()
	for _, op := range ops {
		if name != "" && !strings.HasPrefix(name, op+".") {
			continue
		}
		all = append(all, sumMetrics(op)...)
		if !slices.ContainsFunc(ops, func(other string) bool { return strings.HasPrefix(other, op+".") }) {
			all = append(all, timeMetrics(op, name)...)
		}
	}
	const flowDoc = "from the intended start of a job's push to its delivery or to the reply to its ack; job.late: " +
		"from the scheduled time of a job or of its next try to its delivery"
	for _, stat := range statNames(name) {
		for _, flow := range LoadFlows() {
			all = append(all, Metric{
				Name: flow + "." + stat, Family: "FLOW.STAT", Unit: UnitTime,
				Doc: flowDoc,
				Get: func(l *Load) MetricValue {
					if f := l.Flow(flow); f != nil {
						return f.Time.metricValue(stat)
					}
					return MetricValue{}
				},
			})
		}
		all = append(all, Metric{
			Name: "lateness." + stat, Family: "lateness.STAT", Unit: UnitTime,
			Doc: "the highest lateness of all commands: the generator's own delay",
			Get: func(l *Load) MetricValue { return l.worstLateness(stat) },
		})
	}
	return all
}

// sumMetrics returns those metrics of one kind of command that are sums.
func sumMetrics(name string) []Metric {
	return []Metric{
		{
			Name: name + ".rate", Family: "OP.rate", Unit: UnitRate, Doc: "commands answered per second",
			Get: func(l *Load) MetricValue {
				sum := l.Sum(name)
				return MetricValue{Value: sum.Rate, OK: sum.Count > 0}
			},
		},
		{
			Name: name + ".errors", Family: "OP.errors", HasShare: true, Doc: "failed commands, of those sent",
			Get: func(l *Load) MetricValue {
				sum := l.Sum(name)
				return shareOf(sum.Errors, sum.Count+sum.Errors).withDeadShare(l, name)
			},
		},
		{
			Name: name + ".count", Family: "OP.count", Doc: "commands answered",
			Get: func(l *Load) MetricValue { // 0 is data too
				return MetricValue{Value: float64(l.Sum(name).Count), OK: len(l.Ops) > 0}
			},
		},
	}
}

// opTimes holds the times of a command, as they are called in metrics.
var opTimes = []struct {
	name, means string
	get         func(*LoadOp) *Latency
}{
	{"response", "from the intended start of a command to its reply", func(o *LoadOp) *Latency { return &o.Response }},
	{"service", "from the sending of a command to its reply", func(o *LoadOp) *Latency { return &o.Service }},
	{"lateness", "the generator's own delay in sending a command", func(o *LoadOp) *Latency { return &o.Lateness }},
}

// timeMetrics returns those metrics of one kind of command that are times, with the percentile that a metric like one
// is about. A command that has kinds has none.
func timeMetrics(name, like string) (all []Metric) {
	for _, stat := range statNames(like) {
		for _, t := range opTimes {
			all = append(all, Metric{
				Name: name + "." + t.name + "." + stat, Family: "OP." + t.name + ".STAT", Unit: UnitTime, Doc: t.means,
				Get: func(l *Load) MetricValue {
					if op := l.Op(name); op != nil {
						return t.get(op).metricValue(stat)
					}
					return MetricValue{}
				},
			})
		}
	}
	return all
}

// recoveryMetric returns a metric of the disruption that took longest.
func recoveryMetric(name, doc string, get func(*LoadDisruption) time.Duration) Metric {
	value := func(l *Load) MetricValue { return l.Disruptions.worstTime(get) }
	return Metric{Name: name, Unit: UnitTime, Doc: doc, Get: value}
}

// runMetrics returns the metrics of the run as a whole.
func runMetrics() []Metric {
	return slices.Concat(
		[]Metric{
			{
				Name: "rate", Unit: UnitRate, HasShare: true, Doc: "arrivals that succeeded per second, of those planned",
				Get: func(l *Load) MetricValue {
					r := &l.Rate
					return MetricValue{
						Value: r.Achieved, OK: r.Planned+r.Done > 0, Uncertainty: r.interval(l.Measured),
						Denominator: reports.PerSecond(r.Planned, l.Measured), // a plan of few arrivals has no other share
					}
				},
			},
			{Name: "errors", HasShare: true, Doc: "failed commands of any kind, of those sent", Get: (*Load).allErrors},
		},
		metricsOf(rateCounts, false, func(l *Load) any { return &l.Rate }),
		[]Metric{
			recoveryMetric("recovery.served", "the longest time from the end of a disruption to the first successful command",
				func(d *LoadDisruption) time.Duration { return d.FirstServed }),
			recoveryMetric("recovery.back", "the longest time from the end of a disruption until the rate was back",
				func(d *LoadDisruption) time.Duration { return d.RateBack }),
			workerMetric("cpu", UnitTime, "CPU time of the worker for each job", func(l *Load, _ *LoadWorker) float64 {
				return float64(l.Health.ServerCPU) / float64(max(1, l.Rate.Done))
			}),
			workerMetric("memory", UnitNumber, "the most memory of the worker, in bytes",
				func(_ *Load, w *LoadWorker) float64 { return float64(w.MemoryPeak) }),
			workerMetric("in_hand", UnitNumber, "concurrent jobs of the worker, on average",
				func(_ *Load, w *LoadWorker) float64 { return w.InHand }),
			workerMetric("beat_gap", UnitTime, "the longest time without a heartbeat of the worker",
				func(_ *Load, w *LoadWorker) float64 { return float64(w.BeatGap) }),
			{
				Name: "connections.lost", HasShare: true, Doc: "connections that ended unexpectedly, of those opened",
				Get: func(l *Load) MetricValue { return shareOf(l.Connections.Losses, int64(l.Connections.Opened)) },
			},
			{Name: "findings", IsAccount: true, Doc: "errors of the target with jobs and replies", Get: (*Load).allFindings},
		},
		dueMetrics(),
		metricsOf(jobCounts, true, func(l *Load) any { return &l.Jobs }),
	)
}

// workerMetric returns a metric of a worker under load.
func workerMetric(name string, unit Unit, doc string, get func(*Load, *LoadWorker) float64) Metric {
	return Metric{Name: "worker." + name, Unit: unit, Doc: doc, Get: func(l *Load) MetricValue {
		if l.Worker == nil {
			return MetricValue{}
		}
		value := get(l, l.Worker)
		return MetricValue{Value: value, OK: value > 0}
	}}
}

func (l *Latency) metricValue(stat string) MetricValue {
	value, ok := l.lookupStat(stat)
	r := MetricValue{Value: float64(value), OK: ok && l.Count > 0}
	high, isBounded := l.AtMost[stat]
	switch {
	case isBounded:
		r.Bounds = &Bounds{Low: r.Value, High: float64(high)}
	case slices.Contains(l.AtLeast, stat):
		r.Bounds = &Bounds{Low: r.Value, High: math.Inf(1)}
	}
	return r
}

func (l *Load) allErrors() MetricValue {
	wrong := sumOf(l.Ops, (*LoadOp).ErrorCount)
	return shareOf(wrong, wrong+sumOf(l.Ops, func(o *LoadOp) int64 { return o.Count })).withDeadShare(l, failingOps...)
}

func (l *Load) allFindings() MetricValue {
	count := sumOf(l.Findings, func(f *LoadFinding) int64 { return f.Count })
	return MetricValue{Value: float64(count), OK: l.Jobs.pushes() > 0}
}

// ThresholdResult is the result of one threshold.
type ThresholdResult struct {
	// Threshold is the threshold as it was given: "push.response.p99<20ms".
	Threshold string `json:"threshold"`
	// IsMet reports whether the run meets it, however long what had no reply would have waited; without data it does not.
	IsMet bool `json:"met"`
	// IsUndecided is set if that depends on how long it would have waited.
	IsUndecided bool `json:"undecided,omitempty"`
	// NotJudged is set if the run is INVALID and the threshold is not about the account of the jobs, or if it is about
	// jobs that are lost or missing and the drain was not complete.
	NotJudged bool `json:"not_judged,omitempty"`
	// DelayVerdict is what becomes of it whatever part of the times is a delay of the generator, in a run that is INVALID
	// because of such delays, or where it is missed and they may be why: "met", "missed" or "open".
	DelayVerdict DelayVerdict `json:"despite_delays,omitempty"`
	// Expected and Actual are both sides in words: "< 20 ms" and "31.4 ms", or "no data".
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
	// NoData is set if there was nothing to compare with.
	NoData bool `json:"no_data,omitempty"`
}

// Unit is what kind of number a metric is.
type Unit uint8

// The units. A share has the unit of what it is a part of.
const (
	UnitNumber Unit = iota
	UnitTime
	UnitRate
)

// Words writes a value for people.
func (u Unit) Words(value float64, isShare bool) string {
	switch {
	case isShare:
		return reports.Percent(value)
	case u == UnitTime:
		return reports.Duration(time.Duration(value))
	case u == UnitRate:
		return reports.Digits(value) + " /s"
	case value == math.Trunc(value):
		return text.GroupDigits(int64(value))
	default:
		return reports.Digits(value)
	}
}

// DistinctWords writes a value with so many decimals that it is not written as another one is: 5.001 where that is 5.
func (u Unit) DistinctWords(value, other float64, isShare bool) string {
	words := u.Words(value, isShare)
	if words != u.Words(other, isShare) || value == other {
		return words
	}
	if u == UnitTime {
		return fmt.Sprint(time.Duration(value))
	}
	unit := ""
	switch {
	case isShare:
		value, other, unit = value*100, other*100, " %"
	case u == UnitRate:
		unit = " /s"
	}
	for n := 1; n < 15; n++ {
		if s := strconv.FormatFloat(value, 'f', n, 64); s != strconv.FormatFloat(other, 'f', n, 64) {
			return s + unit
		}
	}
	return strconv.FormatFloat(value, 'f', -1, 64) + unit
}

// Factors returns what the words for units of u are worth.
func (u Unit) Factors() map[string]float64 {
	switch u {
	case UnitTime:
		return map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9}
	case UnitRate:
		return map[string]float64{"": 1, "/s": 1, "/m": 1.0 / 60, "/h": 1.0 / 3600}
	default:
		return map[string]float64{"": 1}
	}
}

// Example returns a value that m could have.
func (m Metric) Example() string {
	switch {
	case m.Unit == UnitTime:
		return "20ms"
	case m.Unit == UnitRate && m.HasShare:
		return "5000/s or 99%"
	case m.Unit == UnitRate:
		return "5000/s"
	case m.HasShare:
		return "10 or 0.1%"
	default:
		return "10"
	}
}
