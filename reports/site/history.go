package site

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/fwpsuite/fwp/reports"
)

// historyOf returns what became of a clause over the versions of a subject, the oldest first: "red since 1.9.2", "red in
// 1.8.0, fixed in 1.9.0". Versions without a result are named, and count neither as red nor as fixed. It is empty for a
// clause that was never red.
func historyOf(versions []string, verdicts []reports.Verdict) reports.Text {
	first, last, fixed, decided := -1, -1, -1, -1 // the last span of red versions, and what follows it
	before, again := false, ""                    // a version before the span has a result, and was red
	for i, v := range verdicts {
		switch {
		case v.Breach():
			if first < 0 || fixed >= 0 {
				if fixed >= 0 {
					again = "again "
				}
				before, first, fixed = decided >= 0, i, -1
			}
			last = i
		case v.Decided() && first >= 0 && fixed < 0:
			fixed = i
		}
		if v.Decided() {
			decided = i
		}
	}
	if first < 0 {
		return nil
	}
	text := reports.Styled(reports.Bad, "red "+again+"since "+versions[first])
	switch {
	case fixed >= 0 && first == last:
		text = reports.Text{{Text: "red " + again + "in " + versions[first] + ", "}}
	case fixed >= 0:
		text = reports.Text{{Text: "red " + again + "from " + versions[first] + " to " + versions[last] + ", "}}
	case allRed(verdicts):
		text = reports.Styled(reports.Bad, "red in all "+strconv.Itoa(len(versions)))
	case !before && first == 0:
		text = reports.Styled(reports.Bad, "red since "+versions[0]+", the first one here")
	case !before:
		text = reports.Styled(reports.Bad, "red since "+versions[first]+", the first one with a result")
	}
	if fixed >= 0 {
		text = append(text, reports.Span{Text: "fixed in " + versions[fixed], Style: reports.Good})
	}
	return append(text, undecided(versions, verdicts, before, first, last, fixed, decided)...)
}

func allRed(verdicts []reports.Verdict) bool {
	return !slices.ContainsFunc(verdicts, func(v reports.Verdict) bool { return !v.Breach() })
}

// undecided returns which versions without a result leave open when it changed, or what it is now.
func undecided(
	versions []string, verdicts []reports.Verdict, before bool, first, last, fixed, decided int,
) (text reports.Text) {
	open := func(i int) bool { return i >= 0 && i < len(verdicts) && !verdicts[i].Decided() }
	note := func(i int, words string) {
		if open(i) {
			text = append(text, reports.Span{Text: fmt.Sprintf("; no result in %s%s", versions[i], words), Style: reports.Unclear})
		}
	}
	if before {
		note(first-1, "")
	}
	if fixed >= 0 && fixed-1 > last {
		note(fixed-1, "")
	}
	if decided < len(verdicts)-1 {
		note(len(verdicts)-1, ", the newest")
	}
	return text
}
