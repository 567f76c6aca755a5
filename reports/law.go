package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Law is what the law of the protocol has judged in the conversations of all checks.
type Law struct {
	// Judged is how many messages of the server the law has judged.
	Judged int `json:"judged"`
	// OpenReasons is how many it has not judged, by the reason.
	OpenReasons map[string]int `json:"open,omitzero"`
	// Rules holds every rule of the law, by name.
	Rules []LawRule `json:"rules"`
}

// LawRule is what one rule of a law came to.
type LawRule struct {
	// ID is the name of its check: "law/field" for example.
	ID string `json:"id"`
	// Outcome is "broken", "kept", "open" or "not reached", the first of them that is so.
	Outcome string `json:"outcome"`
	// Passes is on how many occasions the rule was kept on which another message would have broken it.
	Passes int `json:"kept,omitempty"`
	// Breaches is on how many occasions it was broken.
	Breaches int `json:"broken,omitempty"`
	// OpenReasons is on how many occasions it could not be decided, by the reason.
	OpenReasons map[string]int `json:"open,omitzero"`
}

// Decide sets the Outcome.
func (r *LawRule) Decide() {
	switch {
	case r.Breaches > 0:
		r.Outcome = "broken"
	case r.Passes > 0:
		r.Outcome = "kept"
	case len(r.OpenReasons) > 0:
		r.Outcome = "open"
	default:
		r.Outcome = "not reached"
	}
}

// Words returns the occasions: "kept 7 times, open 3 (why)".
func (r *LawRule) Words() string {
	return cmp.Or(JoinWith(", ", wordsIf(r.Passes, "kept "+text.Count(r.Passes, "time")),
		wordsIf(r.Breaches, "broken "+text.Count(r.Breaches, "time")), reasons(r.OpenReasons)), r.Outcome)
}

// Words returns in a line what was judged, with what could not be, and why, and the rules that had no occasion.
func (l *Law) Words() string {
	var missed []string
	for _, r := range l.Rules {
		if r.Outcome == "not reached" {
			missed = append(missed, r.ID)
		}
	}
	count, reason := 0, ": "+strings.TrimPrefix(reasons(l.OpenReasons), "open ")
	for words, n := range l.OpenReasons {
		if count += n; len(l.OpenReasons) == 1 {
			reason = " (" + words + ")"
		}
	}
	return join("in addition to the scripts, "+text.Count(l.Judged, "message")+" of the server were checked with the "+
		"rules of the protocol (law/...)",
		wordsIf(count, text.GroupDigits(count)+" could not be checked"+reason),
		wordsIf(len(missed), text.Count(len(missed), "rule")+" did not apply"))
}

// reasons returns counts with their reasons: "open 13 (bytes that are not one command)"; empty if there are none.
func reasons(counts map[string]int) string {
	var all []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s (%s)", text.GroupDigits(counts[reason]), reason))
	}
	return wordsIf(len(all), "open "+strings.Join(all, ", "))
}
