package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// HistoriesSchema is the value of the key "schema" of the JSON of every Histories. Its number grows when a key is
// removed, renamed or changes its meaning.
const HistoriesSchema = "fwpcheck-judge/2"

// Histories is the result of checking saved histories.
type Histories struct {
	Schema string `json:"schema"`
	// Exit is the exit code; see Conclude.
	Exit  int       `json:"exit_code"`
	Files []History `json:"histories"`
}

// Conclude fills in the schema and the exit code, the worst of all files.
func (h *Histories) Conclude() {
	h.Schema, h.Exit, h.Files = HistoriesSchema, ExitWell, List(h.Files)
	for i := range h.Files {
		f := &h.Files[i]
		switch {
		case f.Damage != "":
			h.Exit = WorstExit(h.Exit, ExitUsage)
		case len(f.Findings) > 0:
			h.Exit = WorstExit(h.Exit, ExitFindings)
		case f.Settled == 0 || len(f.Inconclusive) > 0:
			h.Exit = WorstExit(h.Exit, ExitInconclusive)
		}
		f.Findings, f.Inconclusive = List(f.Findings), List(f.Inconclusive)
	}
}

// History is the result of one file.
type History struct {
	Name string `json:"file"`
	// Damage is why not all of it could be read; empty if all was.
	Damage  string `json:"damage,omitempty"`
	Events  int    `json:"events"`
	Drained bool   `json:"drained"`
	// Cut is where the record breaks off; 0 if it does not.
	Cut time.Duration `json:"cut_ns,omitempty"`
	// Jobs counts the jobs, and Settled those whose end is known.
	Jobs         int              `json:"jobs"`
	Settled      int              `json:"settled"`
	Findings     []HistoryFinding `json:"findings"`
	Inconclusive []HistoryCause   `json:"inconclusive"`
}

// HistoryFinding is a broken clause, and the events that prove it.
type HistoryFinding struct {
	Clause    string `json:"clause"`
	Level     Level  `json:"level"`
	Statement string `json:"statement"`
	// Or holds clauses one of which is broken if Clause is not.
	Or     []string       `json:"or,omitempty"`
	JID    string         `json:"jid,omitempty"`
	What   string         `json:"what"`
	Events []HistoryEvent `json:"events"`
}

// HistoryEvent is an event of a history.
type HistoryEvent struct {
	// Data is the event in JSON.
	Data any
	// Cells is the event on a page: its number, its time, its client, its command and reply.
	Cells []string
}

// MarshalJSON implements json.Marshaler.
func (e HistoryEvent) MarshalJSON() ([]byte, error) { return EncodeJSON(e.Data) }

// HistoryCause is why the end of some jobs is not known.
type HistoryCause struct {
	Why  string `json:"why"`
	Jobs int    `json:"jobs"`
	// JIDs holds the first of them.
	JIDs []string `json:"jids"`
}

// row returns the cause with the jobs.
func (c *HistoryCause) row() Row {
	jobs := strings.Join(c.JIDs, ", ")
	if more := c.Jobs - len(c.JIDs); more > 0 {
		jobs += fmt.Sprintf(" and %d more", more)
	}
	return Cells(fmt.Sprintf("%s: %s (%s)", text.Count(c.Jobs, "job"), c.Why, jobs))
}

// Page returns h for people.
func (h *History) Page() Page {
	var p Page
	p.Add(Heading{Level: 1, Text: Words(h.Name + ": " + h.sum())})
	for i := range h.Findings {
		p.historyFinding(&h.Findings[i])
	}
	if len(h.Inconclusive) > 0 {
		p.Add(Heading{Level: 2, Text: Styled(Unclear, "inconclusive")}, Table{Rows: RowsOf(h.Inconclusive, (*HistoryCause).row)})
	}
	return p
}

// sum returns h in one line.
func (h *History) sum() string {
	whole := "not drained"
	switch {
	case h.Cut > 0:
		whole = "cut off at " + h.Cut.Round(time.Microsecond).String()
	case h.Drained:
		whole = "drained"
	}
	inconclusive := 0
	for _, c := range h.Inconclusive {
		inconclusive += c.Jobs
	}
	return fmt.Sprintf("%s, %s; %s: %d settled, %d inconclusive; %s", text.Count(h.Events, "event"), whole,
		text.Count(h.Jobs, "job"), h.Settled, inconclusive, text.Count(len(h.Findings), "finding"))
}

// eventsShown is how many of the events that prove a finding are on a page. Few findings need more than four.
const eventsShown = 20

// historyFinding appends the clause, what was found, and the events that prove it.
func (p *Page) historyFinding(f *HistoryFinding) {
	title := Text{{Text: f.Clause, Style: Strong}, {Text: "  " + f.Level.Words()}}
	if f.JID != "" {
		title = append(title, Span{Text: "  "}, Span{Text: "job " + f.JID}) // the last one is wrapped
	}
	lines := LinesOf(f.Statement)
	if len(f.Or) > 0 {
		lines = append(lines, Words("Or it breaks "+strings.Join(f.Or, " or ")+": calls that overlap leave both possible."))
	}
	shown := f.Events[:min(len(f.Events), eventsShown)]
	t := Table{Rows: RowsOf(shown, func(e *HistoryEvent) Row { return Cells(e.Cells...) })}
	if left := len(f.Events) - eventsShown; left > 0 {
		t.Note = Words("and " + text.Count(left, "more event"))
	}
	p.Add(Heading{Level: 2, Text: title}, Prose{append(lines, Words("found: "+f.What))}, t)
}
