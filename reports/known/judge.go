package known

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/reports"
)

// Setting is what a file is held against beside the results of a run.
type Setting struct {
	Now    time.Time
	Server Server // of the run; see File.AsksServer
	// Generated reports whether a check generates what it sends; nil: none does. What such a check finds is another thing
	// with each seed, so a line about the clause knows it, whatever check that line names.
	Generated func(check string) bool
}

// generated reports whether a check generates what it sends.
func (s *Setting) generated(check string) bool { return s.Generated != nil && s.Generated(check) }

// AsksServer reports whether a line depends on the server.
func (f *File) AsksServer() bool {
	return slices.ContainsFunc(f.Lines, func(l Line) bool { return l.Server.name != "" })
}

// Judge returns a copy of the results of a run in which each finding that a line matches has the number of that line,
// and which has the lines that are stale. A line is stale if all checks that it matches were evaluated and none has
// its finding. r is left as it is.
func (f *File) Judge(r *reports.Report, setting Setting) *reports.Report {
	j := &judge{file: f, setting: setting, hasFinding: make([]bool, len(f.Lines)), excess: make([]string, len(f.Lines))}
	judged := *r
	judged.Checks = slices.Clone(r.Checks)
	for i := range judged.Checks {
		j.check(r, &judged.Checks[i])
	}
	j.markBehind(&judged)
	judged.Expectations = &reports.Expectations{File: f.Name, StaleLines: []reports.Expectation{}}
	judged.Expectations.Server = setting.Server.String()
	for i := range f.Lines {
		j.conclude(&judged, i)
	}
	j.count(&judged)
	return &judged
}

// beyondRate is how the reason begins for which a finding of a flaky line is not known.
const beyondRate = "more often than rate<= allows"

// judge is one call of Judge.
type judge struct {
	file       *File
	setting    Setting
	hasFinding []bool   // by line: it has its finding
	excess     []string // by line, of Flaky: how its rate was exceeded
}

// isInForce reports whether a line counts for this server today.
func (j *judge) isInForce(l *Line) bool {
	return !l.isExpired(j.setting.Now) && l.Server.Allows(j.setting.Server)
}

// check marks what is known of one check.
func (j *judge) check(r *reports.Report, c *reports.Check) {
	c.Findings, c.Clauses, c.KnownLine = r.FindingsOf(c), slices.Clone(c.Clauses), 0
	for i := range c.Findings {
		finding := &c.Findings[i]
		finding.KnownLine = j.line(c, kindOf(finding.Verdict), finding.Clause, finding.Signature())
		if finding.KnownLine == 0 && j.excessOf(c, finding.Clause) == "" && (j.setting.generated(c.ID) || isLaw(c.ID)) {
			finding.KnownLine = j.coveringLine(c, finding)
		}
		if finding.KnownLine == 0 {
			finding.Frequency = strings.Trim(finding.Frequency+"; "+j.excessOf(c, finding.Clause), "; ")
		}
	}
	line := 0 // the line of the first known finding, if all are known
	if len(c.Findings) > 0 && !slices.ContainsFunc(c.Findings, isNew) {
		line = c.Findings[0].KnownLine
	}
	for i := range c.Clauses {
		cv := &c.Clauses[i]
		cv.KnownLine = 0
		switch {
		case cv.Verdict != reports.Inconclusive:
		case cv.IsHalted && line > 0: // it stopped at a known finding
			cv.KnownLine = line
		default:
			cv.KnownLine = j.line(c, Inconclusive, cv.ID, openSignature(cv.Cause))
		}
	}
	if c.Verdict == reports.Inconclusive && len(c.Clauses) == 0 {
		c.KnownLine = j.line(c, Inconclusive, "", openSignature(c.Cause))
	}
}

// isNew reports whether no line lists a finding.
func isNew(f reports.Finding) bool { return f.KnownLine == 0 }

// openSignature returns the signature of an inconclusive verdict.
func openSignature(cause string) string {
	return (&reports.Finding{Evidence: reports.Evidence{Differences: []string{cause}}}).Signature()
}

// kindOf returns the kind of a verdict.
func kindOf(v reports.Verdict) Kind {
	return map[reports.Verdict]Kind{reports.Fail: Fails, reports.Crash: Crashes, reports.Warn: Warns}[v]
}

// line returns the number of the first line that matches, 0 if none does. It marks all that match as found.
func (j *judge) line(c *reports.Check, kind Kind, clause, signature string) int {
	number := 0
	for i := range j.file.Lines {
		l := &j.file.Lines[i]
		if !j.isInForce(l) || !l.matches(c.ID, clause, kind, signature) {
			continue
		}
		j.hasFinding[i] = true
		if breaches, plays := playCounts(c, clause); l.Kind == Flaky && l.Rate > 0 && l.isExceeded(breaches, plays) {
			j.excess[i] = fmt.Sprintf("%s: line %d, in %d of %d plays", beyondRate, l.Number, breaches, plays)
			continue
		}
		number = cmp.Or(number, l.Number)
	}
	return number
}

