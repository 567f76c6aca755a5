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
	Item   string
	Places []string // it is allowed in each of these places; none where there is only one
	Reason string
	Source string // where the row is written, for errors
}

// What a variation allows.
const (
	Warn      = "warn"      // a clause of level SHOULD warns: the reading allows the variation, but advises against it
	Undecided = "undecided" // a check, a clause, or whatever has the code of a reason is inconclusive
)

// ReasonPlaceholder stands for the reason in a row that is proposed. It is none.
const ReasonPlaceholder = "WHY"

// Parse reads a row.
func Parse(source, text string) (Row, error) {
	head, reason, _ := strings.Cut(text, ": ")
	words := strings.Fields(head)
	if len(words) < 2 || words[0] != "allow" || reason == "" || reason == ReasonPlaceholder {
		return Row{}, fmt.Errorf("%s: %q: expected `allow WHAT WHERE...: WHY`, with the reason", source, text)
	}
	return Row{Item: words[1], Places: words[2:], Reason: reason, Source: source}, nil
}

// Rows reads those of a variation. It panics if one is malformed.
func Rows(source string, texts ...string) (all []Row) {
	for _, text := range texts {
		row, err := Parse(source, text)
		if err == nil && (len(row.Places) == 0 || row.Item != Warn && row.Item != Undecided) {
			err = fmt.Errorf("%s: %q: expected `allow warn CLAUSE: WHY` or `allow undecided CHECK: WHY`", source, text)
		}
		if err != nil {
			panic(err.Error())
		}
		all = append(all, row)
	}
	return all
}

// String returns the text of a row.
func (r Row) String() string { return r.textAt(r.Places...) + ": " + r.Reason }

func (r Row) textAt(places ...string) string {
	return strings.TrimSpace("allow " + r.Item + " " + strings.Join(places, " "))
}

// textByPlace returns what a row says of each place, "" if it has none.
func (r Row) textByPlace() map[string]string {
	all := map[string]string{}
	for _, at := range append(slices.Clone(r.Places), "")[:max(len(r.Places), 1)] {
		all[at] = fmt.Sprintf("%s: %q", r.Source, r.textAt(at))
	}
	return all
}

// Usage notes which rows have allowed something. Its zero value is ready, and its methods may be called concurrently.
type Usage struct {
	mu   sync.Mutex
	rows map[string]bool
}

// Allows reports whether one of some rows allows something in one of some places, and notes those that do; "" is the
// place of a row without any.
func (m *Usage) Allows(rows []Row, item string, places ...string) (isAllowed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rows == nil {
		m.rows = map[string]bool{}
	}
	for _, r := range rows {
		for at, row := range r.textByPlace() {
			if r.Item == item && slices.Contains(places, at) {
				m.rows[row], isAllowed = true, true
			}
		}
	}
	return isAllowed
}

// Stale says which rows have allowed nothing, place by place.
func (m *Usage) Stale(rows []Row) (stale []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range rows {
		for _, row := range r.textByPlace() {
			if !m.rows[row] {
				stale = append(stale, row+" allows nothing: take it out")
			}
		}
	}
	slices.Sort(stale)
	return stale
}
