package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Verdict is the result of a check, or of the whole run, for a clause. The zero value is NotRun, which is never green:
// a result that was not filled in is not a pass.
//
// In JSON and in every text output a verdict is one of the lower-case words that String returns.
type Verdict uint8

const (
	// NotRun: the check was selected and did not get its turn (interrupted, or the server had crashed before).
	NotRun Verdict = iota
	// Pass: the clause held.
	Pass
	// Fail: a clause of level MUST, MUST NOT, plain or derived was broken. A finding.
	Fail
	// Warn: a clause of level SHOULD or SHOULD NOT was broken; it fails with --strict. A finding.
	Warn
	// Observed: something optional, or one of several accepted readings, was seen and is recorded. Never a finding.
	Observed
	// NotApplicable: the clause does not bind a target of this kind, for example a worker's duty for a server.
	NotApplicable
	// NotSelected: the user's selection left the check out.
	NotSelected
	// Skipped: the target has nothing to test it on, for example no password, no restart or no operator signals.
	Skipped
	// Inconclusive: the check ran without a result, for example because the suite itself lagged. It has a cause.
	Inconclusive
	// Crash: the server no longer served after a step of the check. A finding.
	Crash
)

// verdictWords holds the word of each verdict; the order is that of the constants.
var verdictWords = text.NewEnum("verdict", map[Verdict]string{
	NotRun: "not run", Pass: "pass", Fail: "fail", Warn: "warn", Observed: "observed", NotApplicable: "not applicable",
	NotSelected: "not selected", Skipped: "skipped", Inconclusive: "inconclusive", Crash: "crash",
})

// worstFirst is the order of Worst, and the order in which verdicts are counted in the text output.
var worstFirst = [...]Verdict{
	Crash, Fail, Inconclusive, NotRun, Warn, Observed, Pass, Skipped, NotSelected, NotApplicable,
}

// String returns the word for v: "not run", "pass", "fail", "warn", "observed", "not applicable", "not selected",
// "skipped", "inconclusive" or "crash".
func (v Verdict) String() string { return verdictWords.String(v) }

// MarshalText returns the word for v, or an error if v is none of the constants.
func (v Verdict) MarshalText() ([]byte, error) { return verdictWords.MarshalText(v) }

// UnmarshalText is the reverse of MarshalText. Any other word is an error and leaves v as it was.
func (v *Verdict) UnmarshalText(word []byte) error { return verdictWords.UnmarshalText(word, v) }

// Verdicts returns all verdicts, the worst first.
func Verdicts() []Verdict { return slices.Clone(worstFirst[:]) }

// IsBreach reports whether v is the verdict of a finding: Crash, Fail or Warn.
func (v Verdict) IsBreach() bool { return v == Crash || v == Fail || v == Warn }

// IsNotable reports whether v is what an author looks at: a Breach, or Inconclusive.
func (v Verdict) IsNotable() bool { return v.IsBreach() || v == Inconclusive }

// IsDecided reports whether v is a result about the target: Pass, Observed, Warn, Fail or Crash.
func (v Verdict) IsDecided() bool { return v == Pass || v == Observed || v.IsBreach() }

// Worst returns the verdict that counts when several checks evaluate one clause. Worst first:
//
//	crash, fail, inconclusive, not run, warn, observed, pass, skipped, not selected, not applicable
//
// The two without a result stand above warn, observed and pass: a check that passes does not replace one without a
// result. They stand below fail, because a broken clause stays broken whatever else is found. The last three mean
// that a check did not evaluate the clause; they never hide one that did. A warn that an inconclusive hides here is
// still listed as a finding, and still counts for the exit code.
//
// Without arguments Worst returns NotRun.
func Worst(verdicts ...Verdict) Verdict {
	if len(verdicts) == 0 {
		return NotRun
	}
	return slices.MinFunc(verdicts, func(a, b Verdict) int { return a.rank() - b.rank() })
}

// rank is the place of v in worstFirst. An invalid value ranks first, so that it is noticed.
func (v Verdict) rank() int { return slices.Index(worstFirst[:], v) }

// Level is how strongly the specification asks for what a clause states. Its value is the word that is printed.
type Level string

const (
	// LevelMust: the sentence says MUST (or REQUIRED, or SHALL).
	LevelMust Level = "MUST"
	// LevelMustNot: the sentence says MUST NOT (or SHALL NOT).
	LevelMustNot Level = "MUST NOT"
	// LevelShould: the sentence says SHOULD, should or recommended.
	LevelShould Level = "SHOULD"
	// LevelShouldNot: the sentence says SHOULD NOT.
	LevelShouldNot Level = "SHOULD NOT"
	// LevelMay: the sentence says MAY (or OPTIONAL), or allows something in other words.
	LevelMay Level = "MAY"
	// LevelPlain: the sentence states a fact without any key word, and is taken as required.
	LevelPlain Level = "plain"
	// LevelDerived: it follows from several sentences, from a table, or from a document beside it.
	LevelDerived Level = "derived"
	// LevelNote: what the target does is recorded, and is never a failure.
	LevelNote Level = "note"
)

// levelWords explains each level to a reader who has not seen the specification.
var levelWords = map[Level]string{
	LevelMust:      "required",
	LevelMustNot:   "forbidden",
	LevelShould:    "recommended",
	LevelShouldNot: "not recommended",
	LevelMay:       "optional",
	LevelPlain:     "stated as a fact",
	LevelDerived:   "follows from the specification",
	LevelNote:      "recorded, never a failure",
}

