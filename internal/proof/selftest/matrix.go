package selftest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
)

// Matrix is what checks found on servers with bugs: bug x clause. Its zero value is
// empty. Its methods may be called concurrently.
type Matrix struct {
	Protocol *conformance.Suite // whose clauses the checks decide

	mu   sync.Mutex
	rows map[string]*Row
}

// Row is what checks found on servers with one bug.
type Row struct {
	Bug registry.Bug

	// Red has the checks that found a clause broken, by clause.
	Red map[string][]string
	// Catchers are the checks that found one of their clauses broken, or the server dead.
	Catchers []string
	// Unexpected are the findings that the bug does not declare.
	Unexpected []string

	decidedClauses map[string]bool // clauses of the checks that were played
	openClauses    map[string]bool // clauses of those that were not
	laggedClauses  map[string]bool // clauses that lag has left open
}

// AddReport adds what checks found that were played on the same servers with the bug, or on a client. What the law
// found is in the report too.
func (m *Matrix) AddReport(bug registry.Bug, checks []conformance.Check, report *reports.Report) {
	m.mu.Lock()
	m.row(bug)
	m.mu.Unlock()
	for _, result := range report.Checks {
		i := slices.IndexFunc(checks, func(c conformance.Check) bool { return c.Describe().ID == result.ID })
		if i < 0 {
			m.Add(bug, nil, result)
		} else {
			m.Add(bug, checks[i], result)
		}
	}
}

// Add adds what a check found on a server with the bug; nil: the law. Which clauses an exploration finds broken
// beside others is a matter of chance.
func (m *Matrix) Add(bug registry.Bug, check conformance.Check, result reports.Check) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, name := m.row(bug), result.ID
	_, explores := check.(conformance.Property)
	_, plays := check.(conformance.ScriptCheck)
	for _, id := range brokenClauses(result) {
		isDeclared := slices.Contains(bug.Clauses, id)
		if explores && !isDeclared {
			continue
		}
		r.Red[id] = insert(r.Red[id], name)
		if !isDeclared {
			message := fmt.Sprintf("%s finds %s broken, which is not declared%s", name, id, evidence(result))
			r.Unexpected = insert(r.Unexpected, message)
		}
	}
	if result.Verdict == reports.Crash && !r.fatal() {
		r.Unexpected = insert(r.Unexpected, fmt.Sprintf("%s finds the server dead%s", name, evidence(result)))
	}
	if catches(m.Protocol, check, result) {
		r.Catchers = insert(r.Catchers, name)
	}
	for _, id := range Clauses(check) {
		r.decidedClauses[id] = true
	}
	for _, c := range result.Clauses {
		if isTimeReason(c.Reason, check != nil && !explores && !plays) {
			r.laggedClauses[c.ID] = true
		}
	}
}

// Leave records a check that is not played: it decides a clause of the bug, or a rule may find it there.
func (m *Matrix) Leave(bug registry.Bug, check conformance.Check) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.row(bug)
	for _, id := range append(Clauses(check), bug.Clauses[0]) {
		r.openClauses[id] = true
	}
}

func (m *Matrix) row(bug registry.Bug) *Row {
	r, ok := m.rows[bug.Name]
	if !ok {
		r = &Row{
			Bug: bug, Red: map[string][]string{},
			decidedClauses: map[string]bool{}, openClauses: map[string]bool{}, laggedClauses: map[string]bool{},
		}
		if m.rows == nil {
			m.rows = map[string]*Row{}
		}
		m.rows[bug.Name] = r
	}
	return r
}

// Rows returns the rows of all bugs, sorted by name. They are not copies: neither the
// caller nor Add may change them meanwhile.
func (m *Matrix) Rows() []*Row {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.rows), func(a, b *Row) int { return cmp.Compare(a.Bug.Name, b.Bug.Name) })
}

// Detected reports whether a check found one of its clauses broken, or the server dead, or the first clause of the
// bug was found broken, which no check needs to decide if each reply may break it.
func (r *Row) Detected() bool { return len(r.Catchers) > 0 || len(r.Red[r.Bug.Clauses[0]]) > 0 }

// Gap describes an expected finding that is missing, or returns "": the first clause
// of a bug must be found broken if a check decides it, and lag has not left it open.
func (r *Row) Gap() string {
	first := r.Bug.Clauses[0]
	isRed := len(r.Red[first]) > 0
	switch {
	case r.fatal() && len(r.Catchers) == 0 && len(r.decidedClauses) > 0 && len(r.openClauses) == 0:
		return "no check finds the server dead"
	case !r.fatal() && !isRed && r.decidedClauses[first] && !r.openClauses[first] && !r.laggedClauses[first]:
		return "no check finds " + first + " broken"
	}
	return ""
}

// fatal reports whether the server crashes. Clauses are inconclusive then, and the
// verdict of the check is crash.
func (r *Row) fatal() bool { return strings.HasPrefix(r.Bug.Name, "dies-") }

// insert adds a word to a sorted list, unless it is there.
func insert(list []string, word string) []string {
	i, ok := slices.BinarySearch(list, word)
	if ok {
		return list
	}
	return slices.Insert(list, i, word)
}

// evidence returns the findings of a check, one a line.
func evidence(check reports.Check) string {
	var b strings.Builder
	for _, f := range check.Findings {
		fmt.Fprintf(&b, "\nline %d, %s: expected %s, got %s", f.Line, f.Clause, f.Expected, f.Actual)
	}
	return b.String()
}

// brokenClauses lists the clauses that a check finds broken.
func brokenClauses(check reports.Check) []string {
	var ids []string
	for _, c := range check.Clauses {
		if c.Verdict.IsBreach() {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// Clauses returns those that a check decides, none for nil.
func Clauses(check conformance.Check) []string {
	var ids []string
	if check == nil {
		return nil
	}
	for _, mark := range check.Describe().Clauses() {
		ids = append(ids, mark.Clause)
	}
	return ids
}

// Names reports whether a bug may break a clause that a check decides.
func Names(bug registry.Bug, check conformance.Check) bool {
	return slices.ContainsFunc(Clauses(check), func(id string) bool { return slices.Contains(bug.Clauses, id) })
}

// catches reports whether a check found a clause broken that it decides, or the server
// dead. For a check that only records any finding counts.
func catches(p *conformance.Suite, check conformance.Check, result reports.Check) bool {
	if check == nil || !Judges(p, check) || result.Verdict == reports.Crash {
		return result.Verdict.IsBreach()
	}
	ids := Clauses(check)
	return slices.ContainsFunc(brokenClauses(result), func(id string) bool { return slices.Contains(ids, id) })
}

// Judges reports whether a check can find a clause of the protocol broken that it decides.
func Judges(p *conformance.Suite, check conformance.Check) bool {
	for _, mark := range check.Describe().Marks {
		clause, ok := p.ClauseByID(mark.Clause)
		if ok && !mark.Record && (mark.Level != "" || clause.BreachVerdict().IsBreach()) {
			return true
		}
	}
	return false
}

// isTimeReason reports whether a clause is open because of the pace of this machine, or because a server had a span of
// time wrong once. What a client does once is to be confirmed.
func isTimeReason(r reports.ReasonCode, client bool) bool {
	return r == reports.ReasonLag || r == reports.ReasonUnsteady && !client
}
