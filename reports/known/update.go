package known

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/reports"
)

// Update is what File.Update changed.
type Update struct {
	Text                    []byte
	Added, Changed, Removed []string // lines, as they are now; Removed as they were
}

// Update returns the file as it would know all that was found: judged is the result of Judge. Lines that are stale
// go; one about a single check and clause that has another kind or symptom now is changed; what is not known is
// added at the end. All other lines and the comments stay as they are, in their order, also those that are past
// their date, and what these are about is not added. generated reports whether a check does something else in each run,
// so that what it finds is flaky.
func (f *File) Update(judged *reports.Report, generated func(check string) bool) Update {
	u := &updater{file: f, text: slices.Clone(f.text), removedLines: map[int]bool{}}
	var lines []Line
	for i := range judged.Checks {
		c := &judged.Checks[i]
		for _, l := range missingLines(c, generated(c.ID)) {
			if !f.hasExpiredLine(c.ID, &l) && !slices.ContainsFunc(lines, func(o Line) bool { return o.topic() == l.topic() }) {
				lines = append(lines, l)
			}
		}
	}
	for _, expectation := range judged.Expectations.StaleLines {
		lines = u.replaceStale(expectation.Line, lines)
	}
	return u.finish(lines, judged.Expectations.Server)
}

// remove leaves a line out.
func (u *updater) remove(l *Line) {
	u.removedLines[l.Number-1] = true
	u.Removed = append(u.Removed, fmt.Sprintf("line %d: %s", l.Number, l.source(u.file)))
}

// change writes a line anew, with its comment.
func (u *updater) change(number int, now string) {
	u.text[number-1] = now + comment(u.text[number-1])
	u.Changed = append(u.Changed, fmt.Sprintf("line %d: %s", number, now))
}

// missingLines returns the lines for what is not known of a check.
func missingLines(c *reports.Check, generated bool) []Line {
	var all []Line
	for _, f := range c.Findings {
		if f.KnownLine > 0 || strings.Contains(f.Frequency, beyondRate) {
			continue
		}
		l := Line{Check: Literal(c.ID), Clause: f.Clause, Kind: kindOf(f.Verdict), Because: f.Signature()}
		if f.Verdict == reports.Crash || generated || isLaw(c.ID) { // what is tried, or met first, is another in each run
			l.Because = ""
		}
		l.setRate(c, f.Clause, generated)
		all = append(all, l)
	}
	if len(c.Findings) > 0 {
		return all
	}
	for _, cv := range c.Clauses {
		if cv.Verdict == reports.Inconclusive && cv.IsHalted && cv.KnownLine == 0 {
			cause, _, _ := strings.Cut(openSignature(cv.Cause), ", got ") // the line that did not match is enough
			l := Line{Check: Literal(c.ID), Clause: cv.ID, Kind: Inconclusive, Because: cause}
			l.setRate(c, cv.ID, generated)
			all = append(all, l)
		}
	}
	return all
}

// minPlays is how many plays of a check a rate is drawn from.
const minPlays = 5

// setRate makes the line one of kind Flaky if plays differed, or if the check does something else in each run.
func (l *Line) setRate(c *reports.Check, clause string, generated bool) {
	breaches, plays, _ := sum(slices.Concat(runsOf(c, clause), c.Replays))
	if breaches == plays && !generated {
		return
	}
	if l.Kind != Inconclusive && breaches < plays && plays >= minPlays {
		l.Rate, l.RatePlays = upperRate(breaches, plays), plays
	}
	l.Kind = Flaky
}

// runsOf returns how often each verdict occurred, of the clause or else of the check.
func runsOf(c *reports.Check, clause string) []reports.Count {
	if cv := verdictOn(c, clause); cv != nil && len(cv.Runs) > 0 {
		return cv.Runs
	}
	return c.Runs
}

// upperRate returns a rate that is exceeded in hardly any series of plays if so many of these were bad: the upper end
// of the 99 % interval after Wilson, in tenths.
func upperRate(breaches, plays int) float64 {
	const z = 2.576
	n, p := float64(plays), float64(breaches)/float64(plays)
	limit := (p + z*z/(2*n) + z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))) / (1 + z*z/n)
	return min(1, math.Ceil(limit*10)/10)
}

