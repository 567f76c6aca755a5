package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// remarks tells what the reader of valid figures should know.
func (l *Load) remarks() []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	h, r := &l.Health, l.Rate
	if r.Asked > 0 && r.Carried < carriedEnough*r.Asked {
		say("The target, or the number of connections, was the limit: %s found no free connection.", many(r.Waited+r.Dropped, "arrival"))
	}
	if !l.Plan.Open && h.CPUShare > busyOpen {
		say("The generator used %s of its %s: the target may carry more than this.", percent(h.CPUShare), l.processors())
	}
	if l.tooShort() {
		say("%s of measuring are too short to tell how busy the generator was.", short(h.Over))
	}
	if l.piledUp() {
		say("Producers pushed faster than workers fetched, as a closed loop has it: jobs waited in their queues, from PUSH to FETCH "+
			"%s in the median. That says how long the backlog was, not how fast a job gets through; for that give a --rate below what was carried.",
			short(l.flow("fetched").Time.P50))
	}
	for i := range l.Ops {
		op := &l.Ops[i]
		if own := op.Lateness.P50; l.dueByPlan(op.Op) && op.Op != "fetch.empty" && own > op.Response.P50/10 && own >= 20*time.Microsecond {
			say("Of the median response of %s (%s) the generator itself made up to %s: its service time is closer to the truth.",
				op.Op, short(op.Response.P50), short(own))
		}
		if n := op.Lateness.OutOfRange + op.Service.OutOfRange + op.Response.OutOfRange; n > 0 {
			say("%s of %s were out of the range that is recorded; they count as its nearest end.", many(n, "time"), op.Op)
		}
	}
	if h.MachinePeak > 0.98 {
		say("The whole machine was busy in at least one second (%s on average): what runs beside the generator slowed it and was slowed by it.",
			percent(h.MachineBusy))
	}
	if h.Throttled > 0 {
		say("A cgroup held the generator back %s, for %s in all.", times(h.ThrottledPeriods), short(h.Throttled))
	}
	if n := l.Connections.Lost; n > 0 {
		why := ""
		if l.Connections.LostWhy != "" {
			why = " (the first: " + oneLine(l.Connections.LostWhy) + ")"
		}
		say("%s ended that nobody had told to%s.", many(n, "connection"), why)
	}
	if len(h.Unknown) > 0 {
		say("This machine does not tell, so that no rule can look at it: %s.", strings.Join(slices.Sorted(slices.Values(h.Unknown)), ", "))
	}
	return out
}

// piledUp says that the ways of jobs are those through a backlog: without a plan nothing keeps producers from being
// faster than workers.
func (l *Load) piledUp() bool {
	way, found := l.flow("fetched"), l.op("fetch.found")
	return !l.Plan.Open && way != nil && found != nil && way.Time.P50 > 10*max(found.Response.P50, time.Millisecond)
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return grouped(n) + " times"
}
