package known

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Kind is what is known of a check and a clause.
type Kind string

// The kinds. Each stands for the verdict of that name, but Flaky: a finding in some plays and none in others.
const (
	Fails   Kind = "fails"
	Crashes Kind = "crashes"
	Warns   Kind = "warns"
	Flaky   Kind = "flaky"
	// Inconclusive: the server does what keeps the check from deciding (reports.ClauseVerdict.IsHalted).
	Inconclusive Kind = "inconclusive"
)

// Kinds returns all kinds.
func Kinds() []string {
	return []string{string(Fails), string(Crashes), string(Warns), string(Flaky), string(Inconclusive)}
}

// NoClause stands for the clause in a line about a check that names none.
const NoClause = "-"

// File is a file of known findings.
type File struct {
	Name  string
	Lines []Line   // in their order
	text  []string // every line of the file, comments included
}

// Line is one known finding.
type Line struct {
	Number        int    // in its file, counted from 1
	Check, Clause string // glob patterns
	Kind          Kind
	Because       string     // a part of the signature of the finding; empty matches any
	Server        Constraint // the servers that it is about; the zero value is all
	See           string     // a URL
	Until         time.Time  // the day after which it no longer counts, at 0:00 UTC; zero: it always does
	Rate          float64    // of Flaky: the part of the plays that may have the finding; 0: any
	RatePlays     int        // the number of plays by which the rate is measured; 0 without a rate

	col, clauseCol int // of check and clause in the line, in characters, counted from 1
}

// isExpired reports whether the line no longer counts.
func (l *Line) isExpired(now time.Time) bool {
	return !l.Until.IsZero() && !now.Before(l.Until.AddDate(0, 0, 1))
}

// isExact reports whether the line is about one check and one clause.
func (l *Line) isExact() bool { return !strings.ContainsAny(l.Check+l.Clause, `*?[\`) }

// matchesCheck reports whether the line is about a check: by its id, or by the part of it before the slash.
func (l *Line) matchesCheck(id string) bool {
	folder, _, _ := strings.Cut(id, "/")
	return glob(l.Check, id) || glob(l.Check, folder)
}

// matchesClause reports whether the line is about a clause; empty is the one of a check that names none.
func (l *Line) matchesClause(id string) bool {
	if id == "" || l.Clause == NoClause {
		return id == "" && (l.Clause == NoClause || l.Clause == "*")
	}
	return glob(l.Clause, id)
}

// isAbout reports whether the line is about a clause in a check.
func (l *Line) isAbout(check, clause string) bool {
	return l.matchesCheck(check) && l.matchesClause(clause)
}

// glob reports whether a word matches a pattern; case does not count.
func glob(pattern, word string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(word))
	return ok && err == nil
}

// ParseError is a mistake in a file.
type ParseError struct {
	File      string
	Line, Col int // in characters, counted from 1
	Message   string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Message)
}

// Resolve returns an error for the lines that match none of the checks or clauses, about 20 at most, joined. A typo
// must not look like a finding that is gone. retired has what stands instead of each check that is no more, which the
// error names.
func (f *File) Resolve(checks, clauses []string, retired map[string]string) error {
	var errs []error
	for i := range f.Lines {
		if len(errs) >= errorLimit {
			break
		}
		l := &f.Lines[i]
		switch now := retired[strings.ToLower(l.Check)]; {
		case slices.ContainsFunc(checks, l.matchesCheck):
		case now != "":
			errs = append(errs, &ParseError{f.Name, l.Number, l.col,
				fmt.Sprintf("there is no check %s; %s replaces it", l.Check, now)})
		default:
			errs = append(errs, l.matchError(f.Name, "check", l.Check, l.col, checks))
		}
		if l.Clause != NoClause && !slices.ContainsFunc(clauses, l.matchesClause) {
			errs = append(errs, l.matchError(f.Name, "clause", l.Clause, l.clauseCol, clauses))
		}
	}
	return errors.Join(errs...)
}

// matchError returns the error for a pattern of the line that matches nothing.
func (l *Line) matchError(file, part, pattern string, col int, all []string) error {
	message := fmt.Sprintf("no %s matches %s", part, pattern)
	if candidates := text.Candidates(pattern, all); len(candidates) > 0 {
		message += "; " + text.DidYouMean(candidates...)
	}
	return &ParseError{file, l.Number, col, message}
}
