package scenarios

import (
	"net"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
)

// Dialect is the protocol of a script: what its lines mean, how a client
// introduces itself, and what the engine may ask by itself. It is safe for
// concurrent use.
type Dialect interface {
	session.Protocol

	// Grammar returns what scripts may write; it never changes.
	Grammar() *Grammar

	// Hello returns the line with which a client in a role introduces itself, as a
	// script would write it: words that may contain names, and the fields of the object
	// behind them; no words if nothing has to be sent. It returns false if the first
	// message of the server is not a greeting; then it returns a line that any server
	// may answer.
	Hello(role Role, s session.State) (h Hello, ok bool)

	// Question returns a command that every introduced client in the role is served
	// and that changes nothing. Where Grammar.KeepAlive is set, it also
	// keeps a consumer's connection from expiring.
	Question(role Role, s session.State) string

	// Foreign reports whether a message is not an answer that the command can have.
	// asked is the command as it was sent, empty for the greeting.
	Foreign(asked []byte, m session.Message) bool

	// Check returns the rule that a client in a role breaks with a line, empty if it
	// breaks none, and advice about what is allowed.
	Check(role Role, s session.State, line []byte) (fault string, advice []Advice)

	// Sample returns the state of a conversation with a server that asks for a
	// password, before or after the client has introduced itself.
	Sample(introduced bool) session.State

	// NewLedger returns the ledger of a new play.
	NewLedger() Ledger
}

// Hello is how a client introduces itself.
type Hello struct {
	Words  string
	Fields []Field
	Locked bool // the server asks for a password
}

// Advice is about a line that breaks no rule.
type Advice struct{ Message, Help string }

// Ledger lists the jobs that a play has put on the server and that, by the answers,
// are still there, and the clients that may be in another state. It is safe for concurrent use.
type Ledger interface {
	// Answered records the answer to a command, which is given as it was sent.
	Answered(command []byte, m session.Message)

	// Breach returns the breach that an answer is by what the play has done so far; its
	// Kind is zero if it is none. It has to be called before Answered.
	Breach(command []byte, m session.Message) Breach

	// Signalled records that the operator orders a client to another state.
	Signalled(client string)

	// MayEnd reports whether the server may end the connection of a consumer in a state, because it has ordered its
	// client, on this connection or another one, to finish its work.
	MayEnd(s session.State) bool

	// Leftover names the jobs that are still there.
	Leftover() []string

	// Removable reports whether Cleanup can remove any of them.
	Removable() bool

	// Cleanup removes them with commands of a consumer of its own. It keeps
	// no job that the play did not put there: it gives such a job back. do sends a line,
	// records its answer by Answered and returns it; false if no other line is worth
	// trying.
	Cleanup(do func(line string) (session.Message, bool))
}

