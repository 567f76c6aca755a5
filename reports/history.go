package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// HistoriesSchema is the Schema of every Histories.
const HistoriesSchema = "fwpcheck-judge/2"

// Histories is the result of checking saved histories, or the life of one job in saved files.
type Histories struct {
	Head
	// Job is the only job that was asked for; empty: all.
	Job   string    `json:"job,omitempty"`
	Files []History `json:"histories"`
}

// Outcome returns the exit code, the worst of all files, and what it stands for. Of the life of a job it says whether
// something is wrong with it.
func (h *Histories) Outcome(ExitOptions) Outcome {
	damaged, findings, openCount, cutCount := 0, 0, 0, 0
	for i := range h.Files {
		f := &h.Files[i]
		findings += len(f.Findings)
		switch {
		case f.Damage != "":
			damaged++
		case f.CutTime > 0:
			cutCount++
		case len(f.Inconclusive) > 0, h.Job == "" && f.Settled == 0:
			openCount++
		}
		for _, l := range f.Lives {
			if h.Job != "" {
				findings += len(l.Findings)
			}
		}
	}
	partly := "partial: " + text.Count(cutCount, "history") + " cut off; what came later is unknown"
	well := "no findings, and the end of every job is known"
	if h.Job != "" {
		well = "no findings about job " + h.Job
	}
	return Decide(append(h.Claims("", ""),
		NewClaim(ExitUsage, damaged > 0, "not read completely: "+text.Count(damaged, "file")),
		NewClaim(ExitFindings, findings > 0, JoinWith("; ", text.Count(findings, "finding"), wordsIf(cutCount, partly))),
		NewClaim(ExitInconclusive, cutCount > 0, partly),
		NewClaim(ExitInconclusive, openCount > 0, "the end of some jobs is unknown"),
		NewClaim(ExitWell, true, well)))
}

// WriteJSON writes h as one indented JSON object and a final newline.
func (h *Histories) WriteJSON(w io.Writer, o ExitOptions) error {
	output := *h
	output.Head, output.Files = h.WithOutcome(HistoriesSchema, h.Outcome(o)), slices.Clone(EmptyIfNil(h.Files))
	for i := range output.Files {
		f := &output.Files[i]
		f.Findings, f.Inconclusive = EmptyIfNil(f.Findings), EmptyIfNil(f.Inconclusive)
	}
	return WriteJSON(w, &output)
}

// Suite returns h as cases: one for each finding, and one for each file without any.
func (h *Histories) Suite(o ExitOptions) Suite {
	s := NewSuite("fwpcheck recheck", &h.Head, h.Outcome(o))
	for i := range h.Files {
		f := &h.Files[i]
		for _, finding := range f.Findings {
			s.Add(Case{Class: finding.Clause, Name: JoinWith(" - ", f.Name, finding.Clause, finding.JID), Clause: finding.Clause,
				Level: finding.Level, State: CaseFailed, Kind: "fail", Message: finding.Description})
		}
		if len(f.Findings) == 0 {
			c := Case{Class: "history", Name: f.Name, Kind: "pass", Message: JoinWith("; ", f.Damage, f.sum())}
			if f.Damage != "" || f.CutTime > 0 || f.Settled == 0 || len(f.Inconclusive) > 0 {
				c.State, c.Kind = CaseErrored, "inconclusive"
			}
			s.Add(c)
		}
	}
	return s
}

// Page returns h for people.
func (h *Histories) Page(o PageOptions) Page {
	var p Page
	for i := range h.Files {
		f := &h.Files[i]
		if h.Job == "" {
			p.history(f, o)
			continue
		}
		for k := range f.Lives {
			p.life(&f.Lives[k])
		}
		p.causes(f)
	}
	if len(p.Blocks) > 0 {
		outcome := h.Outcome(o.Exit)
		p.Add(Conclusion{Facts: fmt.Sprintf("exit code %d", outcome.Code), Words: outcome.Text()})
	}
	return p
}

// History is the result of one file.
type History struct {
	Name string `json:"file"`
	// Damage is why not all of it could be read; empty if all was.
	Damage  string `json:"damage,omitempty"`
	Events  int    `json:"events"`
	Drained bool   `json:"drained"`
	// CutTime is where the record breaks off; 0 if it does not.
	CutTime time.Duration `json:"cut_ns,omitempty"`
	// Jobs counts the jobs, and Settled those whose end is known.
	Jobs         int              `json:"jobs"`
	Settled      int              `json:"settled"`
	Findings     []HistoryFinding `json:"findings"`
	Inconclusive []HistoryCause   `json:"inconclusive"`
	// Lives are those of the first jobs in the findings, or that of the only job that was asked for.
	Lives []Life `json:"lives,omitempty"`
}

