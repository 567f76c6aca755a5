package measure

import "strings"

// Series is one histogram: a measure of an op, or a flow. Its String is the tag in logs, and what a threshold begins
// with: "push.response", "fetch.found.service", "job.acked". Series can be compared.
type Series struct {
	op      Op // empty: a flow
	measure Measure
	flow    Flow
}

// SeriesOf returns the series of a measure of an op.
func SeriesOf(op Op, m Measure) Series { return Series{op: op, measure: m} }

// FlowSeries returns the series of a flow.
func FlowSeries(f Flow) Series { return Series{flow: f} }

// Op returns the op and the measure of the series; ok is false for a flow.
func (s Series) Op() (op Op, m Measure, ok bool) { return s.op, s.measure, s.op != "" }

// String returns the tag in logs.
func (s Series) String() string {
	if s.op == "" {
		return s.flow.String()
	}
	return string(s.op) + "." + s.measure.String()
}

// ParseSeries returns the series with that tag. Any op will do: a log may be one of another protocol.
func ParseSeries(tag string) (s Series, ok bool) {
	for f := range Flows {
		if tag == f.String() {
			return FlowSeries(f), true
		}
	}
	dot := strings.LastIndexByte(tag, '.')
	for m := range Measures {
		if dot > 0 && tag[dot+1:] == m.String() {
			return SeriesOf(Op(tag[:dot]), m), true
		}
	}
	return Series{}, false
}
