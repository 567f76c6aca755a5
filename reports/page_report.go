package reports

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Page returns r for people: the target; the findings, one a line; their evidence; what is inconclusive, not run or
// skipped, by cause; what was observed; the totals; and the outcome in words, in the last line.
func (r *Report) Page(o PageOptions) Page {
	var p Page
	all := r.Findings()
	groups := symptoms(all)
	found := broken(groups)
	counts := r.counts(all)
	if words := r.Upgrade.words(); words != "" {
		p.Add(Prose{[]Text{Styled(Bad, words)}})
	}
	if o.Figures {
		p.Add(counts.tiles())
	}
	p.Target("target", r.Target, r.Version)
	p.AddTroubles(r.Trouble)
	p.summary(found, groups, fresh(all))
	p.upgraded(r.Upgrade, o)
	p.known(r, groups, o)
	if o.Figures && len(r.Clauses) > 0 && r.Upgrade == nil {
		p.Section("CLAUSES", "each clause, with its verdict")
		p.Add(MatrixOf([]string{"verdict"}, r))
		p.bySituation(r)
	}
	if o.Verbose {
		p.checks(r)
	}
	p.details(r, shownGroups(groups, o), o)
	p.unstable(r)
	p.open(r, o)
	p.seen(r.Seen)
	p.observations(r, counts.Clauses[Observed], o)
	p.leftover(r.leftover(), "of this run that are still on the target", o, r.Target)
	p.totals(counts)
	if r.Law != nil {
		p.Add(Prose{LinesOf(r.Law.Words())})
	}
	p.Conclude(r.facts(), r.Outcome(o.Exit))
	return p
}

// seen appends what was seen of a client beside the clauses.
func (p *Page) seen(lines []string) {
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
	var shown []*Check
	open := map[string]bool{}
	for i := range r.Checks {
		before := len(shown)
		for _, v := range r.Checks[i].Clauses {
			if v.Verdict.Notable() {
				open[v.ID] = true
				shown = append(shown[:before], &r.Checks[i])
			}
		}
	}
	for _, check := range shown {
		m.Runs = append(m.Runs, check.ID)
	}
	ofClient := false
	for i := range r.Clauses {
		c := &r.Clauses[i]
		if ofClient = ofClient || c.Harm != "" && len(c.Checks) > 0; open[c.ID] {
			m.add(rowOf(c, shown))
		}
	}
	if !ofClient || len(shown) == 0 {
		return
	}
	p.Add(Figure{
		Title: "Situations",
		Description: "Each line is a situation with a clause that failed or is inconclusive, and each square a clause: " +
			"P pass, F fail, W warn, ? inconclusive; K in a frame: known. No square means that the situation does not test " +
			"the clause.",
		Of: m,
	})
}

// rowOf returns a clause with its verdict in each of some checks.
func rowOf(c *Clause, in []*Check) *MatrixRow {
	row := &MatrixRow{ID: c.ID, Statement: c.Statement, Level: c.Level}
	for _, check := range in {
		v, link := ClauseVerdict{Verdict: NotSelected}, ""
		if found := Find(check.Clauses, func(v *ClauseVerdict) bool { return v.ID == c.ID }); found != nil {
			v = *found
		}
		f := Find(check.Findings, func(f *Finding) bool { return f.Clause == c.ID && f.Known > 0 })
		if v.Verdict.Notable() {
			link = "#" + c.ID
		}
		row.Verdicts, row.Why = append(row.Verdicts, v.Verdict), append(row.Why, v.Why)
		row.Known, row.Links = append(row.Known, v.Known > 0 || f != nil), append(row.Links, link)
	}
	return row
}

// AddTroubles appends what kept a run from being complete, but for what its outcome says in the last line.
func (p *Page) AddTroubles(t Trouble) {
	if t.Interrupted {
		p.AddTrouble("The run was interrupted:", "the report has the results so far.")
	}
	if t.printed() {
		p.AddTrouble("The target could not be reached:", t.Unreachable)
	}
}

// AddTrouble appends words under a title, unless there are none.
func (p *Page) AddTrouble(title, words string) {
	if words != "" {
		p.Add(Heading{Level: 1, Text: Styled(Bad, title)}, Prose{LinesOf(words)})
	}
}

// checks appends every check with its verdict.
func (p *Page) checks(r *Report) {
	row := func(c *Check) Row {
		tries := attempts(c.Attempts)
		if len(c.Runs) > 0 {
			tries = " (" + c.seen(c.Verdict, "") + ")"
		}
		return c.Verdict.row(c.ID, some(int(c.Took), seconds(c.Took)), c.Title+tries)
	}
	p.TableSection("CHECKS", "all checks, with their duration", Table{
		Columns: []Column{{Width: verdictWidth}, {}, {Right: true, Width: 10}}, Rows: RowsOf(r.Checks, row),
	})
}

// verdictWidth is the width of the longest verdict in a column.
const verdictWidth = 14

// facts returns how long the run took, when it began and its seed.
func (r *Report) facts() string {
	each := ""
	if r.Repeat > 1 {
		each = fmt.Sprintf(", each check %d times", r.Repeat)
	}
	again := some(int(r.Again), fmt.Sprintf(" (%s of it for retries)", seconds(r.Again)))
	return fmt.Sprintf("took %s%s%s%s, seed %d", seconds(r.Took), again, Began(r.Started), each, r.Seed)
}

