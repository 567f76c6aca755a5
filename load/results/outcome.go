package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// Outcome returns the exit code and what it stands for in one line of words, never empty: "achieved 8,300 of 12,000 /s;
// all 498,000 jobs accounted for", "INVALID: ..." or "2 jobs lost" for example. Evaluate comes first.
func (l *Load) Outcome() (code int, words string) {
	return l.decide().Values()
}

func (l *Load) decide() reports.Outcome {
	missed, sum := l.missed(), cmp.Or(l.sum(), "nothing was achieved")
	return reports.Decide(append(l.Claims(cmp.Or(l.begun(), sum), "the target could not be loaded"),
		reports.Claimed(reports.ExitInternal, l.short() != "", join(reports.FailedHere+l.short(), l.found(), l.account())),
		reports.Claimed(reports.ExitUnreachable, l.Gone != "",
			join("the target was lost: "+text.OneLine(l.Gone), l.found(), l.account())),
		reports.Claimed(reports.ExitLoss, slices.ContainsFunc(l.Findings, func(f LoadFinding) bool { return f.fails() }),
			sum),
		reports.Claimed(reports.ExitInconclusive, !l.Validity.Valid, sum),
		reports.Claimed(reports.ExitFindings, len(missed) > 0, join(missedWords(missed, len(l.Thresholds)), sum)),
		reports.Claimed(reports.ExitInconclusive, l.undecided(),
			join("inconclusive whether all jobs "+l.unknown(), l.account(), l.achieved())),
		reports.Claimed(reports.ExitWell, true, sum),
	))
}

// begun returns that the run ended before its load began; empty if it did not.
func (l *Load) begun() string {
	if len(l.Phases) == 0 && len(l.Ops) == 0 && !l.Validity.Valid {
		return "no load was put on the target yet"
	}
	return ""
}

// sum returns the findings, whether the run is valid, the achieved rate and the account of the jobs.
func (l *Load) sum() string {
	if !l.Validity.Valid {
		return join(l.found(), l.invalid(), l.account())
	}
	return join(l.found(), l.achieved(), l.account())
}

