package reports

import (
	"fmt"
	"slices"

	"github.com/fwpsuite/fwp/internal/text"
)

// rate shows what was asked and what of it was carried.
func (t *loadText) rate(l *Load) {
	r := l.Rate
	if r.Asked <= 0 && r.Done == 0 {
		return
	}
	t.section("RATE", fmt.Sprintf("%s in %s of measuring", arrivals(r.Op), short(l.Measured)))
	if r.Asked <= 0 {
		t.line("  %-10s %12s /s  as fast as replies came", "carried", digits(r.Carried))
		return
	}
	t.line("  %-10s %12s /s", "asked", digits(r.Asked))
	colour := green
	if r.Carried < carriedEnough*r.Asked {
		colour = yellow
	}
	t.line("  %-10s %s /s  %s of it", "carried", t.paint(colour, fmt.Sprintf("%12s", digits(r.Carried))), percent(r.Carried/r.Asked))
	if r.Waited > 0 {
		t.line("  %-10s %12s     arrivals had to wait for a free connection, at most %s at a time", "waited", text.Grouped(r.Waited), text.Grouped(r.Backlog))
	}
	if r.Dropped > 0 {
		t.line("  %-10s %s     arrivals that found no free connection", "dropped", t.paint(yellow, fmt.Sprintf("%12s", text.Grouped(r.Dropped))))
	}
}

// arrivals says what the arrivals of a plan are.
func arrivals(op string) string {
	switch op {
	case "push":
		return "jobs pushed"
	case "ack":
		return "jobs acknowledged"
	case "beat":
		return "heartbeats answered"
	case "connect":
		return "connections that came, pushed a job and went"
	case "":
		return "arrivals"
	default:
		return op + " commands"
	}
}

// commands shows how many there were of each kind, and what went wrong with them.
func (t *loadText) commands(l *Load) {
	if len(l.Ops) == 0 {
		return
	}
	t.section("COMMANDS", fmt.Sprintf("those that were due in %s of measuring", short(l.Measured)))
	t.line("  %-14s %13s %10s %9s", "", "answered", "/s", "errors")
	before := false
	for i := range l.Ops {
		op := &l.Ops[i]
		if op.Count+op.errors() == 0 {
			continue
		}
		rate := digits(op.Rate)
		if op.Rate == 0 && op.Count > 0 {
			rate, before = "-", true
		}
		wrong := fmt.Sprintf("%9s", text.Grouped(op.errors()))
		if op.errors() > 0 {
			wrong = t.paint(yellow, wrong)
		}
		t.line("  %-14s %13s %10s %s", words(op.Op), text.Grouped(op.Count), rate, wrong)
		t.kinds(19, op.Errors)
	}
	if before {
		t.say(2, "-: opened before measuring began, and again where a connection was lost.")
	}
}

// errors shows what went wrong, by kind: of an INVALID run too, because it may be the cause.
func (t *loadText) errors(l *Load) {
	if !slices.ContainsFunc(l.Ops, func(o LoadOp) bool { return o.errors() > 0 }) {
		return
	}
	t.section("ERRORS", "what went wrong with commands")
	for i := range l.Ops {
		if op := &l.Ops[i]; op.errors() > 0 {
			t.line("  %-14s %s", words(op.Op), text.Grouped(op.errors()))
			t.kinds(4, op.Errors)
		}
	}
}

// kinds lists errors after indent.
func (t *loadText) kinds(indent int, errors []LoadError) {
	for _, e := range errors {
		detail := fmt.Sprintf("%s %s", text.Grouped(e.Count), e.Kind)
		if e.Example != "" {
			detail += ": " + e.Example
		}
		for _, line := range fold(detail, loadWidth-indent) {
			t.line("%*s%s", indent, "", t.paint(dim, line))
		}
	}
}

// words returns how a kind of command, or the way of a job, is called in tables.
func words(op string) string {
	switch op {
	case "fetch.found":
		return "fetch, found"
	case "fetch.waited":
		return "fetch, waited"
	case "fetch.empty":
		return "fetch, empty"
	case "job.fetched":
		return "push to fetch"
	case "job.acked":
		return "push to ack"
	default:
		return op
	}
}

