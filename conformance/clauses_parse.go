package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/reports"
)

// The catalogue is kept in text files, which a reader of the specification can review without Go. A file is a row of
// paragraphs with an empty line between them; a line that starts with # is a comment. A paragraph is
//
//	ACME-STATE-01 | S | plain | - | AMB-11, AMB-12
//	  The statement, which may have
//	  more than one line.
//	  reading: The reading, if there is one.
//	  source: acme.md#Client Lifecycle 1.3
//
// that is: id, party, level, what is special ("-" if nothing is) and, if there are any, the ambiguities. "recorded:"
// in place of "reading:" sets Recorded, "excluded:" says why no check decides a clause that binds servers, and
// "unwatched:" why no rule of protocols/fwp/clientrules decides one that binds clients, "harm:" what its breach means
// to users.
//
// Each clause has at least one source, in one line each: document, heading and units. "2.1" is the first unit of the
// second block below the heading, "2.1-2.3" goes on to the third, "2" is the whole block; blocks are separated by empty
// lines, and a unit is a sentence of a paragraph, an item of a list, a row of a table (its head is row 0) or a line of
// a code block. Where a heading comes up twice, those around it stand before it, with slashes between them. The name of
// an external document stands alone. The documents have a hash each in the Suite: where one changes, check the
// clauses that cite it before the new hash is kept.

// clauseParser reads a file of the catalogue line by line.
type clauseParser struct {
	documents   []Document // that sources name
	clauses     []Clause
	inParagraph bool    // a paragraph has begun
	into        *string // what a line of text continues; nil after a source
}

// Catalogue reads the catalogue in the files clauses*.txt, in the order of their names. The sources of a clause are in
// the documents. It panics if a file is malformed, which every test that reads the catalogue finds.
func Catalogue(files fs.FS, documents []Document) []Clause {
	names, err := fs.Glob(files, "clauses*.txt")
	var all []Clause
	for _, name := range names {
		text, readErr := fs.ReadFile(files, name)
		clauses, parseErr := parseClauses(name, string(text), documents)
		err = errors.Join(err, readErr, parseErr)
		all = append(all, clauses...)
	}
	if err != nil {
		panic(err)
	}
	return all
}

// parseClauses reads a file of a catalogue. Its errors begin with the file and the line.
func parseClauses(name, text string, documents []Document) ([]Clause, error) {
	p := clauseParser{documents: documents}
	for i, line := range strings.Split(text, "\n") {
		if err := p.line(strings.TrimRight(line, "\r")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	return p.clauses, nil
}

func (p *clauseParser) line(line string) error {
	switch {
	case strings.HasPrefix(line, "#"):
	case strings.TrimSpace(line) == "":
		p.inParagraph = false
	case strings.HasPrefix(line, "  ") && p.inParagraph:
		return p.text(strings.TrimSpace(line))
	case strings.HasPrefix(line, "  "):
		return fmt.Errorf("text without a clause: %q", line)
	case p.inParagraph:
		return fmt.Errorf("no empty line before %q", line)
	default:
		return p.head(line)
	}
	return nil
}

// head reads the first line of a paragraph.
func (p *clauseParser) head(line string) error {
	fields := strings.Split(strings.TrimSpace(line), " | ")
	if len(fields) != 4 && len(fields) != 5 {
		return fmt.Errorf("want 4 or 5 fields with \" | \" between them, got %d", len(fields))
	}
	c := Clause{ID: fields[0], Party: fields[1], Level: reports.Level(fields[2])}
	if !c.Level.IsValid() {
		return fmt.Errorf("level %q is unknown", c.Level)
	}
	if fields[3] != "-" {
		c.Special = fields[3]
	}
	if len(fields) == 5 {
		c.Ambiguity = fields[4]
	}
	p.clauses = append(p.clauses, c)
	p.inParagraph, p.into = true, &p.clauses[len(p.clauses)-1].Statement
	return nil
}

// text reads any other line of a paragraph, without the blanks around it.
func (p *clauseParser) text(line string) error {
	c := &p.clauses[len(p.clauses)-1]
	label, rest, _ := strings.Cut(line, ": ")
	switch label {
	case "source":
		p.into = nil
		return c.addSource(rest, p.documents)
	case "recorded":
		c.Recorded = true
		p.into, line = &c.Reading, rest
	case "reading":
		p.into, line = &c.Reading, rest
	case "excluded":
		p.into, line = &c.ExclusionReason, rest
	case "unwatched":
		p.into, line = &c.UnwatchedReason, rest
	case "harm":
		if !slices.Contains(reports.Harms(), rest) {
			return fmt.Errorf("harm %q: want one of %s", rest, strings.Join(reports.Harms(), ", "))
		}
		p.into, line = &c.Harm, rest
	}
	if p.into == nil {
		return fmt.Errorf("text after a source: %q", line)
	}
	*p.into = strings.TrimSpace(*p.into + " " + line)
	return nil
}

// addSource reads a source, and adds its heading to the section unless that names it already.
func (c *Clause) addSource(text string, documents []Document) error {
	s, section, err := parseSource(text, documents)
	if err != nil {
		return err
	}
	c.Sources = append(c.Sources, s)
	switch {
	case c.Section == "":
		c.Section = section
	case !strings.Contains("; "+c.Section+"; ", "; "+section+"; "):
		c.Section += "; " + section
	}
	return nil
}
