package reports

import (
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Life is what became of one job: the calls about it, who had it and from when until when, and what was done to the
// server meanwhile.
type Life struct {
	JID string `json:"jid"`
	// Record is what it was read from: a file, or a check of a report.
	Record string `json:"record"`
	// IsLineBased is set if the record has no times: From and Until of all parts count its lines, and not nanoseconds.
	IsLineBased bool `json:"lines,omitempty"`
	// Calls are in the order of their beginning; OmittedCalls is how many are left out in their middle.
	Calls        []LifeCall `json:"calls"`
	OmittedCalls int        `json:"calls_left_out,omitempty"`
	Stays        []LifeStay `json:"stays"`
	Bands        []LifeBand `json:"disruptions,omitempty"`
	// Findings are what is wrong with it.
	Findings []LifeFinding `json:"findings,omitempty"`
}

// LifeSpan is a part of a life, since the beginning of the record.
type LifeSpan struct {
	From  time.Duration `json:"from"`
	Until time.Duration `json:"until"`
}

// LifeCall is a command and its reply.
type LifeCall struct {
	LifeSpan
	// Mark is P for a push, D a delivery, A an ACK, F a FAIL, X a FLUSH, E a FETCH of nothing; a small letter if it was
	// refused or has no reply.
	Mark   string `json:"mark"`
	Client string `json:"who"`
	// Cells are its number, its time, its client, and what was sent and received.
	Cells []string `json:"cells"`
	// Note is what it did to the job: "held for 1.5 ms".
	Note string `json:"note,omitempty"`
	// BrokenClause is the clause of the finding that it proves; empty: none.
	BrokenClause string `json:"broken,omitempty"`
}

// LifeStay is a time during which somebody had the job.
type LifeStay struct {
	LifeSpan
	Holder string `json:"who"`
	// IsHeld is set if it was held by a worker, and not kept by the server.
	IsHeld bool `json:"held,omitempty"`
	// Words says how it ended.
	Words string `json:"words"`
}

// LifeBand is a time during which something was done to the server, or to the network before it.
type LifeBand struct {
	LifeSpan
	Name string `json:"name"`
}

// LifeFinding is something that is wrong with a job.
type LifeFinding struct {
	Clause      string `json:"clause"`
	Description string `json:"what"`
}

// Instant writes an instant of the life.
func (l *Life) Instant(t time.Duration) string {
	if l.IsLineBased {
		return "line " + text.GroupDigits(int64(t))
	}
	return Duration(t)
}

// Table has a row for each call.
func (l *Life) Table() Table {
	t := Table{Wrap: true, Rows: RowsOf(l.Calls, func(c *LifeCall) Row {
		row := Cells(c.Cells...)
		if c.Note != "" {
			row.Detail = []Text{StyledText(Faint, c.Note)}
		}
		if c.BrokenClause != "" {
			row.Detail = append(row.Detail, StyledText(Bad, c.BrokenClause))
		}
		return row
	})}
	if l.OmittedCalls > 0 {
		t.Note = PlainText(text.Count(l.OmittedCalls, "call") + " in the middle left out")
	}
	return t
}

// life appends a life.
func (p *Page) life(l *Life) {
	p.Add(Heading{Level: 2, Text: Text{{Text: "job " + l.JID + "  ", Style: Strong}, {Text: "in " + l.Record}},
		Anchor: lifeAnchor(l.JID)})
	for _, f := range l.Findings {
		p.Add(Prose{[]Text{{{Text: f.Clause + ": ", Style: Bad}, {Text: f.Description}}}})
	}
	p.lifeCalls(l)
}

// lifeCalls appends what was done to the server during a life, and its calls.
func (p *Page) lifeCalls(l *Life) {
	for _, b := range l.Bands {
		p.Add(Prose{LinesOf(b.Name + ", from " + l.Instant(b.From) + " to " + l.Instant(b.Until))})
	}
	p.Add(l.Table())
}

func lifeAnchor(jid string) string { return "job-" + jid }
