package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// remarks returns what the reader of valid figures should know.
func (l *Load) remarks() []string {
	out := slices.Concat(l.aboutTheRate(), l.aboutTheTimes(), l.aboutTheMachine())
	if n := l.Connections.Lost; n > 0 {
		why := ""
		if l.Connections.LostWhy != "" {
			why = " (the first: " + text.OneLine(l.Connections.LostWhy) + ")"
		}
		out = append(out, fmt.Sprintf("%s ended unexpectedly%s.", text.Count(n, "connection"), why))
	}
	if n := l.Connections.Disconnects; n > 0 {
		out = append(out, fmt.Sprintf("Clients ended %s without END.", text.Count(n, "connection")))
	}
	if unknown := l.Health.Unknown; len(unknown) > 0 {
		out = append(out, fmt.Sprintf("This machine does not provide the following, so it was not checked: %s.",
			strings.Join(slices.Sorted(slices.Values(unknown)), ", ")))
	}
	return out
}

// aboutTheRate returns remarks about what limited the rate.
func (l *Load) aboutTheRate() (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	h, r := &l.Health, l.Rate
	if r.Target > 0 && r.Achieved < achievedEnough*r.Target {
		add("The target, or the number of connections, was the limit: %s found no free connection.",
			text.Count(r.Queued+r.Dropped, "arrival"))
	}
	if !l.Plan.Open && h.CPUShare > busyOpen {
		add("The generator used %s of its %s: the target may sustain more than this.", percent(h.CPUShare), l.processors())
	}
	if l.tooShort() {
		add("Measuring for %s is too short to measure how busy the generator was.", short(h.Over))
	}
	switch {
	case l.piledUp() && l.Plan.Consumers == 0:
		add("No job was fetched while jobs were pushed: they waited for the drain, %s from PUSH to FETCH in the median.",
			short(l.flow("job.fetched").Time.P50))
	case l.piledUp():
		add("Producers pushed faster than workers fetched, as they do in a closed loop, so jobs waited in their queues: "+
			"%s from PUSH to FETCH in the median. That is how long the backlog was, not how fast a job gets through; to see "+
			"that, give a --rate below the achieved rate.", short(l.flow("job.fetched").Time.P50))
	}
	return out
}

// aboutTheTimes returns remarks about figures that contain delays of the generator.
func (l *Load) aboutTheTimes() (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for i := range l.Ops {
		op := &l.Ops[i]
		own := op.Lateness.P50
		if l.dueByPlan(op.Op) && op.Op != "fetch.empty" && own > op.Response.P50/10 && own >= 20*time.Microsecond {
			add("Up to %s of %s's median response (%s) is the generator's own delay: the service time is more accurate.",
				short(own), op.Op, short(op.Response.P50))
		}
		if n := op.Lateness.OutOfRange + op.Service.OutOfRange + op.Response.OutOfRange; n > 0 {
			add("%s of %s were outside the range that is recorded; they count as its nearest end.", text.Count(n, "time"), op.Op)
		}
	}
	return out
}

// aboutTheMachine returns remarks about what slowed the generator.
func (l *Load) aboutTheMachine() (out []string) {
	h := &l.Health
	if h.MachinePeak > 0.98 {
		out = append(out, fmt.Sprintf("The whole machine was busy for at least one second (%s on average): the generator "+
			"and what else runs there slowed each other down.", percent(h.MachineBusy)))
	}
	if h.Throttled > 0 {
		out = append(out, fmt.Sprintf("A cgroup throttled the generator %s, for %s in all.",
			times(h.ThrottledPeriods), short(h.Throttled)))
	}
	return out
}

// piledUp reports whether the end-to-end latencies are those of a backlog: in a closed loop producers may be faster
// than workers.
func (l *Load) piledUp() bool {
	flow, found := l.flow("job.fetched"), l.op("fetch.found")
	return !l.Plan.Open && flow != nil && found != nil && flow.Time.P50 > 10*max(found.Response.P50, time.Millisecond)
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return text.Grouped(n) + " times"
}
