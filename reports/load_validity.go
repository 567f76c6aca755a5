package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/shortage"
	"github.com/fwpsuite/fwp/internal/text"
)

// The limits of Evaluate.
const (
	// lateShare is how much of the p99 of a command's response time its lateness may be, but lateLeast is always allowed
	// and lateMost never exceeded. Below lateLeast it depends on the scheduler of the operating system more than on the
	// load. Beyond lateMost the load is not the one that was planned, however slow the target is: that is the time slice
	// which schedulers give to other processes. docs/load.md has the reasons.
	lateShare = 0.10
	lateLeast = 2 * time.Millisecond
	lateMost  = 10 * time.Millisecond
	// busyOpen is the share of its CPUs from which on the generator reads replies too late: that delay is not counted
	// as lateness and looks like the target's. A closed loop has no target rate; it is INVALID only where the generator
	// was nearly the only limit.
	busyOpen   = 0.85
	busyClosed = 0.95
	// busyOver is how long a window must be for that: the CPU time of a shorter one is a few ticks of a clock.
	busyOver = 200 * time.Millisecond
	// achievedEnough is the share of the target rate that counts as all of it.
	achievedEnough = 0.99
	// belowTarget is the share of the target rate below which the first line says that it was missed.
	belowTarget = 0.95
	// machineFull is the share of a machine's time from which on others that run there may be why the generator was late.
	machineFull   = 0.9
	stealLimit    = 0.02
	throttleLimit = 0.01
	clockLimit    = 100 * time.Millisecond
)

// Evaluate checks whether the figures of the run are about the target, and whether they meet the thresholds: it sets
// l.Validity and l.Thresholds from everything else in l, and changes nothing else. A run is INVALID for one of
// these reasons:
//
//	empty        no arrival succeeded
//	errors       more than 10 % of the commands of a kind failed, unless the target was disrupted on purpose
//	aborted      --overload abort, and an arrival found no free connection
//	connections  the target took fewer connections than the workload has
//	files        connections failed for want of file descriptors; ports and memory alike: an internal error besides
//	late         the lateness of a kind of command above 10 % of the p99 of its response time (but 2 ms are always
//	             allowed, and more than 10 ms never): its p99, with fewer than 1,000 commands its p90, and with fewer
//	             than 100 its median
//	saturated    the process, or a loop of it, used more than 85 % of its CPUs (95 % in a closed loop) in a
//	             window of 200 ms or more
//	behind       less than 99 % of the target rate was achieved, which is not explained by arrivals that found no free
//	             connection, by errors or by disruptions
//	stolen       more than 2 % of the machine's time went to others (steal)
//	throttled    a cgroup held the process back for more than 1 % of the time
//	clock        the clock jumped by 100 ms or more, or the machine slept
//	start        the load did not begin, although its connections were open
//	agent        one of several generators was lost; each other reason of one of them is one of the whole
//
// A server that sustains less than the target rate, while the generator keeps up, does not make a run INVALID. The
// figures of an INVALID run are in the JSON, to look for the cause; they are not results, so only the thresholds on the
// account of the jobs are judged.
func (l *Load) Evaluate(thresholds ...Threshold) {
	reasons := l.agentsReasons()
	if len(l.Agents) == 0 {
		reasons = l.reasons()
	}
	l.Validity = Validity{Valid: len(reasons) == 0, Reasons: reasons}
	if l.Validity.Valid {
		l.Validity.Remarks = l.remarks()
	}
	l.Thresholds = nil
	for _, t := range thresholds {
		l.Thresholds = append(l.Thresholds, t.Evaluate(l))
	}
}

// reasons returns why a run of one generator is INVALID.
func (l *Load) reasons() []Reason {
	return slices.Concat(l.empty(), l.failed(), l.aborted(), l.exhausted(), l.late(), l.saturated(),
		l.behind(), l.disturbed())
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

// shortages returns a reason for each resource that this machine ran out of.
func (l *Load) shortages() []Reason {
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
	for _, r := range l.shortages() {
		return r.What + ": " + r.Do
	}
	return ""
}

// exhausted returns a reason for each resource that the generator, or the target, ran out of.
func (l *Load) exhausted() []Reason {
	reasons := l.shortages()
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
		stat := typicalStat(op.Lateness.Count)
		actual, limit := op.Lateness.stat(stat), lateLimit(op.Response.P99)
		if over := float64(actual) / float64(limit); over > worst {
			worst = over
			words = fmt.Sprintf("%s was sent late: the %s of its lateness is %s, and %s is allowed: %s of the p99 of its "+
				"response time (%s), at least %s and at most %s", op.Op, stat, short(actual), short(limit), percent(lateShare),
				short(op.Response.P99), short(lateLeast), short(lateMost))
		}
	}
	if words == "" {
		return nil
	}
	if h := &l.Health; h.MachineBusy >= machineFull && h.CPUShare < machineFull/2 {
		words += fmt.Sprintf("; the machine was busy for %s of the time, and the generator used %s of its %s",
			percent(h.MachineBusy), percent(h.CPUShare), l.processors())
	}
	do := "lower the rate, give the generator more CPUs or a dedicated machine, or look for what else runs there"
	return []Reason{{ID: "late", What: words, Do: do}}
}

// lateLimit returns the greatest lateness that commands with this p99 of their response times may have.
func lateLimit(response time.Duration) time.Duration {
	return min(max(lateLeast, time.Duration(lateShare*float64(response))), lateMost)
}

// typicalStat returns the percentile that so many values tell something about: a single stall of the machine makes
// several commands in a row late, which are not the p99 of few.
func typicalStat(values int64) string {
	switch {
	case values >= 1000:
		return "p99"
	case values >= 100:
		return "p90"
	}
	return "p50"
}

// dueByPlan reports whether lateness of op falsifies figures: not that of heartbeats, of info and of the beginning and
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
		Do: "lower the rate or the number of connections, or give the generator more CPUs (--processors) or a dedicated " +
			"machine",
	}}
}

// tooShort reports whether the window was too short for the resolution of CPU time.
func (l *Load) tooShort() bool { return l.Health.Over > 0 && l.Health.Over < busyOver }

// cpus returns how many CPUs the generator may use: one for each of its loops.
func (l *Load) cpus() int { return cmp.Or(len(l.Health.Loops), l.Machine.GOMAXPROCS) }

func (l *Load) processors() string {
	if n := l.cpus(); n > 0 {
		return text.Count(n, "CPU")
	}
	return "CPUs"
}

func (l *Load) behind() []Reason {
	r := l.Rate
	if r.Target <= 0 || r.Achieved >= achievedEnough*r.Target || l.Disruptions != nil {
		return nil
	}
	explained := r.Queued + r.Dropped + r.Unserved + int64(l.Connections.Opened) + l.sumOf(r.Op).errors
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
			text.Grouped(r.Queued+r.Dropped+r.Unserved), text.Grouped(r.Planned-r.Done)),
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
