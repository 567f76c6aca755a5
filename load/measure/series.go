package measure

import "slices"

// Series names one histogram: a measure of an op, or a flow. Its String is the tag in logs, and what a threshold begins
// with: "push.response", "fetch.found.service", "job.acked".
type Series uint8

// AllSeries is how many there are: for s := range measure.AllSeries.
const AllSeries = Series(int(Ops)*int(Measures) + int(Flows))

// SeriesOf is the series of a measure of an op.
func SeriesOf(op Op, m Measure) Series { return Series(op)*Series(Measures) + Series(m) }

// FlowSeries is the series of a flow.
func FlowSeries(f Flow) Series { return Series(Ops)*Series(Measures) + Series(f) }

// Op and measure of the series; ok is false for a flow.
func (s Series) Op() (op Op, m Measure, ok bool) {
	return Op(s / Series(Measures)), Measure(s % Series(Measures)), s < FlowSeries(0)
}

// String is the tag in logs.
func (s Series) String() string { return nameOf(seriesNames[:], int(s)) }

// ParseSeries finds the series that String names so.
func ParseSeries(tag string) (s Series, ok bool) {
	i := slices.Index(seriesNames[:], tag)
	return Series(max(i, 0)), i >= 0
}

var seriesNames = [AllSeries]string{
	"connect.lateness", "connect.service", "connect.response",
	"hello.lateness", "hello.service", "hello.response",
	"push.lateness", "push.service", "push.response",
	"fetch.lateness", "fetch.service", "fetch.response",
	"fetch.found.lateness", "fetch.found.service", "fetch.found.response",
	"fetch.waited.lateness", "fetch.waited.service", "fetch.waited.response",
	"fetch.empty.lateness", "fetch.empty.service", "fetch.empty.response",
	"ack.lateness", "ack.service", "ack.response",
	"fail.lateness", "fail.service", "fail.response",
	"beat.lateness", "beat.service", "beat.response",
	"info.lateness", "info.service", "info.response",
	"end.lateness", "end.service", "end.response",
	"job.fetched", "job.acked",
}
