package conformance

import (
	"strings"

	"github.com/fwpsuite/fwp/reports"
)

// Clause is a numbered statement of the specification, or of what workers do in practice.
type Clause struct {
	// ID is a stable slug, "ACME-STATE-01"; it is never used for another statement.
	ID string
	// Level says how strongly the source requires it.
	Level reports.Level
	// Party is who it binds: S a server, C any client, K a consumer, P a producer; several are joined by commas.
	Party string
	// Section is where it is stated: a heading of the specification, the name of an external document, or
	// another document's Section and a heading there. Several are joined by "; ". It is a summary of Sources.
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
	// Unwatched says why no rule of conformance/workers decides the clause although it binds clients; empty if one does,
	// or if it binds servers only.
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
