package reports

import (
	"fmt"
	"slices"
	"strings"
)

// ExitCode returns the exit code for l; see the constants and Outcome.
func (l *Load) ExitCode() int {
	code, _ := l.Outcome()
	return code
}

// Outcome returns the exit code and says in one line of words what it stands for: "carried 8,300 of 12,000 /s asked;
// all 498,000 jobs accounted for", "INVALID, never a number: ..." or "2 jobs lost" for example. It is the one place
// that decides both. Judge comes first.
func (l *Load) Outcome() (code int, words string) {
	missed := l.missed()
	switch {
	case l.Interrupted:
		return ExitInterrupted, "interrupted: " + l.sum()
	case l.Internal != "":
		return ExitInternal, "the suite itself failed: " + oneLine(l.Internal)
	case l.Unreachable != "":
		return ExitUnreachable, "no FWP server could be loaded: " + oneLine(l.Unreachable)
	case l.Gone != "":
		return ExitUnreachable, join("the target went away: "+oneLine(l.Gone), l.found(), l.account())
	case l.Usage != "":
		return ExitUsage, "usage error: " + oneLine(l.Usage)
	case len(l.Findings) > 0:
		return ExitLoss, l.sum()
	case !l.Validity.Valid:
		return ExitUndecided, l.sum()
	case len(missed) > 0:
		return ExitFindings, join(missedWords(missed, len(l.Thresholds)), l.carried(), l.account())
	case l.undecided():
		return ExitUndecided, join("whether every job came is undecided", l.account(), l.carried())
	default:
		return ExitWell, l.sum()
	}
}

// sum says what was found, whether the run is valid, what was carried and what became of the jobs.
func (l *Load) sum() string {
	if !l.Validity.Valid {
		return join(l.found(), l.invalid(), l.account())
	}
	return join(l.found(), l.carried(), l.account())
}

// found says what was wrong: "3 jobs lost (FWP-PUSH-04), 1 duplicated (FWP-STATE-05)".
func (l *Load) found() string {
	var parts []string
	for i, f := range l.Findings {
		part := grouped(f.Count) + " " + string(f.Kind)
		if i == 0 && f.Kind != FindingReply && f.Kind != FindingGrammar {
			part = many(f.Count, "job") + " " + string(f.Kind)
		}
		if f.Clause != "" {
			part += " (" + f.Clause + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// invalid says that the run is INVALID and why.
func (l *Load) invalid() string {
	reasons := l.Validity.Reasons
	if len(reasons) == 0 {
		return "INVALID, never a number: the run was not judged"
	}
	words := "INVALID, never a number: " + reasons[0].What
	if more := len(reasons) - 1; more > 0 {
		words += fmt.Sprintf(" (and %s)", plural(more, "more reason"))
	}
	return words
}

// carried says what was carried: "carried 8,300 of 12,000 /s asked".
func (l *Load) carried() string {
	switch r := l.Rate; {
	case r.Asked > 0 && r.Carried >= carriedEnough*r.Asked && r.Dropped == 0:
		return fmt.Sprintf("carried the %s /s asked", digits(r.Asked))
	case r.Asked > 0:
		words := fmt.Sprintf("carried %s of %s /s asked", digits(r.Carried), digits(r.Asked))
		if r.Dropped > 0 {
			words += fmt.Sprintf(" (%s dropped)", grouped(r.Dropped))
		}
		return words
	case r.Done > 0:
		return fmt.Sprintf("carried %s /s (%s)", digits(r.Carried), arrivals(r.Op))
	default:
		return ""
	}
}

// account says what became of the jobs.
func (l *Load) account() string {
	j := l.Jobs
	switch {
	case j.Pushed+j.Doubtful == 0:
		return ""
	case l.Gone != "":
		return fmt.Sprintf("%s confirmed, of these %s acknowledged and %s not seen again; %s pushed without an answer",
			many(j.Pushed, "job"), grouped(j.Acked), grouped(j.Missing), grouped(j.Doubtful))
	case l.undecided() && j.NotDrained != "":
		return fmt.Sprintf("%s of %s not seen again: %s", grouped(j.Missing), many(j.Pushed, "job"), oneLine(j.NotDrained))
	case l.undecided():
		return fmt.Sprintf("%s of %s not seen again: the queues were not drained", grouped(j.Missing), many(j.Pushed, "job"))
	case len(l.Findings) > 0:
		return fmt.Sprintf("%s pushed, %s delivered", many(j.Pushed, "job"), grouped(j.Delivered))
	case j.InDoubt > 0 || j.Doubtful > 0:
		return fmt.Sprintf("%s accounted for, %s in doubt", many(j.Pushed-j.InDoubt, "job"), grouped(j.InDoubt+j.Doubtful))
	default:
		return "all " + many(j.Pushed, "job") + " accounted for"
	}
}

// undecided says whether jobs are missing that a whole drain would have brought, or shown to be lost.
func (l *Load) undecided() bool { return l.Jobs.Pushed > 0 && !l.Jobs.Drained }

// missed returns the thresholds that did not hold.
func (l *Load) missed() []ThresholdResult {
	return slices.DeleteFunc(slices.Clone(l.Thresholds), func(t ThresholdResult) bool { return t.Held })
}

func missedWords(missed []ThresholdResult, of int) string {
	words := fmt.Sprintf("%d of %s missed: %s came to %s", len(missed), plural(of, "threshold"), missed[0].Threshold, missed[0].Came)
	if missed[0].NoData {
		words = fmt.Sprintf("%d of %s missed: %s has no data", len(missed), plural(of, "threshold"), missed[0].Threshold)
	}
	if len(missed) > 1 {
		words += fmt.Sprintf(" (and %d more)", len(missed)-1)
	}
	return words
}
