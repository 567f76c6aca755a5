package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
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
	Words string `json:"outcome"`
	// Lost is why the agent was given up before its report: its part has what had been received until then. Empty if the
	// report is complete.
	Lost string `json:"lost,omitempty"`
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
	if worst := l.worstLateness("p99"); worst.ok {
		a.Lateness = time.Duration(worst.value)
	}
	a.Exit, a.Words = l.Outcome()
}

// agentsReasons returns why the sum of several generators is INVALID: one of them was lost, or its part is INVALID.
// What several have in common, because it is that of their machine, is one reason.
func (l *Load) agentsReasons() (reasons []Reason) {
	names := map[int]string{} // of the agents with a reason
	for i := range l.Agents {
		a := &l.Agents[i]
		if a.Lost != "" {
			reasons = append(reasons, Reason{
				ID: "agent", What: fmt.Sprintf("agent %s was lost: %s", a.Name, a.Lost),
				Do: "look at what the agent has printed, and at the network between it and the coordinator, and run it again",
			})
			continue
		}
		for _, r := range a.Validity.Reasons {
			at := slices.Index(reasons, r)
			if at < 0 {
				reasons, at = append(reasons, r), len(reasons)
				names[at] = "agent " + a.Name
				continue
			}
			names[at] += ", " + a.Name
		}
	}
	for at, who := range names {
		reasons[at].What = who + ": " + reasons[at].What
	}
	return reasons
}

// agentsRemarks returns the remarks of all generators.
func (l *Load) agentsRemarks() (remarks []string) {
	for i := range l.Agents {
		for _, remark := range l.Agents[i].Validity.Remarks {
			remarks = append(remarks, "Agent "+l.Agents[i].Name+": "+remark)
		}
	}
	return remarks
}

// agents appends a row for each generator, and how exactly they began together.
func (p *Page) agents(l *Load, o PageOptions) {
	if len(l.Agents) == 0 {
		return
	}
	p.section("AGENTS", "the generators, each with its segment of the load")
	t := Table{Columns: []Column{
		{Width: opWidth}, {Title: "segment"}, {Title: "connections", Right: true}, {Title: "achieved", Right: true, Width: 9},
		{Title: "lateness p99", Right: true}, {Title: "CPU", Right: true, Width: 6}, {Title: "result"},
	}}
	for i := range l.Agents {
		t.Rows = append(t.Rows, l.Agents[i].row(o))
	}
	t.Note = Words(clocksOf(l.Agents))
	p.add(t)
}

// row returns the row of an agent; below it is what there is to know about it.
func (a *LoadAgent) row(o PageOptions) Row {
	result := Styled(Good, "valid")
	switch {
	case a.Lost != "":
		result = Styled(Bad, "lost")
	case !a.Validity.Valid:
		result = Styled(Bad, "INVALID")
	}
	row := Cells(a.Name, a.Segment, text.Grouped(a.Connections.Opened), Rate(a.Rate.Achieved), measured(a.Lateness),
		percent(a.Health.CPUShare))
	row.Cells = append(row.Cells, result)
	if a.Lost != "" {
		row.Detail = append(row.Detail, Styled(Bad, sentence(a.Lost)))
	}
	if o.Verbose {
		row.Detail = append(row.Detail, Styled(Faint, join2(", ", "run "+a.Run, a.Machine.words(), a.Clock.words())))
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
	words := "They began at one moment, known within " + short(bound) + "."
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
		return short(-c.Offset) + " behind"
	}
	return short(c.Offset) + " ahead"
}

// Add adds the counts of another account; whether the queues were drained stays as it is.
func (j *LoadJobs) Add(other *LoadJobs) {
	for _, count := range []struct{ to, of *int64 }{
		{&j.Pushed, &other.Pushed}, {&j.Refused, &other.Refused}, {&j.Doubtful, &other.Doubtful},
		{&j.Delivered, &other.Delivered}, {&j.Redelivered, &other.Redelivered}, {&j.Acked, &other.Acked},
		{&j.Failed, &other.Failed}, {&j.Lost, &other.Lost}, {&j.Duplicated, &other.Duplicated},
		{&j.Foreign, &other.Foreign}, {&j.OutOfOrder, &other.OutOfOrder}, {&j.Held, &other.Held},
		{&j.Waiting, &other.Waiting}, {&j.Missing, &other.Missing}, {&j.InDoubt, &other.InDoubt},
		{&j.FetchesLost, &other.FetchesLost}, {&j.TakenAtEnd, &other.TakenAtEnd},
	} {
		*count.to += *count.of
	}
}
