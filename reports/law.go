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
	// Open is how many it has not judged, by the reason.
	Open map[string]int `json:"open,omitzero"`
	// Rules holds every rule of the law, by name.
	Rules []LawRule `json:"rules"`
}

// LawRule is what one rule of a law came to.
type LawRule struct {
	// ID is the name of its check: "law/field" for example.
	ID string `json:"id"`
	// Outcome is "broken", "kept", "open" or "not reached", the first of them that is so.
	Outcome string `json:"outcome"`
	// Kept is on how many occasions the rule was kept on which another message would have broken it.
	Kept int `json:"kept,omitempty"`
	// Broken is on how many occasions it was broken.
	Broken int `json:"broken,omitempty"`
	// Open is on how many occasions it could not be decided, by the reason.
	Open map[string]int `json:"open,omitzero"`
}

// Decide sets the Outcome.
func (r *LawRule) Decide() {
	switch {
	case r.Broken > 0:
		r.Outcome = "broken"
	case r.Kept > 0:
		r.Outcome = "kept"
	case len(r.Open) > 0:
		r.Outcome = "open"
	default:
		r.Outcome = "not reached"
	}
}

// Words returns the occasions: "kept 7 times, open 3 (why)".
func (r *LawRule) Words() string {
	return cmp.Or(JoinWith(", ", some(r.Kept, "kept "+text.Count(r.Kept, "time")),
		some(r.Broken, "broken "+text.Count(r.Broken, "time")), reasons(r.Open)), r.Outcome)
}

// Words returns in a line what was judged, with what could not be, and why, and the rules that had no occasion.
func (l *Law) Words() string {
	var missed []string
	for _, r := range l.Rules {
		if r.Outcome == "not reached" {
			missed = append(missed, r.ID)
		}
	}
	open, why := 0, ": "+strings.TrimPrefix(reasons(l.Open), "open ")
	for words, n := range l.Open {
		if open += n; len(l.Open) == 1 {
			why = " (" + words + ")"
		}
	}
	return join("in addition to the scripts, "+text.Count(l.Judged, "message")+" of the server were checked with the "+
		"rules of the protocol (law/...)",
		some(open, text.Grouped(open)+" could not be checked"+why),
		some(len(missed), text.Count(len(missed), "rule")+" did not apply"))
}

// reasons returns counts with their reasons: "open 13 (bytes that are not one command)"; empty if there are none.
func reasons(open map[string]int) string {
	var all []string
	for _, why := range slices.Sorted(maps.Keys(open)) {
		all = append(all, fmt.Sprintf("%s (%s)", text.Grouped(open[why]), why))
	}
	return some(len(all), "open "+strings.Join(all, ", "))
}
