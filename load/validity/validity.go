package validity

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// The limits of Evaluate.
const (
	// lateShare is how much of the p99 of a command's response time its lateness may be, but minLateLimit is always
	// allowed and maxLateLimit never exceeded. Below minLateLimit it depends on the scheduler of the operating system more
	// than on the load. Beyond maxLateLimit the load is not the one that was planned, however slow the target is: that is
	// the time slice which schedulers give to other processes. docs/load.md has the reasons.
	lateShare    = 0.10
	minLateLimit = 2 * time.Millisecond
	maxLateLimit = 10 * time.Millisecond
	// busyOpen is the share of its CPUs from which on the generator reads replies too late: that delay is not counted
	// as lateness and looks like the target's. A closed loop has no target rate: there it is a lower bound.
	busyOpen = 0.85
	// busyWorker is the share from which on a worker has to wait for the server of the suite.
	busyWorker = 0.5
	// ownShare is the share of the median cycle of a closed loop from which on its figures are bounds.
	ownShare = 0.1
	// minBusyWindow is the shortest window whose CPU time is judged: that of a shorter one is a few ticks of a clock.
	minBusyWindow = 200 * time.Millisecond
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
//	still        the generator stood still for more than 200 ms
//	empty        no arrival succeeded
//	errors       more than 10 % of the commands of a kind failed in another way than by an error reply, unless the target
//	             was disrupted on purpose
//	refused      half of the commands of a kind, or more, were answered with an error, likewise
//	aborted      --overload abort, and an arrival found no free connection
//	connections  the target took fewer connections than the workload has
//	files        connections failed for want of file descriptors; ports and memory alike: an internal error besides
//	late         open loop: the lateness of a kind of command above 10 % of the p99 of its response time (but 2 ms are
//	             always allowed, and more than 10 ms never): its p99, with fewer than 1,000 commands its p90, and with
//	             fewer than 100 its median
//	saturated    open loop, or a worker under load: the process, or a loop of it, used more than 85 % of its CPUs in a
//	             window of 200 ms or more
//	behind       less than 99 % of the target rate was achieved, which is not explained by arrivals that found no free
//	             connection, by errors or by disruptions
//	stolen       more than 2 % of the machine's time went to others (steal)
//	throttled    a cgroup held the process back for more than 1 % of the time
//	clock        the clock jumped by 100 ms or more, or the machine slept
//	disruptions  a disruption of the plan did not happen, or nothing was served after one: the plan was not carried
//	             out, or it was not seen whether the target recovers
//	start        the load did not begin, although its connections were open
//	part         a part of several is missing, there twice, late, of another plan, or not whole; each other reason of
//	             one of them is one of the whole
//
// A server that sustains less than the target rate, while the generator keeps up, does not make a run INVALID. The
// figures of an INVALID run are in the JSON, to look for the cause; they are not results, so only the thresholds on the
// account of the jobs are judged.
func Evaluate(l *results.Load, thresholds ...Threshold) {
	r := run{l}
	reasons := r.partsReasons()
	if len(l.Parts) == 0 {
		reasons = r.reasons()
	}
	l.Validity = r.generatorLimit()
	l.Validity.IsValid, l.Validity.Reasons = len(reasons) == 0, reasons
	if l.Validity.IsValid {
		l.Validity.Remarks = r.remarks()
	}
	l.Thresholds = nil
	for _, t := range thresholds {
		l.Thresholds = append(l.Thresholds, t.Evaluate(l))
	}
}

// run is a load that is judged.
type run struct{ *results.Load }

// reasons returns why a run of one generator is INVALID.
func (l run) reasons() []results.Reason {
	return slices.Concat(l.stillReasons(), l.emptyReasons(), l.hugeReplyReasons(), l.failureReasons(), l.abortReasons(),
		l.shortageReasons(), l.latenessReasons(), l.saturationReasons(),
		l.behindReasons(), l.disturbanceReasons(), l.skippedDisruptionReasons(), l.recoveryReasons())
}

// stillReasons returns the reason of a run whose generator stood still: what came due meanwhile was late, and what was
// answered was not read, so times and rates are its own.
func (l run) stillReasons() []results.Reason {
	holes := l.Health.Holes
	if len(holes) == 0 {
		return nil
	}
	var sum time.Duration
	for _, h := range holes {
		sum += h.Length
	}
	words := fmt.Sprintf("the generator stood still for %s, %s after the start", reports.Duration(holes[0].Length),
		reports.Duration(holes[0].At))
	if len(holes) > 1 {
		words = fmt.Sprintf("the generator stood still %s, for %s in total", countTimes(int64(len(holes))),
			reports.Duration(sum))
	}
	return reasonIf(true, results.ReasonStill, "run it again, and let nothing stop this process, pause or suspend its "+
		"machine, or take all of its CPUs", "%s", words)
}

// skippedDisruptionReasons returns a reason about the disruptions of the plan that did not happen.
func (l run) skippedDisruptionReasons() []results.Reason {
	failed := l.disruptions(func(d *results.LoadDisruption) bool { return d.Failure != "" })
	if len(failed) == 0 || l.Interrupted {
		return nil
	}
	reason := reasonIf(true, "disruptions",
		"make the load longer, or remove disruptions that this machine or the target does not allow",
		"%s of %d did not happen as planned", text.Count(len(failed), "disruption"), len(l.Disruptions.List))
	for _, d := range failed {
		reason[0].Facts = append(reason[0].Facts, results.Fact{Name: d.Words, Value: text.OneLine(d.Failure)})
	}
	return reason
}

// recoveryReasons returns a reason about disruptions after which nothing was served any more.
func (l run) recoveryReasons() []results.Reason {
	dead := l.disruptions(func(d *results.LoadDisruption) bool { return d.Failure == "" && d.FirstServed < 0 })
	if len(dead) == 0 || l.Interrupted {
		return nil
	}
	reason := reasonIf(true, "disruptions",
		"make the load longer and the disruptions rarer, so that the target has time to recover", "no command succeeded "+
			"after %s, until the next one or the end of the load",
		text.Count(len(dead), "disruption"))
	for _, d := range dead {
		reason[0].Facts = append(reason[0].Facts, results.Fact{Name: d.Words, Value: "over " +
			reports.Duration(d.At+d.Took) + " after the start, and nothing was served then"})
	}
	return reason
}

// disruptions returns those of a kind.
func (l run) disruptions(match func(*results.LoadDisruption) bool) (all []*results.LoadDisruption) {
	if l.Disruptions == nil {
		return nil
	}
	for i := range l.Disruptions.List {
		if d := &l.Disruptions.List[i]; match(d) {
			all = append(all, d)
		}
	}
	return all
}

func (l run) abortReasons() []results.Reason {
	return reasonIf(l.Plan.Overload == "abort" && l.Rate.Dropped > 0, "aborted",
		"allow more connections, lower the rate, or use --overload queue or drop",
		"an arrival found no free connection (--overload abort)")
}

// reasonIf returns the one reason of that id if it applies, with what to do about it, and what was observed.
func reasonIf(applies bool, id, do, format string, args ...any) []results.Reason {
	if !applies {
		return nil
	}
	return []results.Reason{{ID: id, Do: do, Description: fmt.Sprintf(format, args...)}}
}

// shortageReasons returns a reason for each resource that the generator, or the target, ran out of.
func (l run) shortageReasons() []results.Reason {
	reasons := l.Shortages()
	c := l.Connections
	return append(reasons, reasonIf(c.Opened < c.Planned && len(reasons) == 0 && !l.Interrupted, "connections",
		"raise the target's connection limit, or use fewer connections", "%s",
		reports.JoinWith(": ", fmt.Sprintf("the target accepted %s of %s connections", text.GroupDigits(c.Opened),
			text.GroupDigits(c.Planned)), text.OneLine(c.Refusal)))...)
}

// latenessReasons returns a reason about the command whose lateness is farthest beyond its limit.
func (l run) latenessReasons() []results.Reason {
	worst, words := 1.0, ""
	var facts []results.Fact
	fact := func(name, value string) { facts = append(facts, results.Fact{Name: name, Value: value}) }
	for i := range l.Ops {
		op := &l.Ops[i]
		if !l.Plan.IsOpenLoop || !l.LatenessCounts(op.Op) || op.Lateness.Count == 0 {
			continue
		}
		stat := typicalStat(op.Lateness.Count)
		actual, limit := op.Lateness.Stat(stat), lateLimit(op.Response.P99)
		if excess := float64(actual) / float64(limit); excess > worst {
			worst, facts = excess, nil
			words = fmt.Sprintf("%s was sent late: %s %s, allowed %s", op.Op, stat, reports.Duration(actual),
				reports.Duration(limit))
			fact("lateness of "+op.Op, fmt.Sprintf("%s %s, of %s", stat, reports.Duration(actual),
				text.Count(op.Lateness.Count, "command")))
			fact("allowed", fmt.Sprintf("%s: %s of the p99 of its response time (%s), at least %s and at most %s",
				reports.Duration(limit), reports.Percent(lateShare), reports.Duration(op.Response.P99),
				reports.Duration(minLateLimit), reports.Duration(maxLateLimit)))
		}
	}
	if h := &l.Health; h.MachineBusy >= machineFull && h.CPUShare < machineFull/2 {
		fact("machine", "busy for "+reports.Percent(h.MachineBusy)+" of the time")
		fact("generator", "used "+reports.Percent(h.CPUShare)+" of its "+l.Processors())
	}
	reason := reasonIf(worst > 1, "late",
		"lower the rate, give the generator more CPUs or a dedicated machine, or stop other processes", "%s", words)
	for i := range reason {
		reason[i].Facts = facts
	}
	return reason
}

// lateLimit returns the greatest lateness that commands with this p99 of their response times may have.
func lateLimit(response time.Duration) time.Duration {
	return min(max(minLateLimit, time.Duration(lateShare*float64(response))), maxLateLimit)
}

// typicalStat returns the percentile that so many values tell something about: a single stall of the machine makes
// several commands in a row late, which are not the p99 of few.
func typicalStat(values int64) string {
	for _, p := range []results.Percentile{99, 90} {
		if values >= p.Needs(minLatenessTail) {
			return p.String()
		}
	}
	return results.Percentile(50).String()
}

// minLatenessTail is how many values must lie beyond the percentile by which lateness is judged.
const minLatenessTail = 10

func (l run) saturationReasons() []results.Reason {
	cpuShare, busiest := l.busiest()
	words := fmt.Sprintf("a loop of the generator was busy for %s of the time", reports.Percent(busiest))
	if cpuShare > busyOpen {
		words = fmt.Sprintf("the generator used %s of its %s", reports.Percent(cpuShare), l.Processors())
	}
	return reasonIf((l.Plan.IsOpenLoop || l.Worker != nil) && max(cpuShare, busiest) > busyOpen, "saturated",
		"lower the rate or the number of connections, or give the generator more CPUs "+
			"(--processors) or a dedicated machine", "%s; allowed is %s", words, reports.Percent(busyOpen))
}

// busiest returns the share of the CPUs that the generator used, and the greatest share of the time for which one of
// its loops was busy; 0 if the window was too short to know.
func (l run) busiest() (cpuShare, loop float64) {
	if l.isTooShort() {
		return 0, 0
	}
	return l.Health.CPUShare, slices.Max(append([]float64{0}, l.Health.Loops...))
}

// generatorLimit returns what the generator's own part of a closed loop makes of its figures. No command of it is due
// before the reply to the one before, so lateness is no reason for INVALID: what counts is how much of a cycle was the
// generator's.
func (l run) generatorLimit() (v results.Validity) {
	op := l.Op(l.Rate.Op)
	if l.Plan.IsOpenLoop || l.Worker != nil || op == nil || op.Response.P50 <= 0 {
		return v
	}
	cycle := op.Response.P50
	if l.Rate.Op == "push" && l.Rate.Done > 0 { // producers think, or wait for workers
		cycle = max(cycle, time.Duration(l.Plan.Producers)*l.Measured/time.Duration(l.Rate.Done))
	}
	v.Share = min(1, float64(l.Health.ReplyDelay+op.Lateness.Mean)/float64(cycle))
	v.HasBounds = v.Share >= ownShare
	cpuShare, loop := l.busiest()
	if busy := max(cpuShare, loop); v.HasBounds || busy > busyOpen {
		v.Limit = fmt.Sprintf("the generator was the limit, at %s of its CPU", reports.Percent(busy))
	}
	return v
}

// isTooShort reports whether the window was too short for the resolution of CPU time.
func (l run) isTooShort() bool { return l.Health.Length > 0 && l.Health.Length < minBusyWindow }

func (l run) behindReasons() []results.Reason {
	r := l.Rate
	if r.Target <= 0 || r.IsAchieved() || l.Disruptions != nil || l.Worker != nil {
		return nil
	}
	explained := r.Queued + r.Dropped + r.Unserved + int64(l.Connections.Opened) + l.Sum(r.Op).Errors
	if r.Op == "connect" {
		explained += l.Sum("hello").Errors + l.Sum("push").Errors
	}
	return reasonIf(r.Planned-r.Done > explained, "behind",
		"lower the rate, or give the generator more CPUs or a dedicated machine",
		"%s of %s /s were achieved although connections were free: at most %s of the %s missing arrivals found no "+
			"connection",
		reports.Digits(r.Achieved), reports.Digits(r.Target), text.GroupDigits(r.Queued+r.Dropped+r.Unserved),
		text.GroupDigits(r.Planned-r.Done))
}

// disturbanceReasons returns a reason for each disturbance by the machine.
func (l run) disturbanceReasons() []results.Reason {
	h := &l.Health
	jumped := func(j *results.ClockJump) bool { return j.By.Abs() >= clockLimit }
	jump := cmp.Or(reports.Find(h.ClockJumps, jumped), &results.ClockJump{})
	return slices.Concat(
		reasonIf(h.Steal > stealLimit, "stolen", "run it again when the host is less busy, or on a dedicated machine",
			"CPU steal was %s; allowed is %s", reports.Percent(h.Steal),
			reports.Percent(stealLimit)),
		reasonIf(float64(h.Throttled)/float64(max(h.Length, 1)) > throttleLimit, "throttled",
			"raise the limit of CPU time (cpu.max, or the limits of the container), or lower the rate",
			"a cgroup throttled the generator for %s in %s", reports.Duration(h.Throttled), reports.Duration(h.Length)),
		reasonIf(jumped(jump), "clock", "run it again with a steady clock, and keep the machine awake",
			"the clock jumped by %s, or the machine was asleep, %s after the start", reports.Duration(jump.By),
			reports.Duration(jump.At)),
	)
}

// partsReasons returns why the sum of several generators is INVALID: a part is not one of the whole load, or INVALID
// itself. What several have in common, because it is that of their machine, is one reason.
func (l run) partsReasons() (reasons []results.Reason) {
	for i := range l.Parts {
		p := &l.Parts[i]
		reasons = append(reasons, reasonIf(p.Problem != "", "part", "read the output of the segments, and run all of them "+
			"again with the same plan and --start-at", "%s: %s", p.Title(), text.OneLine(p.Problem))...)
	}
	names := map[int]string{} // of the parts with a reason
	for i := range l.Parts {
		p := &l.Parts[i]
		for _, r := range p.Validity.Reasons {
			if p.Problem != "" {
				continue // that is why
			}
			at := slices.IndexFunc(reasons, func(other results.Reason) bool {
				return other.ID == r.ID && other.Description == r.Description && other.Do == r.Do
			})
			if at < 0 {
				reasons, at = append(reasons, r), len(reasons)
				names[at] = p.Title()
				continue
			}
			names[at] += ", " + p.Name
		}
	}
	for at, title := range names {
		reasons[at].Description = title + ": " + reasons[at].Description
	}
	return reasons
}
