package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
)

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

// DocumentChange is a source document that is not the one that the catalogue was written from.
type DocumentChange struct {
	Document string
	SHA256   string // of what is there, in hexadecimal
	Expected string // the same of the edition that the catalogue was written from
	Clauses  int    // how many clauses cite the document
}

// ChangedDocuments compares the source documents, which are in the root of specs by the names that Source.Document
// has, with those that the catalogue was written from. The error is that of a document that cannot be read.
func (p *Protocol) ChangedDocuments(specs fs.FS) ([]DocumentChange, error) {
	var changes []DocumentChange
	for _, d := range p.Documents {
		if d.SHA256 == "" {
			continue
		}
		text, err := fs.ReadFile(specs, d.Name)
		if err != nil {
			return nil, fmt.Errorf("read specification: %w", err)
		}
		hash := sha256.Sum256(text)
		if got := hex.EncodeToString(hash[:]); got != d.SHA256 {
			changes = append(changes, DocumentChange{d.Name, got, d.SHA256, p.citing(d.Name)})
		}
	}
	return changes, nil
}

// citing counts the clauses that have a source in a document.
func (p *Protocol) citing(document string) int {
	n := 0
	for _, c := range p.Clauses() {
		if slices.ContainsFunc(c.Sources, func(s Source) bool { return s.Document == document }) {
			n++
		}
	}
	return n
}
