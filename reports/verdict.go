package reports

import (
	"fmt"
	"slices"
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
var verdictWords = [...]string{
	NotRun: "not run", Pass: "pass", Fail: "fail", Warn: "warn", Observed: "observed", NotApplicable: "not applicable",
	NotSelected: "not selected", Skipped: "skipped", Inconclusive: "inconclusive", Crash: "crash",
}

// worstFirst is the order of Worst, and the order in which verdicts are counted in the text output.
var worstFirst = [...]Verdict{
	Crash, Fail, Inconclusive, NotRun, Warn, Observed, Pass, Skipped, NotSelected, NotApplicable,
}

// String returns the word for v: "not run", "pass", "fail", "warn", "observed", "not applicable", "not selected",
// "skipped", "inconclusive" or "crash".
func (v Verdict) String() string {
	if int(v) < len(verdictWords) {
		return verdictWords[v]
	}
	return fmt.Sprintf("verdict %d", uint8(v))
}

// MarshalText returns the word for v, or an error if v is none of the constants.
func (v Verdict) MarshalText() ([]byte, error) {
	if int(v) < len(verdictWords) {
		return []byte(verdictWords[v]), nil
	}
	return nil, fmt.Errorf("verdict %d is unknown", uint8(v))
}

// UnmarshalText is the reverse of MarshalText. Any other word is an error and leaves v as it was.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdictWords[:], string(text))
	if i < 0 {
		return fmt.Errorf("verdict %q is unknown", text)
	}
	*v = Verdict(i) //nolint:gosec // an index of a short table
	return nil
}

// Breach reports whether v is the verdict of a finding: Crash, Fail or Warn.
func (v Verdict) Breach() bool { return v == Crash || v == Fail || v == Warn }

// Decided reports whether v is a result about the target: Pass, Observed, Warn, Fail or Crash.
func (v Verdict) Decided() bool { return v == Pass || v == Observed || v.Breach() }

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
