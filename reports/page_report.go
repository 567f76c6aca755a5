package reports

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// Page returns r for people: the target; the findings, one a line; their evidence; what is inconclusive, not run or
// skipped, by cause; what was observed; the totals; and the outcome in words, in the last line.
func (r *Report) Page(o PageOptions) Page {
	var p Page
	all := r.Findings()
	groups := symptoms(all)
	found := broken(groups)
	counts := r.counts(all)
	p.target(r.Target, r.Version)
	p.troubles(r.trouble())
	p.summary(found, fresh(all))
	p.known(r, groups, o)
	if o.Figures && len(r.Clauses) > 0 {
		p.section("CLAUSES", "the verdict on each")
		p.add(MatrixOf([]string{"verdict"}, r))
	}
	if o.Verbose {
		p.checks(r)
	}
	p.details(r, shownGroups(groups, o), o)
	p.unstable(r)
	p.open(r, o)
	p.observations(r, counts.Clauses[Observed], o)
	p.leftover(r.leftover(), "of this run that are still on the target", o)
	p.totals(counts)
	p.conclusion(r.facts(), r.decide(o.Exit))
	return p
}

// target appends what was tested, and by what.
func (p *Page) target(t Target, version string) {
	p.targetAs("target", t, version)
}

// targetAs is target with another label.
func (p *Page) targetAs(label string, t Target, version string) {
	p.add(Fields{LabelWidth: 8, Fields: []Field{
		exact(label, Words(t.named())), exact("greeting", Words(t.HI)), exact("suite", Words(version)),
	}})
}

// named returns what was tested, and how it was chosen.
func (t Target) named() string { return named(cmp.Or(t.Command, t.URL), t.Chosen) }

// role is what was tested.
func (t Target) role() string {
	if t.Command != "" {
		return cmp.Or(t.Role, "program")
	}
	return "server"
}

// named returns a target and how it was chosen.
func named(url, chosen string) string {
	switch {
	case url == "" && chosen == "":
		return "none"
	case url == "":
		return chosen
	case chosen == "":
		return url
	default:
		return url + " (" + chosen + ")"
	}
}

// troubles appends what kept a run from being complete, but for what its outcome says in the last line.
func (p *Page) troubles(t trouble) {
	if t.interrupted {
		p.trouble("The run was interrupted:", "the report has the results until then.")
	}
	if t.printed() {
		p.trouble("The target could not be reached:", t.unreachable)
	}
}

func (p *Page) trouble(title, words string) {
	if words != "" {
		p.add(Heading{1, Styled(Bad, title)}, Prose{LinesOf(words)})
	}
}

// checks appends every check with its verdict.
func (p *Page) checks(r *Report) {
	if len(r.Checks) == 0 {
		return
	}
	p.section("CHECKS", "all of them, with their duration")
	t := Table{Columns: []Column{{Width: verdictWidth}, {}, {Right: true, Width: 10}}}
	for _, c := range r.Checks {
		took := ""
		if c.Took > 0 {
			took = seconds(c.Took)
		}
		t.Rows = append(t.Rows, Row{Cells: []Text{c.Verdict.Text(), Words(c.ID), Words(took), Words(c.Title + tries(&c))}})
	}
	p.add(t)
}

// verdictWidth is the width of the longest verdict in a column.
const verdictWidth = 14

// facts returns how long the run took, when it began and its seed.
func (r *Report) facts() string {
	each := ""
	if r.Repeat > 1 {
		each = fmt.Sprintf(", each check %d times", r.Repeat)
	}
	return fmt.Sprintf("took %s%s%s, seed %d", seconds(r.Took), began(r.Started), each, r.Seed)
}

// began returns when a run began, as a part of its facts.
func began(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", started " + t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// conclusion appends the facts of a run, its exit code, and its outcome in words.
func (p *Page) conclusion(facts string, o outcome) {
	p.add(Conclusion{fmt.Sprintf("%s, exit code %d", facts, o.code), Styled(exitOf(o.code).style, o.words)})
}

// leftoverShown is how many of the jobs are named that a run could not remove.
const leftoverShown = 10

// leftover appends jobs that are still on the target.
func (p *Page) leftover(jobs []string, why string, o PageOptions) {
	if len(jobs) == 0 {
		return
	}
	p.section("LEFTOVER JOBS", text.Count(len(jobs), "job")+" "+why)
	shown := jobs
	if !o.Verbose && len(jobs) > leftoverShown {
		shown = jobs[:leftoverShown]
	}
	var t Table
	for _, job := range shown {
		t.Rows = append(t.Rows, Cells(job))
	}
	if more := len(jobs) - len(shown); more > 0 {
		t.Note = Words(fmt.Sprintf("and %s more; -v lists them", text.Grouped(more)))
	}
	p.add(t)
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
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) + " s"
}

// tries returns how often a check was run, and how often it had its verdict, if it was more than once.
func tries(c *Check) string {
	if len(c.Runs) == 0 {
		return attempts(c.Attempts)
	}
	return " (" + c.seen(c.Verdict, "") + ")"
}

// attempts returns how often a check was tried, if it was more than once.
func attempts(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d attempts)", n)
}

// verdictStyles holds the style of each verdict; the others are plain.
var verdictStyles = map[Verdict]Style{
	Crash: Bad, Fail: Bad, Warn: Caution, Pass: Good, Observed: Optional, Inconclusive: Unclear, NotRun: Unclear,
}

// Text returns the word for v in its style.
func (v Verdict) Text() Text { return Styled(verdictStyles[v], v.String()) }
