package reports

import (
	"cmp"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// Life is what became of one job: the calls about it, who had it and from when until when, and what was done to the
// server meanwhile. It is a Drawing, which is drawn as text, too.
type Life struct {
	JID string `json:"jid"`
	// Record is what it was read from: a file, or a check of a report.
	Record string `json:"record"`
	// Lines is set if the record has no times: From and Until of all parts count its lines, and not nanoseconds.
	Lines bool `json:"lines,omitempty"`
	// Calls are in the order of their beginning; Left is how many are left out in their middle.
	Calls []LifeCall `json:"calls"`
	Left  int        `json:"calls_left_out,omitempty"`
	Stays []LifeStay `json:"stays"`
	Bands []LifeBand `json:"disruptions,omitempty"`
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
	// Mark is the letter that stands for it, a small one if it was refused or has no reply.
	Mark string `json:"mark"`
	Who  string `json:"who"`
	// Cells are its number, its time, its client, and what was sent and received.
	Cells []string `json:"cells"`
	// Note is what it did to the job: "held for 1.5 ms".
	Note string `json:"note,omitempty"`
	// Broken is the clause of the finding that it proves; empty: none.
	Broken string `json:"broken,omitempty"`
}

// At returns when it is drawn: a delivery when the job came, all else when it was sent.
func (c *LifeCall) At() time.Duration {
	if c.Mark == "D" {
		return c.Until
	}
	return c.From
}

// LifeStay is a time during which somebody had the job.
type LifeStay struct {
	LifeSpan
	Who string `json:"who"`
	// Held is set if it was held by a worker, and not kept by the server.
	Held bool `json:"held,omitempty"`
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
	Clause string `json:"clause"`
	What   string `json:"what"`
}

// LifeMarks explains the letters of the calls.
const LifeMarks = "P pushed, D delivered, A acknowledged, F failed, X cleared, E nothing fetched, small: refused or " +
	"without a reply"

// Parties returns those that had the job or sent something about it, in the order of their first appearance.
func (l *Life) Parties() (names []string) {
	type first struct {
		who  string
		from time.Duration
	}
	var all []first
	for _, c := range l.Calls {
		all = append(all, first{c.Who, c.From})
	}
	for _, s := range l.Stays {
		all = append(all, first{s.Who, s.From})
	}
	slices.SortStableFunc(all, func(a, b first) int { return cmp.Compare(a.from, b.from) })
	for _, f := range all {
		names = added(names, f.who)
	}
	return names
}

// Scale returns the times of a life in their order, and where each is drawn, from 0 to 1. Two that follow each other
// are at least that far apart, because minutes lie between some and microseconds between others.
func (l *Life) Scale(least float64) (times []time.Duration, place map[time.Duration]float64) {
	add := func(s LifeSpan) { times = append(times, s.From, s.Until) }
	for i := range l.Calls {
		add(l.Calls[i].LifeSpan)
	}
	for i := range l.Stays {
		add(l.Stays[i].LifeSpan)
	}
	for i := range l.Bands {
		add(l.Bands[i].LifeSpan)
	}
	slices.Sort(times)
	times = slices.Compact(times)
	place = map[time.Duration]float64{}
	if len(times) == 0 {
		return nil, place
	}
	gaps := float64(len(times) - 1)
	least = min(least, 1/max(gaps, 1))
	first, at := times[0], 0.0
	long := float64(times[len(times)-1] - first)
	for i, t := range times {
		if i > 0 {
			at += least + (1-least*gaps)*float64(t-times[i-1])/long
		}
		place[t] = min(at, 1)
	}
	return times, place
}

// Instant writes an instant of the life.
func (l *Life) Instant(t time.Duration) string {
	if l.Lines {
		return "line " + text.Grouped(int64(t))
	}
	return Duration(t)
}

// Table has a row for each call.
func (l *Life) Table() Table {
	t := Table{Wrap: true, Rows: RowsOf(l.Calls, func(c *LifeCall) Row {
		row := Cells(c.Cells...)
		if c.Note != "" {
			row.Detail = []Text{Styled(Faint, c.Note)}
		}
		if c.Broken != "" {
			row.Detail = append(row.Detail, Styled(Bad, c.Broken))
		}
		return row
	})}
	if l.Left > 0 {
		t.Note = Words(text.Count(l.Left, "call") + " in the middle left out")
	}
	return t
}

// life appends a life.
func (p *Page) life(l *Life) {
	p.Add(Heading{Level: 2, Text: Text{{Text: "job " + l.JID + "  ", Style: Strong}, {Text: "in " + l.Record}},
		Anchor: lifeAnchor(l.JID)})
	for _, f := range l.Findings {
		p.Add(Prose{[]Text{{{Text: f.Clause + ": ", Style: Bad}, {Text: f.What}}}})
	}
	p.Add(l.figure())
}

func (l *Life) figure() Figure {
	return Figure{
		Title: "The life of job " + l.JID, Of: l,
		Description: "A line for each who had the job or sent something about it, and a bar for as long as they had it; " +
			"behind them what was done to the server. Instants are drawn apart, however short the time between them: " +
			LifeMarks + ".",
	}
}

func lifeAnchor(jid string) string { return "job-" + jid }
