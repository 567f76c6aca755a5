package conformance

import (
	"context"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// Protocol is all that differs between the protocols that the suite tests. The runner, the selection and the verdicts
// get everything from here, and know no protocol by name. It is not changed once it is in use, and safe for concurrent
// use.
type Protocol struct {
	Name    string // of --protocol, and in the header of scripts: "fwp"
	Title   string // for people
	Prefix  string // of the ids of its clauses, with the hyphen
	Dialect scenarios.Dialect

	// Documents are those that the clauses are written from.
	Documents []Document
	// Clauses returns the catalogue in its order; callers must not change it.
	Clauses func() []Clause
	// ClauseOf returns the id of the clause that a breach breaks, by its name, and "" if it breaks none.
	ClauseOf func(breach string) string
	// Goal returns what must have happened in a check for its pass of a clause to mean something, and whether that is
	// strict: it is not where it is left to chance, and then one check that reached it is enough. The check is empty for
	// the clause as a whole.
	Goal func(check, clause string) (goal Goal, strict bool)
	// Identify says what is at a target before any check runs, and waits for each reply no longer than the timeout. The
	// error says what is there instead of a server of the protocol.
	Identify func(ctx context.Context, t scenarios.Target, timeout time.Duration) (Identity, error)
	// Scripts parses the scripts of the suite.
	Scripts func() ([]*scenarios.Script, error)

	// Admission is how the ids of the clauses begin that say who is let in, and Unrefused returns the clause that a server
	// breaks which ends a connection there instead of refusing a command, by its verb. Both are zero where clients do not
	// introduce themselves.
	Admission string
	Unrefused func(verb string) string
}

// ClauseByID returns the clause with this id, or false if there is none. Case counts.
func (p *Protocol) ClauseByID(id string) (Clause, bool) {
	all := p.Clauses()
	for i := range all { // without a copy of each
		if all[i].ID == id {
			return all[i], true
		}
	}
	return Clause{}, false
}

// Suggest returns the id of the clause that a mistyped id most likely means, or "" if none is near. Case, and a missing
// Prefix, do not count as mistakes; of several ids that are equally near the first in the order of the catalogue is
// taken.
func (p *Protocol) Suggest(id string) string {
	id = strings.ToUpper(strings.TrimSpace(id))
	if !strings.HasPrefix(id, p.Prefix) {
		id = p.Prefix + id
	}
	var ids []string
	for _, c := range p.Clauses() {
		ids = append(ids, c.ID)
	}
	const most = 2 // more mistakes are another word
	return text.Nearest(id, ids, most)
}

// levelOf returns the level that a mark gives its clause, by default that of the catalogue.
func (p *Protocol) levelOf(m scenarios.Mark) reports.Level {
	if m.Level != "" {
		return reports.Level(m.Level)
	}
	c, _ := p.ClauseByID(m.Clause) // a user's script may name any clause
	return c.Level
}

// mismatchVerdict returns the verdict about the clause of a mark if a line does not match.
func (p *Protocol) mismatchVerdict(m scenarios.Mark) reports.Verdict {
	if c, ok := p.ClauseByID(m.Clause); ok && m.Level == "" {
		return c.Breach()
	}
	return p.levelOf(m).Breach()
}

// closed returns the clause that forbids a server to close the connection of a worker; empty if none does.
func (p *Protocol) closed() string {
	return p.ClauseOf(scenarios.Breach{Kind: scenarios.ConsumerClosed}.Name())
}

// or returns the protocol, and FWP for none.
func (p *Protocol) or() *Protocol {
	if p == nil {
		return FWP()
	}
	return p
}

// protocol returns the protocol of the run.
func (r *Runner) protocol() *Protocol {
	if r == nil {
		return FWP()
	}
	return r.Protocol.or()
}
