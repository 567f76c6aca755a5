package agents

import (
	"math"
	"time"

	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/judge"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

// result returns the report of the whole load.
func (c *coordinator) result() (*load.Result, error) {
	l := c.Report
	l.Run, l.Started, l.Took = c.Plan.Run, c.began, c.now()
	if len(c.roster.members) == 0 {
		l.NotStarted, l.Interrupted = c.roster.failed, c.interrupted
		judge.Evaluate(&l, c.Thresholds...)
		return &load.Result{Report: &l}, nil
	}
	var parts []load.Part
	for i, m := range c.roster.members {
		one := m.report
		if one == nil {
			one = m.partial(c.Plan.part(i), workload.Segment{Index: i, Of: c.Plan.Agents}, c.began)
		}
		for i := range one.Phases { // in the coordinator's time, as the seconds are
			one.Phases[i].From += m.latest.From - m.latest.At
		}
		part := load.Part{Agent: results.LoadAgent{Name: m.name, Clock: m.clock, Lost: m.lost}, Report: one}
		if m.jobs.whole {
			part.Account = m.jobs.data
		}
		parts = append(parts, part)
	}
	join := load.Join
	if c.Plan.Crosses {
		join = func(parts []load.Part) (*load.Result, error) { return load.JoinCrossed(parts, c.Crossed) }
	}
	result, err := join(parts)
	if err != nil {
		return nil, err
	}
	joined := result.Report
	joined.Run, joined.Seed, joined.Version, joined.Plan = l.Run, l.Seed, l.Version, l.Plan
	joined.Started, joined.Took, joined.Interrupted = l.Started, l.Took, c.interrupted
	if joined.Target.URL == "" {
		joined.Target = l.Target
	}
	joined.Target.Chosen, joined.Target.Subject = l.Target.Chosen, l.Target.Subject
	joined.Series, joined.Heat = c.timeline.series, c.timeline.heat
	judge.Evaluate(joined, c.Thresholds...)
	return result, nil
}

// add keeps what a tick has brought, for an agent that does not report.
func (m *member) add(set *measure.Set, s *second) {
	m.total.Add(set)
	m.latest = *s
	if s.Phase == "measure" {
		m.measured += s.Over
		m.achieved += s.Achieved * s.Over.Seconds()
	}
}

// partial returns what is known of an agent that did not report. began is when the coordinator did.
func (m *member) partial(run string, segment workload.Segment, began time.Time) *results.Load {
	l := &results.Load{Run: run, Measured: m.measured, Jobs: m.latest.Jobs}
	l.Plan.Segment = segment.String()
	l.Connections = results.Connections{Planned: m.latest.Connections, Opened: m.latest.Connections}
	l.Rate.Op, l.Rate.Done = m.latest.Op, int64(math.Round(m.achieved))
	l.Rate.Achieved = reports.PerSecond(l.Rate.Done, l.Measured)
	l.Ops, l.Flows = load.Figures(&m.total)
	if len(l.Ops) > 0 {
		l.Histograms = load.Log(&m.total, began, l.Run)
	}
	l.Jobs.Drained, l.Jobs.NotDrained = false, "it was lost before its queues were empty"
	return l
}