// times shows the percentiles, three rows a command, and explains its own words.
func (t *loadText) times(l *Load) {
	if !slices.ContainsFunc(l.Ops, func(o LoadOp) bool { return o.Count > 0 }) {
		return
	}
	t.section("TIMES", "")
	t.line("  %-14s %-8s %8s %8s %8s %8s %8s %8s %8s", "", "", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max")
	for i := range l.Ops {
		op := &l.Ops[i]
		if op.Count == 0 {
			continue
		}
		t.latency(words(op.Op), "response", "", &op.Response)
		t.latency("", "service", "", &op.Service)
		t.latency("", "lateness", dim, &op.Lateness)
	}
	for i := range l.Flows {
		flow := &l.Flows[i]
		if l.piledUp() {
			break // a remark says what they would say
		}
		t.latency(words(flow.Flow), "way", "", &flow.Time)
	}
	t.line("")
	way := ""
	if len(l.Flows) > 0 && !l.piledUp() {
		way = "way: from when a PUSH was due until its job was delivered, or its ACK answered. "
	}
	t.say(2, "response: from when a command was due until its reply, what a user waits. service: from when it was sent until "+
		"its reply. lateness: the generator's own delay in sending it. "+way+
		"p99: 99 % took no longer; - where there are too few values to say.")
}

// latency writes one row of times.
func (t *loadText) latency(name, kind, attribute string, l *Latency) {
	if l.Count == 0 {
		return
	}
	row := fmt.Sprintf("%8s %8s %8s %8s %8s %8s %8s", measured(l.Mean), measured(l.P50),
		enough(l, 10, "p90"), enough(l, 100, "p99"), enough(l, 1000, "p99.9"), enough(l, 10_000, "p99.99"), measured(l.Max))
	t.line("  %-14s %-8s %s", name, kind, t.paint(attribute, row))
}

// enough returns a percentile if there are values beyond it.
func enough(l *Latency, needed int64, stat string) string {
	if l.Count < needed {
		return "-"
	}
	return measured(l.stat(stat))
}

// jobs shows the account of the jobs.
func (t *loadText) jobs(l *Load) {
	j := &l.Jobs
	if j.sent()+j.Delivered+j.Foreign == 0 {
		return
	}
	t.section("JOBS", "every job of the run, including those pushed before and after measuring")
	for _, row := range j.rows() {
		if row.count == 0 && !row.always {
			continue
		}
		attribute := ""
		if row.bad && row.count > 0 {
			attribute = red
		}
		t.line("  %-13s %s  %s", row.name, t.paint(attribute, fmt.Sprintf("%13s", text.Grouped(row.count))), row.words)
	}
	if l.undecided() {
		why := "the queues were not seen empty"
		if j.NotDrained != "" {
			why = j.NotDrained
		}
		t.say(2, "Whether jobs were lost is undecided: "+why+".")
	}
}

// jobsRow is a row of the account of the jobs.
type jobsRow struct {
	name   string
	count  int64
	always bool // also if there are none
	bad    bool
	words  string
}

func (j *LoadJobs) rows() []jobsRow {
	return []jobsRow{
		{"pushed", j.Pushed, true, false, "accepted with OK"},
		{"refused", j.Refused, false, false, "answered with an error"},
		{"doubtful", j.Doubtful, false, false, "pushed without an answer: it may be there or not"},
		{"delivered", j.Delivered, true, false, "at least once"},
		{"redelivered", j.Redelivered, false, false, "again, and rightly: after FAIL, reserve_for or an unanswered ACK"},
		{"acknowledged", j.Acked, true, false, ""},
		{"failed", j.Failed, false, false, "reported with FAIL"},
		{"held", j.Held, false, false, "delivered, and neither acknowledged nor failed at the end"},
		{"waiting", j.Waiting, false, false, "may come back after the end"},
		{"taken at end", j.TakenAtEnd, false, false, "brought by the last FETCH of a connection, before it was closed"},
		{"out of order", j.OutOfOrder, false, false, "after one that was pushed later: no clause forbids it"},
		{"missing", j.Missing, false, false, "accepted and not delivered until the end"},
		{"in doubt", j.InDoubt, false, false, "of these: may have gone with " + unanswered(j.FetchesLost)},
		{"lost", j.Lost, j.Drained, true, "accepted and never delivered"},
		{"duplicated", j.Duplicated, true, true, "delivered while held, or after they were settled"},
		{"foreign", j.Foreign, false, true, "not of this run, from a wrong queue, or changed"},
	}
}

func unanswered(fetches int64) string {
	if fetches == 1 {
		return "the one unanswered FETCH"
	}
	return "one of " + text.Grouped(fetches) + " failed FETCHes"
}

// findings shows what the target did wrong, with the clauses and some of the jobs.
func (t *loadText) findings(l *Load) {
	if len(l.Findings) == 0 {
		return
	}
	t.section("FINDINGS", "what the target did wrong with the jobs of this run")
	for _, f := range l.Findings {
		clause := f.Clause
		if clause == "" {
			clause = "no clause"
		}
		t.line("  %s", t.paint(red, text.Printable(f.words())))
		t.say(4, fmt.Sprintf("%s (%s)", f.What, clause))
		shown := len(f.JIDs)
		switch {
		case len(f.Notes) >= shown:
			shown = 0 // the notes are about them
		case !t.Verbose:
			shown = min(shown, 5)
		}
		for _, jid := range f.JIDs[:shown] {
			t.say(4, jid)
		}
		for i, note := range f.Notes {
			if i == 5 && !t.Verbose {
				break
			}
			t.say(4, note)
		}
		if shown == 0 {
			shown = min(len(f.JIDs), 5)
		}
		if left := int64(len(f.JIDs)-shown) + f.More; left > 0 {
			t.line("    %s", t.paint(dim, leftOver(left, f.More)))
		}
	}
}

// leftOver says how many jobs are not shown, and where they are.
func leftOver(left, unkept int64) string {
	switch {
	case unkept == left:
		return fmt.Sprintf("and %s more", text.Grouped(left))
	case unkept > 0:
		return fmt.Sprintf("and %s more; --verbose and JSON name the first %s", text.Grouped(left), text.Grouped(FindingsKept))
	default:
		return fmt.Sprintf("and %s more; --verbose and JSON name them all", text.Grouped(left))
	}
}

// thresholds shows what was wanted and what came.
func (t *loadText) thresholds(l *Load) {
	if len(l.Thresholds) == 0 {
		return
	}
	t.section("THRESHOLDS", "what was wanted, and what came")
	wide := 0
	for _, r := range l.Thresholds {
		wide = max(wide, min(len([]rune(text.Printable(r.Threshold))), 50))
	}
	for _, r := range l.Thresholds {
		word, attribute := "held  ", green
		if !r.Held {
			word, attribute = "missed", red
		}
		wanted, came := text.Printable(r.Threshold), text.Printable(r.Came)
		if len([]rune(wanted)) <= wide {
			t.line("  %s  %-*s  %s", t.paint(attribute, word), wide, wanted, came)
			continue
		}
		t.line("  %s  %s", t.paint(attribute, word), came)
		t.say(10, wanted)
	}
}
