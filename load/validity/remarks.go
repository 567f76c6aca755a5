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
		return append(l.aboutTheClock(), l.partsRemarks()...)
	}
	h, c := &l.Health, &l.Connections
	why := text.OneLine(c.LostWhy)
	if why != "" {
		why = " (the first: " + why + ")"
	}
	return slices.Concat(l.aboutTheRate(), l.aboutTheQueues(), l.drift(), l.aboutTheClock(), l.aboutTheTimes(),
		l.aboutTheBacklog(),
		when(h.MachinePeak > 0.98, "All CPUs of this machine were busy for at least one second (%s on average): other "+
			"processes slowed the generator down, or it slowed them.", reports.Percent(h.MachineBusy)),
		when(l.Worker != nil && h.CPUShare > busyWorker, "The server of fwpbench used %s of its CPU: the times include "+
			"waiting for it, and the worker may be faster.", reports.Percent(h.CPUShare)),
		when(h.Throttled > 0, "A cgroup throttled the generator %s, for %s in total.", times(h.ThrottledPeriods),
			reports.Duration(h.Throttled)),
		when(c.Lost > 0, "%s ended unexpectedly%s.", text.Count(c.Lost, "connection"), why),
		when(c.Disconnects > 0, "Clients closed %s without a goodbye.", text.Count(c.Disconnects, "connection")),
		when(len(h.Unknown) > 0, "Not checked, because this machine does not provide it: %s.",
			strings.Join(slices.Sorted(slices.Values(h.Unknown)), ", ")),
	)
}

// when returns a remark if it applies.
func when(applies bool, format string, args ...any) []string {
	if !applies {
		return nil
	}
	return []string{fmt.Sprintf(format, args...)}
}

// aboutTheRate returns remarks about what limited the rate.
func (l run) aboutTheRate() []string {
	h, r := &l.Health, l.Rate
	return slices.Concat(
		when(r.Queued+r.Dropped+r.Unserved > 0 && !r.Enough(),
			"The target or the number of connections was the limit: %s found no free connection.",
			text.Count(r.Queued+r.Dropped+r.Unserved, "arrival")),
		when(r.Unserved > 0, "%s of %s planned arrivals still waited for a connection at the end. Response times "+
			"include their wait so far, so a figure with >= is a lower bound.", text.Grouped(r.Unserved),
			text.Grouped(r.Planned)),
		when(l.Growing() != "", "Jobs were pushed faster than workers got them: %s. At the end %s waited.",
			l.WhatGrew(), text.Count(cmp.Or(l.Due, &results.JobsDue{}).End, "job")),
		when(l.Validity.Limit != "",
			"The generator used %s of the median cycle of %s: the target may sustain more.",
			reports.Percent(l.Validity.Share), r.Op),
		when(l.Validity.Bounds, "From %s on, the rates of a closed loop are lower bounds, and its times upper bounds (<=).",
			reports.Percent(ownShare)),
		when(l.tooShort(), "Measuring for %s is too short to measure how busy the generator was.", reports.Duration(h.Over)),
	)
}

// aboutTheQueues returns a remark if workers waited while jobs may have been in queues that no worker waits for.
func (l run) aboutTheQueues() []string {
	p, waits := &l.Plan, l.Sum("fetch.empty").Count
	return when(p.Awaited < p.Queues && waits > 0,
		"There were %d queues, and workers wait for only %d of them: a FETCH without a job waits for its first queue "+
			"only, and %s for its whole time. This limits the rate, not the server: use --queues %d, or more --consumers.",
		p.Queues, p.Awaited,
		text.Count(waits, "fetch")+" waited", p.Awaited)
}

// aboutTheBacklog returns a remark about end-to-end latencies that are not shown.
func (l run) aboutTheBacklog() []string {
	fetched := l.Plan.Consumers > 0
	return slices.Concat(
		when(l.PiledUp() && !fetched,
			"There are no end-to-end latencies, because no job was fetched before the drain."),
		when(l.PiledUp() && fetched, "Producers pushed faster than workers fetched, so jobs waited in the queues. "+
			"End-to-end latencies are left out, because they would measure that backlog; to measure them, give a "+
			"--backlog, or a --rate below the achieved rate."),
	)
}

// aboutTheClock returns remarks about jobs with a time, which comes when it does by the server's clock.
func (l run) aboutTheClock() []string {
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
		when(ahead > 0 && c.Early == 0, about+".", reports.Duration(ahead)),
		when(ahead > 0 && c.Early > 0, about+": %s before the time by this machine's clock and not by the server's, "+
			"which is no finding.", reports.Duration(ahead), text.Count(c.Early, "job")+" came"),
		when(ahead == 0, "The times that the server writes into jobs contradict each other, so early jobs cannot be "+
			"explained by its clock."))
}

// aboutTheTimes returns remarks about figures that contain delays of the generator.
func (l run) aboutTheTimes() (out []string) {
	for i := range l.Ops {
		op := &l.Ops[i]
		if l.DueByPlan(op.Op) && op.Op != "fetch.empty" {
			out = append(out, ownDelay(op)...)
		}
		n := op.Lateness.OutOfRange + op.Service.OutOfRange + op.Response.OutOfRange
		out = append(out, when(n > 0, "%s of %s were outside the recorded range; they count as its nearest limit.",
			text.Count(n, "time"), op.Op)...)
	}
	return out
}

// ownDelay returns a remark if a tenth of the median of the response times, or half of their p99, is the generator's
// own delay.
func ownDelay(o *results.LoadOp) []string {
	late, response := &o.Lateness, &o.Response
	stat, own, all := "median", late.P50, response.P50
	much := own > all/10 && own >= 20*time.Microsecond
	if !much {
		stat, own, all = "p99", late.P99, response.P99
		much = late.Count >= 100 && own > all/2 && own >= time.Millisecond
	}
	return when(much, "Up to %s of the response %s of %s (%s) is the generator's own delay: the service time is more "+
		"accurate.", reports.Duration(own), stat, o.Op, reports.Duration(all))
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return text.Grouped(n) + " times"
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
