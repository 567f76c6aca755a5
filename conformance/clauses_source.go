package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// Source is a place of a source document that states a clause. It holds none of the text: only where that is found,
// and the hash by which a change of it is noticed.
type Source struct {
	// Document is the name of a file, "fwp.md", or "RESP", which is not among the documents: then the rest is empty.
	Document string `json:"document"`
	// Heading is the one that the place stands below, without markup. Where the document has it more than once, the
	// headings around it come first, with slashes between them: "BEAT Command/Examples".
	Heading string `json:"heading,omitempty"`
	// Units counts blocks and, in them, sentences, items, rows or lines: "2.1-2.3". See clauses.go for the notation.
	Units string `json:"units,omitempty"`
	// Hash is the beginning of the SHA-256 of the units, in lower-case hexadecimal.
	Hash string `json:"hash,omitempty"`
}

// external is the document that a source may name without a place in it.
const external = "RESP"

// documents are the source documents, and what stands before their headings in Clause.Section.
var documents = map[string]string{
	"fwp.md":                            "",
	"faktory-worker-lifecycle.md":       "worker guide: ",
	"faktory-worker-ex-architecture.md": "worker architecture: ",
}

var (
	sourceLine = regexp.MustCompile(`^([^#]+)#(.+) ([\d.]+(?:-[\d.]+)?) ([0-9a-f]+)$`)
	errSource  = errors.New(`want DOCUMENT#HEADING UNITS HASH, or RESP`)
)

// parseSource reads what stands behind "source:".
func parseSource(text string) (Source, error) {
	if text == external {
		return Source{Document: external}, nil
	}
	m := sourceLine.FindStringSubmatch(text)
	if m == nil || len(m[4]) != hashDigits {
		return Source{}, fmt.Errorf("source %q: %w", text, errSource)
	}
	if _, ok := documents[m[1]]; !ok {
		return Source{}, fmt.Errorf("source %q: there is no document %s", text, m[1])
	}
	return Source{Document: m[1], Heading: m[2], Units: m[3], Hash: m[4]}, nil
}

// String is the notation of the catalogue: "fwp.md#BEAT Command 7.1-7.3 0123456789ab", or "RESP".
func (s Source) String() string {
	if s.Document == external {
		return external
	}
	return fmt.Sprintf("%s#%s %s %s", s.Document, s.Heading, s.Units, s.Hash)
}

func (s Source) section() string {
	if s.Document == external {
		return external
	}
	return documents[s.Document] + s.Heading
}

// SourceChange is a place whose text is not what it was when the clause was written.
type SourceChange struct {
	Clause Clause
	Source Source
	// Now says what is there instead: "changed", "moved to End State 2.3" or "gone: no heading ...".
	Now string
}

func (c SourceChange) String() string { return fmt.Sprintf("%s  %s  %s", c.Clause.ID, c.Source, c.Now) }

// ChangedSources holds the catalogue against the source documents, which are in the root of specs by the names that
// Source.Document has. It returns what has changed, in the order of the catalogue; nothing if the documents are those
// that the catalogue was written from. The error is that of a document that cannot be read.
func ChangedSources(specs fs.FS) ([]SourceChange, error) {
	read := map[string]document{}
	for name := range documents {
		text, err := fs.ReadFile(specs, name)
		if err != nil {
			return nil, fmt.Errorf("read specification: %w", err)
		}
		read[name] = cut(string(text))
	}
	var changes []SourceChange
	for _, c := range catalogue() {
		for _, s := range c.Sources {
			if s.Document == external {
				continue
			}
			if now := s.now(read[s.Document]); now != "" {
				changes = append(changes, SourceChange{c, s, now})
			}
		}
	}
	return changes, nil
}

// now says what has become of a source in a document; empty if it is as it was.
func (s Source) now(d document) string {
	units, err := d.units(s)
	if err == nil && hashOf(units) == s.Hash {
		return ""
	}
	if place := d.find(s.Hash); place != "" {
		return "moved to " + place
	}
	if err != nil {
		return "gone: " + err.Error()
	}
	return "changed"
}

// units are what a source points to.
func (d document) units(s Source) ([]unit, error) {
	p, err := d.part(s.Heading)
	if err != nil {
		return nil, err
	}
	return p.pick(s.Units)
}

// find looks for units with this hash anywhere in the document, and says where they are; empty if nowhere.
func (d document) find(hash string) string {
	for _, p := range d {
		for from := range p.units {
			for to := from; to < len(p.units); to++ {
				if hashOf(p.units[from:to+1]) == hash {
					return fmt.Sprintf("%s %s-%s", strings.Join(p.headings, "/"), p.units[from], p.units[to])
				}
			}
		}
	}
	return ""
}
