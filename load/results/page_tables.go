package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// rate appends the target rate and the achieved one.
func (p *page) rate(l *Load) {
	r := l.Rate
	if r.Target <= 0 && r.Done == 0 {
		return
	}
	p.Section("RATE", fmt.Sprintf("%s in %s of measuring", arrivals(r.Op), reports.Duration(l.Measured)))
	t := reports.Table{Columns: []reports.Column{{Width: 9}, {Right: true, Width: 12}, {Unit: true, Width: 2}}}
	row := func(name string, style reports.Style, value, unit, words string) {
		t.Rows = append(t.Rows, reports.Cells(name).With(reports.Styled(style, value), reports.Words(unit),
			reports.Words(words)))
	}
	if r.Target <= 0 {
		row("achieved", reports.Plain, reports.Digits(r.Achieved), "/s", "as fast as replies arrived")
		p.Add(t)
		return
	}
	style := reports.Good
	if r.Achieved < AchievedEnough*r.Target {
		style = reports.Caution
	}
	row("target", reports.Plain, reports.Digits(r.Target), "/s", "")
	row("achieved", style, reports.Digits(r.Achieved), "/s", reports.Percent(r.Achieved/r.Target)+" of it")
	some := func(name string, style reports.Style, n int64, words string) {
		if n > 0 {
			row(name, style, text.Grouped(n), "", words)
		}
	}
	some("queued", reports.Plain, r.Queued, "waited for a connection and got one, at most "+text.Grouped(r.Backlog)+
		" at a time")
	some("unserved", reports.Caution, r.Unserved, reports.Percent(float64(r.Unserved)/float64(r.Planned))+
		" of the arrivals still waited at the end")
	some("dropped", reports.Caution, r.Dropped, "arrivals that found no free connection")
	p.Add(t)
}

// arrivals returns what the arrivals of a plan are.
func arrivals(op string) string {
	words := map[string]string{
		"push": "jobs pushed", "ack": "jobs acknowledged", "beat": "heartbeats answered",
		"connect": "short-lived connections, one push each", "": "arrivals",
	}
	return cmp.Or(words[op], op+" commands")
}

// commands appends how many there were of each kind, and what went wrong with them.
func (p *page) commands(l *Load) {
	if len(l.Ops) == 0 {
		return
	}
	p.Section("COMMANDS", fmt.Sprintf("those that were due in %s of measuring", reports.Duration(l.Measured)))
	p.Add(l.commandTable(true))
}

// commandTable returns how many commands there were of each kind, with their rates if those are known.
func (l *Load) commandTable(rates bool) (t reports.Table) {
	t.Columns = []reports.Column{
		{Width: opWidth}, {Title: "answered", Right: true, Width: 13}, {Title: "/s", Right: true, Width: 9},
		{Title: "errors", Right: true, Width: 8},
	}
	if !rates {
		t.Columns = slices.Delete(t.Columns, 2, 3)
	}
	for i := range l.Ops {
		op := &l.Ops[i]
		if op.Count+op.ErrorCount() == 0 {
			continue
		}
		cells := []string{opWords(op.Op), text.Grouped(op.Count)}
		switch {
		case rates && op.Rate == 0 && op.Count > 0:
			cells = append(cells, "-")
			t.Note = reports.Words("-: opened before measuring began, and again where a connection was lost.")
		case rates:
			cells = append(cells, reports.Digits(op.Rate))
		}
		row := reports.Cells(cells...).With(op.errorCell())
		row.Detail = kinds(op.Errors)
		t.Rows = append(t.Rows, row)
	}
	return t
}

// opWidth is the width of the longest name in tables of commands.
const opWidth = 13

// errorCount returns how many errors there were.
func (o *LoadOp) errorCell() reports.Text {
	if o.ErrorCount() == 0 {
		return reports.Words("0")
	}
	return reports.Styled(reports.Caution, text.Grouped(o.ErrorCount()))
}

// errors appends what went wrong, by kind: of an INVALID run too, because it may be the cause.
func (p *page) errors(l *Load) {
	t := reports.Table{Columns: []reports.Column{{Width: opWidth}}}
	for i := range l.Ops {
		if op := &l.Ops[i]; op.ErrorCount() > 0 {
			row := reports.Cells(opWords(op.Op), text.Grouped(op.ErrorCount()))
			row.Detail = kinds(op.Errors)
			t.Rows = append(t.Rows, row)
		}
	}
	p.TableSection("ERRORS", "what went wrong with commands", t)
}

