package conformance

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
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
	// ExclusionReason says why no check decides the clause although it binds servers; empty if one does.
	ExclusionReason string
	// Harm is what users of a client meet that breaks the clause, one of reports.Harms; empty: nothing of these.
	Harm string
	// UnwatchedReason says why no rule of protocols/fwp/clientrules decides the clause although it binds clients; empty if
	// one does, or if it binds servers only.
	UnwatchedReason string
}

// Binds reports whether the clause binds party, which is S, C, K or P. A clause that binds any client (C) does not
// bind K or P by that.
func (c Clause) Binds(party string) bool {
	for name := range strings.SplitSeq(c.Party, ",") { // without a slice: each report asks it of each clause
		if name == party {
			return true
		}
	}
	return false
}

// BindsClient reports whether the clause binds a client, whatever it does: a worker, a producer or any.
func (c Clause) BindsClient() bool { return c.Binds("C") || c.Binds("K") || c.Binds("P") }

// BindsServer reports whether the clause binds a server.
func (c Clause) BindsServer() bool { return c.Binds("S") }

// BreachVerdict returns the verdict about a target that does otherwise: Observed if the clause is only recorded, Fail
// if it harms users, however mildly the clause is put, else the verdict of its level. A reading may name situations
// with a milder or stronger verdict.
func (c Clause) BreachVerdict() reports.Verdict {
	switch {
	case c.Recorded:
		return reports.Observed
	case c.Harm != "":
		return reports.Fail
	}
	return c.Level.BreachVerdict()
}

// Source is a place of a source document that states a clause. It holds none of the text.
type Source struct {
	// Document is the name of a file, "acme.md", or of an external document: then the rest is empty.
	Document string `json:"document"`
	// Heading is the one that the place stands below, without markup. Where the document has it more than once, the
	// headings around it come first, with slashes between them: "First Command/Examples".
	Heading string `json:"heading,omitempty"`
	// Units counts blocks and, in them, sentences, items, rows or lines: "2.1-2.3". See clauses_parse.go for the notation.
	Units string `json:"units,omitempty"`
}

var (
	sourceLine = regexp.MustCompile(`^([^#]+)#(.+) ([\d.]+(?:-[\d.]+)?)$`)
	errSource  = errors.New("want DOCUMENT#HEADING UNITS, or the name of an external document")
)

// Document is a source document in the edition that a catalogue was written from.
type Document struct {
	Name    string
	SHA256  string // in hexadecimal; empty: it is external, not among the documents, and sources name it alone
	Section string // what stands before its headings in Clause.Section
}

// parseSource reads what stands behind "source:", and returns the section as well.
func parseSource(text string, documents []Document) (s Source, section string, err error) {
	m := sourceLine.FindStringSubmatch(text)
	name := text
	if m != nil {
		name = m[1]
	}
	i := slices.IndexFunc(documents, func(d Document) bool { return d.Name == name && (m == nil) == (d.SHA256 == "") })
	switch {
	case i < 0 && m == nil:
		return Source{}, "", fmt.Errorf("source %q: %w", text, errSource)
	case i < 0:
		return Source{}, "", fmt.Errorf("source %q: there is no document %s", text, name)
	case m == nil:
		return Source{Document: name}, name, nil
	}
	return Source{Document: name, Heading: m[2], Units: m[3]}, documents[i].Section + m[2], nil
}

// String is the notation of the catalogue: "acme.md#First Command 7.1-7.3", or the name of an external document.
func (s Source) String() string {
	if s.Heading == "" {
		return s.Document
	}
	return fmt.Sprintf("%s#%s %s", s.Document, s.Heading, s.Units)
}
