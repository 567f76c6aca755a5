package site

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/reports"
)

// historyOf returns what became of a clause over the versions of a subject, the oldest first: "red since 1.9.2", "red
// in 1.8.0, fixed in 1.9.0". Versions without a result are named, and count neither as red nor as fixed. It is empty
// for a clause that was never red.
func historyOf(versions []string, verdicts []reports.Verdict) (text reports.Text) {
	letters := lettersOf(verdicts)
	last := strings.LastIndex(letters, "R")
	if last < 0 {
		return nil
	}
	before := strings.TrimRight(letters[:last], "R?") // the versions before the last span of red ones
	first := len(before) + strings.Index(letters[len(before):], "R")
	fixed := strings.Index(letters[last:], "G") + last // of no meaning where the newest result is red
	gaps := []int{first - 1, fixed - 1}
	prefix := "failing "
	if strings.Contains(before, "R") {
		prefix = "failing again "
	}
	switch since := prefix + "since " + versions[first]; {
	case fixed > last && first == last:
		text = reports.PlainText(prefix + "in " + versions[first] + ", ")
	case fixed > last:
		text = reports.PlainText(prefix + "from " + versions[first] + " to " + versions[last] + ", ")
	case strings.Trim(letters, "R") == "":
		return reports.StyledText(reports.Bad, fmt.Sprintf("failing in all %d", len(letters)))
	case before == "" && first == 0:
		text, gaps = reports.StyledText(reports.Bad, since+", the first version here"), nil
	case before == "":
		text, gaps = reports.StyledText(reports.Bad, since+", the first version with a result"), nil
	default:
		text, gaps = reports.StyledText(reports.Bad, since), gaps[:1]
	}
	if fixed > last {
		text = append(text, reports.Span{Text: "fixed in " + versions[fixed], Style: reports.Good})
	}
	for _, i := range gaps {
		if i > 0 && letters[i] == '?' {
			text = append(text, reports.Span{Text: "; no result in " + versions[i], Style: reports.Unclear})
		}
	}
	if newest := len(letters) - 1; letters[newest] == '?' {
		words := "; no result in " + versions[newest] + ", the newest"
		text = append(text, reports.Span{Text: words, Style: reports.Unclear})
	}
	return text
}

// lettersOf returns a letter for each verdict: R red, G decided and not red, ? no result.
func lettersOf(verdicts []reports.Verdict) string {
	letters := make([]byte, len(verdicts))
	for i, v := range verdicts {
		switch {
		case v.IsBreach():
			letters[i] = 'R'
		case v.IsDecided():
			letters[i] = 'G'
		default:
			letters[i] = '?'
		}
	}
	return string(letters)
}
