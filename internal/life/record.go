package life

import (
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/reports"
)

// Record is the calls about jobs that were read from one file, and the findings about these jobs.
type Record struct {
	Name     string // of the file, or of the check
	Calls    []history.Event
	Findings []Finding
	// Undecided are the jobs whose end is not known.
	Undecided []history.Undecided

	kind kind
}

// kind is what a record was read from.
type kind uint8

const (
	ofHistory      kind = iota // its calls have numbers
	ofConversation             // they have times only
	ofScript                   // their times are lines
)

// Finding is something that is wrong, and the calls that prove it, by their places.
type Finding struct {
	reports.LifeFinding

	JID   string // empty: of each job in the record
	Calls []int
}

// OfHistory returns the calls of a history, with what was found in it. Clause returns the clause of a breach.
func OfHistory(name string, h *history.History, found *history.Report, clause func(history.Breach) string) *Record {
	r := &Record{Name: name, Calls: h.Events, Undecided: found.Undecided}
	for _, f := range found.Findings {
		if f.JID != "" {
			r.Findings = append(r.Findings,
				Finding{reports.LifeFinding{Clause: clause(f.Breach), Description: f.Description}, f.JID, f.Events})
		}
	}
	return r
}

// JIDs returns the jobs of the record, each once, in the order of their first call.
func (r *Record) JIDs() (all []string) {
	set := map[string]bool{"": true}
	for i := range r.Calls {
		if jid := r.Calls[i].JID; !set[jid] {
			set[jid] = true
			all = append(all, jid)
		}
	}
	return all
}

// Nearest returns those of some jobs that may have been meant, three at most: those whose names contain the word, or
// else those with few mistakes.
func Nearest(word string, jids []string) (matches []string) {
	const limit, maxCompared = 3, 10_000
	for _, jid := range jids {
		if len(matches) < limit && word != "" && strings.Contains(jid, word) {
			matches = append(matches, jid)
		}
	}
	if len(matches) > 0 {
		return matches
	}
	return text.Candidates(word, jids[:min(len(jids), maxCompared)])
}
