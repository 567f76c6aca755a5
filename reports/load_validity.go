package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// The limits of Evaluate.
const (
	// lateFloor and lateShare: the p99 of lateness may be as much as the greater of the two, the second being a share of
	// the p99 that it is part of. Below a millisecond it depends on the scheduler of the operating system more than on
	// the load, and the table shows it beside each figure.
	lateFloor = time.Millisecond
	lateShare = 0.10
	// lateEnough is how many values make a p99; below, the mean is compared with the limit.
	lateEnough = 100
	// busyOpen is the share of its CPUs from which on the generator reads replies too late: that delay is not counted
	// as lateness and looks like the target's. A closed loop has no target rate; it is INVALID only where the generator
	// was nearly the only limit.
	busyOpen   = 0.85
	busyClosed = 0.95
	// busyOver is how long a window must be for that: the CPU time of a shorter one is a few ticks of a clock.
	busyOver = 200 * time.Millisecond
	// achievedEnough is the share of the target rate that counts as all of it.
	achievedEnough = 0.99
	stealLimit     = 0.02
	throttleLimit  = 0.01
	clockLimit     = 100 * time.Millisecond
)

// Evaluate checks whether the figures of the run are about the target, and whether they meet the thresholds: it sets
// l.Validity and l.Thresholds from everything else in l, and changes nothing else. A run is INVALID for one of
// these reasons:
//
//	empty        no arrival succeeded
//	errors       more than 10 % of the commands of a kind failed
//	aborted      --overload abort, and an arrival found no free connection
//	connections  the target took fewer connections than the workload has
//	files        connections failed for want of descriptors; ports and memory alike
//	late         lateness p99 of a command above 1 ms and above 10 % of the p99 of its response (of the end-to-end
//	             latency, for a FETCH that waited); below 100 values the mean of lateness counts
//	saturated    the process, or a loop of it, used more than 85 % of its CPUs (95 % in a closed loop) in a
//	             window of 200 ms or more
//	behind       less than 99 % of the target rate was achieved, which is not explained by arrivals that found no free
//	             connection and by errors
//	stolen       more than 2 % of the machine's time went to others (steal)
//	throttled    a cgroup held the process back for more than 1 % of the time
//	clock        the clock jumped by 100 ms or more, or the machine slept
//
// A server that sustains less than the target rate, while the generator keeps up, does not make a run INVALID. The
// figures of an INVALID run are in the JSON, to look for the cause; they are not results, so thresholds are not met.
func (l *Load) Evaluate(thresholds ...Threshold) {
	reasons := slices.Concat(l.empty(), l.failed(), l.aborted(), l.exhausted(), l.late(), l.saturated(),
		l.behind(), l.disturbed())
	l.Validity = Validity{Valid: len(reasons) == 0, Reasons: reasons}
	if l.Validity.Valid {
		l.Validity.Remarks = l.remarks()
	}
	l.Thresholds = nil
	for _, t := range thresholds {
		l.Thresholds = append(l.Thresholds, t.Evaluate(l))
	}
}

func (l *Load) aborted() []Reason {
	if l.Plan.Overload != "abort" || l.Rate.Dropped == 0 {
		return nil
	}
	return []Reason{{
		ID:   "aborted",
		What: "an arrival found no free connection, and --overload abort does not allow that",
		Do:   "allow more connections, lower the rate, or use --overload queue or drop",
	}}
}

// exhausted returns a reason for each resource that the generator, or the target, ran out of.
func (l *Load) exhausted() []Reason {
	h := &l.Health
	var reasons []Reason
	add := func(count int64, id, of, do string) {
		if count > 0 {
			what := fmt.Sprintf("%s could not be opened for want of %s", text.Count(count, "connection"), of)
			reasons = append(reasons, Reason{ID: id, What: what, Do: do})
		}
	}
	files := "descriptors"
	if h.Files.Hard > 0 {
		files += fmt.Sprintf(" (limit %s, hard limit %s)", text.Grouped(h.Files.Soft), text.Grouped(h.Files.Hard))
	}
	add(h.NoFiles, "files", files,
		"raise the hard limit (ulimit -Hn as root, LimitNOFILE of a service), or open fewer connections")
	add(h.NoPorts, "ports", "local ports", "widen net.ipv4.ip_local_port_range, or spread the load over several addresses")
	add(h.NoMemory, "memory", "memory for sockets", "give the machine more memory, or open fewer connections")
	if c := l.Connections; c.Opened < c.Planned && len(reasons) == 0 && !l.Interrupted {
		what := fmt.Sprintf("the target took %s of %s connections", text.Grouped(c.Opened), text.Grouped(c.Planned))
		if c.Refused != "" {
			what += ": " + text.OneLine(c.Refused)
		}
		do := "raise the target's limit, or ask for no more connections than it takes"
		reasons = append(reasons, Reason{ID: "connections", What: what, Do: do})
	}
	return reasons
}

// late returns a reason about the command whose lateness is farthest beyond its limit.
func (l *Load) late() []Reason {
	worst, words := 1.0, ""
	for i := range l.Ops {
		op := &l.Ops[i]
		if !l.dueByPlan(op.Op) || op.Lateness.Count == 0 {
			continue
		}
		part, of := l.partOf(op)
		stat, actual := "p99", op.Lateness.P99
		if op.Lateness.Count < lateEnough {
			stat, actual = "mean", op.Lateness.Mean
		}
		limit := max(lateFloor, time.Duration(lateShare*float64(part)))
		if over := float64(actual) / float64(limit); over > worst {
			worst = over
			words = fmt.Sprintf("%s was sent late: the %s of its lateness is %s; allowed is the greater of %s and %s of the "+
				"p99 of %s (%s)",
				op.Op, stat, short(actual), short(lateFloor), percent(lateShare), of, short(part))
		}
	}
	if words == "" {
		return nil
	}
	do := "lower the rate, give the generator more CPUs or a dedicated machine, or look for what else runs there"
	return []Reason{{ID: "late", What: words, Do: do}}
}

