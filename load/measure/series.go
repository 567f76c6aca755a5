package measure

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Series is one histogram: a measure of an op, or a flow, or what is unanswered of it. Its String is the tag in logs,
// and what a threshold begins with: "push.response", "fetch.found.service", "job.acked". Series can be compared.
type Series struct {
	op           Op // empty: a flow
	measure      Measure
	flow         Flow
	isUnanswered bool
}

// SeriesOf returns the series of a measure of an op.
func SeriesOf(op Op, m Measure) Series { return Series{op: op, measure: m} }

// FlowSeries returns the series of a flow.
func FlowSeries(f Flow) Series { return Series{flow: f} }

// Unanswered returns the series of those commands of s that had no reply, each with the time that it had waited.
func (s Series) Unanswered() Series {
	s.isUnanswered = true
	return s
}

// Op returns the op and the measure of the series; ok is false for a flow.
func (s Series) Op() (op Op, m Measure, ok bool) { return s.op, s.measure, s.op != "" }

// String returns the tag in logs.
func (s Series) String() string {
	tag := string(s.op) + "." + s.measure.String()
	if s.op == "" {
		tag = s.flow.String()
	}
	if s.isUnanswered {
		tag += unansweredSuffix
	}
	return tag
}

// unansweredSuffix is the end of the tags of what had no reply.
const unansweredSuffix = ".unanswered"

// ParseSeries returns the series with that tag. Any op will do: a log may be one of another protocol.
func ParseSeries(tag string) (s Series, ok bool) {
	if prefix, hasSuffix := strings.CutSuffix(tag, unansweredSuffix); hasSuffix &&
		!strings.HasSuffix(prefix, unansweredSuffix) {
		s, ok = ParseSeries(prefix)
		return s.Unanswered(), ok
	}
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

const (
	// ticks is how many lines a percentile file has for each halving of the distance to 100 %.
	ticks      = 5
	subBuckets = 2048 // of a histogram with three digits
)

// WritePercentiles writes the series of s as a percentile file (.hgrm), values in milliseconds, which HdrHistogram's
// plotter reads. It has the form of the Java tools; the Go library's own has too few decimals to distinguish
// percentiles above 99.9999. Without values the file has only its head and foot. What had no reply counts with the time
// that it had waited.
func WritePercentiles(w io.Writer, s *Set, series Series) error {
	h := s.Times(series).all
	if h == nil {
		h = newHistogram()
	}
	out := fmt.Appendf(nil, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	greatest := 0.0
	if h.TotalCount() > 0 {
		greatest = float64(valueAt(h, h.TotalCount()))
		for _, b := range h.CumulativeDistributionWithTicks(ticks) {
			out = fmt.Appendf(out, "%12.3f %2.12f %10d", float64(b.ValueAt)/ms, b.Quantile/100, b.Count)
			if b.Quantile < 100 {
				out = fmt.Appendf(out, " %14.2f", 1/(1-b.Quantile/100))
			}
			out = append(out, '\n')
		}
	}
	out = fmt.Appendf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", h.Mean()/ms, h.StdDev()/ms)
	out = fmt.Appendf(out, "#[Max     = %12.3f, Total count    = %12d]\n", greatest/ms, h.TotalCount())
	buckets := len(h.Export().Counts)/(subBuckets/2) - 1
	out = fmt.Appendf(out, "#[Buckets = %12d, SubBuckets     = %12d]\n", buckets, subBuckets)
	if _, err := w.Write(out); err != nil {
		return fmt.Errorf("write percentiles of %s: %w", series, err)
	}
	return nil
}

const ms = float64(time.Millisecond)
