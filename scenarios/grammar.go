package scenarios

import (
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
)

// Grammar is what the scripts of a dialect may write, and what the engine has to know of the protocol. A new dialect
// begins with Name, Encoding, Example and Forms; the zero value of everything else says that the protocol does not have
// it.
type Grammar struct {
	Name     string // of the protocol, as the header of a script names it: "fwp"
	Encoding string // of messages, for reports
	Greeting string // the word that a server greets with, for reports
	Example  string // two lines of a script, for a file that has none
	Forms    []Form // of messages; where one Sign begins another, the longer one comes first
	Names    Names
	Lines    Lines
	Replies  Replies
	Verbs    Verbs
	Timing   Timing
}

// Names are the names of a script that get values of their own in each play.
type Names struct {
	Families []string // the names whose first use in a C: line makes a fresh value
	Client   string   // the family that names clients: workers of a block have one each
	Computed []Computed

	// NewValue makes a value of a family from a unique text; nil if that text is the value. The same text
	// makes the same value.
	NewValue func(family, unique string) string

	// TimeForm is how $now is written, as package time has it; empty: RFC 3339 with microseconds.
	TimeForm string
}

// Computed is a name whose value is computed, written $name, $name.variant,
// $name@connection or $name{...}.
type Computed struct {
	Name     string
	Fields   func(isRepeated bool) []Field // of an object, which {...} replaces or complements; isRepeated: in repetitions
	Variants []string                      // known ones beside the plain name
	Needs    Need                          // what its use in a line implies

	// Value returns the value for a connection, of a name without Fields.
	Value func(s session.State, password, variant string) (string, error)
}

// Field is a field of an object that a dialect sends. Its value is one that JSON
// has, or a string that begins with $ for a name.
type Field struct {
	Name  string
	Value any
}

// Lines is how the lines of a client become bytes. Those of the zero value are the line itself and CRLF.
type Lines struct {
	// WithBody returns the bytes of a line in which a block follows the line, with its size filled in, and any other line
	// as it is, without the CRLF at the end; nil if the dialect has no such lines.
	WithBody func(line string) string

	// Encode, Decode and Verb are those of a protocol whose messages are not lines: all three, or none. Its lines are not
	// cut into segments.
	Encode func(line string) ([]byte, error) // the error says what is wrong with the line
	Decode func(sent []byte) string          // the line as a transcript has it, shortened
	Verb   func(line string) string          // the word that says what the line does
}

// Replies is what is particular to the messages of a server.
type Replies struct {
	MayBeLate map[string]Wait // by verb: answers that may take time without being late

	// WaitOf returns how long a command itself lets its reply take, beside what any reply may take; nil if none does.
	WaitOf func(command []byte) time.Duration

	// Pushes says that most messages of a server are no replies: one that does not arrive is about the line that expects
	// it, not about the last command.
	Pushes bool
}

// Wait describes a verb whose answer may take time.
type Wait struct {
	Kind    byte          // of the answer that takes time
	Minimum time.Duration // how long it takes at least, if nothing happens meanwhile
}

// Verbs are the commands that the engine has to tell from others.
type Verbs struct {
	Count string // counts everything on the server; empty if no command costs more than others
	Add   string // adds a job, where Count is set
	End   string // ends the conversation of a client in order; empty if there is none
	Stop  string // asks the server to stop, which may end then; empty if there is none
}

// Timing is what may happen later.
type Timing struct {
	Delays []string // the verbs and fields of a job by which it may be delivered later

	// KeepAlive is how long a consumer may be idle before it has to send the [Dialect]'s Probe; 0 if there is no such
	// limit.
	KeepAlive time.Duration
}

// Form is one form of message as S: lines write it.
type Form struct {
	Sign    string // how it begins: "+", "$-1", "JOB"
	Kind    byte   // of the messages that it matches
	Value   Value  // what may follow the sign
	Words   string // with its article, for reports: "a simple string"
	Short   string // the same where it is one of several alternatives; Words if empty
	Example string // for a line that begins with no sign
	Help    string // for a value that does not parse
	Refusal bool   // the server refused the command
	Sample  string // the text of a message of this form, for the linter
}

// Value is what may follow the sign of a message.
type Value uint8

// The values. Each may be missing.
const (
	NoValue     Value = iota
	LineValue         // text, /re/, or text that ends with a JSON object
	BlockValue        // "text", /re/ or JSON
	NumberValue       // an integer
	PartsValue        // for each part of the message a string, /re/, name or JSON
	WordsValue        // the same, or a word that stands for itself; ... at the end for any more parts
	ListValue         // a list [...] with a value for each part; the form's sign is its bracket
)

// form returns the form of a kind of message, or nil.
func (g *Grammar) form(kind byte) *Form {
	i := slices.IndexFunc(g.Forms, func(f Form) bool { return f.Kind == kind })
	if i < 0 {
		return nil
	}
	return &g.Forms[i]
}

// words returns what a kind of message is called, with its article.
func (g *Grammar) words(kind byte) string {
	if f := g.form(kind); f != nil {
		return f.Words
	}
	return "another kind of message"
}

// IsRefusal reports whether a message is a refusal of the command.
func (g *Grammar) IsRefusal(m session.Message) bool {
	f := g.form(m.Kind)
	return f != nil && f.Refusal
}

// family returns the family of a plain name, or "".
func (g *Grammar) family(name string) string {
	i := slices.IndexFunc(g.Names.Families, func(f string) bool { return strings.HasPrefix(name, f) })
	if i < 0 {
		return ""
	}
	return g.Names.Families[i]
}

// computed returns the computed name, or nil.
func (g *Grammar) computed(name string) *Computed {
	i := slices.IndexFunc(g.Names.Computed, func(c Computed) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &g.Names.Computed[i]
}

// client returns the name that a client has by default.
func (g *Grammar) client() *ref {
	return &ref{text: "$" + g.Names.Client, base: g.Names.Client, grammar: g}
}

// object returns fields as a script writes them.
func (g *Grammar) object(fields []Field) *Object {
	o := new(Object)
	for _, f := range fields {
		o.fields = append(o.fields, field{f.Name, g.value(f.Value)})
	}
	return o
}

func (g *Grammar) value(v any) node {
	switch v := v.(type) {
	case string:
		if c := (&cursor{line: v, grammar: g}); c.startsName() {
			if r, err := c.name(); err == nil && c.done() {
				return capture{ref: r}
			}
		}
	case []string:
		all := array{}
		for _, s := range v {
			all.elems = append(all.elems, g.value(s))
		}
		return all
	case map[string]any:
		return &Object{}
	}
	return literal{v}
}

// IsName reports whether a difference is in the name of what a reply brings.
func (g *Grammar) IsName(d Difference) bool {
	return slices.Contains(g.Names.Families, strings.TrimPrefix(d.Path, "."))
}
