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
	out := slices.Concat(l.aboutTheRate(), l.aboutTheTimes(), l.aboutTheBacklog(), l.aboutTheMachine())
	if n := l.Connections.Lost; n > 0 {
		why := ""
		if l.Connections.LostWhy != "" {
			why = " (the first: " + text.OneLine(l.Connections.LostWhy) + ")"
		}
		out = append(out, fmt.Sprintf("%s ended unexpectedly%s.", text.Count(n, "connection"), why))
	}
	if n := l.Connections.Disconnects; n > 0 {
		out = append(out, fmt.Sprintf("Clients ended %s without a goodbye.", text.Count(n, "connection")))
	}
	if unknown := l.Health.Unknown; len(unknown) > 0 {
		out = append(out, fmt.Sprintf("This machine does not provide the following, so it was not checked: %s.",
			strings.Join(slices.Sorted(slices.Values(unknown)), ", ")))
	}
	return out
}

// aboutTheRate returns remarks about what limited the rate.
func (l run) aboutTheRate() (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	h, r := &l.Health, l.Rate
	if r.Target > 0 && r.Achieved < results.AchievedEnough*r.Target {
		add("The target, or the number of connections, was the limit: %s found no free connection.",
			text.Count(r.Queued+r.Dropped+r.Unserved, "arrival"))
	}
	if r.Unserved > 0 {
		add("%s of %s planned arrivals were unserved: they still waited for a connection at the end. They count in the "+
			"response times with the wait that they had so far, so a figure among them is marked >=: it was at least that.",
			text.Grouped(r.Unserved), text.Grouped(r.Planned))
	}
	if !l.Plan.Open && h.CPUShare > busyOpen {
		add("The generator used %s of its %s: the target may sustain more than this.", reports.Percent(h.CPUShare),
			l.Processors())
	}
	if l.tooShort() {
		add("Measuring for %s is too short to measure how busy the generator was.", reports.Duration(h.Over))
	}
	return out
}

// aboutTheBacklog returns a remark about end-to-end latencies that are not shown.
func (l run) aboutTheBacklog() []string {
	switch {
	case !l.PiledUp():
		return nil
	case l.Plan.Consumers == 0:
		return []string{"No job was fetched while jobs were pushed, so there are no end-to-end latencies: jobs waited " +
			"for the drain."}
	}
	return []string{"Producers pushed faster than workers fetched, as they do in a closed loop, so jobs waited in their " +
		"queues. End-to-end latencies would be those of that backlog and are left out; to measure how fast a job gets " +
		"through, give a --backlog, or a --rate below the achieved rate."}
}

// aboutTheTimes returns remarks about figures that contain delays of the generator.
func (l run) aboutTheTimes() (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for i := range l.Ops {
		op := &l.Ops[i]
		if l.DueByPlan(op.Op) && op.Op != "fetch.empty" {
			out = append(out, ownDelay(op)...)
		}
		if n := op.Lateness.OutOfRange + op.Service.OutOfRange + op.Response.OutOfRange; n > 0 {
			add("%s of %s were outside the range that is recorded; they count as its nearest end.", text.Count(n, "time"), op.Op)
		}
	}
	return out
}

// ownDelay returns a remark if a tenth of the median of the response times, or half of their p99, is the generator's
// own delay.
func ownDelay(o *results.LoadOp) []string {
	remark := func(stat string, own, response time.Duration) []string {
		return []string{fmt.Sprintf("Up to %s of the %s of %s's response (%s) is the generator's own delay: the service "+
			"time is more accurate.", reports.Duration(own), stat, o.Op, reports.Duration(response))}
	}
	switch late, response := &o.Lateness, &o.Response; {
	case late.P50 > response.P50/10 && late.P50 >= 20*time.Microsecond:
		return remark("median", late.P50, response.P50)
	case late.Count >= 100 && late.P99 > response.P99/2 && late.P99 >= time.Millisecond:
		return remark("p99", late.P99, response.P99)
	}
	return nil
}

// aboutTheMachine returns remarks about what slowed the generator.
func (l run) aboutTheMachine() (out []string) {
	h := &l.Health
	if h.MachinePeak > 0.98 {
		out = append(out, fmt.Sprintf("The whole machine was busy for at least one second (%s on average): the generator "+
			"and what else runs there slowed each other down.", reports.Percent(h.MachineBusy)))
	}
	if h.Throttled > 0 {
		out = append(out, fmt.Sprintf("A cgroup throttled the generator %s, for %s in all.",
			times(h.ThrottledPeriods), reports.Duration(h.Throttled)))
	}
	return out
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
