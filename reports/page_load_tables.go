package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// rate appends the target rate and the achieved one.
func (p *Page) rate(l *Load) {
	r := l.Rate
	if r.Target <= 0 && r.Done == 0 {
		return
	}
	p.section("RATE", fmt.Sprintf("%s in %s of measuring", arrivals(r.Op), short(l.Measured)))
	t := Table{Columns: []Column{{Width: 9}, {Right: true, Width: 12}, {Unit: true, Width: 2}}}
	row := func(name string, style Style, value, unit, words string) {
		t.Rows = append(t.Rows, Row{Cells: []Text{Words(name), Styled(style, value), Words(unit), Words(words)}})
	}
	switch {
	case r.Target <= 0:
		row("achieved", Plain, digits(r.Achieved), "/s", "as fast as replies arrived")
	case r.Achieved < achievedEnough*r.Target:
		row("target", Plain, digits(r.Target), "/s", "")
		row("achieved", Caution, digits(r.Achieved), "/s", percent(r.Achieved/r.Target)+" of it")
	default:
		row("target", Plain, digits(r.Target), "/s", "")
		row("achieved", Good, digits(r.Achieved), "/s", percent(r.Achieved/r.Target)+" of it")
	}
	if r.Target > 0 && r.Queued > 0 {
		row("queued", Plain, text.Grouped(r.Queued), "",
			"waited for a connection and got one, at most "+text.Grouped(r.Backlog)+" at a time")
	}
	if r.Target > 0 && r.Unserved > 0 {
		row("unserved", Caution, text.Grouped(r.Unserved), "",
			percent(float64(r.Unserved)/float64(r.Planned))+" of the arrivals still waited at the end")
	}
	if r.Target > 0 && r.Dropped > 0 {
		row("dropped", Caution, text.Grouped(r.Dropped), "", "arrivals that found no free connection")
	}
	p.add(t)
}

// arrivals returns what the arrivals of a plan are.
func arrivals(op string) string {
	switch op {
	case "push":
		return "jobs pushed"
	case "ack":
		return "jobs acknowledged"
	case "beat":
		return "heartbeats answered"
	case "connect":
		return "short-lived connections, one push each"
	case "":
		return "arrivals"
	default:
		return op + " commands"
	}
}

// commands appends how many there were of each kind, and what went wrong with them.
func (p *Page) commands(l *Load) {
	if len(l.Ops) == 0 {
		return
	}
	p.section("COMMANDS", fmt.Sprintf("those that were due in %s of measuring", short(l.Measured)))
	t := Table{Columns: []Column{
		{Width: opWidth}, {Title: "answered", Right: true, Width: 13}, {Title: "/s", Right: true,
			Width: 9}, {Title: "errors", Right: true, Width: 8},
	}}
	for i := range l.Ops {
		op := &l.Ops[i]
		if op.Count+op.errors() == 0 {
			continue
		}
		rate := digits(op.Rate)
		if op.Rate == 0 && op.Count > 0 {
			rate = "-"
			t.Note = Words("-: opened before measuring began, and again where a connection was lost.")
		}
		row := Cells(opWords(op.Op), text.Grouped(op.Count), rate)
		row.Cells, row.Detail = append(row.Cells, op.errorCount()), kinds(op.Errors)
		t.Rows = append(t.Rows, row)
	}
	p.add(t)
}

// opWidth is the width of the longest name in tables of commands.
const opWidth = 13

// errorCount returns how many errors there were.
func (o *LoadOp) errorCount() Text {
	if o.errors() == 0 {
		return Words("0")
	}
	return Styled(Caution, text.Grouped(o.errors()))
}

// errors appends what went wrong, by kind: of an INVALID run too, because it may be the cause.
func (p *Page) errors(l *Load) {
	if !slices.ContainsFunc(l.Ops, func(o LoadOp) bool { return o.errors() > 0 }) {
		return
	}
	p.section("ERRORS", "what went wrong with commands")
	t := Table{Columns: []Column{{Width: opWidth}}}
	for i := range l.Ops {
		if op := &l.Ops[i]; op.errors() > 0 {
			t.Rows = append(t.Rows, Row{Cells: []Text{Words(opWords(op.Op)), Words(text.Grouped(op.errors()))},
				Detail: kinds(op.Errors)})
		}
	}
	p.add(t)
}

