package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// rate appends the target rate and the achieved one.
func (p *page) rate(l *Load) {
	r := l.Rate
	if r.Target <= 0 && r.Done == 0 {
		return
	}
	p.Section("RATE", fmt.Sprintf("%s in %s of measuring", arrivals(r.Op), reports.Duration(l.Measured)))
	t := reports.Table{Columns: []reports.Column{{Width: 9}, {AlignRight: true, Width: 12}, {IsUnit: true, Width: 2}}}
	row := func(name string, style reports.Style, value, unit, words string) {
		t.Rows = append(t.Rows, reports.Cells(name).With(reports.StyledText(style, value), reports.PlainText(unit),
			reports.PlainText(words)))
	}
	if r.Target <= 0 {
		sign := ""
		if l.Validity.Limit != "" {
			sign = ">= "
		}
		row("achieved", reports.Plain, sign+reports.Digits(r.Achieved), "/s",
			reports.JoinWith("; ", cmp.Or(l.Validity.Limit, l.Plan.pace()), r.interval(l.Measured)))
		p.Add(t)
		return
	}
	style := reports.Good
	if !r.IsAchieved() {
		style = reports.Caution
	}
	row("target", reports.Plain, reports.Digits(r.Target), "/s", "")
	row("achieved", style, reports.Digits(r.Achieved), "/s", reports.JoinWith("; ",
		reports.Percent(r.Achieved/r.Target)+" of it", r.interval(l.Measured)))
	countRow := func(name string, style reports.Style, n int64, words string) {
		if n > 0 {
			row(name, style, text.GroupDigits(n), "", words)
		}
	}
	countRow("queued", reports.Plain, r.Queued,
		"waited for a connection and got one, at most "+text.GroupDigits(r.Backlog)+
			" at a time")
	countRow("unserved", reports.Caution, r.Unserved, reports.Percent(float64(r.Unserved)/float64(r.Planned))+
		" of the arrivals still waited at the end")
	countRow("dropped", reports.Caution, r.Dropped, "arrivals that found no free connection")
	p.Add(t)
}

// arrivals returns what the arrivals of a plan are.
func arrivals(op string) string {
	words := map[string]string{
		"push": "jobs pushed", "ack": "jobs acknowledged", "beat": "BEATs answered",
		"connect": "short-lived connections, one push each", "": "arrivals", "job": "jobs worked",
	}
	return cmp.Or(words[op], op+" commands")
}

// commands appends how many there were of each kind, and what went wrong with them.
func (p *page) commands(l *Load) {
	if len(l.Ops) == 0 {
		return
	}
	p.Section("COMMANDS", fmt.Sprintf("those that were due in the %s of the measurement", reports.Duration(l.Measured)))
	p.Add(l.commandTable(true))
}

