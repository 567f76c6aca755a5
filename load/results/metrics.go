package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// Metric is a figure that a threshold can be about.
type Metric struct {
	Name string
	// Family is the name with words in capitals for what varies: "OP.response.STAT". It is empty if nothing varies.
	Family string
	Unit   Unit
	// Shared is set if a share in % of something makes sense.
	Shared bool
	// Account is set if it is about the jobs and not about the rate or the times.
	Account bool
	// Doc is what it is, in a few words.
	Doc string
	// Get returns its value in a run.
	Get func(*Load) Reading
}

// Reading is the value of a metric, and the whole that it is a part of; OK is false if there is no data.
type Reading struct {
	Value, Whole float64
	OK           bool
	AtLeast      bool // the value is a lower bound
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
	t := reports.Table{Columns: []reports.Column{{Title: "metric"}, {Title: "compared with"}, {Title: "what it is"}},
		Wrap: true}
	var known []string
	for _, m := range Metrics([]string{"OP"}) {
		name := cmp.Or(m.Family, m.Name)
		if slices.Contains(known, name) {
			continue
		}
		known = append(known, name)
		t.Rows = append(t.Rows, reports.Cells(name, m.Example(), m.Doc))
	}
	return t
}

// Stats returns the names of the parts of a time that stand for STAT in a metric: "p99" for example.
func Stats() []string {
	var names []string
	for _, s := range stats {
		names = append(names, s.name)
	}
	return names
}

// FindMetric returns the metric of that name, if it is one of those in a load with these kinds of commands.
func FindMetric(name string, ops []string) (Metric, bool) {
	if name == "waited" { // as it was called before fwpbench/2
		name = "queued"
	}
	if m := reports.Find(metricsLike(name, ops), func(m *Metric) bool { return m.Name == name }); m != nil {
		return *m, true
	}
	return Metric{}, false
}

// OpOf returns the kind of command that a metric of this name would be about, and the name itself if about none.
func OpOf(name string) string {
	for _, m := range append(sumMetrics(""), timeMetrics("")...) {
		if op, ok := strings.CutSuffix(name, m.Name); ok {
			return op
		}
	}
	return name
}

// stat is a part of a Latency.
type stat struct {
	name string
	of   func(*Latency) time.Duration
}

// stats holds the parts of a Latency, as they are called in metrics.
var stats = []stat{
	{"min", func(l *Latency) time.Duration { return l.Min }},
	{"mean", func(l *Latency) time.Duration { return l.Mean }},
	{"p50", func(l *Latency) time.Duration { return l.P50 }},
	{"p90", func(l *Latency) time.Duration { return l.P90 }},
	{"p99", func(l *Latency) time.Duration { return l.P99 }},
	{"p99.9", func(l *Latency) time.Duration { return l.P999 }},
	{"p99.99", func(l *Latency) time.Duration { return l.P9999 }},
	{"max", func(l *Latency) time.Duration { return l.Max }},
}

// Stat returns the part of that name, which is one of stats.
func (l *Latency) Stat(name string) time.Duration {
	return reports.Find(stats, func(s *stat) bool { return s.name == name }).of(l)
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
			all = append(all, timeMetrics(op)...)
		}
	}
	for _, stat := range stats {
		for _, flow := range LoadFlows() {
			all = append(all, Metric{
				Name: flow + "." + stat.name, Family: "FLOW.STAT", Unit: UnitTime,
				Doc: "from the intended start of a job's push until it was delivered or its ack answered",
				Get: func(l *Load) Reading {
					if f := l.Flow(flow); f != nil {
						return f.Time.reading(stat.name)
					}
					return Reading{}
				},
			})
		}
		all = append(all, Metric{
			Name: "lateness." + stat.name, Family: "lateness.STAT", Unit: UnitTime,
			Doc: "the highest lateness of all commands: the generator's own delay",
			Get: func(l *Load) Reading { return l.worstLateness(stat.name) },
		})
	}
	return all
}

// sumMetrics returns those metrics of one kind of command that are sums.
func sumMetrics(name string) []Metric {
	return []Metric{
		{
			Name: name + ".rate", Family: "OP.rate", Unit: UnitRate, Doc: "commands answered per second",
			Get: func(l *Load) Reading {
				sum := l.Sum(name)
				return Reading{Value: sum.Rate, OK: sum.Count > 0}
			},
		},
		{
			Name: name + ".errors", Family: "OP.errors", Shared: true, Doc: "commands that failed, of those that were sent",
			Get: func(l *Load) Reading {
				sum := l.Sum(name)
				return partOf(sum.Errors, sum.Count+sum.Errors)
			},
		},
		{
			Name: name + ".count", Family: "OP.count", Doc: "commands answered",
			Get: func(l *Load) Reading { // 0 is data too
				return Reading{Value: float64(l.Sum(name).Count), OK: len(l.Ops) > 0}
			},
		},
	}
}

