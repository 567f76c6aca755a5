package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// Op returns the figures of a kind of command, or nil.
func (l *Load) Op(name string) *LoadOp {
	return reports.Find(l.Ops, func(o *LoadOp) bool { return o.Op == name })
}

// Flow returns the figures of a flow that has values, or nil.
func (l *Load) Flow(name string) *LoadFlow {
	return reports.Find(l.Flows, func(f *LoadFlow) bool { return f.Flow == name && f.Time.Count > 0 })
}

// ErrorCount returns the number of errors of all kinds.
func (o *LoadOp) ErrorCount() int64 {
	return sumOf(o.Errors, func(e *LoadError) int64 { return e.Count })
}

// sumOf adds up a number of some things.
func sumOf[T any, N int | int64](all []T, get func(*T) N) (sum N) {
	for i := range all {
		sum += get(&all[i])
	}
	return sum
}

// OpSum is the sum of the commands of one kind, or of several.
type OpSum struct {
	Count, Outside, Errors int64
	Rate                   float64
	Kinds                  []LoadError
}

// RefusedShare returns the share of the commands that were answered with an error.
func (s OpSum) RefusedShare() float64 {
	refused := sumOf(s.Kinds, func(e *LoadError) int64 {
		if e.Kind == "rejected" {
			return e.Count
		}
		return 0
	})
	return float64(refused) / float64(max(1, s.Errors+s.Count+s.Outside))
}

// Sum adds up the commands of that name, and of those that are a kind of them: fetch is every fetch.
func (l *Load) Sum(name string) OpSum {
	var sum OpSum
	for i := range l.Ops {
		op := &l.Ops[i]
		if op.Op == name || strings.HasPrefix(op.Op, name+".") {
			sum.Count += op.Count
			sum.Outside += op.Outside
			sum.Errors += op.ErrorCount()
			sum.Rate += op.Rate
			sum.Kinds = append(sum.Kinds, op.Errors...)
		}
	}
	return sum
}

// LatenessCounts reports whether lateness of op falsifies figures: not that of heartbeats, of info and of the beginning
// and end of connections, unless connections are what is measured.
func (l *Load) LatenessCounts(op string) bool {
	switch op {
	case "push", "ack", "fail":
		return true
	case "connect":
		return l.Rate.Op == op
	default:
		return strings.HasPrefix(op, "fetch.")
	}
}

// worstLateness returns the longest of the lateness of all commands whose lateness spoils figures.
func (l *Load) worstLateness(stat string) (worst MetricValue) {
	for i := range l.Ops {
		if op := &l.Ops[i]; l.LatenessCounts(op.Op) && op.Lateness.Count > 0 {
			lateness := op.Lateness.metricValue(stat)
			worst.OK, worst.Value = worst.OK || lateness.OK, max(worst.Value, lateness.Value)
		}
	}
	return worst
}

// HasPiledUp reports whether the end-to-end latencies are those of a backlog: in a closed loop producers may be faster
// than workers.
func (l *Load) HasPiledUp() bool {
	flow, found := l.Flow("job.fetched"), l.Op("fetch.found")
	return !l.Plan.IsOpenLoop && flow != nil && found != nil &&
		flow.Time.P50 > 10*max(found.Response.P50, time.Millisecond)
}

// cpus returns how many CPUs the generator may use: one for each of its loops.
func (l *Load) cpus() int { return cmp.Or(len(l.Health.Loops), l.Machine.GOMAXPROCS) }

// Processors returns how many CPUs the generator may use, in words.
func (l *Load) Processors() string {
	if n := l.cpus(); n > 0 {
		return text.Count(n, "CPU")
	}
	return "CPUs"
}

// Shortages returns a reason for each resource that this machine ran out of.
func (l *Load) Shortages() []Reason {
	h := &l.Health
	var reasons []Reason
	add := func(count int64, id string, kind machine.Shortage) {
		if count == 0 {
			return
		}
		words := fmt.Sprintf("%s could not be opened: out of %s", text.Count(count, "connection"), kind)
		if kind == machine.Files && h.Files.Hard > 0 {
			words += fmt.Sprintf(" (limit %s, hard limit %s)", text.GroupDigits(h.Files.Soft), text.GroupDigits(h.Files.Hard))
		}
		reasons = append(reasons, Reason{ID: id, Description: words, Do: kind.Advice()})
	}
	add(h.NoFiles, "files", machine.Files)
	add(h.NoPorts, "ports", machine.Ports)
	add(h.NoMemory, "memory", machine.Memory)
	return reasons
}

// shortageWords returns the first shortage of this machine and what to do about it, in words; empty if there was none.
func (l *Load) shortageWords() string {
	for _, r := range l.Shortages() {
		return r.Description + ": " + r.Do
	}
	return ""
}

// DelayVerdict is a result of a threshold that delays of the generator do not change.
type DelayVerdict string

// The results; DelayVerdictOpen depends on the delays.
const (
	DelayVerdictMet    DelayVerdict = "met"
	DelayVerdictMissed DelayVerdict = "missed"
	DelayVerdictOpen   DelayVerdict = "open"
)

// BoundByDelays returns r with the bounds that delays of the generator give to a metric of a run: a time may be shorter
// by as much as its command was sent late, and by any time if the generator, or its machine, was busy.
func (r MetricValue) BoundByDelays(l *Load, m Metric) MetricValue {
	if m.Unit != UnitTime || strings.Contains(m.Name, "lateness") || !r.OK {
		return r
	}
	high, low := r.Value, 0.0
	if r.Bounds != nil {
		high = r.Bounds.High
	}
	if l.Validity.IsValid || l.hasOnlyReasons("late") {
		low = max(0, r.Value-l.latenessIn(m.Name))
	}
	r.Bounds = &Bounds{Low: low, High: high}
	return r
}

// tailCommands is how many commands it takes for the lateness that one in a thousand exceeds.
const tailCommands = 1000

// latenessIn returns how much of a time the generator's own delay may be: of a percentile that of the next one.
func (l *Load) latenessIn(metric string) float64 {
	op, times := l.Op(OpOf(metric)), 1.0
	if op == nil { // a flow: that of the push, and that of the fetch or ack
		op, times = l.Op("push"), 2
	}
	if op == nil {
		return l.worstLateness("max").Value
	}
	stat := "max"
	percentile, ok := PercentileIn(metric)
	for _, p := range slices.Backward(Percentiles()) {
		if ok && op.Lateness.Count >= tailCommands && 100-p <= (100-percentile)/5 {
			stat = p.String()
		}
	}
	if strings.HasSuffix(metric, ".mean") {
		stat = "mean"
	}
	return times * float64(op.Lateness.Stat(stat))
}
