package reports

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Page returns r for people: the target; the findings, one a line; their evidence; what is inconclusive, not run or
// skipped, by cause; what was observed; the totals; and the outcome in words, in the last line. For a terminal the
// findings stand right above that.
func (r *Report) Page(o PageOptions) Page {
	var p Page
	all := r.Findings()
	groups := groupSymptoms(all)
	findings, counts := runFindings(groups), r.counts(all)
	if words := r.Upgrade.words(); words != "" {
		p.Add(Prose{[]Text{StyledText(Bad, words)}})
	}
	if o.Figures {
		p.Add(counts.tiles())
	}
	p.Target("target", r.Target, r.Version)
	p.AddTroubles(r.Trouble)
	if !o.ForTerminal {
		p.summary(findings, groups, dropKnown(all), o)
	}
	p.upgrade(r.Upgrade, o)
	p.knownFindings(r, groups, o)
	if o.Figures && len(r.Clauses) > 0 && r.Upgrade == nil {
		p.Section("CLAUSES", "each clause, with its verdict")
		p.Add(MatrixOf([]string{"verdict"}, r))
		p.bySituation(r)
	}
	if o.Verbose {
		p.checks(r)
	}
	p.details(r, shownGroups(groups, o), o)
	p.unstableChecks(r)
	p.openResults(r, o)
	p.clientNotes(r.Observations)
	p.observations(r, counts.Clauses[Observed], o)
	p.leftover(r.leftover(), "of this run that are still on the target", o, r.Target)
	p.totals(counts)
	if r.Law != nil {
		p.Add(Prose{LinesOf(r.Law.Words())})
	}
	if o.ForTerminal {
		p.summary(findings, groups, dropKnown(all), o)
	}
	p.Conclude(r.facts(), r.Outcome(o.Exit))
	return p
}

// clientNotes appends what was seen of a client beside the clauses.
func (p *Page) clientNotes(lines []string) {
	t := Table{Wrap: true}
	for _, line := range lines {
		t.Rows = append(t.Rows, Cells(line))
	}
	p.TableSection("SEEN", "beside the clauses", t)
}

// bySituation appends, for a report about a client, in which situations it has broken clauses. Only clauses of clients
// have a harm.
func (p *Page) bySituation(r *Report) {
	m := &Matrix{Sparse: true}
	var checks []*Check
	openClauses := map[string]bool{}
	for i := range r.Checks {
		before := len(checks)
		for _, v := range r.Checks[i].Clauses {
			if v.Verdict.IsNotable() {
				openClauses[v.ID] = true
				checks = append(checks[:before], &r.Checks[i])
			}
		}
	}
	for _, check := range checks {
		m.Runs = append(m.Runs, check.ID)
	}
	ofClient := false
	for i := range r.Clauses {
		c := &r.Clauses[i]
		if ofClient = ofClient || c.Harm != "" && len(c.Checks) > 0; openClauses[c.ID] {
			m.add(rowOf(c, checks))
		}
	}
	if !ofClient || len(checks) == 0 {
		return
	}
	p.Add(Figure{
		Title: "Situations",
		Description: "Each line is a situation with a clause that failed or is inconclusive, and each square a clause: " +
			"P pass, F fail, W warn, ? inconclusive; K in a frame: known. No square means that the situation does not test " +
			"the clause.",
		Drawing: m,
	})
}

// rowOf returns a clause with its verdict in each of some checks.
func rowOf(c *Clause, in []*Check) *MatrixRow {
	row := &MatrixRow{ID: c.ID, Statement: c.Statement, Level: c.Level}
	for _, check := range in {
		v, link := ClauseVerdict{Verdict: NotSelected}, ""
		if match := Find(check.Clauses, func(v *ClauseVerdict) bool { return v.ID == c.ID }); match != nil {
			v = *match
		}
		f := Find(check.Findings, func(f *Finding) bool { return f.Clause == c.ID && f.KnownLine > 0 })
		if v.Verdict.IsNotable() {
			link = "#" + c.ID
		}
		row.Verdicts, row.Causes = append(row.Verdicts, v.Verdict), append(row.Causes, v.Cause)
		row.IsKnown, row.Links = append(row.IsKnown, v.KnownLine > 0 || f != nil), append(row.Links, link)
	}
	return row
}

// AddTroubles appends what kept a run from being complete, but for what its outcome says in the last line.
func (p *Page) AddTroubles(t Trouble) {
	if t.Interrupted {
		p.AddTrouble("The run was interrupted:", "the report has the results so far.")
	}
	if t.isPrinted() {
		p.AddTrouble("The target could not be reached:", t.Unreachable)
	}
}

