package reports

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// Upgrade is what became of the jobs of servers that took each other's place on the same data.
type Upgrade struct {
	// How is how they were stopped.
	How   string        `json:"how"`
	Steps []UpgradeStep `json:"steps"`
}

// UpgradeStep is the way from one server to the next one.
type UpgradeStep struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Back is set on the way back.
	Back bool `json:"back,omitempty"`
	// Down is the time from the stop until the next one served.
	Down   time.Duration  `json:"down_ns"`
	States []UpgradeState `json:"states"`
}

// UpgradeState is what became of the jobs that were in one state.
type UpgradeState struct {
	State string `json:"state"`
	Words string `json:"words"`
	// Jobs is how many there were, and Fates what became of them: kept, altered, lost, doubled, early, late, hidden.
	Jobs  int            `json:"jobs"`
	Fates map[string]int `json:"fates"`
	// Verdict is the worst of them.
	Verdict Verdict `json:"verdict"`
}

// named returns a step for people.
func (s *UpgradeStep) named(n int) string {
	way := ""
	if s.Back {
		way = ", the way back"
	}
	return fmt.Sprintf("%d: %s to %s%s", n+1, s.From, s.To, way)
}

// upgraded appends the table of states and steps, and its picture.
func (p *Page) upgraded(u *Upgrade, o PageOptions) {
	if u == nil || len(u.Steps) == 0 {
		return
	}
	p.Section("JOBS", "what became of them, by the state in which they were; stopped: "+u.How)
	shown := []string{"kept", "altered", "lost", "doubled", "early", "late", "hidden"}
	for i := range u.Steps {
		s := &u.Steps[i]
		t := Table{Columns: []Column{{Title: "state"}, {Title: "jobs", Right: true}}}
		for _, fate := range shown {
			t.Columns = append(t.Columns, Column{Title: fate, Right: true})
		}
		for _, state := range s.States {
			r := Cells(state.State, text.Grouped(state.Jobs))
			for _, fate := range shown {
				style := Plain
				if fate != "kept" && state.Fates[fate] > 0 && state.Verdict.Breach() {
					style = Bad
				}
				r = r.With(Styled(style, text.Grouped(state.Fates[fate])))
			}
			t.Rows = append(t.Rows, r)
		}
		p.Add(Heading{Level: 2, Text: Words(s.named(i))}, Prose{LinesOf("It served again after " + Duration(s.Down) + ".")},
			t)
	}
	if o.Figures {
		p.Add(u.figure())
	}
}

// figure returns a square for each state and step.
func (u *Upgrade) figure() Figure {
	m := &Matrix{Families: []Family{{Name: "STATES"}}}
	for i := range u.Steps {
		m.Runs = append(m.Runs, u.Steps[i].named(i))
	}
	for k, state := range u.Steps[0].States {
		row := MatrixRow{ID: state.State, Statement: state.Words, Known: make([]bool, len(u.Steps))}
		for i := range u.Steps {
			if k >= len(u.Steps[i].States) {
				row.Verdicts, row.Why = append(row.Verdicts, NotRun), append(row.Why, "")
				continue
			}
			at := &u.Steps[i].States[k]
			row.Verdicts = append(row.Verdicts, at.Verdict)
			row.Why = append(row.Why, fmt.Sprintf("%d of %d kept", at.Fates["kept"], at.Jobs))
		}
		m.Families[0].Rows = append(m.Families[0].Rows, row)
	}
	return Figure{
		Title: "States and steps", Of: m,
		Description: "A square for the jobs of each state in each step: P all are kept, F some are lost, doubled or " +
			"altered, W and O something that is only advised against, or recorded; N not reached.",
	}
}
