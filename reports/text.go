package reports

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/text"
)

// textWidth is where prose is broken. What was sent and received is never broken or cut.
const textWidth = 100

// TextOptions says how WriteText writes. The zero value is plain text of a normal length.
type TextOptions struct {
	// Color paints verdicts, headings and the place of a departure with the codes of a terminal.
	Color bool
	// Verbose lists every check, and shows what undecided checks and notes rest on.
	Verbose bool
	// Exit is what the exit code is computed with; the last line and the exit code in the text follow it.
	Exit ExitOptions
}

// WriteText writes r for people: what was judged; the findings with their evidence; what is undecided, not run or
// not offered, by cause; the notes; the counts; and a last line that says in words what came out. It writes once, and
// returns the error of that.
func WriteText(w io.Writer, r *Report, o TextOptions) error {
	t := &textWriter{TextOptions: o}
	t.head(r.Target, r.Version)
	t.troubles(r.Interrupted, r.Internal, r.Unreachable, r.Usage)
	if o.Verbose {
		t.checks(r)
	}
	t.findings(r)
	t.unsteady(r)
	t.open(r)
	t.notes(r)
	t.left(r)
	if o.Verbose {
		t.evidence(r)
	}
	t.counts(r)
	t.foot(r)
	return writeOut(w, t.out.Bytes())
}

// textWriter gathers the output.
type textWriter struct {
	TextOptions
	out bytes.Buffer
}

func (t *textWriter) line(format string, args ...any) {
	line := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	t.out.WriteString(line + "\n")
}

// prose writes words after indent, broken where they are too long; the lines after the first are indented alike.
func (t *textWriter) prose(indent, words string) {
	for i, line := range wrap(words, textWidth-utf8.RuneCountInString(indent)) {
		if i == 1 {
			indent = strings.Repeat(" ", utf8.RuneCountInString(indent))
		}
		t.line("%s%s", indent, line)
	}
}

// section writes a heading, with a few words behind it that explain what follows.
func (t *textWriter) section(heading, words string) {
	t.line("")
	if words != "" {
		words = ": " + words
	}
	t.line("%s%s", t.paint(bold, heading), words)
}

// head says what was judged, and by whom.
func (t *textWriter) head(judged Target, version string) {
	target := judged.URL
	switch chosen := judged.Chosen; {
	case target == "" && chosen == "":
		target = "none"
	case target == "":
		target = chosen
	case chosen != "":
		target += " (" + chosen + ")"
	}
	t.line("target    %s", text.Printable(target))
	if judged.HI != "" {
		t.line("greeting  %s", text.Printable(judged.HI))
	}
	if version != "" {
		t.line("suite     %s", text.Printable(version))
	}
}

// troubles says what kept a run from being a whole one; each may be empty.
func (t *textWriter) troubles(interrupted bool, internal, unreachable, usage string) {
	if interrupted {
		t.trouble("The run was interrupted:", "what follows is what was found until then.")
	}
	t.trouble("The suite itself failed:", internal)
	t.trouble("No FWP server could be judged:", unreachable)
	t.trouble("Usage error:", usage)
}

func (t *textWriter) trouble(title, words string) {
	if words == "" {
		return
	}
	t.line("")
	t.line("%s", t.paint(red, title))
	for _, line := range lines(words) {
		t.line("  %s", line)
	}
}

// checks lists every check with its verdict.
func (t *textWriter) checks(r *Report) {
	if len(r.Checks) == 0 {
		return
	}
	t.section("CHECKS", "all of them, with the time that each took")
	wide := 0
	for _, c := range r.Checks {
		wide = max(wide, utf8.RuneCountInString(c.ID))
	}
	for _, c := range r.Checks {
		took := ""
		if c.Took > 0 {
			took = seconds(c.Took)
		}
		t.line("  %s  %-*s  %10s  %s%s", t.word(c.Verdict, 14), wide, text.Printable(c.ID), took, text.Printable(c.Title), tries(&c))
	}
}

// counts writes the table of verdicts.
func (t *textWriter) counts(r *Report) {
	checks, clauses, free := map[Verdict]int{}, map[Verdict]int{}, 0
	for _, c := range r.Checks {
		checks[c.Verdict]++
	}
	for _, c := range r.Clauses {
		if c.Verdict == NotRun && len(c.Checks) == 0 {
			free++
			continue
		}
		clauses[c.Verdict]++
	}
	if len(r.Checks)+len(r.Clauses) == 0 {
		return
	}
	t.section("COUNTS", "")
	t.line("  %-14s  %7s  %7s", "", "checks", "clauses")
	for _, v := range worstFirst {
		if checks[v]+clauses[v] > 0 {
			t.line("  %s  %7d  %7d", t.word(v, 14), checks[v], clauses[v])
		}
	}
	if free > 0 {
		t.line("  %-14s  %7s  %7d", "no check yet", "", free)
	}
	t.line("  %-14s  %7d  %7d", "all", len(r.Checks), len(r.Clauses))
}

// foot writes time, seed, exit code and, as the last line, the outcome.
func (t *textWriter) foot(r *Report) {
	code, words := r.Outcome(t.Exit)
	started := ""
	if !r.Started.IsZero() {
		started = ", started " + r.Started.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	t.line("")
	each := ""
	if r.Repeat > 1 {
		each = fmt.Sprintf(", each check %d times", r.Repeat)
	}
	t.line("took %s%s%s, seed %d, exit code %d", seconds(r.Took), started, each, r.Seed, code)
	colour := yellow
	switch code {
	case ExitWell:
		colour = green
	case ExitFindings, ExitInternal, ExitUnreachable, ExitUsage:
		colour = red
	}
	t.line("%s", t.paint(colour, text.Printable(words)))
}

// seconds writes d with three digits after the point: "12.345 s".
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) + " s"
}

// tries tells how often a check was run, and how often its verdict came, if it was more than once.
func tries(c *Check) string {
	if len(c.Runs) == 0 {
		return attempts(c.Attempts)
	}
	return " (" + c.seen(c.Verdict, "") + ")"
}

// attempts tells how often a check was tried, if it was more than once.
func attempts(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d attempts)", n)
}
