package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Percentile is a percentile of times: 99.9 is the time that 99.9 % of them do not exceed. It is above 0 and below 100,
// with three decimals at most.
type Percentile float64

// Percentiles returns those that every report has, in the order of tables.
func Percentiles() []Percentile { return []Percentile{50, 90, 99, 99.9, 99.99} }

// ParsePercentile reads a percentile by its name, "p99.9".
func ParsePercentile(name string) (Percentile, error) {
	digits, ok := strings.CutPrefix(name, "p")
	rank, err := strconv.ParseFloat(digits, 64)
	p := Percentile(rank)
	if !ok || err != nil || !(rank > 0 && rank < 100) || p.String() != name { // no number is neither
		return 0, fmt.Errorf("%q is not a percentile: write p50, p95 or p99.5 for example, with at most three decimals",
			name)
	}
	return p, nil
}

// String returns its name: "p99.9".
func (p Percentile) String() string {
	return "p" + strconv.FormatFloat(math.Round(float64(p)*1000)/1000, 'f', -1, 64)
}

// Needs returns how many values it takes for so many of them to be beyond the percentile.
func (p Percentile) Needs(beyond int64) int64 {
	return int64(math.Ceil(float64(beyond)/(1-float64(p)/100) - 1e-6))
}

// PercentileIn returns the percentile that a metric is about, "push.response.p95" for example, if it is about one.
func PercentileIn(metric string) (Percentile, bool) {
	at := strings.LastIndex(metric, ".p")
	p, err := ParsePercentile(metric[at+1:])
	return p, at >= 0 && err == nil
}

// ExtraPercentiles returns those that some metrics are about and that not every report has.
func ExtraPercentiles(metrics ...string) (extra []Percentile) {
	for _, metric := range metrics {
		if p, ok := PercentileIn(metric); ok && !slices.Contains(append(Percentiles(), extra...), p) {
			extra = append(extra, p)
		}
	}
	return extra
}

// statNames returns the names of the parts of a Latency, with the percentile that a metric of that name is about.
func statNames(metric string) []string {
	names := []string{"min", "mean"}
	for _, p := range append(Percentiles(), ExtraPercentiles(metric)...) {
		names = append(names, p.String())
	}
	return append(names, "max")
}

// Stats returns what stands for STAT in a metric, in words: the parts of a time.
func Stats() []string { return append(statNames(""), "or any other percentile, such as p95") }

// field returns where a Latency has a part; nil if it is a percentile that not every report has.
func (l *Latency) field(stat string) *time.Duration {
	return map[string]*time.Duration{
		"min": &l.Min, "mean": &l.Mean, "p50": &l.P50, "p90": &l.P90, "p99": &l.P99, "p99.9": &l.P999, "p99.99": &l.P9999,
		"max": &l.Max,
	}[stat]
}

// lookupStat returns the part of that name, and whether the report has it.
func (l *Latency) lookupStat(name string) (value time.Duration, ok bool) {
	if field := l.field(name); field != nil {
		return *field, true
	}
	value, ok = l.Percentiles[name]
	return value, ok
}

// Stat returns the part of that name: min, mean, max, or a percentile; 0 if the report does not have it.
func (l *Latency) Stat(name string) time.Duration {
	value, _ := l.lookupStat(name)
	return value
}

// Set sets the part of that name.
func (l *Latency) Set(name string, value time.Duration) {
	if field := l.field(name); field != nil {
		*field = value
		return
	}
	if l.Percentiles == nil {
		l.Percentiles = make(map[string]time.Duration)
	}
	l.Percentiles[name] = value
}

// PercentilesBeyondSeconds returns those percentiles that not every second of a report has: it has the p50 and the p99.
func PercentilesBeyondSeconds(all []Percentile) (extra []Percentile) {
	for _, p := range all {
		if p != 50 && p != 99 {
			extra = append(extra, p)
		}
	}
	return extra
}

// tablePercentiles returns the percentiles of tables and pictures over time: those that were asked for, or those of
// every report.
func (l *Load) tablePercentiles() []Percentile {
	if len(l.Percentiles) > 0 {
		return l.Percentiles
	}
	return Percentiles()
}

// extraPercentiles returns the percentiles that not every report has, in ascending order.
func (l *Latency) extraPercentiles() (all []Percentile) {
	for name := range l.Percentiles {
		if p, err := ParsePercentile(name); err == nil {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	return all
}

// Quantile is a percentile: the share Q of all values, 0 to 1, is not greater than Time.
type Quantile struct {
	Q    float64       `json:"q"`
	Time time.Duration `json:"time_ns"`
}