// matches reports whether the line is about a finding, or about an inconclusive verdict. These have many reasons, so a
// flaky line is about one only if it says why.
func (l *Line) matches(check, clause string, kind Kind, signature string) bool {
	flaky := l.Kind == Flaky && (kind != Inconclusive || l.Because != "")
	because, signature := unsigned(strings.ToLower(reports.MaskVolatile(l.Because))), unsigned(strings.ToLower(signature))
	anyNumber := strings.ReplaceAll(signature, "##", "#") // a line with # is about numbers of every size
	return (l.Kind == kind || flaky) && l.isAbout(check, clause) &&
		(strings.Contains(signature, because) || strings.Contains(anyNumber, because))
}

// isExceeded reports whether the finding was seen more often than the rate allows, whatever more plays would bring.
func (l *Line) isExceeded(breaches, plays int) bool {
	return float64(breaches) > math.Floor(l.Rate*float64(max(l.RatePlays, plays))+1e-9)
}

// excessOf returns how the rate of a flaky line about a finding was exceeded; empty if it was not.
func (j *judge) excessOf(c *reports.Check, clause string) string {
	for i := range j.file.Lines {
		if l := &j.file.Lines[i]; j.excess[i] != "" && l.isAbout(c.ID, clause) {
			return j.excess[i]
		}
	}
	return ""
}

// playCounts returns in how many plays of a check a clause had a finding, and how many plays decided it. What was
// played again alone is known of the check only.
func playCounts(c *reports.Check, clause string) (breaches, plays int) {
	counts, verdict := c.Runs, c.Verdict
	if cv := verdictOn(c, clause); cv != nil {
		counts, verdict = cv.Runs, cv.Verdict
	}
	if len(counts) == 0 {
		counts = []reports.Count{{Verdict: verdict, Times: 1}}
	}
	breaches, plays, _ = sum(slices.Concat(counts, c.Replays))
	return breaches, plays
}

// verdictOn returns the verdict of a check on a clause, nil if it has none.
func verdictOn(c *reports.Check, clause string) *reports.ClauseVerdict {
	return reports.Find(c.Clauses, func(cv *reports.ClauseVerdict) bool { return cv.ID == clause })
}

// sum returns how many plays had a finding, how many had a result, and how many there were.
func sum(counts []reports.Count) (breaches, results, all int) {
	for _, count := range counts {
		all += count.Times
		if count.Verdict.IsBreach() {
			breaches += count.Times
		}
		if count.Verdict.IsDecided() {
			results += count.Times
		}
	}
	return breaches, results, all
}

// conclude reports a line that is stale, or that somebody should look at.
func (j *judge) conclude(r *reports.Report, i int) {
	l, e := &j.file.Lines[i], r.Expectations
	say := func(list *[]reports.Expectation, format string, args ...any) {
		*list = append(*list, reports.Expectation{Line: l.Number, Text: l.source(j.file),
			Reason: fmt.Sprintf(format, args...)})
	}
	result := j.evaluate(r, l)
	switch {
	case l.isExpired(j.setting.Now):
		say(&e.Notes, "its until= is in the past, so it has no effect; remove the line, or change the date")
	case !l.Server.Allows(j.setting.Server):
		if l.Server.name != "" && j.setting.Server.Version == "" {
			say(&e.Notes, "it has no effect, because the server does not report its name and version in INFO")
		}
	case j.hasFinding[i] && l.Kind != Flaky && result.mixed > 0:
		say(&e.Notes, "seen in only %d of %d plays; is it flaky?", result.breaches, result.plays)
	case j.hasFinding[i] || result.checks == 0 || result.hasOpen:
	case l.Kind != Flaky:
		say(&e.StaleLines, "%s", result.words())
	case l.RatePlays > 0 && result.plays >= l.RatePlays:
		say(&e.Notes, "no finding in %d plays; is it still flaky?", result.plays)
	}
}

// evaluation is what the checks that a line matches came to.
type evaluation struct {
	checks          int  // that were evaluated
	hasOpen         bool // others were not
	breaches, plays int  // plays with a finding, and all
	mixed           int  // checks with and without
	findings        []string
}

// words returns why a line is stale.
func (e evaluation) words() string {
	if len(e.findings) > 0 {
		return "only findings with another kind or symptom: " + strings.Join(e.findings[:min(len(e.findings), 3)], "; ")
	}
	return "not found"
}