// dueByPlan reports whether lateness of op falsifies figures: not that of heartbeats, of INFO and of the beginning and
// end of connections, unless connections are what is measured.
func (l *Load) dueByPlan(op string) bool {
	switch op {
	case "push", "ack", "fail":
		return true
	case "connect":
		return l.Rate.Op == op
	default:
		return strings.HasPrefix(op, "fetch.")
	}
}

// partOf returns the p99 of the time that the lateness of op is a part of, and its name. A FETCH that waited answers
// when a job comes; its lateness falsifies the end-to-end latency of that job.
func (l *Load) partOf(op *LoadOp) (p99 time.Duration, name string) {
	if op.Op == "fetch.waited" || op.Op == "fetch.empty" {
		if flow := l.flow("job.fetched"); flow != nil {
			return flow.Time.P99, "the time from PUSH to FETCH"
		}
	}
	return op.Response.P99, "its response time"
}

func (l *Load) saturated() []Reason {
	if l.tooShort() {
		return nil
	}
	limit := busyClosed
	if l.Plan.Open {
		limit = busyOpen
	}
	var what string
	switch busiest := slices.Max(append([]float64{0}, l.Health.Loops...)); {
	case l.Health.CPUShare > limit:
		what = fmt.Sprintf("the generator used %s of its %s", percent(l.Health.CPUShare), l.processors())
	case busiest > limit:
		what = fmt.Sprintf("a loop of the generator was busy for %s of the time", percent(busiest))
	default:
		return nil
	}
	return []Reason{{
		ID:   "saturated",
		What: fmt.Sprintf("%s; allowed is %s", what, percent(limit)),
		Do: "lower the rate or the number of connections, or give the generator more CPUs (GOMAXPROCS) or a dedicated " +
			"machine",
	}}
}

// tooShort reports whether the window was too short for the resolution of CPU time.
func (l *Load) tooShort() bool { return l.Health.Over > 0 && l.Health.Over < busyOver }

func (l *Load) processors() string {
	if n := l.Machine.GOMAXPROCS; n > 0 {
		return text.Count(n, "CPU")
	}
	return "CPUs"
}

func (l *Load) behind() []Reason {
	r := l.Rate
	if r.Target <= 0 || r.Achieved >= achievedEnough*r.Target {
		return nil
	}
	explained := r.Queued + r.Dropped + int64(l.Connections.Opened) + l.sumOf(r.Op).errors
	if r.Op == "connect" {
		explained += l.sumOf("hello").errors + l.sumOf("push").errors
	}
	if r.Planned-r.Done <= explained {
		return nil
	}
	return []Reason{{
		ID: "behind",
		What: fmt.Sprintf("%s of %s /s were achieved although connections were free: at most %s of the %s missing "+
			"arrivals found none", digits(r.Achieved), digits(r.Target),
			text.Grouped(r.Queued+r.Dropped), text.Grouped(r.Planned-r.Done)),
		Do: "lower the rate, or give the generator more CPUs or a dedicated machine",
	}}
}

// disturbed returns a reason for each disturbance by the machine.
func (l *Load) disturbed() []Reason {
	h := &l.Health
	var reasons []Reason
	if h.Steal > stealLimit {
		reasons = append(reasons, Reason{
			ID: "stolen",
			What: fmt.Sprintf("the host of this virtual machine took %s of its time; allowed is %s", percent(h.Steal),
				percent(stealLimit)),
			Do: "run it again when the host is quiet, or on a dedicated machine",
		})
	}
	if share := float64(h.Throttled) / float64(max(h.Over, 1)); share > throttleLimit {
		reasons = append(reasons, Reason{
			ID:   "throttled",
			What: fmt.Sprintf("a cgroup throttled the generator for %s in %s", short(h.Throttled), short(h.Over)),
			Do:   "raise the limit of CPU time (cpu.max, or the limits of the container), or lower the rate",
		})
	}
	for _, jump := range h.ClockJumps {
		if jump.By.Abs() >= clockLimit {
			reasons = append(reasons, Reason{
				ID: "clock",
				What: fmt.Sprintf("the clock jumped by %s, or the machine was asleep, %s after the start", short(jump.By),
					short(jump.At)),
				Do: "run it again with a steady clock, and keep the machine awake",
			})
			break
		}
	}
	return reasons
}

// find returns the first element that satisfies is, or nil.
func find[T any](all []T, is func(*T) bool) *T {
	for i := range all {
		if is(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

// op returns the figures of a kind of command, or nil.
func (l *Load) op(name string) *LoadOp {
	return find(l.Ops, func(o *LoadOp) bool { return o.Op == name })
}

// flow returns the figures of a flow that has values, or nil.
func (l *Load) flow(name string) *LoadFlow {
	return find(l.Flows, func(f *LoadFlow) bool { return f.Flow == name && f.Time.Count > 0 })
}

// errors returns the number of errors of all kinds.
func (o *LoadOp) errors() int64 {
	var sum int64
	for _, e := range o.Errors {
		sum += e.Count
	}
	return sum
}