// kinds returns errors by kind, a line each.
func kinds(errors []LoadError) []reports.Text {
	var lines []reports.Text
	for _, e := range errors {
		detail := reports.JoinWith(": ", text.Grouped(e.Count)+" "+e.Kind, e.Example)
		lines = append(lines, reports.Styled(reports.Faint, detail))
	}
	return lines
}

// opWords returns the name of a kind of command, or of an end-to-end time, in tables.
func opWords(op string) string {
	switch op {
	case "job.fetched":
		return "push to fetch"
	case "job.acked":
		return "push to ack"
	default: // "fetch.found": a kind of fetch
		return strings.Replace(op, ".", ", ", 1)
	}
}

// jobs appends the account of the jobs.
func (p *page) jobs(l *Load) {
	j := &l.Jobs
	if j.sent()+j.Delivered+j.Foreign == 0 {
		return
	}
	p.Section("JOBS", "every job of the run, including those pushed before and after measuring")
	t := reports.Table{Columns: []reports.Column{{Width: 12}, {Right: true, Width: 13}}}
	t.Rows = reports.RowsOf(j.rows(l.Disruptions.resolved()), func(row *reports.Bar) reports.Row {
		return reports.Cells(row.Name).With(reports.Styled(row.Style, text.Grouped(row.Value)), reports.Words(row.Words))
	})
	if l.undecided() {
		t.Note = reports.Words("Whether jobs were lost is not known: " +
			cmp.Or(j.NotDrained, "the queues were not seen empty") + ".")
	}
	p.Add(t)
}

