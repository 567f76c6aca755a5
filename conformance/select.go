package conformance

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/reports"
)

// Selection picks checks. One pattern of each list that is not empty must match; the
// zero Selection picks all. Patterns are globs (*, ?, [a-z]);
// those for checks match the whole id or its part before the slash.
type Selection struct {
	Checks  []string
	Clauses []string
	Levels  []string
	Quick   bool // leave out checks that wait longer than QuickWait

	Suite   *Suite  // of the clauses
	Parties Parties // that the target is, for what an error says
}

// Omission is a check that a selection left out.
type Omission struct {
	Check       Check
	Explanation string             // in one sentence without a full stop
	Reason      reports.ReasonCode // it may be empty
}

// Apply splits the checks into the selected ones and the others. A pattern
// that matches nothing or is malformed is an error: a typo must not look like a
// success.
func (s Selection) Apply(checks []Check) (in []Check, out []Omission, err error) {
	hits := map[string]bool{}
	slowChecks := 0
	for _, check := range checks {
		d := check.Describe()
		switch {
		case !s.picks(d, hits):
			out = append(out, Omission{Check: check, Explanation: "not selected"})
		case s.Quick && d.Wait > QuickWait && !d.Quick:
			slowChecks++
			reason := fmt.Sprintf("it waits longer than %v, so a quick run leaves it out", QuickWait)
			out = append(out, Omission{check, reason, reports.ReasonTime})
		default:
			in = append(in, check)
		}
	}
	if err := s.unmatched(hits); err != nil {
		return nil, nil, err
	}
	switch {
	case len(in) == 0 && slowChecks > 0:
		return nil, nil, ErrAllSlow
	case len(in) == 0:
		return nil, nil, ErrNothingMeetsAll
	}
	return in, out, nil
}

// The errors of a selection as a whole.
var (
	ErrAllSlow         = fmt.Errorf("all selected checks wait longer than %v, so a quick run leaves them out", QuickWait)
	ErrNothingMeetsAll = errors.New("no check matches all parts of the selection, although each part alone matches some")
)

// SelectionError reports a pattern of a [Selection] that is malformed, or matches nothing.
type SelectionError struct {
	Part        string // "check", "clause" or "level"
	Pattern     string
	Err         error  // of a malformed pattern; nil if it matches nothing
	Explanation string // why it matches nothing, or a suggestion; may be empty
}

func (e *SelectionError) Error() string {
	switch {
	case e.Err != nil:
		return fmt.Sprintf("%s %s: not a pattern: %v", e.Part, e.Pattern, e.Err)
	case e.Explanation == "":
		return fmt.Sprintf("%s %s matches no check", e.Part, e.Pattern)
	}
	return fmt.Sprintf("%s %s matches no check; %s", e.Part, e.Pattern, e.Explanation)
}

func (e *SelectionError) Unwrap() error { return e.Err }

func (s Selection) picks(d Description, hits map[string]bool) bool {
	folder, _, _ := strings.Cut(d.ID, "/")
	var clauses, levels []string
	for _, m := range d.Marks {
		clauses = append(clauses, m.Clause)
		if len(s.Levels) > 0 {
			levels = append(levels, string(s.Suite.LevelOf(m)))
		}
	}
	checks := matches("check", s.Checks, []string{d.ID, folder}, hits)
	byClause := matches("clause", s.Clauses, clauses, hits)
	byLevel := matches("level", s.Levels, levels, hits)
	return checks && byClause && byLevel
}

// matches reports whether one of the words matches one of the patterns, and notes in hits which patterns matched.
func matches(part string, patterns, words []string, hits map[string]bool) bool {
	hit := len(patterns) == 0
	for _, p := range patterns {
		if slices.ContainsFunc(words, func(w string) bool { return Match(p, w) }) {
			hits[part+p] = true
			hit = true
		}
	}
	return hit
}

// Match reports whether a word matches a pattern (*, ?, [a-z]); case does not count.
func Match(pattern, word string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(word))
	return ok && err == nil
}

// unmatched returns the error for a pattern that matched nothing.
func (s Selection) unmatched(hits map[string]bool) error {
	for _, part := range []struct {
		name     string
		patterns []string
		reason   func(string) string
	}{
		{"check", s.Checks, s.retiredReason},
		{"clause", s.Clauses, s.noCheckReason},
		{"level", s.Levels, levelNames},
	} {
		for _, p := range part.patterns {
			if _, err := path.Match(p, ""); err != nil {
				return &SelectionError{Part: part.name, Pattern: p, Err: err}
			}
			if !hits[part.name+p] {
				return &SelectionError{Part: part.name, Pattern: p, Explanation: part.reason(p)}
			}
		}
	}
	return nil
}

func (s Selection) retiredReason(check string) string {
	if s.Suite != nil && s.Suite.Retired[strings.ToLower(check)] != "" {
		return s.Suite.Retired[strings.ToLower(check)] + " replaces it"
	}
	return ""
}

func (s Selection) noCheckReason(clause string) string {
	if c, ok := s.Suite.ClauseByID(clause); ok && !s.Parties.AreBoundBy(c) {
		return strings.NewReplacer("it ", "this clause ", ", the", ", and the").Replace(s.Parties.UnboundReason())
	} else if c.ExclusionReason != "" {
		return "no check tests this clause: " + strings.TrimSuffix(c.ExclusionReason, ".")
	} else if ok {
		return "no check tests this clause yet"
	}
	if id := s.Suite.Suggest(clause); id != "" {
		return "did you mean " + id + "?"
	}
	return ""
}

func levelNames(string) string {
	var words []string
	for _, level := range reports.Levels() {
		words = append(words, string(level))
	}
	return "the levels are " + strings.Join(words, ", ")
}

// The limits of a quick run, so that it ends soon on every server.
const (
	// QuickWait is the longest wait of a check that a quick selection picks.
	QuickWait = 5 * time.Second
	// QuickPatience is how long a quick run waits for what the specification calls
	// eventual: a server may look for jobs that are due only every few seconds.
	QuickPatience = 15 * time.Second
	// QuickCheck is what a check may take in a quick run.
	QuickCheck = time.Minute
)

// errQuickCheck is the end of a play that took too long for a quick run.
var errQuickCheck = fmt.Errorf("a quick run limits each check to %v", QuickCheck)

// patience returns the patience of one play, and whether the play may cut waits short.
func (setup Setup) patience() (limit time.Duration, cutShort bool) {
	if !setup.Quick || setup.Patience > 0 && setup.Patience <= QuickPatience {
		return setup.Patience, setup.Quick
	}
	return QuickPatience, true
}

// withTimeout returns the ctx of one play: in a quick run it has a timeout.
func (setup Setup) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if !setup.Quick {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, QuickCheck, errQuickCheck)
}
