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
	// Level says how strongly the source requires it.
	Level reports.Level
	// Party is who it binds: S a server, C any client, K a consumer, P a producer; several are joined by commas.
	Party string
	// Section is where it is stated: a heading of the specification, "RESP", or "worker guide: " or
	// "worker architecture: " and a heading there. Several are joined by "; ". It is a summary of Sources.
	Section string
	// Sources are the places that state the clause; a clause of level derived follows from them.
	Sources []Source
	// Statement is the clause in the suite's own words, in one sentence.
	Statement string
	// Reading says how the suite reads what is ambiguous or contradictory; empty if nothing is. It takes precedence
	// over Statement and Level.
	Reading string
	// Recorded says that the reading allows any behaviour, so that a check only records an observation.
	Recorded bool
	// Ambiguity names the entries of the inventory's list of ambiguities that the reading decides: "AMB-11, AMB-12".
	Ambiguity string
	// Special says what deciding it takes, as words with spaces between them; empty if nothing special:
	// pw a server with a password, wait some seconds up to a minute, long more than a minute, sig an operator that
	// quiets or terminates workers, rst a restart, env a certain environment, adv a scripted server (the clause binds
	// clients).
	Special string
	// Excluded says why no check decides the clause although it binds servers; empty if one does.
	Excluded string
	// Unwatched says why no rule of internal/monitor decides the clause although it binds clients; empty if one does, or
	// if it binds servers only.
	Unwatched string
}

// Binds reports whether the clause binds party, which is S, C, K or P. A clause that binds any client (C) does not
// bind K or P by that.
func (c Clause) Binds(party string) bool {
	for bound := range strings.SplitSeq(c.Party, ",") { // without a slice: each report asks it of each clause
		if bound == party {
			return true
		}
	}
	return false
}

// BindsClient reports whether the clause binds a client, whatever it does: a worker, a producer or any.
func (c Clause) BindsClient() bool { return c.Binds("C") || c.Binds("K") || c.Binds("P") }

// BindsServer reports whether the clause binds a server.
func (c Clause) BindsServer() bool { return c.Binds("S") }

// Breach returns the verdict about a target that does otherwise: Observed if the clause is only recorded, else the
// verdict of its level. A reading may name situations with a milder or stronger verdict.
func (c Clause) Breach() reports.Verdict {
	if c.Recorded {
		return reports.Observed
	}
	return c.Level.Breach()
}

// Clauses returns every clause of the inventory in its order, those that bind clients as well. The caller may change
// the slice, but not the sources in it, which all callers share.
func Clauses() []Clause { return slices.Clone(catalogue()) }

// ClauseByID returns the clause with this id, or false if there is none. Case counts; see Suggest.
func ClauseByID(id string) (Clause, bool) { return FWP().ClauseByID(id) }

// The catalogue is kept in text files, which a reader of the specification can review without Go. A file is a row of
// paragraphs with an empty line between them; a line that starts with # is a comment. A paragraph is
//
//	FWP-STATE-01 | S | plain | - | AMB-11, AMB-12
//	  The statement, which may have
//	  more than one line.
//	  reading: The reading, if there is one.
//	  source: fwp.md#Client Lifecycle 1.3
//
// that is: id, party, level, what is special ("-" if nothing is) and, if there are any, the ambiguities. "recorded:"
// in place of "reading:" sets Recorded, "excluded:" says why no check decides a clause that binds servers, and
// "unwatched:" why no rule of internal/monitor decides one that binds clients.
//
// Each clause has at least one source, in one line each: document, heading and units. "2.1" is the first unit of
// the second block below the heading, "2.1-2.3" goes on to the third, "2" is the whole block; blocks are separated by
// empty lines, and a unit is a sentence of a paragraph, an item of a list, a row of a table (its head is row 0) or a
// line of a code block. Where a heading comes up twice, those around it stand before it, with slashes between them.
// "RESP" alone stands for the specification of RESP, which is not among the documents. The documents have a hash each
// in clauses_source.go: where one changes, check the clauses that cite it before the new hash is kept.
//
//go:embed clauses_*.txt
var clauseFiles embed.FS

// catalogue reads the files once; callers must not change what it returns. It panics if a file is malformed, which
// every test that reads the catalogue finds.
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
		clauses, err := parseClauses(file.Name(), string(text), "")
		if err != nil {
			panic(err)
		}
		all = append(all, clauses...)
	}
	return all
})
