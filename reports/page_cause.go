package reports

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// A server that fails at one place of its source breaks many clauses. Where it prints the place, as with a traceback,
// the findings beside which it did are shown as one cause.

// sourcePlaces are the notations of a place in a source file. In a Python traceback the place of the error is the last
// one, elsewhere the first.
var (
	pythonPlace = regexp.MustCompile(`File "([^"]+)", line ([0-9]+)`)
	sourcePlace = regexp.MustCompile(`([\w./~@-]+\.` +
		`(?:go|rb|exs?|erl|rs|php|[cm]?[jt]s|java|kt|cs|c|cc|cpp)):(?:line )?([0-9]+)`)
)

// exceptionPlace returns the place in the source of the server at which it failed, by what it printed beside a finding:
// "server.py:51"; empty if it printed none.
func (e *Evidence) exceptionPlace() string {
	printed := strings.Join(e.Printed, "\n")
	if all := pythonPlace.FindAllStringSubmatch(printed, -1); all != nil {
		return all[len(all)-1][1] + ":" + all[len(all)-1][2]
	}
	if !strings.Contains(printed, "\n") { // a line of a log is no traceback
		return ""
	}
	for _, place := range sourcePlace.FindAllStringSubmatch(printed, -1) {
		if !strings.Contains(place[1], "/runtime/") && !strings.Contains(place[1], "node:") { // of the language
			return place[1] + ":" + place[2]
		}
	}
	return ""
}

// sourceFailure is a place in the source of a server, and how many findings it was printed beside.
type sourceFailure struct {
	place string
	count int
}

// sourceFailures returns those of several findings, the one of most findings first.
func sourceFailures(groups [][]Finding) (all []sourceFailure) {
	clauses := map[string]map[string]bool{}
	for _, group := range groups {
		place := group[0].exceptionPlace()
		for _, f := range group {
			if place != "" && f.KnownLine == 0 {
				if clauses[place] == nil {
					clauses[place] = map[string]bool{}
					all = append(all, sourceFailure{place: place})
				}
				clauses[place][f.Clause+f.Verdict.String()] = true
			}
		}
	}
	for i := range all {
		all[i].count = len(clauses[all[i].place])
	}
	all = slices.DeleteFunc(all, func(c sourceFailure) bool { return c.count < 2 })
	slices.SortStableFunc(all, func(a, b sourceFailure) int { return b.count - a.count })
	return all
}

// firstCauses appends where in its source the server failed, since that is repaired first.
func (p *Page) firstCauses(groups [][]Finding) {
	const limit = 3
	all := sourceFailures(groups)
	var lines []Text
	for _, c := range all[:min(limit, len(all))] {
		words := c.place + ": the server failed there beside " + text.Count(c.count, "finding")
		lines = append(lines, Words(words))
	}
	if len(lines) > 0 {
		p.Add(Fields{Fields: []Field{{Label: "begin at", Lines: lines}}})
	}
}

// otherClauses returns what other symptoms of the same cause break: "fail FWP-FAIL-02 in fail/malformed".
func otherClauses(groups [][]Finding) (lines []Text) {
	var clauses []string
	checks := map[string][]string{}
	for _, group := range groups[1:] {
		for _, f := range group {
			if mentions(groups[0], f.Clause) {
				continue
			}
			key := f.Verdict.String() + " " + f.Clause
			if !slices.Contains(clauses, key) {
				clauses = append(clauses, key)
			}
			checks[key] = include(checks[key], f.Check)
		}
	}
	for _, key := range clauses {
		lines = append(lines, Words(key+" in "+checksText(checks[key])))
	}
	return lines
}
