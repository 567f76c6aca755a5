package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// Outcome returns the exit code and what it stands for in one line of words, never empty: "achieved 8,300 of 12,000 /s;
// all 498,000 jobs accounted for", "INVALID: ..." or "2 jobs lost" for example. Evaluate comes first.
func (l *Load) Outcome(reports.ExitOptions) reports.Outcome {
	missed, sum := l.thresholds((*ThresholdResult).isMissed), cmp.Or(l.summary(), "nothing was achieved")
	undecided := l.thresholds(func(t *ThresholdResult) bool { return t.IsUndecided })
	claims := append(l.Claims(cmp.Or(l.beginProblem(), sum), "the target could not be loaded"),
		reports.NewClaim(reports.ExitInternal, l.shortageWords() != "",
			join(reports.OwnFailure+l.shortageWords(), l.findingWords(), l.account())),
		reports.NewClaim(reports.ExitUnreachable, l.GoneReason != "" && !l.hasEarlierFinding(),
			join("the target was lost: "+text.OneLine(l.GoneReason), l.findingWords(), l.account())),
		reports.NewClaim(reports.ExitLoss, slices.ContainsFunc(l.Findings, func(f LoadFinding) bool { return f.fails() }),
			sum),
		reports.NewClaim(reports.ExitFindings, l.startsEmpty(), join("the target does not start with its data", sum)),
		reports.NewClaim(reports.ExitFindings, l.AbortReason != "",
			join("ended early: "+l.AbortReason, l.deadSentence(), sum)),
		reports.NewClaim(reports.ExitFindings, l.deadSentence() != "",
			join(l.deadSentence(), l.thresholdWords(missed, "missed"), sum)),
		reports.NewClaim(reports.ExitInconclusive, !l.Validity.IsValid || l.GivenUp != "", sum),
		reports.NewClaim(reports.ExitFindings, len(missed) > 0 && l.GivenUp == "",
			join(l.thresholdWords(missed, "missed"), sum)),
		reports.NewClaim(reports.ExitInconclusive, len(undecided) > 0, join(l.thresholdWords(undecided, "undecided"), sum)),
		reports.NewClaim(reports.ExitInconclusive, l.IsUndecided(),
			join("inconclusive whether all jobs "+l.unknownWords(), l.account(), l.rateWords(), l.cutWords())),
	)
	return reports.Decide(append(append(claims, l.partClaims()...), reports.NewClaim(reports.ExitWell, true, sum)))
}

// startsEmpty reports whether the target did not start again on its data, and serves without them.
func (l *Load) startsEmpty() bool { return l.Disruptions != nil && l.Disruptions.StartsEmpty }

// hasEarlierFinding reports whether the target did not start again, and that is a finding, or something was found
// before.
func (l *Load) hasEarlierFinding() bool {
	fails := slices.ContainsFunc(l.Findings, func(f LoadFinding) bool { return f.fails() })
	return l.startsEmpty() || fails && l.Disruptions != nil && l.Disruptions.StartFailure != ""
}

// beginProblem returns that the run ended before its load began; empty if it did not.
func (l *Load) beginProblem() string {
	if len(l.Phases) == 0 && len(l.Ops) == 0 && !l.Validity.IsValid {
		return "the load did not begin"
	}
	return ""
}

// summary returns the findings, why a phase was given up, whether the run is valid, the achieved rate, the account of
// the jobs, and whether the history is partial.
func (l *Load) summary() string {
	got := reports.JoinWith(", ", l.rateWords(), l.GrowthWords(), l.refusalWords())
	givenUp := text.OneLine(l.GivenUp)
	if !l.Validity.IsValid {
		got = l.invalidWords()
		if !strings.Contains(got, "refused") {
			got = join(got, l.refusalWords())
		}
	}
	if strings.Contains(got, givenUp) {
		givenUp = ""
	}
	return join(l.findingWords(), givenUp, got, l.account(), l.cutWords())
}

// cutWords says that the history was cut, empty if it was not.
func (l *Load) cutWords() string {
	if l.HistoryCut == 0 {
		return ""
	}
	return "the history is partial: it ends after " + reports.Duration(l.HistoryCut)
}

// rateWords returns the achieved rate, which is a lower bound if the generator was the limit.
func (l *Load) rateWords() string {
	words := l.Rate.words(l.Measured)
	if l.Validity.Limit == "" || words == "" {
		return words
	}
	return "at least " + strings.TrimPrefix(words, "achieved ") + ": " + l.Validity.Limit
}