// kinds returns errors by kind, a line each.
func kinds(errors []LoadError) []Text {
	var lines []Text
	for _, e := range errors {
		detail := fmt.Sprintf("%s %s", text.Grouped(e.Count), e.Kind)
		if e.Example != "" {
			detail += ": " + e.Example
		}
		lines = append(lines, Styled(Faint, detail))
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
func (p *Page) jobs(l *Load) {
	j := &l.Jobs
	if j.sent()+j.Delivered+j.Foreign == 0 {
		return
	}
	p.section("JOBS", "every job of the run, including those pushed before and after measuring")
	t := Table{Columns: []Column{{Width: 12}, {Right: true, Width: 13}}}
	for _, row := range j.rows(l.Disruptions.resolved()) {
		if row.count == 0 && !row.always {
			continue
		}
		style := Plain
		if row.bad && row.count > 0 {
			style = Bad
		}
		t.Rows = append(t.Rows, Row{Cells: []Text{Words(row.name), Styled(style, text.Grouped(row.count)), Words(row.words)}})
	}
	if l.undecided() {
		why := "the queues were not seen empty"
		if j.NotDrained != "" {
			why = j.NotDrained
		}
		t.Note = Words("Whether jobs were lost is not known: " + why + ".")
	}
	p.add(t)
}

// jobsRow is a row of the account of the jobs.
type jobsRow struct {
	name   string
	count  int64
	always bool // also if there are none
	bad    bool
	words  string
}

// rows returns the account. In a run whose doubts are resolved nothing may come back any more.
func (j *LoadJobs) rows(resolved bool) []jobsRow {
	waiting := "may come back after the end"
	if resolved {
		waiting = "reported without a confirmation, and not back after their reservation"
	}
	return []jobsRow{
		{"pushed", j.Pushed, true, false, "accepted with OK"},
		{"refused", j.Refused, false, false, "answered with an error"},
		{"doubtful", j.Doubtful, false, false, "pushed without an answer: it may be there or not"},
		{"delivered", j.Delivered, true, false, "at least once"},
		{"redelivered", j.Redelivered, false, false, "again, and rightly: after fail, reserve_for or an unanswered ack"},
		{"acknowledged", j.Acked, true, false, ""},
		{"failed", j.Failed, false, false, "reported with fail"},
		{"held", j.Held, false, false, "delivered, and neither acknowledged nor failed at the end"},
		{"waiting", j.Waiting, false, false, waiting},
		{"taken at end", j.TakenAtEnd, false, false, "brought by the last fetch of a connection, before it was closed"},
		{"out of order", j.OutOfOrder, false, false, "after one that was pushed later: no clause forbids it"},
		{"missing", j.Missing, false, false, "accepted and not delivered until the end"},
		{"in doubt", j.InDoubt, false, false, "of these: may have gone with " + unanswered(j.FetchesLost)},
		{"lost", j.Lost, j.Drained, true, "accepted and never delivered"},
		{"duplicated", j.Duplicated, true, true, "delivered while held, or after their end"},
		{"foreign", j.Foreign, false, true, "not of this run, from a wrong queue, or changed"},
	}
}

// unanswered returns the fetches that ended without an answer, in words.
func unanswered(fetches int64) string {
	if fetches == 1 {
		return "the one unanswered fetch"
	}
	return "one of " + text.Grouped(fetches) + " failed fetches"
}

// loadFindings appends what the target did wrong, with the clauses and some of the jobs.
func (p *Page) loadFindings(l *Load, o PageOptions) {
	if len(l.Findings) == 0 {
		return
	}
	p.section("FINDINGS", "what the target did wrong with the jobs of this run")
	for i := range l.Findings {
		f := &l.Findings[i]
		p.add(Heading{3, Styled(Bad, f.String())}, Prose{f.page(o)})
	}
}

// loadFindingShown is how many jobs of a finding, and how many notes, are shown if not all are wanted.
const loadFindingShown = 5

// page returns what happened, and some of the jobs or the notes about them.
func (f *LoadFinding) page(o PageOptions) []Text {
	clause := f.Clause
	if clause == "" {
		clause = "no clause"
	}
	lines := []Text{Words(fmt.Sprintf("%s (%s)", f.What, clause))}
	notes, jids := f.Notes, f.JIDs
	if !o.Verbose {
		notes, jids = notes[:min(len(notes), loadFindingShown)], jids[:min(len(jids), loadFindingShown)]
	}
	shown := len(jids)
	if len(f.Notes) >= len(f.JIDs) { // the notes are about them
		jids, shown = nil, min(len(f.JIDs), loadFindingShown)
	}
	lines = append(append(lines, wordsOf(jids)...), wordsOf(notes)...)
	if left := int64(len(f.JIDs)-shown) + f.More; left > 0 {
		lines = append(lines, Styled(Faint, leftOver(left, f.More)))
	}
	return lines
}

// leftOver returns how many jobs are not shown, and where they are.
func leftOver(left, unkept int64) string {
	switch {
	case unkept == left:
		return fmt.Sprintf("and %s more", text.Grouped(left))
	case unkept > 0:
		return fmt.Sprintf("and %s more; --verbose and JSON name the first %s", text.Grouped(left),
			text.Grouped(FindingsKept))
	default:
		return fmt.Sprintf("and %s more; --verbose and JSON name them all", text.Grouped(left))
	}
}

// thresholds appends the thresholds with expected and actual.
func (p *Page) thresholds(l *Load) {
	if len(l.Thresholds) == 0 {
		return
	}
	p.section("THRESHOLDS", "expected and actual")
	const longest = 50 // of a threshold that has a place in the table
	t := Table{}
	for _, r := range l.Thresholds {
		word := Styled(Good, "passed")
		switch {
		case r.NotJudged:
			word = Styled(Unclear, "not judged")
		case !r.Met:
			word = Styled(Bad, "missed")
		}
		row := Row{Cells: []Text{word, Words(r.Threshold), Words(r.Actual)}}
		if len([]rune(r.Threshold)) > longest {
			row.Cells[1], row.Detail = nil, []Text{Words(r.Threshold)}
		}
		t.Rows = append(t.Rows, row)
	}
	t.Columns = []Column{{Width: len("missed")}}
	p.add(t)
}