// commandTable returns how many commands there were of each kind, with their rates if those are known.
func (l *Load) commandTable(hasRates bool) (t reports.Table) {
	t.Columns = []reports.Column{
		{Width: opWidth}, {Title: "answered", AlignRight: true, Width: 13}, {Title: "/s", AlignRight: true, Width: 9},
		{Title: "errors", AlignRight: true, Width: 8},
	}
	if !hasRates {
		t.Columns = slices.Delete(t.Columns, 2, 3)
	}
	for i := range l.Ops {
		op := &l.Ops[i]
		if op.Count+op.ErrorCount() == 0 {
			continue
		}
		cells := []string{opWords(op.Op), text.GroupDigits(op.Count)}
		switch {
		case hasRates && op.Rate == 0 && op.Count > 0:
			cells = append(cells, "-")
			t.Note = reports.PlainText("-: opened before the measurement, and again after a lost connection.")
		case hasRates:
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

// errorCell returns the number of errors, in its style.
func (o *LoadOp) errorCell() reports.Text {
	if o.ErrorCount() == 0 {
		return reports.PlainText("0")
	}
	return reports.StyledText(reports.Caution, text.GroupDigits(o.ErrorCount()))
}

// errors appends what went wrong, by kind: of an INVALID run too, because it may be the cause.
func (p *page) errors(l *Load) {
	t := reports.Table{Columns: []reports.Column{{Width: opWidth}}}
	for i := range l.Ops {
		if op := &l.Ops[i]; op.ErrorCount() > 0 {
			row := reports.Cells(opWords(op.Op), text.GroupDigits(op.ErrorCount()))
			row.Detail = kinds(op.Errors)
			t.Rows = append(t.Rows, row)
		}
	}
	p.TableSection("ERRORS", "commands that failed", t)
}

// kinds returns errors by kind, a line each.
func kinds(errors []LoadError) []reports.Text {
	var lines []reports.Text
	for _, e := range errors {
		detail := reports.JoinWith(": ", text.GroupDigits(e.Count)+" "+e.Kind, e.Example)
		lines = append(lines, reports.StyledText(reports.Faint, detail))
	}
	return lines
}

// jobs appends the account of the jobs.
func (p *page) jobs(l *Load) {
	j := &l.Jobs
	if j.pushes()+j.Delivered+j.Foreign == 0 {
		return
	}
	p.Section("JOBS", "all jobs of the run, also those pushed before and after the measurement")
	t := reports.Table{Columns: []reports.Column{{Width: 12}, {AlignRight: true, Width: 13}}}
	t.Rows = reports.RowsOf(j.rows(l.Disruptions), func(row *reports.Bar) reports.Row {
		return reports.Cells(row.Name).With(reports.StyledText(row.Style, text.GroupDigits(row.Value)),
			reports.PlainText(row.Words))
	})
	if l.IsUndecided() {
		t.Note = reports.PlainText("It is unknown whether jobs were lost: " +
			cmp.Or(j.UncountedParts, j.DrainFailure, "the queues were not seen empty") + ".")
	}
	p.Add(t)
}

// queues appends the jobs of each queue, with their times unless these are no results.
func (p *page) queues(l *Load) {
	t := reports.Table{Columns: []reports.Column{{Title: "queue"}}}
	for _, title := range []string{"share", "pushed", "delivered", "missing", "p50", "p99", "max"} {
		t.Columns = append(t.Columns, reports.Column{Title: title, AlignRight: true, Width: 7})
	}
	for i := range l.Queues {
		q := &l.Queues[i]
		name := q.Queue
		if q.Recorded != "" {
			name = text.Printable(q.Recorded)
		}
		row := reports.Cells(name, reports.Percent(q.Share), text.GroupDigits(q.Pushed), text.GroupDigits(q.Delivered),
			text.GroupDigits(q.Missing))
		if l.Validity.IsValid && q.Fetched.Count > 0 && !l.HasPiledUp() {
			for _, stat := range []string{"p50", "p99", "max"} {
				row.Cells = append(row.Cells, reports.PlainText(reports.Time(q.Fetched.Stat(stat))))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	p.TableSection("QUEUES", "their jobs, and the time from push to fetch", t)
}

// loadFindings appends what the target did wrong, with the clauses and some of the jobs.
func (p *page) loadFindings(l *Load, o reports.PageOptions) {
	if len(l.Findings) == 0 {
		return
	}
	p.Section("FINDINGS", "errors of the target with the jobs of this run")
	for i := range l.Findings {
		f := &l.Findings[i]
		lines := f.page(o)
		if l.History != "" && len(f.JIDs) > 0 && !f.quotes() {
			lines = append(lines, reports.PlainText("the life of one job: "+reports.LifeCommand(l.History, f.JIDs[0])))
		}
		p.Add(reports.Heading{Level: 3, Text: reports.StyledText(reports.Bad, f.String())}, reports.Prose{Lines: lines})
	}
}

// loadFindingLines is how many jobs of a finding, and how many notes, are shown if not all are wanted.
const loadFindingLines = 5

// page returns what happened, and some of the jobs or the notes about them.
func (f *LoadFinding) page(o reports.PageOptions) []reports.Text {
	lines := []reports.Text{reports.PlainText(fmt.Sprintf("%s (%s)%s", f.Description, cmp.Or(f.Clause, "no clause"),
		f.pushTimes()))}
	notes, jids := f.Notes, f.jidsWithTimes()
	if !o.Verbose {
		notes, jids = notes[:min(len(notes), loadFindingLines)], jids[:min(len(jids), loadFindingLines)]
	}
	count := len(jids)
	if len(f.Notes) >= len(f.JIDs) { // the notes are about them
		jids, count = nil, min(len(f.JIDs), loadFindingLines)
	}
	for _, line := range slices.Concat(jids, notes) {
		lines = append(lines, reports.PlainText(text.Printable(line))) // it quotes the server
	}
	if remaining := int64(len(f.JIDs)-count) + f.MoreJIDs; remaining > 0 {
		lines = append(lines, reports.StyledText(reports.Faint, moreWords(remaining, f.MoreJIDs)))
	}
	return lines
}

// thresholds appends the thresholds with expected and actual.
func (p *page) thresholds(l *Load) {
	const longest = 50 // of a threshold that has a place in the table
	rows := reports.RowsOf(l.Thresholds, func(r *ThresholdResult) reports.Row {
		word := reports.StyledText(reports.Good, "passed")
		switch {
		case r.NotJudged:
			word = reports.StyledText(reports.Unclear, "not judged")
		case r.IsUndecided:
			word = reports.StyledText(reports.Unclear, "undecided")
		case !r.IsMet:
			word = reports.StyledText(reports.Bad, "missed")
		}
		row := reports.Row{}.With(word, reports.PlainText(r.Threshold), reports.PlainText(r.Actual))
		if len([]rune(r.Threshold)) > longest {
			row.Cells[1], row.Detail = nil, []reports.Text{reports.PlainText(r.Threshold)}
		}
		return row
	})
	p.TableSection("THRESHOLDS", "expected and actual",
		reports.Table{Columns: []reports.Column{{Width: len("missed")}}, Rows: rows})
}

// timesTable is the table of times, and what is to be explained below it.
type timesTable struct {
	reports.Table
	percentiles []Percentile

	hasWaiting, hasEndToEnd, hasLate, hasLowerBounds, hasTooFew bool

	isUpperBound bool // the times contain too much of the generator
	isWorker     bool // they are those of a worker
}

// times appends the percentiles, a row for each time of a command below its name, and explains their words and signs.
// The table fits 80 columns.
func (p *page) times(l *Load) {
	if !slices.ContainsFunc(l.Ops, func(o LoadOp) bool { return o.Response.Count > 0 }) {
		return
	}
	p.Section("TIMES", "")
	t := &timesTable{percentiles: l.tablePercentiles(), isUpperBound: l.Validity.HasBounds}
	t.Columns = []reports.Column{{Width: opWidth}}
	for _, title := range t.stats() {
		t.Columns = append(t.Columns, reports.Column{Title: title, AlignRight: true, Width: 7})
	}
	for i := range l.Ops {
		t.op(&l.Ops[i])
	}
	for i := range l.Flows {
		switch flow := &l.Flows[i]; {
		case flow.Flow == "job.late":
			t.hasLate = true
			t.latency(opWords(flow.Flow), reports.Plain, &flow.Time)
		case !l.HasPiledUp(): // if jobs piled up, a remark explains it
			t.hasEndToEnd = true
			t.latency(opWords(flow.Flow), reports.Plain, &flow.Time)
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
		t.hasWaiting = t.hasWaiting || op.Service.Count > 0
		t.latency("  waiting", reports.Faint, &op.Service)
		t.latency("  lateness", reports.Faint, &op.Lateness)
		return
	}
	if op.Lateness.Count == 0 && op.Response.Count > 0 { // of a worker: a time of its own
		t.Rows, t.isWorker = t.Rows[:len(t.Rows)-1], true
		t.latency(opWords(op.Op), reports.Plain, &op.Response)
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
	for _, stat := range t.stats() {
		cell := reports.Time(l.Stat(stat))
		if t.isUpperBound && style != reports.Faint && !slices.Contains(l.AtLeast, stat) {
			cell = "<=" + strings.ReplaceAll(cell, " ", "")
		}
		p, err := ParsePercentile(stat)
		switch {
		case err == nil && p > 50 && l.Count < p.Needs(1):
			cell, t.hasTooFew = "-", true
		case slices.Contains(l.AtLeast, stat):
			cell, t.hasLowerBounds = ">="+strings.ReplaceAll(cell, " ", ""), true
		}
		row.Cells = append(row.Cells, reports.StyledText(style, cell))
	}
	t.Rows = append(t.Rows, row)
}

// stats returns the parts of times that the table has.
func (t *timesTable) stats() []string {
	names := []string{"mean"}
	for _, p := range t.percentiles {
		names = append(names, p.String())
	}
	return append(names, "max")
}

// example says what a percentile is: the p99, or one that is shown.
func (t *timesTable) example() string {
	p := Percentile(99)
	if !slices.Contains(t.percentiles, p) {
		p = t.percentiles[0]
	}
	return fmt.Sprintf("%v: %v %% were at most that long.", p, float64(p))
}

// needs says how many values the percentiles need: "p90 needs 10 of them, p99 100".
func (t *timesTable) needs() string {
	var needs []string
	for _, p := range t.percentiles {
		if p > 50 {
			needs = append(needs, p.String()+" "+text.GroupDigits(p.Needs(1)))
		}
	}
	if needs != nil {
		needs[0] = strings.Replace(needs[0], " ", " needs ", 1) + " of them"
	}
	return strings.Join(needs, ", ")
}

// legend explains the words and signs of the table, a sentence each.
func (t *timesTable) legend() []string {
	if t.isWorker {
		return []string{"job: from the delivery of a job to its ACK or FAIL; idle: from the reply to that to the next " +
			"FETCH; beat: from one BEAT to the next.", t.example()}
	}
	lines := []string{
		"response: from the intended start of a command to its reply (no coordinated omission).",
		"service: from the sending of a command to its reply.",
		"lateness: the generator's own delay in sending it.",
	}
	if t.hasWaiting {
		lines = append(lines, "waiting: how long a fetch blocked until a job arrived, or until the reply without a job; "+
			"this depends on the load, not on the speed of the server.")
	}
	if t.hasEndToEnd {
		lines = append(lines,
			"push to fetch, push to ack: from the intended start of a push to the delivery of its job, or to the reply to "+
				"its ack.")
	}
	if t.hasLate {
		lines = append(lines,
			"after its time: from the scheduled time of a job, or of its next try, to its delivery.")
	}
	lines = append(lines, t.example())
	if t.hasLowerBounds {
		lines = append(lines, ">=: at least; these times include unserved arrivals or commands without a reply, which "+
			"would have taken longer.")
	}
	if t.isUpperBound {
		lines = append(lines, "<=: at most; 10 % or more of these times is the generator's own delay.")
	}
	if t.hasTooFew {
		lines = append(lines, "-: too few values for this percentile ("+t.needs()+").")
	}
	return lines
}