// AddTrouble appends words under a title, unless there are none.
func (p *Page) AddTrouble(title, words string) {
	if words != "" {
		p.Add(Heading{Level: 1, Text: StyledText(Bad, title)}, Prose{LinesOf(words)})
	}
}

// checks appends every check with its verdict.
func (p *Page) checks(r *Report) {
	row := func(c *Check) Row {
		tries := attempts(c.Attempts)
		if len(c.Runs) > 0 {
			tries = " (" + c.frequency(c.Verdict, "") + ")"
		}
		return c.Verdict.row(c.ID, wordsIf(int(c.Took), seconds(c.Took)), c.Title+tries)
	}
	p.TableSection("CHECKS", "all checks, with their duration", Table{
		Columns: []Column{{Width: verdictWidth}, {}, {AlignRight: true, Width: 10}}, Rows: RowsOf(r.Checks, row),
	})
}

// verdictWidth is the width of the longest verdict in a column.
const verdictWidth = 14

// facts returns how long the run took, when it began and its seed.
func (r *Report) facts() string {
	repeats := ""
	if r.Repeat > 1 {
		repeats = fmt.Sprintf(", each check %d times", r.Repeat)
	}
	replays := wordsIf(int(r.ReplayTime), fmt.Sprintf(" (%s of it for retries)", seconds(r.ReplayTime)))
	return fmt.Sprintf("took %s%s%s%s, seed %d", seconds(r.Took), replays, StartWords(r.StartTime), repeats, r.Seed)
}

