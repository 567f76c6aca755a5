package scenarios

import (
	"cmp"
	"errors"
	"strings"
	"time"
)

// Builder builds a script statement by statement. Texts are those of the language: names begin with a $, and a dollar
// that begins none is doubled. The first text that does not parse is the error of [Builder.Text]. [NewBuilder] makes
// one; it is not safe for concurrent use.
type Builder struct {
	Script *Script                  // what was built so far; its header is for the caller to fill in
	Rename func(name string) string // what is written for a name, such as $jid4 or $queue#; nil: the name itself

	block  *Block
	asides []Aside      // what stands above the next statement
	marks  []ClauseMark // of the statements that follow
	err    error
}

// NewBuilder returns the builder of an empty script.
func NewBuilder(d Dialect) *Builder { return &Builder{Script: &Script{Dialect: d}} }

// Comment writes a comment, which begins with #, or an empty line.
func (b *Builder) Comment(text string) {
	b.asides = append(b.asides, Aside{Comment: strings.TrimSpace(text)})
}

// Mark ties the expectations that follow to clauses.
func (b *Builder) Mark(marks ...ClauseMark) {
	b.marks = marks
	b.asides = append(b.asides, Aside{IsMark: true, Marks: marks})
}

// Add puts a statement at the end of the script, or of the open block, below the comments and marks that were written
// since the last one.
func (b *Builder) Add(s Step) {
	s.statement().Asides, b.asides = b.asides, nil
	if b.block != nil {
		b.block.Steps = append(b.block.Steps, s)
		return
	}
	b.Script.Steps = append(b.Script.Steps, s)
}

// Begin adds a block, which holds the statements that follow up to [Builder.End].
func (b *Builder) Begin(block *Block) {
	b.Add(block)
	b.block = block
}

// End closes the open block.
func (b *Builder) End() { b.block.After, b.asides, b.block = b.asides, nil, nil }

// Connect opens a connection in a role, with fields of the client's introduction as a JSON object, "" for none.
func (b *Builder) Connect(conn string, role Role, fields string) {
	c := &Connect{Conn: conn, Role: role}
	if fields != "" {
		var err error
		c.Hello, err = ParseObject(b.Script.Dialect, b.Renamed(fields))
		b.failed(err)
	}
	b.Add(c)
}

// Send writes a client line.
func (b *Builder) Send(conn, text string) { b.Add(&Send{Conn: conn, Segments: b.Template(text)}) }

// Raw writes bytes of a client.
func (b *Builder) Raw(conn, bytes string) {
	b.Add(&Send{Conn: conn, Segments: b.Template(bytes), Raw: true})
}

// Close ends a connection from the client's side.
func (b *Builder) Close(conn string, ending Ending) { b.Add(&Send{Conn: conn, Ending: ending}) }

// Expect writes an expectation with the marks in force; the zero window is none.
func (b *Builder) Expect(conn string, window Window, text string) {
	choices, err := ParseChoices(b.Script.Dialect, b.Renamed(text))
	b.failed(err)
	b.Add(&Expect{Conn: conn, Window: window, Choices: choices, Marks: b.marks})
}

// Silence writes a silence with the marks in force, on all connections if none is named.
func (b *Builder) Silence(d time.Duration, conns ...string) {
	b.Add(&Silence{For: d, Conns: conns, Marks: b.marks})
}

// Template parses a text that a client sends, in the segments into which <|> cuts it, and renames its names.
func (b *Builder) Template(text string) []Template {
	segments, err := ParseTemplate(b.Script.Dialect, text)
	b.failed(err)
	for i, t := range segments {
		segments[i] = b.RenameIn(t)
	}
	if len(segments) == 0 { // of a text that does not parse
		return []Template{nil}
	}
	return segments
}

// RenameIn returns a template with the names of the script.
func (b *Builder) RenameIn(t Template) Template {
	if b.Rename == nil {
		return t
	}
	t, err := t.Rename(b.Rename)
	b.failed(err)
	return t
}

// Renamed returns a text with the names of the script.
func (b *Builder) Renamed(text string) string {
	if b.Rename == nil {
		return text
	}
	return JoinSegments(b.Template(text))
}

// failed keeps the first error.
func (b *Builder) failed(err error) {
	b.err = cmp.Or(b.err, err)
}

// Text returns the script as [Format] writes it, in which the client lines that break the protocol are marked. With an
// error, which may be that there is no statement, the text is not a script.
func (b *Builder) Text() ([]byte, error) {
	if len(b.Script.Steps) == 0 {
		b.failed(errors.New("the script has no statements"))
	}
	b.Script.After, b.asides = append(b.Script.After, b.asides...), nil
	MarkBad(b.Script)
	return Format(b.Script), b.err
}