// hasExpiredLine reports whether a line with a date is about the same finding: it has expired, or the finding would be
// known. That line is for people to look at.
func (f *File) hasExpiredLine(check string, line *Line) bool {
	return slices.ContainsFunc(f.Lines, func(l Line) bool {
		return !l.Until.IsZero() && l.matches(check, line.Clause, line.Kind, line.Because)
	})
}

// updater is one call of Update.
type updater struct {
	file         *File
	text         []string
	removedLines map[int]bool // places in text
	Update
}

// replaceStale changes a stale line to one of those that are wanted, or removes it. It returns those that are still
// wanted.
func (u *updater) replaceStale(number int, lines []Line) []Line {
	at := slices.IndexFunc(u.file.Lines, func(l Line) bool { return l.Number == number })
	l := u.file.Lines[at]
	i := -1
	if l.isExact() {
		i = slices.IndexFunc(lines, func(w Line) bool { return l.Check == w.Check && l.matchesClause(w.Clause) })
	}
	if i < 0 {
		u.remove(&l)
		return lines
	}
	w := lines[i]
	l.Kind, l.Because, l.Rate, l.RatePlays = w.Kind, w.Because, w.Rate, w.RatePlays
	u.change(number, l.String())
	return slices.Delete(slices.Clone(lines), i, i+1)
}

// finish returns the file with the lines that are wanted at its end. A new one names the server.
func (u *updater) finish(lines []Line, server string) Update {
	var all []string
	for i, line := range u.text {
		if !u.removedLines[i] {
			all = append(all, line)
		}
	}
	if len(u.file.text) == 0 {
		suffix := ""
		if server != "" {
			suffix = " of " + server
		}
		all = append(all, strings.Split(fmt.Sprintf(header, suffix), "\n")...)
	}
	widest := [2]int{}
	for i := range lines {
		widest[0] = max(widest[0], utf8.RuneCountInString(formatWord(lines[i].Check)))
		widest[1] = max(widest[1], utf8.RuneCountInString(lines[i].clause()))
	}
	for i := range lines {
		u.Added = append(u.Added, lines[i].String())
		all = append(all, lines[i].format(widest))
	}
	u.Text = []byte(strings.Join(append(all, ""), "\n"))
	return u.Update
}

// header is the beginning of a new file; %s is the server.
const header = `# Known findings%s: CHECK CLAUSE KIND, and because="..." server="..." see=URL until=DATE.
# Comments are ignored: write the reason for each line here.
`

// comment returns the comment at the end of a line, with a space before it.
func comment(line string) string {
	for i := range line {
		if line[i] != '#' || i == 0 || line[i-1] != ' ' && line[i-1] != '\t' {
			continue
		}
		if _, parseErr := split(line[:i]); parseErr == nil { // not in quotes
			return "  " + line[i:]
		}
	}
	return ""
}

// String returns the line as it is written in a file, without its comment.
func (l *Line) String() string { return l.format([2]int{}) }

// format returns the line with check and clause at least so wide.
func (l *Line) format(widest [2]int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s  %-*s  %s", widest[0], formatWord(l.Check), widest[1], l.clause(), l.Kind)
	for _, attribute := range []struct {
		isSet bool
		text  string
	}{
		{l.Because != "", "because=" + quote(l.Because)},
		{l.Rate > 0, fmt.Sprintf("rate<=%s of=%d", strconv.FormatFloat(l.Rate, 'f', -1, 64), l.RatePlays)},
		{l.Server.text != "", "server=" + quote(l.Server.text)}, {l.See != "", "see=" + formatWord(l.See)},
		{!l.Until.IsZero(), "until=" + l.Until.Format(time.DateOnly)},
	} {
		if attribute.isSet {
			b.WriteString("  " + attribute.text)
		}
	}
	return b.String()
}

// clause returns the clause as it is written.
func (l *Line) clause() string {
	if l.Clause == "" {
		return NoClause
	}
	return formatWord(l.Clause)
}

// formatWord returns a word as it is written: in quotes if it has to be.
func formatWord(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\"") || s[0] == '#' {
		return quote(s)
	}
	return s
}

// Literal returns the pattern that matches a name and nothing else.
func Literal(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}
