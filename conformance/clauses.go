package conformance

import (
	"embed"
	"fmt"
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
	// "worker architecture: " and a heading there. Several are joined by "; ".
	Section string
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
		return reports.Note
	}
	return c.Level.Breach()
}

// Clauses returns every clause of the inventory in its order, whomever it binds. The slice is the caller's own.
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
//	FWP-STATE-01 | S | plain | Client Lifecycle | - | AMB-11, AMB-12
//	  The statement, which may have
//	  more than one line.
//	  reading: The reading, if there is one.
//
// that is: id, party, level, section, what is special ("-" if nothing is) and, if there are any, the ambiguities.
// "recorded:" in place of "reading:" sets Recorded. The files are taken in the order of their names.
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

// parseClauses reads one file of the catalogue. Its errors begin with the file and the line.
func parseClauses(name, text string) ([]Clause, error) {
	var clauses []Clause
	open := false // a paragraph has begun
	reading := false
	for i, line := range strings.Split(text, "\n") {
		var err error
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.TrimSpace(line) == "":
			open, reading = false, false
		case !strings.HasPrefix(line, "  "):
			var c Clause
			c, err = parseClauseHead(line)
			clauses = append(clauses, c)
			if open {
				err = fmt.Errorf("no empty line before %q", line)
			}
			open = true
		case !open:
			err = fmt.Errorf("text without a clause: %q", line)
		default:
			reading = clauses[len(clauses)-1].addText(strings.TrimSpace(line), reading)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	return clauses, nil
}

// parseClauseHead reads the first line of a paragraph.
func parseClauseHead(line string) (Clause, error) {
	fields := strings.Split(strings.TrimSpace(line), " | ")
	if len(fields) != 5 && len(fields) != 6 {
		return Clause{}, fmt.Errorf("want 5 or 6 fields with \" | \" between them, got %d", len(fields))
	}
	c := Clause{ID: fields[0], Party: fields[1], Level: reports.Level(fields[2]), Section: fields[3]}
	if !c.Level.Valid() {
		return Clause{}, fmt.Errorf("level %q is unknown", c.Level)
	}
	if fields[4] != "-" {
		c.Special = fields[4]
	}
	if len(fields) == 6 {
		c.Ambiguity = fields[5]
	}
	return c, nil
}

// addText appends a line to the statement, or to the reading once that has begun, and returns whether it has.
func (c *Clause) addText(line string, reading bool) bool {
	if rest, ok := strings.CutPrefix(line, "recorded: "); ok {
		c.Recorded, c.Reading = true, rest
		return true
	}
	if rest, ok := strings.CutPrefix(line, "reading: "); ok {
		c.Reading = rest
		return true
	}
	into := &c.Statement
	if reading {
		into = &c.Reading
	}
	*into = strings.TrimSpace(*into + " " + line)
	return reading
}
