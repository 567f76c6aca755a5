package selftest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
)

// Matrix is what plays on servers with faults have shown: fault x clause. Its zero
// value is empty. Its methods may be called side by side.
type Matrix struct {
	mu   sync.Mutex
	rows map[string]*Row
}

// Row is what has been seen of one fault.
type Row struct {
	Fault fakes.Fault

	// Red has for each clause that turned red the checks that found it broken.
	Red map[string][]string
	// Caught are the checks that found the fault in a clause of theirs, or the server
	// dead.
	Caught []string
	// Stray is what must not turn red and did.
	Stray []string

	decided map[string]bool // by some check
	left    map[string]bool // by some check that was not played
}

// Add takes what a check has found on a server with the fault.
func (m *Matrix) Add(fault fakes.Fault, check conformance.Check, result reports.Check) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, name := m.row(fault), result.ID
	for _, id := range red(result) {
		r.Red[id] = insert(r.Red[id], name)
		if !slices.Contains(fault.Clauses, id) {
			r.Stray = insert(r.Stray, fmt.Sprintf("%s finds %s broken, which is not declared%s", name, id, evidence(result)))
		}
	}
	if result.Verdict == reports.Crash && !r.fatal() {
		r.Stray = insert(r.Stray, fmt.Sprintf("%s takes the server for dead%s", name, evidence(result)))
	}
	if catches(check, result) {
		r.Caught = insert(r.Caught, name)
	}
	for _, id := range clauses(check) {
		r.decided[id] = true
	}
}

// Leave takes note of a check that decides a clause of the fault and is not played.
func (m *Matrix) Leave(fault fakes.Fault, check conformance.Check) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.row(fault)
	for _, id := range clauses(check) {
		r.left[id] = true
	}
}

// forget takes back what was seen of a fault, save what is not played.
func (m *Matrix) forget(row *Row) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.rows, row.Fault.Name)
	m.row(row.Fault).left = row.left
}

func (m *Matrix) row(fault fakes.Fault) *Row {
	r, ok := m.rows[fault.Name]
	if !ok {
		r = &Row{Fault: fault, Red: map[string][]string{}, decided: map[string]bool{}, left: map[string]bool{}}
		if m.rows == nil {
			m.rows = map[string]*Row{}
		}
		m.rows[fault.Name] = r
	}
	return r
}

// Rows are those of all faults, by name. They must not be changed, and no more be
// added meanwhile.
func (m *Matrix) Rows() []*Row {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.rows), func(a, b *Row) int { return cmp.Compare(a.Fault.Name, b.Fault.Name) })
}

// Missing says what should have turned red and has not, or nothing: the first clause of
// a fault does if a check looks at it.
func (r *Row) Missing() string {
	first := r.Fault.Clauses[0]
	isRed := len(r.Red[first]) > 0
	switch {
	case r.fatal() && len(r.Caught) == 0 && len(r.decided) > 0 && len(r.left) == 0:
		return "no check finds the server dead"
	case !r.fatal() && !isRed && r.decided[first] && !r.left[first]:
		return "nothing turned " + first + " red"
	}
	return ""
}

// fatal reports whether the server dies of the fault. What dies leaves clauses
// undecided, and the check crashes.
func (r *Row) fatal() bool { return strings.HasPrefix(r.Fault.Name, "dies-") }

// insert puts a word into a sorted list, unless it is there.
func insert(list []string, word string) []string {
	i, there := slices.BinarySearch(list, word)
	if there {
		return list
	}
	return slices.Insert(list, i, word)
}

// evidence is what a check has found, in short.
func evidence(check reports.Check) string {
	var b strings.Builder
	for _, f := range check.Findings {
		fmt.Fprintf(&b, "\nline %d, %s: expected %s, got %s", f.Line, f.Clause, f.Expected, f.Actual)
	}
	return b.String()
}

// red lists the clauses that a check finds broken.
func red(check reports.Check) []string {
	var ids []string
	for _, c := range check.Clauses {
		if c.Verdict.Breach() {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func clauses(check conformance.Check) []string {
	var ids []string
	for _, mark := range check.Describe().Clauses() {
		ids = append(ids, mark.Clause)
	}
	return ids
}

// names reports whether a fault may break a clause that a check decides.
func names(fault fakes.Fault, check conformance.Check) bool {
	return slices.ContainsFunc(clauses(check), func(id string) bool { return slices.Contains(fault.Clauses, id) })
}

// catches reports whether a check has found a fault that is its own: one of the
// clauses that it decides is broken, or the server. A check that only records
// finds no fault of its own, so that any will do.
func catches(check conformance.Check, result reports.Check) bool {
	if !judges(check) || result.Verdict == reports.Crash {
		return result.Verdict.Breach()
	}
	own := clauses(check)
	return slices.ContainsFunc(red(result), func(id string) bool { return slices.Contains(own, id) })
}

// judges reports whether a check can find a clause broken that it decides.
func judges(check conformance.Check) bool {
	for _, mark := range check.Describe().Marks {
		clause, known := conformance.ClauseByID(mark.Clause)
		if known && !mark.Record && (mark.Level != "" || clause.Breach().Breach()) {
			return true
		}
	}
	return false
}

// blamed is what a check has against a server that is right, or leaves open: nothing,
// save what the reading of a variation advises against, which is warned about.
func blamed(variation fakes.Variation, check reports.Check) []string {
	var wrong []string
	for _, c := range check.Clauses {
		fine := c.Verdict == reports.Pass || c.Verdict == reports.Observed
		if !fine && (c.Verdict != reports.Warn || !slices.Contains(variation.Warns, c.ID)) {
			wrong = append(wrong, fmt.Sprintf("%s: %s: %s: %s", check.ID, c.ID, c.Verdict, c.Why))
		}
	}
	for _, f := range check.Findings {
		if f.Verdict != reports.Warn || !slices.Contains(variation.Warns, f.Clause) {
			wrong = append(wrong, fmt.Sprintf("%s: %s: expected %s, got %s", check.ID, f.Clause, f.Expected, f.Actual))
		}
	}
	if len(check.Clauses) == 0 && check.Verdict != reports.Pass {
		wrong = append(wrong, fmt.Sprintf("%s: %s: %s", check.ID, check.Verdict, check.Why))
	}
	return wrong
}
