package conformance

import (
	"embed"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/reports"
)

// Clause is a numbered statement of the specification, or of what workers do in practice.
type Clause struct {
	// ID is a stable slug, "FWP-STATE-01"; it is never used for another statement.
	ID string
	// Level says how strongly the source asks for it.
	Level reports.Level
	// Party says whom it binds: S a server, C any client, K a consumer, P a producer; several are joined by commas.
	Party string
	// Section names where it comes from: a heading of the specification, "RESP", or "worker guide: " or
	// "worker architecture: " and a heading there. Several are joined by "; ". It sums up Sources.
	Section string
	// Sources are the places that state the clause; a clause of level derived follows from them.
	Sources []Source
	// Statement is the clause in our own words: one sentence that stands by itself.
	Statement string
	// Reading says how the suite takes what is ambiguous or contradictory about it; empty if nothing is. It outranks
	// Statement and Level.
	Reading string
	// Recorded says that by its reading whatever a target does is right, so that a check can only give a note.
	Recorded bool
	// Ambiguity names the entries of the inventory's list of ambiguities that the reading settles: "AMB-11, AMB-12".
	Ambiguity string
	// Special says what deciding it takes, as words with spaces between them; empty if nothing special:
	// pw a server with a password, wait some seconds up to a minute, long more than a minute, sig an operator who
	// quiets or terminates workers, rst a restart, env a certain environment, adv a scripted server (the clause binds
	// clients).
	Special string
	// Excluded says why no check decides the clause although it binds servers; empty if one does.
	Excluded string
}

// Binds says whether the clause binds party, which is S, C, K or P. A clause that binds any client (C) is not taken
// to name consumers or producers.
func (c Clause) Binds(party string) bool {
	return slices.Contains(strings.Split(c.Party, ","), party)
}

// BindsServer says whether the clause binds a server.
func (c Clause) BindsServer() bool { return c.Binds("S") }

// Breach returns the verdict for a target that does otherwise: Note if the clause is only recorded, and what its level
// gives in all other cases. A reading may ask for a milder or stronger one in a certain situation; it says so.
func (c Clause) Breach() reports.Verdict {
	if c.Recorded {
		return reports.Observed
	}
	return c.Level.Breach()
}

// Clauses returns every clause of the inventory in its order, whomever it binds. The slice is the caller's own, but for
// the sources in it, which all callers share and nobody changes.
func Clauses() []Clause { return slices.Clone(catalogue()) }

// ClauseByID returns the clause with this id, or false if there is none. Case counts; see Suggest.
func ClauseByID(id string) (Clause, bool) {
	at := slices.IndexFunc(catalogue(), func(c Clause) bool { return c.ID == id })
	if at < 0 {
		return Clause{}, false
	}
	return catalogue()[at], true
}

// The catalogue is kept in text files, which a reader of the specification can review without Go. A file is a row of
// paragraphs with an empty line between them; a line that starts with # is a comment. A paragraph is
//
//	FWP-STATE-01 | S | plain | - | AMB-11, AMB-12
//	  The statement, which may have
//	  more than one line.
//	  reading: The reading, if there is one.
//	  source: fwp.md#Client Lifecycle 1.3
//
// that is: id, party, level, what is special ("-" if nothing is) and, if there are any, the ambiguities. "recorded:" in
// place of "reading:" sets Recorded, and "excluded:" says why no check decides a clause that binds servers.
//
// Each clause has at least one source, in one line each: document, heading and units. "2.1" is the first unit of
// the second block below the heading, "2.1-2.3" goes on to the third, "2" is the whole block; blocks are separated by
// empty lines, and a unit is a sentence of a paragraph, an item of a list, a row of a table (its head is row 0) or a
// line of a code block. Where a heading comes up twice, those around it stand before it, with slashes between them.
// "RESP" alone stands for the specification of RESP, which is not among the documents. The documents have a hash each
// in clauses_source.go: where one changes, look at the clauses that cite it before the new hash is kept.
//
//go:embed clauses_*.txt
var clauseFiles embed.FS

// catalogue reads the files once; nobody changes what it returns. It panics if a file is malformed, which is a
// mistake of whoever built the suite and is found by every test that touches the catalogue.
var catalogue = sync.OnceValue(func() []Clause {
	files, err := clauseFiles.ReadDir(".")
	if err != nil {
		panic(err)
	}
	var all []Clause
	for _, file := range files {
		text, err := clauseFiles.ReadFile(file.Name())
		if err != nil {
			panic(err)
		}
		clauses, err := parseClauses(file.Name(), string(text))
		if err != nil {
			panic(err)
		}
		all = append(all, clauses...)
	}
	return all
})
