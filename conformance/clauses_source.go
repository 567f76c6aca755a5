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
	// Document is the name of a file, "fwp.md", or "RESP", which is not among the documents: then the rest is empty.
	Document string `json:"document"`
	// Heading is the one that the place stands below, without markup. Where the document has it more than once, the
	// headings around it come first, with slashes between them: "BEAT Command/Examples".
	Heading string `json:"heading,omitempty"`
	// Units counts blocks and, in them, sentences, items, rows or lines: "2.1-2.3". See clauses.go for the notation.
	Units string `json:"units,omitempty"`
}

// external is the document that a source may name without a place in it.
const external = "RESP"

// documents are the source documents in the edition that the catalogue was written from.
var documents = []struct {
	name    string
	sha256  string // in hexadecimal
	section string // what stands before its headings in Clause.Section
}{
	{"fwp.md", "bdb60cded581ec94079b8c18ed4999de633967614b4b846eeb3ed55717cbf1e0", ""},
	{
		"faktory-worker-lifecycle.md",
		"d6442f8c6c83619b71da67ae0252ede169bdf4080aa50ee4cf21f7420c40307a", "worker guide: ",
	},
	{
		"faktory-worker-ex-architecture.md",
		"bfbca4f174d644eba0cd9e10619d25f8733cf6214b6488622f1ba2199736bf74", "worker architecture: ",
	},
}

var (
	sourceLine = regexp.MustCompile(`^([^#]+)#(.+) ([\d.]+(?:-[\d.]+)?)$`)
	errSource  = errors.New(`want DOCUMENT#HEADING UNITS, or RESP`)
)

// parseSource reads what stands behind "source:".
func parseSource(text, document string) (Source, error) {
	if text == external {
		return Source{Document: external}, nil
	}
	m := sourceLine.FindStringSubmatch(text)
	if m == nil {
		return Source{}, fmt.Errorf("source %q: %w", text, errSource)
	}
	s := Source{Document: m[1], Heading: m[2], Units: m[3]}
	if s.section() == external && s.Document != document {
		return Source{}, fmt.Errorf("source %q: there is no document %s", text, m[1])
	}
	return s, nil
}

// String is the notation of the catalogue: "fwp.md#BEAT Command 7.1-7.3", or "RESP".
func (s Source) String() string {
	if s.Document == external {
		return external
	}
	return fmt.Sprintf("%s#%s %s", s.Document, s.Heading, s.Units)
}

func (s Source) section() string {
	for _, d := range documents {
		if d.name == s.Document {
			return d.section + s.Heading
		}
	}
	return external
}

// Document is a source document in the edition that a catalogue was written from.
type Document struct {
	Name   string
	SHA256 string // in hexadecimal
}

// ofFWP returns the source documents of FWP.
func ofFWP() []Document {
	all := make([]Document, len(documents))
	for i, d := range documents {
		all[i] = Document{d.name, d.sha256}
	}
	return all
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