// StartWords returns when a run began, as a part of its facts: ", started 2026-03-04 05:06:07 UTC"; empty if not known.
func StartWords(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", started " + t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// Conclude appends the facts of a run, its exit code, and its outcome in words.
func (p *Page) Conclude(facts string, o Outcome) {
	p.Add(Conclusion{fmt.Sprintf("%s, exit code %d", facts, o.Code), o.Text()})
}

// leftoverShown is how many of the jobs are named that a run could not remove.
const leftoverShown = 10

// leftover appends jobs that are still on targets, and the commands that remove them.
func (p *Page) leftover(jobs []string, reason string, o PageOptions, targets ...Target) {
	p.TableSection("LEFTOVER JOBS", text.Count(len(jobs), "job")+" "+reason, firstRows(jobs, leftoverShown, o))
	var clean []string
	for _, t := range targets {
		if strings.HasPrefix(t.URL, "tcp") { // what clean knows
			clean = append(clean, "fwpcheck clean --url "+t.URL)
		}
	}
	if len(jobs) > 0 && len(clean) > 0 {
		p.Add(Fields{Fields: []Field{{Label: "remove", Lines: TextsOf(clean), IsCommand: true}}},
			Prose{LinesOf("It finds them by their queues. Scheduled, retried and reserved jobs come back to these later: " +
				"then run it again.")})
	}
}

// firstRows returns a row for each of the first names, with Verbose for all.
func firstRows(names []string, limit int, o PageOptions) (t Table) {
	for i, name := range names {
		if i == limit && !o.Verbose {
			t.Note = PlainText(fmt.Sprintf("and %s more; -v lists them", text.GroupDigits(len(names)-i)))
			break
		}
		t.Rows = append(t.Rows, Cells(name))
	}
	return t
}

// leftover returns the jobs that the checks could not remove.
func (r *Report) leftover() []string {
	var jobs []string
	for _, c := range r.Checks {
		for _, job := range c.LeftoverJobs {
			jobs = append(jobs, fmt.Sprintf("%s [%s]", job, c.ID))
		}
	}
	return jobs
}

// seconds returns d with three digits after the point: "12.345 s".
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

// attempts returns how often a check was tried, if it was more than once.
func attempts(n int) string {
	return wordsIf(max(n-1, 0), fmt.Sprintf(" (%d attempts)", n))
}

// verdictStyles holds the style of each verdict; the others are plain.
var verdictStyles = map[Verdict]Style{
	Crash: Bad, Fail: Bad, Warn: Caution, Pass: Good, Observed: Optional, Inconclusive: Unclear, NotRun: Unclear,
}

// Text returns the word for v in its style.
func (v Verdict) Text() Text { return StyledText(verdictStyles[v], v.String()) }

// row returns a row of a table that begins with the word for v.
func (v Verdict) row(cells ...string) Row {
	return Row{Cells: append([]Text{v.Text()}, TextsOf(cells)...)}
}

// What a terminal shows of many findings.
const (
	maxFindingLines   = 15
	maxFindingDetails = 10
)

// summary appends the findings, one a line: what a reader looks at first.
func (p *Page) summary(findings []RunFinding, groups [][]Finding, all []Finding, o PageOptions) {
	counts := map[Verdict]int{}
	t := Table{Columns: []Column{{}, {}, {IsBrief: true}}}
	for i, b := range findings {
		if counts[b.Verdict]++; i >= maxFindingLines && o.isShortened() {
			continue
		}
		words := b.Statement
		switch {
		case b.Clause == "":
			words = cmp.Or(b.Statement, "(no clause)")
		case b.Harm != "":
			words = b.Harm + ": " + words
		}
		row := b.Verdict.row(b.Clause, words, checksText(b.Checks))
		head := groups[b.SymptomIndexes[0]][0] // under which the details are
		row.Link = findingAnchor(head.Clause, head.Step, head.Check)
		t.Rows = append(t.Rows, row)
	}
	if n := len(findings) - len(t.Rows); n > 0 {
		t.Note = PlainText(fmt.Sprintf("and %d more; --details all lists them", n))
	}
	p.findings(counts, len(findings), t)
	p.firstCauses(groups)
	if command := rerun(all); command != "" && len(findings) > 0 {
		p.Add(Fields{Fields: []Field{{Label: "rerun one", Lines: LinesOf(command), IsCommand: true}}})
	}
}

// tiles returns how many clauses have each verdict.
func (c *Counts) tiles() Tiles {
	t := Tiles{tilesOf(c.Clauses)}
	if n := c.KnownCounts.Clauses; n > 0 {
		t.Tiles = append(t.Tiles, Tile{text.GroupDigits(n), "known", Plain})
	}
	return t
}

// tilesOf returns how often each verdict occurs on something that was selected, the worst first.
func tilesOf(counts map[Verdict]int) (tiles []Tile) {
	for _, v := range worstFirst {
		if n := counts[v]; n > 0 && v != NotApplicable && v != NotSelected {
			tiles = append(tiles, Tile{text.GroupDigits(n), v.String(), verdictStyles[v]})
		}
	}
	return tiles
}

// findingAnchor returns what the details of a finding are linked to by.
func findingAnchor(clause string, step int, checks ...string) string {
	return "finding-" + cmp.Or(clause, strings.Join(checks, "-")) + wordsIf(step, fmt.Sprintf("-step-%d", step))
}

// isShortened reports whether many findings are not all shown.
func (o PageOptions) isShortened() bool { return o.ForTerminal && !o.AllDetails && !o.Verbose }

// findings appends a table of findings, with how many there are of each verdict.
func (p *Page) findings(counts map[Verdict]int, n int, t Table) {
	p.TableSection("FINDINGS", fmt.Sprintf("%d (%s)", n, verdictList(counts)), t)
}

// checksText returns the first of some checks, and how many more there are.
func checksText(checks []string) string {
	if len(checks) < 2 {
		return strings.Join(checks, "")
	}
	return fmt.Sprintf("%s +%d", checks[0], len(checks)-1)
}

// rerun returns the command that shows a finding again, with CHECK in the place of the check.
func rerun(all []Finding) string {
	for _, f := range all {
		if before, after, ok := strings.Cut(f.Reproduce, text.ShellQuote(f.Check)); ok {
			return before + "CHECK" + after
		}
	}
	return ""
}

// Command returns the command that evaluates a clause again, on the same target; empty if the report has none.
func (r *Report) Command(clause string) string {
	command := cmp.Or(r.Rerun, rerun(r.Findings()))
	if before, after, ok := strings.Cut(command, "--check CHECK"); ok {
		return before + "--clause " + text.ShellQuote(clause) + after
	}
	c := r.clauseByID(clause)
	if command == "" || c == nil || len(c.Checks) == 0 {
		return ""
	}
	return strings.Replace(command, "CHECK", text.ShellQuote(c.Checks[0]), 1) // of a script of the user's
}

// totals appends the counts, which are the same wherever a report has them.
func (p *Page) totals(c Counts) {
	var f []Field
	for _, row := range []struct {
		label      string
		counts     map[Verdict]int
		knownCount int
	}{{"clauses", c.Clauses, c.KnownCounts.Clauses}, {"checks without a clause", c.Checks, c.KnownCounts.Checks}} {
		all := row.knownCount
		for _, n := range row.counts {
			all += n
		}
		words := JoinWith(", ", verdictList(row.counts), wordsIf(row.knownCount, fmt.Sprintf("%d known", row.knownCount)))
		if all > 0 {
			f = append(f, NewField(row.label, fmt.Sprintf("%d: %s", all, words)))
		}
	}
	if len(f) > 0 {
		p.Section("TOTALS", "")
		p.Add(Fields{Fields: f})
	}
}
