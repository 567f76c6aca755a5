package measure

import (
	"iter"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The range of every histogram, in nanoseconds, and its significant digits. A value out of range is recorded as 0 or as
// highest, and counted as such.
const (
	lowest  = int64(time.Microsecond)
	highest = int64(time.Hour)
	digits  = 3
)

// Set is what was recorded in a span of time: histograms and counts. The zero value is empty. It is not safe for
// concurrent use.
type Set struct {
	// From and Until are the span, in time since the engine's start. Add widens it.
	From, Until time.Duration

	ops     []opFigures // in the order in which they were first recorded or added, or that of NewRecorder
	flows   [Flows]seriesData
	queues  []seriesData // of jobs until they were delivered, by the queue; logs do not have them
	dropped int64
	carried int64
}

// opFigures are the figures of one kind of command.
type opFigures struct {
	op            Op
	times         [Measures]seriesData
	outsideWindow int64
	errors        [ErrorKinds]int64
}

// seriesData is one series. A time is known, or it is only known to be longer than a value: that of what had no reply.
type seriesData struct {
	histogram *hdrhistogram.Histogram // of the known times; nil before the first value
	waits     *hdrhistogram.Histogram // how long what had no reply had waited; nil before the first value
	unserved  int64                   // of waits: arrivals that were not sent
	clamps    Clamps
}

// Clamps counts the values of a series that were out of range and have been recorded as its least (0) or greatest (1 h)
// value.
type Clamps struct{ Underflows, Overflows int64 }

// newSet returns an empty set with the ops in that order.
func newSet(ops []Op) *Set {
	s := &Set{ops: make([]opFigures, len(ops))}
	for i, op := range ops {
		s.ops[i].op = op
	}
	return s
}

// Ops returns the kinds of commands that the set has figures of, in their order.
func (s *Set) Ops() []Op {
	var ops []Op
	for i := range s.ops {
		o := &s.ops[i]
		hasFigures := o.outsideWindow > 0 || o.errors != [ErrorKinds]int64{}
		for _, t := range o.times {
			hasFigures = hasFigures || countOf(t.histogram)+countOf(t.waits) > 0
		}
		if hasFigures {
			ops = append(ops, o.op)
		}
	}
	return ops
}

// find returns the figures of op, nil if there are none. A set has a dozen ops, which is too few for a map.
func (s *Set) find(op Op) *opFigures {
	for i := range s.ops {
		if s.ops[i].op == op {
			return &s.ops[i]
		}
	}
	return nil
}

// ensureOp returns the figures of op, and adds them if there are none.
func (s *Set) ensureOp(op Op) *opFigures {
	if o := s.find(op); o != nil {
		return o
	}
	s.ops = append(s.ops, opFigures{op: op})
	return &s.ops[len(s.ops)-1]
}

// series returns the times of which the series is a part, and adds them if there are none.
func (s *Set) series(series Series) *seriesData {
	if op, m, ok := series.Op(); ok {
		return &s.ensureOp(op).times[m]
	}
	return &s.flows[series.flow]
}

// read returns the times of which the series is a part, without values if there are none.
func (s *Set) read(series Series) seriesData {
	if op, m, ok := series.Op(); ok {
		return s.figures(op).times[m]
	}
	return s.flows[series.flow]
}

// figures returns the figures of op for reading; empty ones, which the set does not keep, if it has none.
func (s *Set) figures(op Op) *opFigures {
	if o := s.find(op); o != nil {
		return o
	}
	return new(opFigures)
}

// all goes through the series that the set has room for.
func (s *Set) all() iter.Seq2[Series, *seriesData] {
	return func(yield func(Series, *seriesData) bool) {
		for i := range s.ops {
			for m := range Measures {
				if !yield(SeriesOf(s.ops[i].op, m), &s.ops[i].times[m]) {
					return
				}
			}
		}
		for f := range Flows {
			if !yield(FlowSeries(f), &s.flows[f]) {
				return
			}
		}
	}
}

// Histogram returns the series' histogram, values in nanoseconds; nil if it has no value. It belongs to the set.
func (s *Set) Histogram(series Series) *hdrhistogram.Histogram {
	t := s.read(series)
	h := t.histogram
	if series.isUnanswered {
		h = t.waits
	}
	if countOf(h) == 0 {
		return nil
	}
	return h
}

// Histograms goes through the series that have a value: by op, and then the flows.
func (s *Set) Histograms() iter.Seq2[Series, *hdrhistogram.Histogram] {
	return func(yield func(Series, *hdrhistogram.Histogram) bool) {
		for series, t := range s.all() {
			if countOf(t.histogram) > 0 && !yield(series, t.histogram) ||
				countOf(t.waits) > 0 && !yield(series.Unanswered(), t.waits) {
				return
			}
		}
	}
}

// Count returns how many values the series has.
func (s *Set) Count(series Series) int64 { return countOf(s.Histogram(series)) }

// Unserved returns how many arrivals of the kind no connection had taken at the end of the load.
func (s *Set) Unserved(op Op) int64 { return s.figures(op).times[Response].unserved }

// Done returns how many commands of the kind were recorded: replied to, without an error, and intended for the window.
func (s *Set) Done(op Op) int64 { return s.Count(SeriesOf(op, Service)) }

// OutsideWindow returns how many commands were replied to, without an error, and not recorded: intended for a time
// outside of the window.
func (s *Set) OutsideWindow(op Op) int64 { return s.figures(op).outsideWindow }

// Errors returns how many commands of the kind ended in that way, in the window or not.
func (s *Set) Errors(op Op, kind ErrorKind) int64 { return s.figures(op).errors[kind] }

// Failed returns the sum of Errors over all kinds of errors.
func (s *Set) Failed(op Op) (sum int64) {
	for _, n := range s.figures(op).errors {
		sum += n
	}
	return sum
}

// Carried returns how many arrivals succeeded that could be sent in the window: they were due, and a connection was
// free.
func (s *Set) Carried() int64 { return s.carried }

// Dropped returns how many arrivals were not sent.
func (s *Set) Dropped() int64 { return s.dropped }

// Clamps returns how many of the series' values were out of range.
func (s *Set) Clamps(series Series) Clamps { return s.read(series).clamps }

// Add adds other, which is not changed, bucket by bucket and count by count. The span becomes the least that contains
// both; that of an empty set with the span 0 to 0 does not count. No value is lost: all histograms of this package have
// the same buckets.
func (s *Set) Add(other *Set) {
	s.widen(other.From, other.Until)
	for i := range other.ops {
		from := &other.ops[i]
		to := s.ensureOp(from.op)
		to.outsideWindow += from.outsideWindow
		for kind, n := range from.errors {
			to.errors[kind] += n
		}
	}
	for series, t := range other.all() {
		s.series(series).add(t)
	}
	for i := range other.queues {
		s.queue(i).add(&other.queues[i])
	}
	s.dropped += other.dropped
	s.carried += other.carried
}

// Reset empties s and keeps its memory for new values.
func (s *Set) Reset() {
	for _, t := range s.all() {
		t.reset()
	}
	for i := range s.queues {
		s.queues[i].reset()
	}
	for i := range s.ops {
		s.ops[i].outsideWindow, s.ops[i].errors = 0, [ErrorKinds]int64{}
	}
	s.From, s.Until, s.dropped, s.carried = 0, 0, 0, 0
}

// queue returns the times of a queue's jobs, and adds them if there are none.
func (s *Set) queue(i int) *seriesData {
	for len(s.queues) <= i {
		s.queues = append(s.queues, seriesData{})
	}
	return &s.queues[i]
}

// QueueTimes returns the times of the jobs of a queue: from the intended time of their push until they were delivered.
func (s *Set) QueueTimes(i int) Times {
	if i >= len(s.queues) {
		return Times{}
	}
	return s.queues[i].toTimes()
}

func (s *Set) widen(from, until time.Duration) {
	switch {
	case from == 0 && until == 0:
	case s.From == 0 && s.Until == 0:
		s.From, s.Until = from, until
	default:
		s.From, s.Until = min(s.From, from), max(s.Until, until)
	}
}

// countOf returns how many values a histogram has, which may be nil.
func countOf(h *hdrhistogram.Histogram) int64 {
	if h == nil {
		return 0
	}
	return h.TotalCount()
}

// record records a time.
func (t *seriesData) record(d time.Duration) { t.recordIn(&t.histogram, d) }

// recordWait records how long something had waited that had no reply.
func (t *seriesData) recordWait(d time.Duration) { t.recordIn(&t.waits, d) }

// recordIn records a value, clamped to the range.
func (t *seriesData) recordIn(h **hdrhistogram.Histogram, d time.Duration) {
	v := int64(d)
	switch {
	case v < 0:
		t.clamps.Underflows++
		v = 0
	case v > highest:
		t.clamps.Overflows++
		v = highest
	}
	if *h == nil {
		*h = newHistogram()
	}
	if (*h).RecordValue(v) != nil { // only after 2^63 values: each value in the range has a bucket
		t.clamps.Overflows++
	}
}

func (t *seriesData) add(other *seriesData) {
	t.clamps.Underflows += other.clamps.Underflows
	t.clamps.Overflows += other.clamps.Overflows
	t.unserved += other.unserved
	t.histogram = sumOf(t.histogram, other.histogram)
	t.waits = sumOf(t.waits, other.waits)
}

// sumOf adds the values of other to h, which it returns; either may be nil.
func sumOf(h, other *hdrhistogram.Histogram) *hdrhistogram.Histogram {
	switch {
	case countOf(other) == 0:
	case h == nil:
		return other.Clone()
	default:
		h.Merge(other) // nothing is dropped: the buckets are the same
	}
	return h
}

func (t *seriesData) reset() {
	t.clamps, t.unserved = Clamps{}, 0
	for _, h := range []*hdrhistogram.Histogram{t.histogram, t.waits} {
		if countOf(h) > 0 {
			h.Reset()
		}
	}
}

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(lowest, highest, digits) }
