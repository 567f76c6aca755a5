package plan

import (
	"cmp"
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
)

// Trace is a recorded load: when each job was pushed, and what it was like. It does not change once it is read.
type Trace struct {
	Queues         []string // in the order of their first jobs; none: the trace does not say which queue a job had
	Types          []string // of jobs, the same
	hasPayloads    bool     // it says how large the jobs were
	largestPayload int
	jobs           []traced // in the order of their times, which count from that of the first
}

// traced is a job of a trace.
type traced struct {
	at             time.Duration
	payload        int32
	queue, jobtype uint16 // indexes of Queues and Types
}

// maxTraceJobs is how many jobs a trace has at most, and maxTraceSize how many bytes its file.
const (
	maxTraceJobs = 5_000_000
	maxTraceSize = 256 << 20
)

// The columns of a trace. Only the first has to be there; what the others do not say is as in a load without a trace.
const (
	traceAt = iota // seconds since any moment, or a time as RFC 3339 writes it
	traceQueue
	traceType
	tracePayload // bytes
	traceWidth
)

var traceColumns = [traceWidth]string{"at", "queue", "jobtype", "payload"}

// Len returns how many jobs there are.
func (t *Trace) Len() int { return len(t.jobs) }

// job returns job k, of whatever k: a server may deliver numbers that are none.
func (t *Trace) job(k int64) *traced { return &t.jobs[uint64(k)%uint64(len(t.jobs))] }

// instants returns when the jobs are due, at so many times their speed.
func (t *Trace) instants(speed float64) []time.Duration {
	all := make([]time.Duration, len(t.jobs))
	for i := range t.jobs {
		all[i] = t.jobs[i].at
		if speed != 1 {
			all[i] = time.Duration(math.Round(float64(t.jobs[i].at) / speed))
		}
	}
	return all
}

// shares returns how many jobs each queue has.
func (t *Trace) shares() []float64 {
	shares := make([]float64, len(t.Queues))
	for i := range t.jobs {
		shares[t.jobs[i].queue]++
	}
	return shares
}

// sortJobs puts the jobs in the order of their times and has these count from the first.
func (t *Trace) sortJobs() {
	slices.SortStableFunc(t.jobs, func(a, b traced) int { return cmp.Compare(a.at, b.at) })
	for i := len(t.jobs) - 1; i >= 0; i-- {
		t.jobs[i].at -= t.jobs[0].at
	}
}

// TraceWriter writes a trace as CSV, which ReadTrace reads.
type TraceWriter struct {
	out *csv.Writer
	n   int
}

// NewTraceWriter returns a TraceWriter. Close returns the errors of all that is written.
func NewTraceWriter(to io.Writer) *TraceWriter {
	w := &TraceWriter{out: csv.NewWriter(to)}
	_ = w.out.Write(traceColumns[:])
	return w
}

// Job writes a job that was pushed at a time, and reports whether there was room: a trace is bounded.
func (w *TraceWriter) Job(at time.Duration, queue, jobtype string, payload int) bool {
	if w.n == maxTraceJobs {
		return false
	}
	w.n++
	_ = w.out.Write([]string{strconv.FormatFloat(at.Seconds(), 'f', 6, 64), queue, jobtype, strconv.Itoa(payload)})
	return true
}

// Len returns how many jobs were written.
func (w *TraceWriter) Len() int { return w.n }

// Close writes what is left, and returns the first error.
func (w *TraceWriter) Close() error {
	w.out.Flush()
	return w.out.Error()
}

// parseSpeed reads "2x" or "2": how many times as fast.
func parseSpeed(text string) (float64, error) {
	digits := text
	if n := len(text); n > 0 && text[n-1] == 'x' {
		digits = text[:n-1]
	}
	x, err := parseFloat(digits, 0, 1000, "2x or 0.5x")
	if err == nil && x != 0 && x < 0.001 {
		err = newProblem(text, "is out of range", "a factor from 0.001x to 1000x", "choose one in that range")
	}
	return x, err
}

func showSpeed(x float64) string { return formatNumber(x) + "x" }
