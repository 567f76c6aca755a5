package reports

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/text"
)

// open writes what is undecided, not run or not offered: a cause, how to remove it, and the checks that it kept from
// deciding, with their clauses.
func (t *textWriter) open(r *Report) {
	groups := r.openGroups()
	if len(groups) == 0 {
		return
	}
	t.section("WITHOUT AN ANSWER", "what is undecided, not run or not offered by the target, and why")
	for _, g := range groups {
		t.line("")
		why := g.why
		if why == "" {
			why = defaultWhy(g.verdict)
		}
		t.because(g.verdict, why)
		if g.provide != "" {
			t.prose("  to have it decided: ", g.provide)
		}
		t.openRows(g.rows)
	}
}

// left writes which jobs the run could not remove from the target.
func (t *textWriter) left(r *Report) {
	var jobs []string
	for _, c := range r.Checks {
		for _, job := range c.Left {
			jobs = append(jobs, fmt.Sprintf("%s [%s]", job, c.ID))
		}
	}
	t.behind(jobs, "that this run put on the target and could not remove")
}

// leftShown is how many of the jobs that are left behind are named.
const leftShown = 10

// behind writes which jobs are still on the target: with Verbose all of them.
func (t *textWriter) behind(left []string, why string) {
	if len(left) == 0 {
		return
	}
	t.section("LEFT BEHIND", text.Count(len(left), "job")+" "+why)
	shown := left
	if !t.Verbose && len(left) > leftShown {
		shown = left[:leftShown]
	}
	for _, job := range shown {
		t.line("  %s", text.Printable(job))
	}
	if more := len(left) - len(shown); more > 0 {
		t.line("  and %s more; -v lists them", text.Grouped(more))
	}
}

// because writes a verdict and its cause; the painted word must not count for the width.
func (t *textWriter) because(v Verdict, why string) {
	for i, line := range wrap(why, textWidth-len(v.String())-2) {
		lead := strings.Repeat(" ", len(v.String())) + "  "
		if i == 0 {
			lead = t.word(v, 0) + ": "
		}
		t.line("%s%s", lead, line)
	}
}

func defaultWhy(v Verdict) string {
	switch v {
	case Inconclusive:
		return "no cause was given"
	case NotRun:
		return "the run ended before its turn"
	default:
		return "the target does not offer what is needed"
	}
}

// openRows writes checks and their clauses in two columns.
func (t *textWriter) openRows(rows []openRow) {
	wide := 0
	for _, row := range rows {
		wide = max(wide, utf8.RuneCountInString(text.Printable(row.check)))
	}
	for _, row := range rows {
		lead := "  "
		if wide > 0 {
			lead = fmt.Sprintf("  %-*s  ", wide, text.Printable(row.check))
		}
		words := strings.Join(row.clauses, ", ") + attempts(row.attempts)
		if words == "" {
			t.line("%s", lead)
			continue
		}
		t.prose(lead, words)
	}
}

// evidence writes, for whoever asked for more, what the undecided checks and the notes rest on.
func (t *textWriter) evidence(r *Report) {
	var full []Finding
	for i := range r.Checks {
		full = append(full, r.backing(&r.Checks[i])...)
	}
	if len(full) == 0 {
		return
	}
	t.section("EVIDENCE", "what the undecided checks and the notes above rest on")
	for i := range full {
		t.line("")
		t.finding(&full[i])
	}
}

// backing returns what c keeps as evidence without being a breach.
func (r *Report) backing(c *Check) []Finding {
	var full []Finding
	for _, f := range c.Findings {
		if !f.Verdict.Breach() {
			full = append(full, r.complete(c.own(f)))
		}
	}
	if len(c.Findings) == 0 && isOpen(c.Verdict) && len(c.Conversation) > 0 {
		var ids []string
		for _, cv := range c.Clauses {
			if isOpen(cv.Verdict) {
				ids = append(ids, cv.ID)
			}
		}
		full = append(full, c.own(Finding{Clause: strings.Join(ids, ", "), Verdict: c.Verdict, Got: c.Why}))
	}
	return full
}

// notes writes the readings and optional things that were seen, one line each.
func (t *textWriter) notes(r *Report) {
	all := r.remarks()
	if len(all) == 0 {
		return
	}
	t.section("NOTES", "choices that the specification leaves to a server; never a failure")
	wide := 0
	for _, m := range all {
		wide = max(wide, len(m.clause))
	}
	for _, m := range all {
		what := m.what
		if what == "" {
			what = "seen"
		}
		t.prose(fmt.Sprintf("  %-*s  ", wide, m.clause), what+" ["+strings.Join(m.checks, ", ")+"]")
	}
}
