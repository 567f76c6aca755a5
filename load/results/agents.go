package results

import (
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// LoadAgent is one of several generators that put a load on a target together: the part of the result that is its own.
type LoadAgent struct {
	// Name tells the agents apart: the name that it gave, or the file that its report was read from.
	Name string `json:"name"`
	// Run and Segment are those of its report, Machine is what it ran on, and Engine what moved its bytes.
	Run     string  `json:"run"`
	Segment string  `json:"segment,omitempty"`
	Machine Machine `json:"machine"`
	Engine  string  `json:"engine,omitempty"`
	// Clock is how its clock differed from the coordinator's; null without a coordinator.
	Clock *AgentClock `json:"clock,omitempty"`
	// Connections, Rate, Jobs, Health and Validity are those of its report.
	Connections Connections `json:"connections"`
	Rate        LoadRate    `json:"rate"`
	Jobs        LoadJobs    `json:"jobs"`
	Health      Health      `json:"health"`
	Validity    Validity    `json:"validity"`
	// Lateness is the highest p99 of the lateness of all its commands.
	Lateness time.Duration `json:"lateness_p99_ns"`
	// Exit is the exit code that its report alone would have, and Words what that stands for.
	Exit  int    `json:"exit_code"`
	Words string `json:"outcome" from:"target"`
	// Lost is why the agent was given up before its report: its part has what had been received until then. Empty if the
	// report is complete.
	Lost string `json:"lost,omitempty" from:"target"`
}

// AgentClock is how the clock of an agent differed from that of the coordinator, by the exchange of messages that took
// the least time of 32.
type AgentClock struct {
	// Offset is how far the agent's time of day was ahead; negative: behind. It changes nothing in the figures: the start
	// is measured by clocks that are never set.
	Offset time.Duration `json:"offset_ns"`
	// Bound is how far the offset, and the start of the agent's load, may be wrong: half of the time of that exchange.
	Bound time.Duration `json:"bound_ns"`
}

// Fill sets all of a but Name, Clock and Lost from the report of the agent.
func (a *LoadAgent) Fill(l *Load) {
	a.Run, a.Segment, a.Machine, a.Engine = l.Run, l.Plan.Segment, l.Machine, l.Engine
	a.Connections, a.Rate, a.Jobs, a.Health, a.Validity = l.Connections, l.Rate, l.Jobs, l.Health, l.Validity
	if worst := l.worstLateness("p99"); worst.OK {
		a.Lateness = time.Duration(worst.Value)
	}
	a.Exit, a.Words = l.Outcome()
}

// agents appends a row for each generator, and how exactly they began together.
func (p *page) agents(l *Load, o reports.PageOptions) {
	t := reports.Table{Columns: []reports.Column{
		{Width: opWidth}, {Title: "segment"}, {Title: "connections", Right: true}, {Title: "achieved", Right: true, Width: 9},
		{Title: "lateness p99", Right: true}, {Title: "CPU", Right: true, Width: 6}, {Title: "result"},
	}, Note: reports.Words(clocksOf(l.Agents))}
	t.Rows = reports.RowsOf(l.Agents, func(a *LoadAgent) reports.Row { return a.row(o) })
	p.TableSection("AGENTS", "the generators, each with its segment of the load", t)
}

// row returns the row of an agent; below it is what there is to know about it.
func (a *LoadAgent) row(o reports.PageOptions) reports.Row {
	result := reports.Styled(reports.Good, "valid")
	switch {
	case a.Lost != "":
		result = reports.Styled(reports.Bad, "lost")
	case !a.Validity.Valid:
		result = reports.Styled(reports.Bad, "INVALID")
	}
	row := reports.Cells(a.Name, a.Segment, text.Grouped(a.Connections.Opened), reports.Rate(a.Rate.Achieved),
		reports.Time(a.Lateness), reports.Percent(a.Health.CPUShare)).With(result)
	if a.Lost != "" {
		row.Detail = append(row.Detail, reports.Styled(reports.Bad, sentence(a.Lost)))
	}
	if o.Verbose {
		row.Detail = append(row.Detail, reports.Styled(reports.Faint,
			reports.JoinWith(", ", "run "+a.Run, a.Machine.words(), a.Clock.words())))
	}
	return row
}

// clockOff is how far the time of day of an agent may be off before the report names the agent.
const clockOff = 100 * time.Millisecond

// clocksOf returns how exactly agents began together, and whose time of day is wrong; empty if that is not known.
func clocksOf(agents []LoadAgent) string {
	var bound time.Duration
	var off []string
	for i := range agents {
		c := agents[i].Clock
		if c == nil {
			continue
		}
		bound = max(bound, c.Bound)
		if c.Offset.Abs() >= clockOff {
			off = append(off, agents[i].Name+": "+c.words())
		}
	}
	if bound == 0 && off == nil {
		return ""
	}
	words := "They began at one moment, known within " + reports.Duration(bound) + "."
	if off != nil {
		words += " Times of day that are wrong, which changes nothing: " + strings.Join(off, ", ") + "."
	}
	return words
}

// words returns how far a clock is ahead or behind, empty if that is not known.
func (c *AgentClock) words() string {
	switch {
	case c == nil:
		return ""
	case c.Offset < 0:
		return reports.Duration(-c.Offset) + " behind"
	}
	return reports.Duration(c.Offset) + " ahead"
}
