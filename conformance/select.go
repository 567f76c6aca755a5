package conformance

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// Selection picks checks. Each list that is not empty must be met by one of its
// patterns; the zero Selection picks all. Patterns are globs (*, ?, [a-z]);
// those for checks match the whole id or its part before the slash.
type Selection struct {
	Checks  []string
	Clauses []string
	Levels  []string
	Quick   bool // none that must wait longer than QuickWait
}

// QuickWait is the longest wait of a check that a quick selection picks.
const QuickWait = 5 * time.Second

// Apply splits the scripts into the selected ones and the others. A pattern
// that matches nothing, and one that is malformed, is an error: a typo must not
// look like a success.
func (s Selection) Apply(scripts []*scenarios.Script) (in []*scenarios.Script, out []Left, err error) {
	used := map[string]bool{}
	slow := 0
	for _, script := range scripts {
		switch {
		case !s.picks(script, used):
			out = append(out, Left{script, "the selection leaves it out"})
		case s.Quick && script.Wait() > QuickWait:
			slow++
			out = append(out, Left{script, fmt.Sprintf("it waits for more than %v, and a quick run leaves that out", QuickWait)})
		default:
			in = append(in, script)
		}
	}
	if err := s.unmatched(used); err != nil {
		return nil, nil, err
	}
	switch {
	case len(in) == 0 && slow > 0:
		return nil, nil, fmt.Errorf("--quick leaves out all that is selected: it has to wait for more than %v", QuickWait)
	case len(in) == 0:
		return nil, nil, fmt.Errorf("the selection matches no check: each of its parts matches some, but none meets all of them")
	}
	return in, out, nil
}

func (s Selection) picks(script *scenarios.Script, used map[string]bool) bool {
	folder, _, _ := strings.Cut(script.Name, "/")
	var clauses, levels []string
	for m := range script.Marks() {
		clauses = append(clauses, m.Clause)
		levels = append(levels, string(levelOf(m)))
	}
	checks := met("--check ", s.Checks, []string{script.Name, folder}, used)
	byClause := met("--clause ", s.Clauses, clauses, used)
	byLevel := met("--level ", s.Levels, levels, used)
	return checks && byClause && byLevel
}

// met reports whether one of the words matches one of the patterns, and notes
// which patterns matched something.
func met(flag string, patterns, words []string, used map[string]bool) bool {
	hit := len(patterns) == 0
	for _, p := range patterns {
		if slices.ContainsFunc(words, func(w string) bool { ok, err := path.Match(p, w); return ok && err == nil }) {
			used[flag+p] = true
			hit = true
		}
	}
	return hit
}

// unmatched is the error for a pattern that matched nothing.
func (s Selection) unmatched(used map[string]bool) error {
	for _, part := range []struct {
		flag     string
		patterns []string
		help     func(string) string
	}{
		{"--check ", s.Checks, func(string) string { return "fwpcheck list shows the checks" }},
		{"--clause ", s.Clauses, clauseHelp},
		{"--level ", s.Levels, levelHelp},
	} {
		for _, p := range part.patterns {
			if _, err := path.Match(p, ""); err != nil {
				return fmt.Errorf("%s%s: not a pattern: %w", part.flag, p, err)
			}
			if !used[part.flag+p] {
				return fmt.Errorf("%s%s matches no check; %s", part.flag, p, part.help(p))
			}
		}
	}
	return nil
}

func clauseHelp(p string) string {
	if c, ok := ClauseByID(p); ok && !c.BindsServer() {
		return "this clause binds clients, and the target is a server"
	} else if c.Excluded != "" {
		return "no check decides this clause: " + strings.TrimSuffix(c.Excluded, ".")
	} else if ok {
		return "the clause is in the catalogue, but no check decides it yet"
	}
	if id := Suggest(p); id != "" {
		return "did you mean " + id + "?"
	}
	return "fwpcheck list shows the clauses"
}

func levelHelp(string) string {
	return "the levels are " + strings.Join([]string{string(reports.LevelMust), string(reports.LevelMustNot), string(reports.LevelShould),
		string(reports.LevelShouldNot), string(reports.LevelMay), string(reports.LevelPlain), string(reports.LevelDerived), string(reports.LevelNote)}, ", ")
}
