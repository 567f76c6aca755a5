package reports

import (
	"slices"
	"strings"
	"time"
)

// timesTable is the table of times, and what is to be explained below it.
type timesTable struct {
	Table
	waiting, endToEnd, atLeast, tooFew bool

	clockBound time.Duration // of what is end to end
}

// times appends the percentiles, a row for each time of a command below its name, and explains their words and signs.
// The table fits 80 columns.
func (p *Page) times(l *Load) {
	if !slices.ContainsFunc(l.Ops, func(o LoadOp) bool { return o.Response.Count > 0 }) {
		return
	}
	p.section("TIMES", "")
	t := &timesTable{Table: Table{Columns: []Column{{Width: opWidth}}}}
	for _, title := range []string{"mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"} {
		t.Columns = append(t.Columns, Column{Title: title, Right: true, Width: 7})
	}
	for i := range l.Ops {
		t.op(&l.Ops[i])
	}
	if !l.piledUp() { // if jobs piled up, a remark explains it
		for i := range l.Flows {
			t.endToEnd, t.clockBound = true, l.ClockBound
			t.latency(opWords(l.Flows[i].Flow), Plain, &l.Flows[i].Time)
		}
	}
	p.add(t.Table, Prose{wordsOf(t.legend())})
}

// op appends the times of a command. A fetch that blocks until a job arrives, or until its two seconds are over, waits:
// its time is that of the load and not of the server.
func (t *timesTable) op(op *LoadOp) {
	if op.Response.Count+op.Service.Count+op.Lateness.Count > 0 {
		t.Rows = append(t.Rows, Cells(opWords(op.Op)))
	}
	if op.Op == "fetch.waited" || op.Op == "fetch.empty" {
		t.waiting = t.waiting || op.Service.Count > 0
		t.latency("  waiting", Faint, &op.Service)
		t.latency("  lateness", Faint, &op.Lateness)
		return
	}
	t.latency("  response", Plain, &op.Response)
	t.latency("  service", Plain, &op.Service)
	t.latency("  lateness", Faint, &op.Lateness)
}

// latency appends a row of times, unless there are none.
func (t *timesTable) latency(name string, style Style, l *Latency) {
	if l.Count == 0 {
		return
	}
	row := Cells(name)
	for _, c := range []struct {
		stat   string
		needed int64 // values, for one to be beyond the percentile
	}{{"mean", 1}, {"p50", 1}, {"p90", 10}, {"p99", 100}, {"p99.9", 1000}, {"p99.99", 10_000}, {"max", 1}} {
		cell := measured(l.stat(c.stat))
		switch {
		case l.Count < c.needed:
			cell, t.tooFew = "-", true
		case slices.Contains(l.AtLeast, c.stat):
			cell, t.atLeast = ">="+strings.ReplaceAll(cell, " ", ""), true
		}
		row.Cells = append(row.Cells, Styled(style, cell))
	}
	t.Rows = append(t.Rows, row)
}

// legend explains the words and signs of the table, a sentence each.
func (t *timesTable) legend() []string {
	lines := []string{
		"response: from the intended start of a command until its reply (no coordinated omission).",
		"service: from when it was sent until its reply.",
		"lateness: the generator's own delay in sending it.",
	}
	if t.waiting {
		lines = append(lines, "waiting: how long a fetch blocked until a job arrived, or until it was answered without one; "+
			"that depends on the load and not on the speed of the server.")
	}
	if t.endToEnd {
		lines = append(lines,
			"push to fetch, push to ack: from the intended start of a push until its job was delivered, or its ack answered.")
	}
	if t.endToEnd && t.clockBound > 0 {
		lines = append(lines, "Jobs crossed between agents, so push and fetch were timed by two clocks: each of these two "+
			"may be wrong by "+short(t.clockBound)+".")
	}
	lines = append(lines, "p99: 99 % took no longer.")
	if t.atLeast {
		lines = append(lines, ">=: at least; unserved arrivals are among these times, and would have taken longer.")
	}
	if t.tooFew {
		lines = append(lines, "-: too few values for that percentile (p90 needs 10 of them, p99 100, p99.9 1,000, p99.99 "+
			"10,000).")
	}
	return lines
}