// opTimes holds the times of a command, as they are called in metrics.
var opTimes = []struct {
	name, means string
	of          func(*LoadOp) *Latency
}{
	{"response", "from the intended start of a command until its reply", func(o *LoadOp) *Latency { return &o.Response }},
	{"service", "from when a command was sent until its reply", func(o *LoadOp) *Latency { return &o.Service }},
	{"lateness", "the generator's own delay in sending a command", func(o *LoadOp) *Latency { return &o.Lateness }},
}

// timeMetrics returns those metrics of one kind of command that are times. A command that has kinds has none.
func timeMetrics(name string) (all []Metric) {
	for _, stat := range stats {
		for _, t := range opTimes {
			all = append(all, Metric{
				Name: name + "." + t.name + "." + stat.name, Family: "OP." + t.name + ".STAT", Unit: UnitTime, Doc: t.means,
				Get: func(l *Load) Reading {
					if op := l.Op(name); op != nil {
						return t.of(op).reading(stat.name)
					}
					return Reading{}
				},
			})
		}
	}
	return all
}

// runMetrics returns the metrics of the run as a whole.
func runMetrics() []Metric {
	recovery := func(name, doc string, of func(*LoadDisruption) time.Duration) Metric {
		return Metric{Name: name, Unit: UnitTime, Doc: doc, Get: func(l *Load) Reading { return l.Disruptions.worst(of) }}
	}
	return slices.Concat(
		[]Metric{
			{
				Name: "rate", Unit: UnitRate, Shared: true, Doc: "arrivals that succeeded per second, of the target rate",
				Get: func(l *Load) Reading {
					return Reading{Value: l.Rate.Achieved, Whole: l.Rate.Target, OK: l.Rate.Planned+l.Rate.Done > 0}
				},
			},
			{Name: "errors", Shared: true, Doc: "commands of any kind that failed, of those that were sent",
				Get: (*Load).allErrors},
		},
		metricsOf(rateCounts, false, func(l *Load) any { return &l.Rate }),
		[]Metric{
			recovery("recovery.served", "the longest time from the end of a disruption until a command was served",
				func(d *LoadDisruption) time.Duration { return d.Served }),
			recovery("recovery.back", "the longest time from the end of a disruption until the rate was back",
				func(d *LoadDisruption) time.Duration { return d.Back }),
			{
				Name: "connections.lost", Shared: true, Doc: "connections that ended unexpectedly, of those opened",
				Get: func(l *Load) Reading { return partOf(l.Connections.Lost, int64(l.Connections.Opened)) },
			},
			{Name: "findings", Account: true, Doc: "what the target did wrong with jobs and replies", Get: (*Load).allFindings},
		},
		metricsOf(jobCounts, true, func(l *Load) any { return &l.Jobs }),
	)
}

func (l *Latency) reading(stat string) Reading {
	return Reading{Value: float64(l.Stat(stat)), OK: l.Count > 0, AtLeast: slices.Contains(l.AtLeast, stat)}
}

func (l *Load) allErrors() Reading {
	wrong := sumOf(l.Ops, (*LoadOp).ErrorCount)
	return partOf(wrong, wrong+sumOf(l.Ops, func(o *LoadOp) int64 { return o.Count }))
}

func (l *Load) allFindings() Reading {
	count := sumOf(l.Findings, func(f *LoadFinding) int64 { return f.Count })
	return Reading{Value: float64(count), OK: l.Jobs.sent() > 0}
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

// Unit is what kind of number a metric is.
type Unit uint8

// The units. A share has the unit of what it is a part of.
const (
	UnitNumber Unit = iota
	UnitTime
	UnitRate
)

// Words writes a value for people.
func (u Unit) Words(value float64, share bool) string {
	switch {
	case share:
		return reports.Percent(value)
	case u == UnitTime:
		return reports.Duration(time.Duration(value))
	case u == UnitRate:
		return reports.Digits(value) + " /s"
	case value == math.Trunc(value):
		return text.Grouped(int64(value))
	default:
		return reports.Digits(value)
	}
}

// Exact writes a value in full.
func (u Unit) Exact(value float64, share bool) string {
	full := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	switch {
	case share:
		return full(value*100) + " %"
	case u == UnitTime:
		return fmt.Sprint(time.Duration(value))
	case u == UnitRate:
		return full(value) + " /s"
	default:
		return full(value)
	}
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
	case m.Unit == UnitRate && m.Shared:
		return "5000/s or 99%"
	case m.Unit == UnitRate:
		return "5000/s"
	case m.Shared:
		return "10 or 0.1%"
	default:
		return "10"
	}
}
