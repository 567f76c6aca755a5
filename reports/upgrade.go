package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Upgrade is what became of the jobs of servers that took each other's place on the same data.
type Upgrade struct {
	// Method is how they were stopped.
	Method string        `json:"how"`
	Steps  []UpgradeStep `json:"steps"`
}

// UpgradeStep is the way from one server to the next one.
type UpgradeStep struct {
	From string `json:"from"`
	To   string `json:"to"`
	// IsDowngrade is set on the way back.
	IsDowngrade bool `json:"back,omitempty"`
	// Downtime is the time from the stop until the next one served; 0, and absent, if it was not seen to.
	Downtime time.Duration `json:"down_ns,omitempty"`
	// Differs is in what the next server differs from the one before, "its process" for example; empty: it did not serve.
	Differs []string       `json:"differs,omitempty" from:"target"`
	States  []UpgradeState `json:"states"`
}

// UpgradeState is what became of the jobs that were in one state.
type UpgradeState struct {
	State string `json:"state"`
	Words string `json:"words"`
	// Jobs is how many there were; absent if that is not known. Fates is what became of them: kept, altered, lost,
	// doubled, early, late, hidden, order, miscount, unknown. One that is absent is not known.
	Jobs  *int           `json:"jobs,omitempty"`
	Fates map[string]int `json:"fates"`
	// Verdict is the worst of them.
	Verdict Verdict `json:"verdict"`
}

// title returns a step for people.
func (s *UpgradeStep) title(n int) string {
	way := ""
	if s.IsDowngrade {
		way = ", the way back"
	}
	return fmt.Sprintf("%d: %s to %s%s", n+1, s.From, s.To, way)
}

// readyWords returns when a server took the place of the one before, and how that is known.
func (s *UpgradeStep) readyWords() string {
	if s.Downtime == 0 {
		return "It is unknown whether another server took its place."
	}
	words := "It was ready again after " + Duration(s.Downtime) + "."
	if len(s.Differs) > 0 {
		words += " It is not the same server as before. This shows in: " + strings.Join(s.Differs, ", ") + "."
	}
	return words
}

// words returns in a line how many jobs do not come; empty if none is known to be missing.
func (u *Upgrade) words() string {
	if u == nil {
		return ""
	}
	var parts []string
	for i := range u.Steps {
		s := &u.Steps[i]
		missing, jobs, all := s.countMissing()
		place := "after the upgrade"
		if i > 0 && !s.IsDowngrade {
			place = fmt.Sprintf("after step %d", i+1)
		}
		words := fmt.Sprintf("%s of %s are missing %s", text.GroupDigits(missing), text.Count(jobs, "job"), place)
		if s.IsDowngrade {
			words = text.GroupDigits(missing) + " are missing after the way back"
		} else if len(all) > 0 {
			words += " (all that were " + strings.Join(all, ", ") + ")"
		}
		parts = append(parts, wordsIf(missing, words))
	}
	return join(parts...)
}

// countMissing returns how many jobs of a step do not come, how many there were, and the states none of whose jobs
// comes.
func (s *UpgradeStep) countMissing() (count, jobs int, all []string) {
	for _, state := range s.States {
		if state.Jobs == nil {
			continue
		}
		n := state.Fates["lost"] + state.Fates["hidden"]
		count, jobs = count+n, jobs+*state.Jobs
		inQueue := state.State == "large-queue" && slices.Contains(all, "enqueued") // they are enqueued, too
		if n > 0 && n == *state.Jobs && !inQueue {
			all = append(all, state.State)
		}
	}
	return count, jobs, all
}

// dash stands for what is not known.
const dash = "–"

// fates are the words for what may become of jobs, in their order.
var fates = []string{
	"kept", "lost", "hidden", "altered", "doubled", "early", "late", "order", "miscount", "unknown",
}

// row returns a state with what became of its jobs: "1,700 kept, 69 lost".
func (s *UpgradeState) row() Row {
	jobs, words := dash, []string(nil)
	if s.Jobs != nil {
		jobs = text.GroupDigits(*s.Jobs)
	}
	for _, fate := range fates {
		if n := s.Fates[fate]; n > 0 {
			words = append(words, text.GroupDigits(n)+" "+fate)
		}
	}
	if s.Jobs != nil && *s.Jobs > 0 && s.Fates["kept"] == *s.Jobs && len(words) == 1 {
		words = []string{"all kept"}
	}
	style := Plain
	if s.Verdict.IsBreach() {
		style = Bad
	}
	return Cells(s.State, jobs).With(StyledText(style, cmp.Or(strings.Join(words, ", "), dash)))
}

// upgrade appends the table of states and steps, and its picture.
func (p *Page) upgrade(u *Upgrade, o PageOptions) {
	if u == nil || len(u.Steps) == 0 {
		return
	}
	p.Section("JOBS", "the jobs by their state; stopped: "+u.Method)
	for i := range u.Steps {
		s := &u.Steps[i]
		t := Table{Columns: []Column{{Title: "state"}, {Title: "jobs", AlignRight: true}, {Title: "result"}}}
		for k := range s.States {
			t.Rows = append(t.Rows, s.States[k].row())
		}
		t.Note = PlainText(wordsIf(len(s.States), dash+": there were none, or it is unknown"))
		p.Add(Heading{Level: 2, Text: PlainText(s.title(i))}, Prose{LinesOf(s.readyWords())}, t)
	}
	if o.Figures {
		p.Add(u.figure())
	}
}

// figure returns a square for each state and step.
func (u *Upgrade) figure() Figure {
	m := &Matrix{Families: []Family{{Name: "STATES"}}}
	for i := range u.Steps {
		m.Runs = append(m.Runs, u.Steps[i].title(i))
	}
	for k, state := range u.Steps[0].States {
		row := MatrixRow{ID: state.State, Statement: state.Words, IsKnown: make([]bool, len(u.Steps))}
		for i := range u.Steps {
			if k >= len(u.Steps[i].States) {
				row.Verdicts, row.Causes = append(row.Verdicts, NotRun), append(row.Causes, "")
				continue
			}
			at := &u.Steps[i].States[k]
			row.Verdicts = append(row.Verdicts, at.Verdict)
			row.Causes = append(row.Causes, at.row().Cells[2].String()+" of "+at.row().Cells[1].String())
		}
		m.Families[0].Rows = append(m.Families[0].Rows, row)
	}
	return Figure{
		Title: "States and steps", Drawing: m,
		Description: "Each square stands for the jobs of one state in one step: P all kept, F some lost, duplicated or " +
			"changed, W a recommendation violated, O recorded, N not reached, ? unknown, a dot: no jobs.",
	}
}