// Began returns when a run began, as a part of its facts: ", started 2026-03-04 05:06:07 UTC"; empty if not known.
func Began(t time.Time) string {
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
func (p *Page) leftover(jobs []string, why string, o PageOptions, targets ...Target) {
	p.TableSection("LEFTOVER JOBS", text.Count(len(jobs), "job")+" "+why, firstOf(jobs, leftoverShown, o))
	var clean []string
	for _, t := range targets {
		if strings.HasPrefix(t.URL, "tcp") { // what clean knows
			clean = append(clean, "fwpcheck clean --url "+t.URL)
		}
	}
	if len(jobs) > 0 && len(clean) > 0 {
		p.Add(Fields{Fields: []Field{{Label: "remove", Lines: TextsOf(clean), Command: true}}},
			Prose{LinesOf("It finds them by their queues. Scheduled, retried and reserved jobs come back to these later: " +
				"then run it again.")})
	}
}

// firstOf returns a row for each of the first names, with Verbose for all.
func firstOf(names []string, most int, o PageOptions) (t Table) {
	for i, name := range names {
		if i == most && !o.Verbose {
			t.Note = Words(fmt.Sprintf("and %s more; -v lists them", text.Grouped(len(names)-i)))
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
		for _, job := range c.Left {
			jobs = append(jobs, fmt.Sprintf("%s [%s]", job, c.ID))
		}
	}
	return jobs
}

// seconds returns d with three digits after the point: "12.345 s".
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

// attempts returns how often a check was tried, if it was more than once.
func attempts(n int) string {
	return some(max(n-1, 0), fmt.Sprintf(" (%d attempts)", n))
}

// verdictStyles holds the style of each verdict; the others are plain.
var verdictStyles = map[Verdict]Style{
	Crash: Bad, Fail: Bad, Warn: Caution, Pass: Good, Observed: Optional, Inconclusive: Unclear, NotRun: Unclear,
}

// Text returns the word for v in its style.
func (v Verdict) Text() Text { return Styled(verdictStyles[v], v.String()) }

// row returns a row of a table that begins with the word for v.
func (v Verdict) row(cells ...string) Row {
	return Row{Cells: append([]Text{v.Text()}, TextsOf(cells)...)}
}

// summary appends the findings, one a line: what a reader looks at first.
func (p *Page) summary(found []Broken, groups [][]Finding, all []Finding) {
	counts := map[Verdict]int{}
	t := Table{Columns: []Column{{}, {}, {Brief: true}}}
	for _, b := range found {
		counts[b.Verdict]++
		words := b.Statement
		switch {
		case b.Clause == "":
			words = cmp.Or(b.Statement, "(no clause)")
		case b.Harm != "":
			words = b.Harm + ": " + words
		}
		row := b.Verdict.row(b.Clause, words, shownBy(b.Checks))
		head := groups[b.Symptoms[0]][0] // under which the details are
		row.Link = findingAnchor(head.Clause, head.Step, head.Check)
		t.Rows = append(t.Rows, row)
	}
	p.findings(counts, t)
	if command := rerun(all); command != "" && len(found) > 0 {
		p.Add(Fields{Fields: []Field{{Label: "rerun one", Lines: LinesOf(command), Command: true}}})
	}
}

// tiles returns how many clauses have each verdict.
func (c *Counts) tiles() Tiles {
	t := Tiles{tilesOf(c.Clauses)}
	if n := c.Known.Clauses; n > 0 {
		t.Tiles = append(t.Tiles, Tile{text.Grouped(n), "known", Plain})
	}
	return t
}

// tilesOf returns how often each verdict occurs on something that was selected, the worst first.
func tilesOf(counts map[Verdict]int) (tiles []Tile) {
	for _, v := range worstFirst {
		if n := counts[v]; n > 0 && v != NotApplicable && v != NotSelected {
			tiles = append(tiles, Tile{text.Grouped(n), v.String(), verdictStyles[v]})
		}
	}
	return tiles
}

// findingAnchor returns what the details of a finding are linked to by.
func findingAnchor(clause string, step int, checks ...string) string {
	return "finding-" + cmp.Or(clause, strings.Join(checks, "-")) + some(step, fmt.Sprintf("-step-%d", step))
}

// findings appends a table of findings, with how many there are of each verdict.
func (p *Page) findings(counts map[Verdict]int, t Table) {
	p.TableSection("FINDINGS", fmt.Sprintf("%d (%s)", len(t.Rows), listed(counts)), t)
}

// shownBy returns the first of some checks, and how many more there are.
func shownBy(checks []string) string {
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
	again := cmp.Or(r.Rerun, rerun(r.Findings()))
	if before, after, ok := strings.Cut(again, "--check CHECK"); ok {
		return before + "--clause " + text.ShellQuote(clause) + after
	}
	c := r.clause(clause)
	if again == "" || c == nil || len(c.Checks) == 0 {
		return ""
	}
	return strings.Replace(again, "CHECK", text.ShellQuote(c.Checks[0]), 1) // of a script of the user's
}

// totals appends the counts, which are the same wherever a report has them.
func (p *Page) totals(c Counts) {
	var f []Field
	for _, of := range []struct {
		label  string
		counts map[Verdict]int
		known  int
	}{{"clauses", c.Clauses, c.Known.Clauses}, {"checks without a clause", c.Checks, c.Known.Checks}} {
		all := of.known
		for _, n := range of.counts {
			all += n
		}
		words := JoinWith(", ", listed(of.counts), some(of.known, fmt.Sprintf("%d known", of.known)))
		if all > 0 {
			f = append(f, NewField(of.label, fmt.Sprintf("%d: %s", all, words)))
		}
	}
	if len(f) > 0 {
		p.Section("TOTALS", "")
		p.Add(Fields{Fields: f})
	}
}