// findingWords returns the findings: "3 jobs lost (PROTOCOL-KEEP-04), 1 job delivered twice (PROTOCOL-ONCE-05)".
func (l *Load) findingWords() string {
	var sums []LoadFinding // of findings alike: the same kind of wrong reply to several commands
	for _, f := range l.Findings {
		if same := reports.Find(sums, func(s *LoadFinding) bool {
			return s.Kind == f.Kind &&
				s.Clause == f.Clause
		}); same != nil {
			same.Count += f.Count
			continue
		}
		sums = append(sums, f)
	}
	var parts []string
	for i := range sums {
		part := sums[i].String()
		if sums[i].Clause != "" {
			part += " (" + sums[i].Clause + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// invalidWords returns why the run is INVALID.
func (l *Load) invalidWords() string {
	reasons := l.Validity.Reasons
	if len(reasons) == 0 {
		return "INVALID: the run was not evaluated"
	}
	words := reasons[0].Description
	if !strings.HasPrefix(words, "nothing was") && reasons[0].ID != "empty" {
		words = "INVALID: " + words
	}
	if count := len(reasons) - 1; count > 0 {
		words += fmt.Sprintf(" (and %s)", text.Count(count, "more reason"))
	}
	return words
}

// refusalWords returns the share of the commands that were answered with an error, by kind: "9 % of the pushes
// refused"; empty if there are none, or they may come from a disruption.
func (l *Load) refusalWords() string {
	var parts []string
	for _, name := range []string{"push", "fetch", "ack", "fail", "job"} {
		if share := l.Sum(name).RefusedShare(); share > 0 && l.Disruptions == nil {
			parts = append(parts, reports.Percent(share)+" of the "+text.Plural(name)+" refused")
		}
	}
	return strings.Join(parts, ", ")
}

// countIfAny returns a number of things and what became of them, empty if there are none.
func countIfAny(n int64, thing, words string) string {
	if n <= 0 {
		return ""
	}
	return text.Count(n, thing) + " " + words
}

// account returns the account of the jobs.
func (l *Load) account() string {
	j := l.Jobs
	switch {
	case j.UncountedParts != "":
		return fmt.Sprintf("at least %s pushed, %s delivered and %s acknowledged: %s", text.Count(j.Pushed, "job"),
			text.GroupDigits(j.Delivered), text.GroupDigits(j.Acked), j.UncountedParts)
	case j.Pushed+j.Doubtful == 0:
		return ""
	case l.GoneReason != "":
		return fmt.Sprintf("%s confirmed, of these %s acknowledged and %s unaccounted for; %s pushed without a reply",
			text.Count(j.Pushed, "job"), text.GroupDigits(j.Acked), text.GroupDigits(j.Missing), text.GroupDigits(j.Doubtful))
	case j.Pushed == 0:
		return text.Count(j.Doubtful, "job") + " pushed without a reply"
	case l.IsUndecided():
		return l.unaccountedWords()
	case l.Disruptions.cost() != "":
		return fmt.Sprintf("%s pushed, of these %s", text.Count(j.Pushed, "job"), l.Disruptions.cost())
	case len(l.Findings) > 0:
		return fmt.Sprintf("%s pushed, %s delivered", text.Count(j.Pushed, "job"), text.GroupDigits(j.Delivered))
	case (j.InDoubt > 0 || j.Doubtful > 0) && !l.Disruptions.isResolved():
		return fmt.Sprintf("%s accounted for, %s in doubt", text.Count(j.Pushed-j.InDoubt, "job"),
			text.GroupDigits(j.InDoubt+j.Doubtful))
	default:
		return all(j.Pushed) + " accounted for"
	}
}

// all returns so many jobs as all that there are.
func all(jobs int64) string {
	if jobs == 1 {
		return "the one job"
	}
	return "all " + text.Count(jobs, "job")
}

// unaccountedWords returns the account of jobs after a drain that was not complete.
func (l *Load) unaccountedWords() string {
	j, pushed := l.Jobs, text.Count(l.Jobs.Pushed, "job")
	reason := cmp.Or(text.OneLine(j.DrainFailure), "the queues were not drained")
	if j.Missing == 0 && j.Delivered >= j.Pushed && j.DrainFailure != "" {
		return fmt.Sprintf("%s delivered, but the drain is not complete: %s", all(j.Pushed), reason)
	}
	return fmt.Sprintf("%s of %s unaccounted for: %s", text.GroupDigits(j.Missing), pushed, reason)
}

// IsUndecided reports whether it is not known which jobs are lost, because the drain was not complete.
func (l *Load) IsUndecided() bool {
	return l.Jobs.UncountedParts != "" || l.Jobs.Pushed+l.Jobs.Doubtful > 0 && !l.Jobs.IsDrained
}

// isMissed reports whether the threshold was judged and not met.
func (t *ThresholdResult) isMissed() bool { return !t.IsMet && !t.IsUndecided && !t.NotJudged }

// thresholds returns the results that match.
func (l *Load) thresholds(match func(*ThresholdResult) bool) (matches []ThresholdResult) {
	for i := range l.Thresholds {
		if match(&l.Thresholds[i]) {
			matches = append(matches, l.Thresholds[i])
		}
	}
	return matches
}

// thresholdWords returns what became of some thresholds: "1 of 2 thresholds missed: lost==0, actual 3".
func (l *Load) thresholdWords(thresholds []ThresholdResult, verb string) string {
	if len(thresholds) == 0 {
		return ""
	}
	words := fmt.Sprintf("%d of %s %s: %s", len(thresholds), text.Count(len(l.Thresholds), "threshold"), verb,
		thresholds[0].Threshold)
	if thresholds[0].NoData {
		words += " has no data"
	} else {
		words += ", actual " + thresholds[0].Actual
	}
	if len(thresholds) > 1 {
		words += fmt.Sprintf(" (and %d more)", len(thresholds)-1)
	}
	return words
}

// unknownWords returns what is not known of jobs after a drain that was not complete.
func (l *Load) unknownWords() string {
	if l.Jobs.Missing == 0 {
		return "ended"
	}
	return "were delivered"
}

// join puts semicolons between the parts that are not empty.
func join(parts ...string) string { return reports.JoinWith("; ", parts...) }
