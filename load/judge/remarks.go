package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// remarks returns what the reader of valid figures should know.
func (l run) remarks() []string {
	if len(l.Agents) > 0 {
		return l.agentsRemarks()
	}
	h, c := &l.Health, &l.Connections
	why := text.OneLine(c.LostWhy)
	if why != "" {
		why = " (the first: " + why + ")"
	}
	return slices.Concat(l.aboutTheRate(), l.aboutTheQueues(), l.drift(), l.aboutTheTimes(),
		l.aboutTheBacklog(),
		when(h.MachinePeak > 0.98, "The whole machine was busy for at least one second (%s on average): the generator "+
			"and what else runs there slowed each other down.", reports.Percent(h.MachineBusy)),
		when(h.Throttled > 0, "A cgroup throttled the generator %s, for %s in all.", times(h.ThrottledPeriods),
			reports.Duration(h.Throttled)),
		when(c.Lost > 0, "%s ended unexpectedly%s.", text.Count(c.Lost, "connection"), why),
		when(c.Disconnects > 0, "Clients ended %s without a goodbye.", text.Count(c.Disconnects, "connection")),
		when(len(h.Unknown) > 0, "This machine does not provide the following, so it was not checked: %s.",
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
		when(r.Target > 0 && r.Achieved < results.AchievedEnough*r.Target,
			"The target, or the number of connections, was the limit: %s found no free connection.",
			text.Count(r.Queued+r.Dropped+r.Unserved, "arrival")),
		when(r.Unserved > 0, "%s of %s planned arrivals were unserved: they still waited for a connection at the end. They "+
			"count in the response times with the wait that they had so far, so a figure among them is marked >=: it was at "+
			"least that.", text.Grouped(r.Unserved), text.Grouped(r.Planned)),
		when(!l.Plan.Open && h.CPUShare > busyOpen,
			"The generator used %s of its %s: the target may sustain more than this.", reports.Percent(h.CPUShare),
			l.Processors()),
		when(l.tooShort(), "Measuring for %s is too short to measure how busy the generator was.", reports.Duration(h.Over)),
	)
}

// aboutTheQueues returns a remark if workers waited while jobs may have been in queues that no worker waits for.
func (l run) aboutTheQueues() []string {
	p, waits := &l.Plan, l.Sum("fetch.empty").Count
	return when(p.Awaited < p.Queues && waits > 0,
		"There were %d queues, and workers wait for jobs of %d of them: a FETCH "+
			"that finds no job waits for its first queue only, and %s for its whole time. That limits the rate and makes jobs "+
			"wait, and not the server: use --queues %d, or more --consumers.", p.Queues, p.Awaited,
		text.Count(waits, "fetch")+" waited", p.Awaited)
}

// aboutTheBacklog returns a remark about end-to-end latencies that are not shown.
func (l run) aboutTheBacklog() []string {
	fetched := l.Plan.Consumers > 0
	return slices.Concat(
		when(l.PiledUp() && !fetched,
			"No job was fetched while jobs were pushed, so there are no end-to-end latencies: jobs "+
				"waited for the drain."),
		when(l.PiledUp() && fetched, "Producers pushed faster than workers fetched, as they do in a closed loop, so jobs "+
			"waited in their queues. End-to-end latencies would be those of that backlog and are left out; to measure how "+
			"fast a job gets through, give a --backlog, or a --rate below the achieved rate."),
	)
}

// aboutTheTimes returns remarks about figures that contain delays of the generator.
func (l run) aboutTheTimes() (out []string) {
	for i := range l.Ops {
		op := &l.Ops[i]
		if l.DueByPlan(op.Op) && op.Op != "fetch.empty" {
			out = append(out, ownDelay(op)...)
		}
		n := op.Lateness.OutOfRange + op.Service.OutOfRange + op.Response.OutOfRange
		out = append(out, when(n > 0, "%s of %s were outside the range that is recorded; they count as its nearest end.",
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
	return when(much, "Up to %s of the %s of %s's response (%s) is the generator's own delay: the service time is more "+
		"accurate.", reports.Duration(own), stat, o.Op, reports.Duration(all))
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return text.Grouped(n) + " times"
}

// agentsRemarks returns the remarks of all generators.
func (l run) agentsRemarks() (remarks []string) {
	for i := range l.Agents {
		for _, remark := range l.Agents[i].Validity.Remarks {
			remarks = append(remarks, "Agent "+l.Agents[i].Name+": "+remark)
		}
	}
	return remarks
}
