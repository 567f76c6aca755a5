// Package allow is the notation of what is allowed although a test would report it. It stands beside what allows it:
//
//	allow WHAT WHERE...: WHY
//
// Below a variation WHAT is [Warn] or [Undecided]. In a script it is a comment right above an S: line, and WHAT is what
// is changed in the reply, as internal/proof calls it.
package allow

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Row is a row of what is allowed.
type Row struct {
	What  string
	Where []string // it is allowed in each of these places; none where there is only one
	Why   string
	In    string // where the row is written, for errors
}

// What a variation allows.
const (
	Warn      = "warn"      // a clause of level SHOULD warns: the reading allows the variation, but advises against it
	Undecided = "undecided" // a check, a clause, or whatever has the code of a reason is inconclusive
)

// Why stands for the reason in a row that is proposed. It is none.
const Why = "WHY"

// Parse reads a row.
func Parse(in, text string) (Row, error) {
	head, why, _ := strings.Cut(text, ": ")
	words := strings.Fields(head)
	if len(words) < 2 || words[0] != "allow" || why == "" || why == Why {
		return Row{}, fmt.Errorf("%s: %q: expected `allow WHAT WHERE...: WHY`, with the reason", in, text)
	}
	return Row{What: words[1], Where: words[2:], Why: why, In: in}, nil
}

// Rows reads those of a variation. It panics if one is malformed.
func Rows(in string, texts ...string) (all []Row) {
	for _, text := range texts {
		row, err := Parse(in, text)
		if err == nil && (len(row.Where) == 0 || row.What != Warn && row.What != Undecided) {
			err = fmt.Errorf("%s: %q: expected `allow warn CLAUSE: WHY` or `allow undecided CHECK: WHY`", in, text)
		}
		if err != nil {
			panic(err.Error())
		}
		all = append(all, row)
	}
	return all
}

// String returns the text of a row.
func (r Row) String() string { return r.at(r.Where...) + ": " + r.Why }

func (r Row) at(where ...string) string {
	return strings.TrimSpace("allow " + r.What + " " + strings.Join(where, " "))
}

// places returns what a row says of each place, "" if it has none.
func (r Row) places() map[string]string {
	all := map[string]string{}
	for _, at := range append(slices.Clone(r.Where), "")[:max(len(r.Where), 1)] {
		all[at] = fmt.Sprintf("%s: %q", r.In, r.at(at))
	}
	return all
}

// Met notes which rows have allowed something. Its zero value is ready, and its methods may be called concurrently.
type Met struct {
	mu   sync.Mutex
	rows map[string]bool
}

// Allows reports whether one of some rows allows something in one of some places, and notes those that do; "" is the
// place of a row without any.
func (m *Met) Allows(rows []Row, what string, where ...string) (allowed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rows == nil {
		m.rows = map[string]bool{}
	}
	for _, r := range rows {
		for at, row := range r.places() {
			if r.What == what && slices.Contains(where, at) {
				m.rows[row], allowed = true, true
			}
		}
	}
	return allowed
}

// Stale says which rows have allowed nothing, place by place.
func (m *Met) Stale(rows []Row) (stale []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range rows {
		for _, row := range r.places() {
			if !m.rows[row] {
				stale = append(stale, row+" allows nothing: take it out")
			}
		}
	}
	slices.Sort(stale)
	return stale
}