// HistoryFinding is a broken clause, and the events that prove it.
type HistoryFinding struct {
	Clause    string `json:"clause"`
	Level     Level  `json:"level"`
	Statement string `json:"statement"`
	// Or holds clauses one of which is broken if Clause is not.
	Or          []string       `json:"or,omitempty"`
	JID         string         `json:"jid,omitempty"`
	Description string         `json:"what"`
	Events      []HistoryEvent `json:"events"`
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
	Reason string `json:"why"`
	Jobs   int    `json:"jobs"`
	// JIDs holds the first of them.
	JIDs []string `json:"jids"`
}

// row returns the cause with the jobs.
func (c *HistoryCause) row() Row {
	jobs := strings.Join(c.JIDs, ", ")
	if rest := c.Jobs - len(c.JIDs); rest > 0 {
		jobs += fmt.Sprintf(" and %d more", rest)
	}
	return Cells(fmt.Sprintf("%s: %s (%s)", text.Count(c.Jobs, "job"), c.Reason, jobs))
}

// history appends the findings of a file, with the calls of their jobs where there is room for them.
func (p *Page) history(h *History, o PageOptions) {
	if h.Damage != "" && h.Events == 0 {
		return // nothing could be read
	}
	p.Add(Heading{Level: 1, Text: PlainText(h.Name + ": " + h.sum())})
	if len(h.Lives) > 0 && o.Figures {
		p.Add(Table{Columns: []Column{{Title: "clause"}, {Title: "job"}, {Title: "calls", AlignRight: true}},
			Rows: RowsOf(h.Lives, func(l *Life) Row {
				return Row{Link: lifeAnchor(l.JID),
					Cells: TextsOf([]string{l.Findings[0].Clause, l.JID, text.GroupDigits(len(l.Calls))})}
			})})
	}
	for i := range h.Findings {
		f := &h.Findings[i]
		p.historyFinding(f)
		if l := Find(h.Lives, func(l *Life) bool { return l.JID == f.JID }); l != nil && o.Figures {
			p.lifeCalls(l)
		}
	}
	if len(h.Findings) > 0 && h.Findings[0].JID != "" {
		command := Field{Label: "the life of one job", Lines: LinesOf(LifeCommand(h.Name, h.Findings[0].JID)),
			IsCommand: true}
		p.Add(Fields{Fields: []Field{command}})
	}
	p.causes(h)
}

// causes appends why the end of some jobs is not known.
func (p *Page) causes(h *History) {
	if len(h.Inconclusive) > 0 {
		p.Add(Heading{Level: 2, Text: StyledText(Unclear, "inconclusive")},
			Table{Rows: RowsOf(h.Inconclusive, (*HistoryCause).row)})
	}
}

// LifeCommand returns the command that lists the life of a job in a file.
func LifeCommand(file, jid string) string {
	return "fwpcheck recheck " + text.ShellQuote(file) + " --job " + text.ShellQuote(jid)
}

// sum returns h in one line.
func (h *History) sum() string {
	events := text.Count(h.Events, "event") + ", not drained"
	switch {
	case h.CutTime > 0:
		events = fmt.Sprintf("partial, cut off at %v: %s", h.CutTime.Round(time.Microsecond), text.Count(h.Events, "event"))
	case h.Drained:
		events = text.Count(h.Events, "event") + ", drained"
	}
	inconclusive := 0
	for _, c := range h.Inconclusive {
		inconclusive += c.Jobs
	}
	return fmt.Sprintf("%s; %s: %d settled, %d inconclusive; %s", events, text.Count(h.Jobs, "job"), h.Settled,
		inconclusive, text.Count(len(h.Findings), "finding"))
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
		lines = append(lines, PlainText("Or it breaks "+strings.Join(f.Or, " or ")+": because calls overlap, both are "+
			"possible."))
	}
	events := f.Events[:min(len(f.Events), eventsShown)]
	t := Table{Rows: RowsOf(events, func(e *HistoryEvent) Row { return Cells(e.Cells...) })}
	if rest := len(f.Events) - eventsShown; rest > 0 {
		t.Note = PlainText("and " + text.Count(rest, "more event"))
	}
	p.Add(Heading{Level: 2, Text: title, Anchor: lifeAnchor(f.JID)},
		Prose{append(lines, PlainText("found: "+f.Description))},
		t)
}