// queues appends the jobs of each queue, with their times unless these are no results.
func (p *page) queues(l *Load) {
	t := reports.Table{Columns: []reports.Column{{Title: "queue"}}}
	for _, title := range []string{"share", "pushed", "delivered", "missing", "p50", "p99", "max"} {
		t.Columns = append(t.Columns, reports.Column{Title: title, Right: true, Width: 7})
	}
	for i := range l.Queues {
		q := &l.Queues[i]
		name := q.Queue
		if q.Recorded != "" {
			name = text.Printable(q.Recorded)
		}
		row := reports.Cells(name, reports.Percent(q.Share), text.Grouped(q.Pushed), text.Grouped(q.Delivered),
			text.Grouped(q.Missing))
		if l.Validity.Valid && q.Fetched.Count > 0 && !l.PiledUp() {
			for _, stat := range []string{"p50", "p99", "max"} {
				row.Cells = append(row.Cells, reports.Words(reports.Time(q.Fetched.Stat(stat))))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	p.TableSection("QUEUES", "their jobs, and how long these took from push to fetch", t)
}

// loadFindings appends what the target did wrong, with the clauses and some of the jobs.
func (p *page) loadFindings(l *Load, o reports.PageOptions) {
	if len(l.Findings) == 0 {
		return
	}
	p.Section("FINDINGS", "what the target did wrong with the jobs of this run")
	for i := range l.Findings {
		f := &l.Findings[i]
		lines := f.page(o)
		if l.History != "" && len(f.JIDs) > 0 && !f.quotes() {
			lines = append(lines, reports.Words("one job's life: "+reports.LifeCommand(l.History, f.JIDs[0])))
		}
		p.Add(reports.Heading{Level: 3, Text: reports.Styled(reports.Bad, f.String())}, reports.Prose{Lines: lines})
	}
}

// loadFindingShown is how many jobs of a finding, and how many notes, are shown if not all are wanted.
const loadFindingShown = 5

// page returns what happened, and some of the jobs or the notes about them.
func (f *LoadFinding) page(o reports.PageOptions) []reports.Text {
	lines := []reports.Text{reports.Words(fmt.Sprintf("%s (%s)", f.What, cmp.Or(f.Clause, "no clause")))}
	notes, jids := f.Notes, f.JIDs
	if !o.Verbose {
		notes, jids = notes[:min(len(notes), loadFindingShown)], jids[:min(len(jids), loadFindingShown)]
	}
	shown := len(jids)
	if len(f.Notes) >= len(f.JIDs) { // the notes are about them
		jids, shown = nil, min(len(f.JIDs), loadFindingShown)
	}
	for _, line := range slices.Concat(jids, notes) {
		lines = append(lines, reports.Words(text.Printable(line))) // it quotes the server
	}
	if left := int64(len(f.JIDs)-shown) + f.More; left > 0 {
		lines = append(lines, reports.Styled(reports.Faint, leftOver(left, f.More)))
	}
	return lines
}

// leftOver returns how many jobs are not shown, and where they are.
func leftOver(left, unkept int64) string {
	words := "and " + text.Grouped(left) + " more"
	switch {
	case unkept == left:
		return words
	case unkept > 0:
		return words + "; --verbose and JSON name the first " + text.Grouped(FindingsKept)
	}
	return words + "; --verbose and JSON name them all"
}

// thresholds appends the thresholds with expected and actual.
func (p *page) thresholds(l *Load) {
	const longest = 50 // of a threshold that has a place in the table
	rows := reports.RowsOf(l.Thresholds, func(r *ThresholdResult) reports.Row {
		word := reports.Styled(reports.Good, "passed")
		switch {
		case r.NotJudged:
			word = reports.Styled(reports.Unclear, "not judged")
		case !r.Met:
			word = reports.Styled(reports.Bad, "missed")
		}
		row := reports.Row{}.With(word, reports.Words(r.Threshold), reports.Words(r.Actual))
		if len([]rune(r.Threshold)) > longest {
			row.Cells[1], row.Detail = nil, []reports.Text{reports.Words(r.Threshold)}
		}
		return row
	})
	p.TableSection("THRESHOLDS", "expected and actual",
		reports.Table{Columns: []reports.Column{{Width: len("missed")}}, Rows: rows})
}

// timesTable is the table of times, and what is to be explained below it.
type timesTable struct {
	reports.Table
	waiting, endToEnd, atLeast, tooFew bool

	clockBound time.Duration // of what is end to end
}

// times appends the percentiles, a row for each time of a command below its name, and explains their words and signs.
// The table fits 80 columns.
func (p *page) times(l *Load) {
	if !slices.ContainsFunc(l.Ops, func(o LoadOp) bool { return o.Response.Count > 0 }) {
		return
	}
	p.Section("TIMES", "")
	t := &timesTable{Table: reports.Table{Columns: []reports.Column{{Width: opWidth}}}}
	for _, title := range []string{"mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"} {
		t.Columns = append(t.Columns, reports.Column{Title: title, Right: true, Width: 7})
	}
	for i := range l.Ops {
		t.op(&l.Ops[i])
	}
	if !l.PiledUp() { // if jobs piled up, a remark explains it
		for i := range l.Flows {
			t.endToEnd, t.clockBound = true, l.ClockBound
			t.latency(opWords(l.Flows[i].Flow), reports.Plain, &l.Flows[i].Time)
		}
	}
	p.Add(t.Table, reports.Prose{Lines: reports.TextsOf(t.legend())})
}

// op appends the times of a command. A fetch that blocks until a job arrives, or until its two seconds are over, waits:
// its time is that of the load and not of the server.
func (t *timesTable) op(op *LoadOp) {
	if op.Response.Count+op.Service.Count+op.Lateness.Count > 0 {
		t.Rows = append(t.Rows, reports.Cells(opWords(op.Op)))
	}
	if op.Op == "fetch.waited" || op.Op == "fetch.empty" {
		t.waiting = t.waiting || op.Service.Count > 0
		t.latency("  waiting", reports.Faint, &op.Service)
		t.latency("  lateness", reports.Faint, &op.Lateness)
		return
	}
	t.latency("  response", reports.Plain, &op.Response)
	t.latency("  service", reports.Plain, &op.Service)
	t.latency("  lateness", reports.Faint, &op.Lateness)
}

// latency appends a row of times, unless there are none.
func (t *timesTable) latency(name string, style reports.Style, l *Latency) {
	if l.Count == 0 {
		return
	}
	row := reports.Cells(name)
	for _, c := range []struct {
		stat   string
		needed int64 // values, for one to be beyond the percentile
	}{{"mean", 1}, {"p50", 1}, {"p90", 10}, {"p99", 100}, {"p99.9", 1000}, {"p99.99", 10_000}, {"max", 1}} {
		cell := reports.Time(l.Stat(c.stat))
		switch {
		case l.Count < c.needed:
			cell, t.tooFew = "-", true
		case slices.Contains(l.AtLeast, c.stat):
			cell, t.atLeast = ">="+strings.ReplaceAll(cell, " ", ""), true
		}
		row.Cells = append(row.Cells, reports.Styled(style, cell))
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
			"may be wrong by "+reports.Duration(t.clockBound)+".")
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
