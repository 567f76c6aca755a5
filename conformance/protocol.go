package conformance

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// Suite is all that differs between the protocols that the suite tests. The runner, the selection and the verdicts
// get everything from here, and know no protocol by name. It is not changed once it is in use, and safe for concurrent
// use.
type Suite struct {
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
	// GrammarClauses are the clauses about the bytes of a message: a line does not pass them whose message breaks the
	// grammar and was read all the same.
	GrammarClauses []string
	// GeneralClauses are clauses that say less than what the law may know of the same message: where it blames another
	// clause for certain, a line about one of these decides nothing.
	GeneralClauses []string
	// LimitedVerbs are the verbs of commands that bring what a server may have a limit for: a job, a queue, a client.
	LimitedVerbs []string
	// Recognize says what is behind a new connection, and waits for each reply no longer than the timeout. It is lenient:
	// the checks evaluate what is somehow wrong. The error says what is there instead of a server of the protocol.
	Recognize func(ctx context.Context, nc net.Conn, timeout time.Duration) (Identity, error)
	// Premise is asked when something was found: the error says what a server does otherwise that the checks take for
	// granted and the specification leaves open. Nil: nothing is.
	Premise func(ctx context.Context, t play.Target) error
	// Scripts parses the scripts of the suite.
	Scripts func() ([]*scenarios.Script, error)
	// Retired has the names of checks that are no more, and what stands instead of each: another check, or a rule of
	// the law. Such a name is never used again.
	Retired map[string]string

	// Law judges every conversation of a check that plays a script; without Start it does not.
	Law law.Definition

	// AdmissionPrefix is how the ids of the clauses begin that say who is let in, and UnrefusedClause returns the clause
	// that a server breaks which ends a connection there instead of refusing a command, by its verb. Both are zero where
	// clients do not introduce themselves.
	AdmissionPrefix string
	UnrefusedClause func(verb string) string
}

// Identify says what is at a target before any check runs, by Recognize. It dials no longer than the timeout.
func (p *Suite) Identify(ctx context.Context, t play.Target, timeout time.Duration) (Identity, error) {
	dialing, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	nc, err := t.Dial(dialing)
	if err != nil {
		return Identity{}, err
	}
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })()
	id, err := p.Recognize(ctx, nc, timeout)
	if err != nil && ctx.Err() != nil {
		return Identity{}, context.Cause(ctx)
	}
	return id, err
}

// ClauseByID returns the clause with this id, or false if there is none. Case counts.
func (p *Suite) ClauseByID(id string) (Clause, bool) {
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
func (p *Suite) Suggest(id string) string {
	id = strings.ToUpper(strings.TrimSpace(id))
	if !strings.HasPrefix(id, p.Prefix) {
		id = p.Prefix + id
	}
	var ids []string
	for _, c := range p.Clauses() {
		ids = append(ids, c.ID)
	}
	const limit = 2 // more mistakes are another word
	return text.Nearest(id, ids, limit)
}

// LevelOf returns the level that a mark gives its clause, by default that of the catalogue.
func (p *Suite) LevelOf(m scenarios.ClauseMark) reports.Level {
	if m.Level != "" {
		return reports.Level(m.Level)
	}
	c, _ := p.ClauseByID(m.Clause) // a user's script may name any clause
	return c.Level
}

// MismatchVerdict returns the verdict about the clause of a mark if a line does not match.
func (p *Suite) MismatchVerdict(m scenarios.ClauseMark) reports.Verdict {
	if c, ok := p.ClauseByID(m.Clause); ok && m.Level == "" {
		return c.BreachVerdict()
	}
	return p.LevelOf(m).BreachVerdict()
}

// Parties are those that a target is: none means a server, else some of C, K and P, see Clause.Party.
type Parties []string

// AreBoundBy reports whether a clause binds the target.
func (p Parties) AreBoundBy(c Clause) bool {
	if len(p) == 0 {
		return c.BindsServer()
	}
	return slices.ContainsFunc(p, c.Binds)
}

// UnboundReason returns why a clause does not bind the target.
func (p Parties) UnboundReason() string {
	switch {
	case len(p) == 0:
		return "it binds clients, the target is a server"
	case slices.Contains(p, "K"):
		return "it does not bind workers"
	}
	return "it does not bind producers"
}

// Identity is what a server sends first.
type Identity struct {
	Greeting  string // the first line, escaped, without its end; empty if it is none
	Protected bool   // it requires a password
}

// ErrDeclined means that a protected server accepts no form of the password.
var ErrDeclined = errors.New("the server refuses the password")