// evaluate returns what the checks that a line matches came to.
func (j *judge) evaluate(r *reports.Report, l *Line) evaluation {
	var e evaluation
	for i := range r.Checks {
		c := &r.Checks[i]
		if !l.matchesCheck(c.ID) {
			continue
		}
		isDecided, isConcerned := decides(c, l)
		switch {
		case !isConcerned:
			continue
		case !isDecided:
			e.hasOpen = true
			continue
		}
		e.checks++
		for _, f := range c.Findings {
			if l.matchesClause(f.Clause) && f.KnownLine != l.Number {
				e.findings = append(e.findings, fmt.Sprintf("%s, because=%s", kindOf(f.Verdict), quote(f.Signature())))
			}
		}
		breaches, plays := playCounts(c, clauseOf(c, l))
		if e.breaches, e.plays = e.breaches+breaches, e.plays+plays; breaches > 0 && breaches < plays {
			e.mixed++
		}
	}
	return e
}

// clauseOf returns the first clause of a check that a line is about.
func clauseOf(c *reports.Check, l *Line) string {
	if cv := reports.Find(c.Clauses, func(cv *reports.ClauseVerdict) bool { return l.matchesClause(cv.ID) }); cv != nil {
		return cv.ID
	}
	return ""
}

// decides reports whether a check was evaluated as far as a line is about it. A check that has none of the clauses of
// the line is concerned if nothing else can be: a breach has its clause only where it is found. A rule of the law is
// not: whether a run meets it depends on what else is played.
func decides(c *reports.Check, l *Line) (isDecided, isConcerned bool) {
	isDecided = true
	for _, cv := range c.Clauses {
		if l.matchesClause(cv.ID) {
			isConcerned = true
			isDecided = isDecided && cv.Verdict.IsDecided()
		}
	}
	if isConcerned {
		return isDecided, true
	}
	if strings.HasPrefix(c.ID, reports.LawPrefix) {
		return false, false
	}
	return c.Verdict.IsDecided(), l.isExact() || l.matchesClause("") && len(c.Clauses) == 0
}

// source returns the text of the line in its file.
func (l *Line) source(f *File) string {
	if l.Number > len(f.text) {
		return ""
	}
	return strings.TrimSpace(f.text[l.Number-1])
}

const (
	replayLimit  = 3                // of a check with a new finding, until a replay shows one
	replayBudget = 15 * time.Second // at most, in each round: a replay says how steady a finding is, and decides nothing
)

// ReplayChecks returns the ids of the checks to play again alone, after the run, in the order of the results: those
// with a finding that is not known and that no replay has shown, as far as there is time, in the later rounds of those
// that were played again; and in all rounds those of a flaky line with a rate that was seen, as long as more plays can
// exceed the rate.
func (f *File) ReplayChecks(judged *reports.Report, round int) []string {
	var all []string
	budget := replayBudget
	for i := range judged.Checks {
		c := &judged.Checks[i]
		if strings.HasPrefix(c.ID, reports.LawPrefix) { // it is seen in the plays of others
			continue
		}
		isFlaky := func(finding reports.Finding) bool { return f.needsMorePlays(c, finding.Clause) }
		breaches, _, replays := sum(c.Replays)
		isDoubted := breaches == 0 && replays < replayLimit && (round == 1 || replays > 0) && c.Took <= budget
		if isDoubted = isDoubted && slices.ContainsFunc(c.Findings, isNew); isDoubted {
			budget -= c.Took
		}
		if isDoubted || slices.ContainsFunc(c.Findings, isFlaky) {
			all = append(all, c.ID)
		}
	}
	return all
}

// Settle plays checks again, alone, as long as ReplayChecks asks for it, and adds their verdicts to the results. play
// gets the ids of the checks, of which it may leave some out, and returns their results; it ends the playing by
// returning none.
func (f *File) Settle(r *reports.Report, setting Setting, play func(round int, checks []string) []reports.Check) {
	for round := 1; ; round++ {
		var results []reports.Check
		if ids := f.ReplayChecks(f.Judge(r, setting), round); len(ids) > 0 {
			results = play(round, ids)
		}
		if len(results) == 0 {
			return
		}
		for _, result := range results {
			if c := reports.Find(r.Checks, func(c *reports.Check) bool { return c.ID == result.ID }); c != nil {
				c.Replays = addVerdict(c.Replays, result.Verdict)
			}
		}
	}
}

// needsMorePlays reports whether the rate of a finding is not known yet.
func (f *File) needsMorePlays(c *reports.Check, clause string) bool {
	breaches, plays := playCounts(c, clause)
	_, _, attempts := sum(slices.Concat(runsOf(c, clause), c.Replays))
	return slices.ContainsFunc(f.Lines, func(l Line) bool {
		return l.Kind == Flaky && l.Rate > 0 && l.isAbout(c.ID, clause) && max(attempts, plays) < l.RatePlays &&
			!l.isExceeded(breaches, plays) && l.isExceeded(breaches+l.RatePlays-plays, l.RatePlays)
	})
}

// addVerdict counts one more verdict.
func addVerdict(counts []reports.Count, v reports.Verdict) []reports.Count {
	all := []reports.Verdict{v}
	for _, c := range counts {
		all = append(all, slices.Repeat([]reports.Verdict{c.Verdict}, c.Times)...)
	}
	return reports.CountVerdicts(all...)
}
