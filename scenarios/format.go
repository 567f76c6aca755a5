package scenarios

import (
	"bytes"
	"slices"
	"strings"
)

// Format returns the text of a script in its normal form, which docs/scripts.md
// describes. Comments stay where they are, and values are written as the author
// wrote them. The text parses to the same script, and formatting that one gives
// the same text.
//
// A program can build a script: Title, Needs, Waits and Steps are
// enough. Where the marks of a step differ from those in force, Format writes
// the clause, record or setup line itself. A client line whose text cannot
// stand on a line is written as raw bytes.
func Format(s *Script) []byte {
	f := new(formatter)
	f.header(s)
	f.steps(s.Steps)
	f.asides(s.After)
	return f.text.Bytes()
}

// formatter writes lines.
type formatter struct {
	text    bytes.Buffer
	indent  string
	hasLine bool         // a line was written since the begin of the script or block
	gap     bool         // an empty line is due, unless nothing follows
	marks   []ClauseMark // in force
}

func (f *formatter) line(words ...string) {
	if f.gap && f.hasLine {
		f.text.WriteByte('\n')
	}
	f.hasLine, f.gap = true, false
	f.text.WriteString(f.indent + strings.Join(words, " ") + "\n")
}

// header writes the lines of the header in their fixed order, without empty lines.
func (f *formatter) header(s *Script) {
	values := map[string]string{"title": s.Title, "needs": strings.Join(declared(s), " ")}
	if s.protocol {
		values["protocol"] = s.Dialect.Grammar().Name
	}
	if s.Waits > 0 {
		values["waits"] = duration(s.Waits, s.waits)
	}
	for _, key := range headerKeys {
		for _, a := range s.Header[key] {
			if a.Comment != "" {
				f.line(a.Comment)
			}
		}
		if values[key] != "" {
			f.line(key+":", values[key])
		}
	}
}

// declared lists the needs that a header names, in the order of the language.
// Those that statements imply are left out if the script was parsed; a script
// that a program has built may list them.
func declared(s *Script) []string {
	needs := s.declared
	if s.Source == nil {
		needs = s.Needs
	}
	return slices.DeleteFunc(slices.Clone(declarable), func(word string) bool {
		return !slices.Contains(needs, Need(word))
	})
}

func (f *formatter) asides(all []Aside) {
	for _, a := range all {
		switch {
		case a.IsMark:
			f.mark(a.Marks)
		case a.Comment != "":
			f.line(a.Comment)
		default:
			f.gap = true
		}
	}
}

// mark writes the line that brings marks into force.
func (f *formatter) mark(marks []ClauseMark) {
	f.marks = marks
	if len(marks) == 0 {
		f.line("setup")
		return
	}
	words := []string{"clause"}
	if marks[0].Record {
		words[0] = "record"
	}
	for _, m := range marks {
		if words = append(words, m.Clause); m.Level != "" {
			words = append(words, m.Level)
		}
	}
	f.line(words...)
}

func (f *formatter) steps(steps []Step) {
	for _, s := range steps {
		f.asides(s.statement().Asides)
		if marks, ok := marksOf(s); ok && !slices.Equal(marks, f.marks) {
			f.mark(marks)
		}
		f.line(lineOf(s))
		if b, ok := s.(*Block); ok {
			f.body(b)
		}
	}
}

// body writes the steps of a block and its end.
func (f *formatter) body(b *Block) {
	f.indent, f.hasLine = "  ", false
	f.steps(b.Steps)
	f.asides(b.After)
	f.indent, f.hasLine, f.gap = "", true, false
	f.line("end")
}