// Grammar is what the scripts of a dialect may write.
type Grammar struct {
	Name     string   // of the protocol, as the header of a script names it: "fwp"
	Encoding string   // of messages, for reports
	Greeting string   // the word that a server greets with, for reports
	Example  string   // two lines of a script, for a file that has none
	Forms    []Form   // of messages; where one Sign begins another, the longer one comes first
	Families []string // the names whose first use in a C: line makes a fresh value
	Client   string   // the family that names clients: workers of a block have one each
	Computed []Computed
	Settings []string        // what the header may set of an embedded server
	Waits    map[string]Wait // by verb: answers that may take time without being late
	Counts   string          // the verb that counts everything on the server; empty if it costs no more than others
	Ends     string          // the verb with which a client ends its conversation in order; empty if there is none
	Adds     string          // the verb that adds a job, where Counts is set
	Due      string          // the field of a job with the time from which it can be delivered
	Defers   []string        // the verbs and fields of a job by which it may be delivered later, Due among them

	// Fresh makes a value of a family from a unique text; nil if that text is the value. The same text
	// makes the same value.
	Fresh func(family, unique string) string

	// TimeForm is how $now is written, as package time has it; empty: RFC 3339 with microseconds.
	TimeForm string

	// Counted returns the bytes of a line in which a block follows the line, with its size filled in, and any other line
	// as it is, without the CRLF at the end; nil if the dialect has no such lines.
	Counted func(line string) string

	// Coding is how a client's line becomes bytes; nil: the line itself and CRLF.
	Coding *Coding

	// Pushes says that most messages of a server are no replies: one that does not arrive is about the line that expects
	// it, not about the last command.
	Pushes bool

	// Asks returns how long a command itself lets its reply take, beside what any reply may take; nil if none does.
	Asks func(command []byte) time.Duration

	// KeepAlive is how long a consumer may be idle before it has to send the Question; 0
	// if there is no such limit.
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

// Coding is how the lines of a client become bytes, in a dialect whose messages are not lines. Such a line is not cut
// into segments.
type Coding struct {
	Encode func(line string) ([]byte, error) // the error says what is wrong with the line
	Decode func(sent []byte) string          // the line as a transcript has it, shortened
	Verb   func(line string) string          // the word that says what the line does
}

// Opener is a [Dialect] that does something with a connection before scripts use it.
type Opener interface {
	// Open takes over a new connection of a client in a role, with the fields of its connect line as JSON. It may send
	// what no script writes, and returns the connection and the protocol for the conversation on it.
	Open(nc net.Conn, role Role, fields []byte) (net.Conn, session.Protocol, error)
}

// Wait describes a verb whose answer may take time.
type Wait struct {
	Kind  byte          // of the answer that takes time
	Least time.Duration // how long it takes at least, if nothing happens meanwhile
}

// Computed is a name whose value is computed, written $name, $name.variant,
// $name@connection or $name{...}.
type Computed struct {
	Name     string
	Fields   func(again bool) []Field // of an object, which {...} replaces or complements; again: in a repetition
	Variants []string                 // known ones beside the plain name
	Needs    Need                     // what its use in a line implies

	// Value returns the value for a connection, of a name without Fields.
	Value func(s session.State, password, variant string) (string, error)
}

// Field is a field of an object that a dialect sends. Its value is one that JSON
// has, or a string that begins with $ for a name.
type Field struct {
	Name  string
	Value any
}

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

// refused reports whether a message is a refusal of the command.
func (g *Grammar) refused(m session.Message) bool {
	f := g.form(m.Kind)
	return f != nil && f.Refusal
}

// family returns the family of a plain name, or "".
func (g *Grammar) family(name string) string {
	i := slices.IndexFunc(g.Families, func(f string) bool { return strings.HasPrefix(name, f) })
	if i < 0 {
		return ""
	}
	return g.Families[i]
}

// computed returns the computed name, or nil.
func (g *Grammar) computed(name string) *Computed {
	i := slices.IndexFunc(g.Computed, func(c Computed) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &g.Computed[i]
}

// client returns the name that a client has by default.
func (g *Grammar) client() *ref { return &ref{text: "$" + g.Client, base: g.Client, grammar: g} }

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

// Encode returns the bytes of a client's line. The error says what is wrong with the line.
func (g *Grammar) Encode(line string) ([]byte, error) {
	if g.Coding == nil {
		return []byte(line + "\r\n"), nil
	}
	return g.Coding.Encode(line)
}

// verbOf returns the verb of a line.
func (g *Grammar) verbOf(line string) string {
	if g.Coding == nil {
		return verb(line)
	}
	return g.Coding.Verb(line)
}

// shown returns what was sent as a transcript has it.
func (g *Grammar) shown(sent []byte) string {
	if g.Coding == nil {
		return strings.TrimSpace(string(sent))
	}
	return g.Coding.Decode(sent)
}

// verbSent returns the verb of what was sent.
func (g *Grammar) verbSent(sent []byte) string {
	if g.Coding == nil {
		return verb(string(sent))
	}
	return g.Coding.Verb(g.Coding.Decode(sent))
}

// verb returns the word with which a line begins.
func verb(line string) string {
	word, _, _ := strings.Cut(line, " ")
	return strings.TrimRight(word, "\r\n")
}