// found returns the findings: "3 jobs lost (PROTOCOL-KEEP-04), 1 job delivered twice (PROTOCOL-ONCE-05)".
func (l *Load) found() string {
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

// invalid returns why the run is INVALID.
func (l *Load) invalid() string {
	reasons := l.Validity.Reasons
	if len(reasons) == 0 {
		return "INVALID: the run was not evaluated"
	}
	words := reasons[0].What
	if reasons[0].ID != "empty" {
		words = "INVALID: " + words
	}
	if more := len(reasons) - 1; more > 0 {
		words += fmt.Sprintf(" (and %s)", text.Count(more, "more reason"))
	}
	return words
}

// belowTarget reports whether an open loop achieved much less than its target rate.
func (l *Load) belowTarget() bool { return l.Rate.Achieved < belowTarget*l.Rate.Target }

// achieved returns the achieved rate: "achieved the target rate of 8,300 /s", or "below target: achieved 8,300 of
// 12,000 /s (222,000 arrivals unserved)".
func (l *Load) achieved() string {
	switch r := l.Rate; {
	case r.Target > 0 && r.Achieved >= AchievedEnough*r.Target && r.Dropped+r.Unserved == 0:
		return fmt.Sprintf("achieved the target rate of %s /s", reports.Digits(r.Target))
	case r.Target > 0:
		words := fmt.Sprintf("achieved %s of %s /s", reports.Digits(r.Achieved), reports.Digits(r.Target))
		if l.belowTarget() {
			words = "below target: " + words
		}
		if missing := r.missing(); missing != "" {
			words += " (" + missing + ")"
		}
		return words
	case r.Done > 0:
		return fmt.Sprintf("achieved %s /s (%s)", reports.Digits(r.Achieved), arrivals(r.Op))
	default:
		return ""
	}
}

// missing returns the arrivals that were never sent, empty if there were none.
func (r *LoadRate) missing() string {
	return reports.JoinWith(", ", some(r.Dropped, "arrival", "dropped"), some(r.Unserved, "arrival", "unserved"))
}

// some returns a number of things and what became of them, empty if there are none.
func some(n int64, thing, words string) string {
	if n <= 0 {
		return ""
	}
	return text.Count(n, thing) + " " + words
}

// account returns the account of the jobs.
func (l *Load) account() string {
	j := l.Jobs
	switch {
	case j.Part:
		return fmt.Sprintf("%s pushed and %s delivered here: the account is that of all agents", text.Count(j.Pushed, "job"),
			text.Grouped(j.Delivered))
	case j.Pushed+j.Doubtful == 0:
		return ""
	case l.Gone != "":
		return fmt.Sprintf("%s confirmed, of these %s acknowledged and %s unaccounted for; %s pushed without a reply",
			text.Count(j.Pushed, "job"), text.Grouped(j.Acked), text.Grouped(j.Missing), text.Grouped(j.Doubtful))
	case j.Pushed == 0:
		return text.Count(j.Doubtful, "job") + " pushed without a reply"
	case l.undecided():
		return l.unaccounted()
	case l.Disruptions.cost() != "":
		return fmt.Sprintf("%s pushed, of these %s", text.Count(j.Pushed, "job"), l.Disruptions.cost())
	case len(l.Findings) > 0:
		return fmt.Sprintf("%s pushed, %s delivered", text.Count(j.Pushed, "job"), text.Grouped(j.Delivered))
	case (j.InDoubt > 0 || j.Doubtful > 0) && !l.Disruptions.resolved():
		return fmt.Sprintf("%s accounted for, %s in doubt", text.Count(j.Pushed-j.InDoubt, "job"),
			text.Grouped(j.InDoubt+j.Doubtful))
	default:
		return "all " + text.Count(j.Pushed, "job") + " accounted for"
	}
}

// unaccounted returns the account of jobs after a drain that was not complete.
func (l *Load) unaccounted() string {
	j, pushed := l.Jobs, text.Count(l.Jobs.Pushed, "job")
	why := cmp.Or(text.OneLine(j.NotDrained), "the queues were not drained")
	if j.Missing == 0 && j.Delivered >= j.Pushed && j.NotDrained != "" {
		return fmt.Sprintf("all %s delivered; the drain is not complete: %s", pushed, why)
	}
	return fmt.Sprintf("%s of %s unaccounted for: %s", text.Grouped(j.Missing), pushed, why)
}

// undecided reports whether it is not known which jobs are lost, because the drain was not complete.
func (l *Load) undecided() bool { return l.Jobs.Pushed+l.Jobs.Doubtful > 0 && !l.Jobs.Drained }

// missed returns the thresholds that were judged and not met.
func (l *Load) missed() []ThresholdResult {
	return slices.DeleteFunc(slices.Clone(l.Thresholds), func(t ThresholdResult) bool { return t.Met || t.NotJudged })
}

func missedWords(missed []ThresholdResult, of int) string {
	if len(missed) == 0 {
		return ""
	}
	words := fmt.Sprintf("%d of %s missed: %s, actual %s", len(missed), text.Count(of, "threshold"),
		missed[0].Threshold, missed[0].Actual)
	if missed[0].NoData {
		words = fmt.Sprintf("%d of %s missed: %s has no data", len(missed), text.Count(of, "threshold"), missed[0].Threshold)
	}
	if len(missed) > 1 {
		words += fmt.Sprintf(" (and %d more)", len(missed)-1)
	}
	return words
}

// unknown returns what is not known of jobs after a drain that was not complete.
func (l *Load) unknown() string {
	if l.Jobs.Missing == 0 {
		return "ended"
	}
	return "were delivered"
}

// join puts semicolons between the parts that are not empty.
func join(parts ...string) string { return reports.JoinWith("; ", parts...) }
