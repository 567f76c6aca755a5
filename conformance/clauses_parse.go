package conformance

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/reports"
)

// clauseParser reads a file of the catalogue line by line.
type clauseParser struct {
	document string // the only one that sources name; empty: those of FWP
	clauses  []Clause
	open     bool    // a paragraph has begun
	into     *string // what a line of text continues; nil after a source
}

// Catalogue parses the catalogue of another protocol, whose sources are all in one document and give lines of it; see
// clauses.go for the notation. It panics if the text is malformed, which every test that reads the catalogue finds.
func Catalogue(text, document string) []Clause {
	all, err := parseClauses("clauses.txt", text, document)
	if err != nil {
		panic(err)
	}
	return all
}

// parseClauses reads a file of a catalogue. Its errors begin with the file and the line.
func parseClauses(name, text, document string) ([]Clause, error) {
	p := clauseParser{document: document}
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
		p.open = false
	case strings.HasPrefix(line, "  ") && p.open:
		return p.text(strings.TrimSpace(line))
	case strings.HasPrefix(line, "  "):
		return fmt.Errorf("text without a clause: %q", line)
	case p.open:
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
	if !c.Level.Valid() {
		return fmt.Errorf("level %q is unknown", c.Level)
	}
	if fields[3] != "-" {
		c.Special = fields[3]
	}
	if len(fields) == 5 {
		c.Ambiguity = fields[4]
	}
	p.clauses = append(p.clauses, c)
	p.open, p.into = true, &p.clauses[len(p.clauses)-1].Statement
	return nil
}

// text reads any other line of a paragraph, without the blanks around it.
func (p *clauseParser) text(line string) error {
	c := &p.clauses[len(p.clauses)-1]
	label, rest, _ := strings.Cut(line, ": ")
	switch label {
	case "source":
		p.into = nil
		return c.addSource(rest, p.document)
	case "recorded":
		c.Recorded = true
		p.into, line = &c.Reading, rest
	case "reading":
		p.into, line = &c.Reading, rest
	case "excluded":
		p.into, line = &c.Excluded, rest
	case "unwatched":
		p.into, line = &c.Unwatched, rest
	}
	if p.into == nil {
		return fmt.Errorf("text after a source: %q", line)
	}
	*p.into = strings.TrimSpace(*p.into + " " + line)
	return nil
}

// addSource reads a source, and adds its heading to the section unless that names it already.
func (c *Clause) addSource(text, document string) error {
	s, err := parseSource(text, document)
	if err != nil {
		return err
	}
	c.Sources = append(c.Sources, s)
	section := s.section()
	if document != "" {
		section = s.Heading
	}
	switch {
	case c.Section == "":
		c.Section = section
	case !strings.Contains("; "+c.Section+"; ", "; "+section+"; "):
		c.Section += "; " + section
	}
	return nil
}
