package validity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// remarks returns what the reader of valid figures should know.
func (l run) remarks() []string {
	if len(l.Parts) > 0 {
		return append(l.clockRemarks(), l.partsRemarks()...)
	}
	h, c := &l.Health, &l.Connections
	reason := text.OneLine(c.FirstLoss)
	if reason != "" {
		reason = " (the first: " + reason + ")"
	}
	return slices.Concat(l.rateRemarks(), l.queueRemarks(), l.driftRemarks(), l.clockRemarks(), l.timeRemarks(),
		l.backlogRemarks(),
		remarkIf(h.MachinePeak > 0.98, "All CPUs of this machine were busy for at least one second (%s on average): other "+
			"processes slowed the generator down, or it slowed them.", reports.Percent(h.MachineBusy)),
		remarkIf(l.Worker != nil && h.CPUShare > busyWorker, "The server of fwpbench used %s of its CPU: the times include "+
			"waiting for it, and the worker may be faster.", reports.Percent(h.CPUShare)),
		remarkIf(h.Throttled > 0, "A cgroup throttled the generator %s, for %s in total.", countTimes(h.ThrottledPeriods),
			reports.Duration(h.Throttled)),
		remarkIf(c.Losses > 0, "%s ended unexpectedly%s.", text.Count(c.Losses, "connection"), reason),
		remarkIf(c.Disconnects > 0, "Clients closed %s without a goodbye.", text.Count(c.Disconnects, "connection")),
		remarkIf(len(h.Unknown) > 0, "Not checked, because this machine does not provide it: %s.",
			strings.Join(slices.Sorted(slices.Values(h.Unknown)), ", ")),
	)
}

// remarkIf returns a remark if it applies.
func remarkIf(applies bool, format string, args ...any) []string {
	if !applies {
		return nil
	}
	return []string{fmt.Sprintf(format, args...)}
}

// rateRemarks returns remarks about what limited the rate.
func (l run) rateRemarks() []string {
	h, r := &l.Health, l.Rate
	return slices.Concat(
		remarkIf(r.Queued+r.Dropped+r.Unserved > 0 && !r.IsAchieved(),
			"The target or the number of connections was the limit: %s found no free connection.",
			text.Count(r.Queued+r.Dropped+r.Unserved, "arrival")),
		remarkIf(r.Unserved > 0, "%s of %s planned arrivals still waited for a connection at the end. Response times "+
			"include their wait so far, so a figure with >= is a lower bound.", text.GroupDigits(r.Unserved),
			text.GroupDigits(r.Planned)),
		remarkIf(l.GrowthWords() != "", "Jobs were pushed faster than workers got them: %s. At the end %s waited.",
			l.GrowthReport(), text.Count(cmp.Or(l.JobsDue, &results.JobsDue{}).End, "job")),
		remarkIf(l.Validity.Limit != "",
			"The generator used %s of the median cycle of %s: the target may sustain more.",
			reports.Percent(l.Validity.Share), r.Op),
		remarkIf(l.Validity.HasBounds,
			"From %s on, the rates of a closed loop are lower bounds, and its times upper bounds (<=).",
			reports.Percent(ownShare)),
		remarkIf(l.isTooShort(), "Measuring for %s is too short to measure how busy the generator was.",
			reports.Duration(h.Length)),
	)
}

// queueRemarks returns a remark if workers waited while jobs may have been in queues that no worker waits for.
func (l run) queueRemarks() []string {
	p, waits := &l.Plan, l.Sum("fetch.empty").Count
	return remarkIf(p.Awaited < p.Queues && waits > 0,
		"There were %d queues, and workers wait for only %d of them: a FETCH without a job waits for its first queue "+
			"only, and %s for its whole time. This limits the rate, not the server: use --queues %d, or more --consumers.",
		p.Queues, p.Awaited,
		text.Count(waits, "fetch")+" waited", p.Awaited)
}

// backlogRemarks returns a remark about end-to-end latencies that are not shown.
func (l run) backlogRemarks() []string {
	fetched := l.Plan.Consumers > 0
	return slices.Concat(
		remarkIf(l.HasPiledUp() && !fetched,
			"There are no end-to-end latencies, because no job was fetched before the drain."),
		remarkIf(l.HasPiledUp() && fetched, "Producers pushed faster than workers fetched, so jobs waited in the queues. "+
			"End-to-end latencies are left out, because they would measure that backlog; to measure them, give a "+
			"--backlog, or a --rate below the achieved rate."),
	)
}

// clockRemarks returns remarks about jobs with a time, which comes when it does by the server's clock.
func (l run) clockRemarks() []string {
	c := l.ServerClock
	if c == nil {
		return nil
	}
	ahead, words := c.Ahead, "ahead of this machine's, so scheduled jobs come that much earlier"
	if ahead < 0 {
		ahead, words = -ahead, "behind this machine's, so scheduled jobs come that much later"
	}
	about := "The server's clock is %s " + words + " (by the times that it writes into jobs)"
	return slices.Concat(
		remarkIf(ahead > 0 && c.Early == 0, about+".", reports.Duration(ahead)),
		remarkIf(ahead > 0 && c.Early > 0, about+": %s before the time by this machine's clock and not by the server's, "+
			"which is no finding.", reports.Duration(ahead), text.Count(c.Early, "job")+" came"),
		remarkIf(ahead == 0, "The times that the server writes into jobs contradict each other, so early jobs cannot be "+
			"explained by its clock."))
}

// timeRemarks returns remarks about figures that contain delays of the generator.
func (l run) timeRemarks() (out []string) {
	for i := range l.Ops {
		op := &l.Ops[i]
		if l.LatenessCounts(op.Op) && op.Op != "fetch.empty" {
			out = append(out, delayRemark(op)...)
		}
		n := op.Lateness.OutOfRange + op.Service.OutOfRange + op.Response.OutOfRange
		out = append(out, remarkIf(n > 0, "%s of %s were outside the recorded range; they count as its nearest limit.",
			text.Count(n, "time"), op.Op)...)
	}
	return out
}

// delayRemark returns a remark if a tenth of the median of the response times, or half of their p99, is the generator's
// own delay.
func delayRemark(o *results.LoadOp) []string {
	lateness, response := &o.Lateness, &o.Response
	stat, delay, all := "median", lateness.P50, response.P50
	isLarge := delay > all/10 && delay >= 20*time.Microsecond
	if !isLarge {
		stat, delay, all = "p99", lateness.P99, response.P99
		isLarge = lateness.Count >= 100 && delay > all/2 && delay >= time.Millisecond
	}
	return remarkIf(isLarge,
		"Up to %s of the response %s of %s (%s) is the generator's own delay: the service time is more "+
			"accurate.", reports.Duration(delay), stat, o.Op, reports.Duration(all))
}

func countTimes(n int64) string {
	if n == 1 {
		return "once"
	}
	return text.GroupDigits(n) + " times"
}

// partsRemarks returns the remarks of all generators.
func (l run) partsRemarks() (remarks []string) {
	for i := range l.Parts {
		for _, remark := range l.Parts[i].Validity.Remarks {
			remarks = append(remarks, "Part "+l.Parts[i].Name+": "+remark)
		}
	}
	return remarks
}
