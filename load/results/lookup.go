package results

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/shortage"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// AchievedEnough is the share of the target rate that counts as all of it.
const AchievedEnough = 0.99

// belowTarget is the share of the target rate below which the first line says that it was missed.
const belowTarget = 0.95

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
func sumOf[T any, N int | int64](all []T, of func(*T) N) (sum N) {
	for i := range all {
		sum += of(&all[i])
	}
	return sum
}

// OpSum is the sum of the commands of one kind, or of several.
type OpSum struct {
	Count, Outside, Errors int64
	Rate                   float64
	Kinds                  []LoadError
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

// DueByPlan reports whether lateness of op falsifies figures: not that of heartbeats, of info and of the beginning and
// end of connections, unless connections are what is measured.
func (l *Load) DueByPlan(op string) bool {
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
func (l *Load) worstLateness(stat string) (worst Reading) {
	for i := range l.Ops {
		if op := &l.Ops[i]; l.DueByPlan(op.Op) && op.Lateness.Count > 0 {
			worst.OK = true
			worst.Value = max(worst.Value, float64(op.Lateness.Stat(stat)))
		}
	}
	return worst
}

// PiledUp reports whether the end-to-end latencies are those of a backlog: in a closed loop producers may be faster
// than workers.
func (l *Load) PiledUp() bool {
	flow, found := l.Flow("job.fetched"), l.Op("fetch.found")
	return !l.Plan.Open && flow != nil && found != nil && flow.Time.P50 > 10*max(found.Response.P50, time.Millisecond)
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
	add := func(count int64, id string, kind shortage.Kind) {
		if count == 0 {
			return
		}
		what := fmt.Sprintf("%s could not be opened for want of %s", text.Count(count, "connection"), kind)
		if kind == shortage.Files && h.Files.Hard > 0 {
			what += fmt.Sprintf(" (limit %s, hard limit %s)", text.Grouped(h.Files.Soft), text.Grouped(h.Files.Hard))
		}
		reasons = append(reasons, Reason{ID: id, What: what, Do: kind.Advice()})
	}
	add(h.NoFiles, "files", shortage.Files)
	add(h.NoPorts, "ports", shortage.Ports)
	add(h.NoMemory, "memory", shortage.Memory)
	return reasons
}

// short returns the first shortage of this machine and what to do about it, in words; empty if there was none.
func (l *Load) short() string {
	for _, r := range l.Shortages() {
		return r.What + ": " + r.Do
	}
	return ""
}