// Levels returns all levels, the strongest first.
func Levels() []Level {
	return []Level{LevelMust, LevelMustNot, LevelShould, LevelShouldNot, LevelMay, LevelPlain, LevelDerived, LevelNote}
}

// IsValid reports whether l is one of the constants.
func (l Level) IsValid() bool {
	_, ok := levelWords[l]
	return ok
}

// Words explains l in a few words, "required" or "stated as a fact" for example; empty if l is not valid.
func (l Level) Words() string { return levelWords[l] }

// BreachVerdict returns the verdict for a clause of level l that does not hold: Warn for SHOULD and SHOULD NOT,
// Observed for MAY and note, Fail for everything else. A script that names no clause has no level, and what it expects
// has to hold: so the empty level gives Fail too.
//
// Where the reading chosen for a clause only records what is seen, a check reports Observed whatever its level is.
func (l Level) BreachVerdict() Verdict {
	switch l {
	case LevelShould, LevelShouldNot:
		return Warn
	case LevelMay, LevelNote:
		return Observed
	default:
		return Fail
	}
}

// ReasonCode is the code of the cause of a verdict without a result: inconclusive, not run or skipped. Checks with the
// same code are listed together, whatever the words of their causes.
type ReasonCode string

// The reasons. Those of what is missing are "needs-" and the need: "needs-password" for example. What has none of them
// says in words alone why it has no result.
const (
	ReasonLag         ReasonCode = "lag"
	ReasonUnsteady    ReasonCode = "unsteady"
	ReasonSetUp       ReasonCode = "set-up"
	ReasonNotServing  ReasonCode = "not-serving"
	ReasonTime        ReasonCode = "time"
	ReasonConnections ReasonCode = "needs-connections"
)

// reasonWords says what each reason stands for.
var reasonWords = map[ReasonCode]string{
	ReasonLag:        "this machine was late, which may be the reason for what was received",
	ReasonUnsteady:   "one play found it broken, and no other one has confirmed it",
	ReasonSetUp:      "the check did not get to what it is about",
	ReasonNotServing: "the server no longer served",
	ReasonTime:       "there was no time for it",
}

// Words returns what the reason stands for, in one sentence without a full stop; empty for one that is not known.
func (r ReasonCode) Words() string { return reasonWords[r] }

// Count is how often a verdict occurred when each check was run several times.
type Count struct {
	Verdict Verdict `json:"verdict"`
	Times   int     `json:"times"`
}

// CountVerdicts counts the verdicts of several runs, the worst first.
func CountVerdicts(verdicts ...Verdict) []Count {
	var counts []Count
	for _, v := range worstFirst {
		times := 0
		for _, w := range verdicts {
			if v == w {
				times++
			}
		}
		if times > 0 {
			counts = append(counts, Count{v, times})
		}
	}
	return counts
}

// runs is the number of runs that were counted.
func runs(counts []Count) int {
	n := 0
	for _, c := range counts {
		n += c.Times
	}
	return n
}

// frequencyWords returns how often each verdict occurred in so many runs: "fail in 2 of 10, pass in 8 of 10".
func frequencyWords(counts []Count, runs int) string {
	parts := make([]string, len(counts))
	for i, count := range counts {
		parts[i] = fmt.Sprintf("%s in %d of %d", count.Verdict, count.Times, runs)
	}
	return strings.Join(parts, ", ")
}

// frequency returns in how many runs a verdict on a clause occurred, or on the check if it has none on the clause: "in
// 2 of 10 runs". It is empty if there was one run only.
func (c *Check) frequency(v Verdict, clause string) string {
	counts := c.Runs
	if cv := Find(c.Clauses, func(cv *ClauseVerdict) bool { return cv.ID == clause && cv.Runs != nil }); cv != nil {
		counts = cv.Runs
	}
	if count := Find(counts, func(c *Count) bool { return c.Verdict == v }); count != nil {
		return fmt.Sprintf("in %d of %d runs", count.Times, runs(c.Runs))
	}
	return ""
}

// stability reports what the check brought when it was played again alone; empty if that was the same, or nothing.
func (c *Check) stability() string {
	differs := func(count Count) bool { return count.Verdict != c.Verdict && count.Verdict.IsDecided() }
	switch {
	case !slices.ContainsFunc(c.Replays, differs):
		return ""
	case runs(c.Replays) == 1:
		return "unsteady: the verdict of the second play, alone, was " + c.Replays[0].Verdict.String()
	}
	return "unsteady: the second play, alone: " + frequencyWords(c.Replays, runs(c.Replays))
}

// unstableChecks appends what differs between the runs: the clauses of each check, or the check if it names none.
func (p *Page) unstableChecks(r *Report) {
	var t Table
	for i := range r.Checks {
		c := &r.Checks[i]
		for _, cv := range c.verdicts() {
			if n := runs(c.Runs); len(cv.Runs) > 0 && cv.Runs[0].Times != n {
				t.Rows = append(t.Rows, Cells(strings.TrimSpace(c.ID+"  "+cv.ID), frequencyWords(cv.Runs, n)))
			}
		}
	}
	p.TableSection("UNSTABLE", "results that differ between the runs; the worst counts", t)
}
