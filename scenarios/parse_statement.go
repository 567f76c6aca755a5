package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/target"
)

// statementWords are the words that begin a statement, beside C and S.
var statementWords = []string{"clause", "connect", "end", "eventually", "kill", "quiet",
	"record", "repeat", "restart", "setup", "silence", "table", "terminate", "unordered"}

// statement parses one line of the body; a nil step is a statement that only
// changes what follows.
func (p *parser) statement(c *cursor, n int) (Step, error) {
	if l, ok := parseLineForm(c.rest()); ok {
		return p.transcriptLine(c, n, l)
	}
	start := c.pos
	words := strings.Fields(c.rest())
	at := Pos{n, column(c.line, start), len([]rune(strings.TrimSpace(c.rest())))}
	c.pos += len(words[0])
	rest := &arguments{cursor: c, words: words[1:]}
	switch words[0] {
	case "clause", "record":
		return nil, p.mark(rest, words[0] == "record")
	case "setup":
		p.marks = nil
		p.asides = append(p.asides, Aside{IsMark: true})
		return nil, rest.none()
	case "connect":
		return p.connect(rest, at)
	case "silence":
		return p.silence(rest, at)
	case "restart", "kill":
		return &Operate{Statement: p.placed(at), Action: target.Action(words[0])}, rest.none()
	case "quiet", "terminate":
		return p.signal(rest, at, words[0])
	case "end":
		return nil, p.end(rest, start)
	case "repeat", "unordered", "eventually", "table":
		return p.openBlock(rest, at, words[0])
	case "C", "S":
		return nil, errorAt(start, len(c.line)-start, "", "a %s line needs a colon before its text", words[0])
	}
	if slices.Contains(headerKeys, strings.TrimSuffix(words[0], ":")) {
		return nil, errorAt(start, len(words[0]), "", "the header must be above the first statement")
	}
	help := didYouMean(words[0], append([]string{"C:", "S:"}, statementWords...))
	return nil, errorAt(start, len(words[0]), help, "unknown statement %q", words[0])
}

// arguments are the words behind the first one of a statement.
type arguments struct {
	*cursor
	words []string
}

func (a *arguments) none() error {
	if len(a.words) == 0 {
		return nil
	}
	return a.wrong("", "unexpected %q", strings.Join(a.words, " "))
}

// wrong complains about all arguments.
func (a *arguments) wrong(help, format string, args ...any) error {
	a.skipBlanks()
	return errorAt(a.pos, max(len(a.rest()), 1), help, format, args...)
}

var windowForm = regexp.MustCompile(`^(\d[\w.]*?)?\.\.(\d[\w.]*)?$`)

// parseReplyWindow parses the window of an S: line, which may begin with the reply of another connection.
func parseReplyWindow(words string, at int) (Window, error) {
	word, conn, isAfter := strings.Cut(words, " after ")
	w, err := parseWindow(word, at)
	switch {
	case err != nil || !isAfter:
		return w, err
	case w.To == 0 || w.From > 0 || !isConnName(conn):
		return w, errorAt(at, len(words), "write S ..500ms after client:", "%q is not a valid time window", words)
	}
	w.After, w.written = conn, words
	return w, nil
}

// parseWindow parses 1.5s..2s, ..2s or 1.5s.. ; an empty word is no window.
func parseWindow(word string, at int) (Window, error) {
	const help = "write S ..2s: or S 1.5s..2s: or S 1.5s..:"
	if word == "" {
		return Window{}, nil
	}
	m := windowForm.FindStringSubmatch(word)
	if m == nil || m[1] == "" && m[2] == "" {
		return Window{}, errorAt(at, len(word), help, "%q is not a valid time window", word)
	}
	w := Window{written: word}
	for i, d := range []*time.Duration{&w.From, &w.To} {
		if m[i+1] == "" {
			continue
		}
		v, err := time.ParseDuration(m[i+1])
		if err != nil || v <= 0 {
			return Window{}, errorAt(at, len(word), help, "%q is not a valid duration", m[i+1])
		}
		*d = v
	}
	if w.To > 0 && w.To <= w.From {
		return Window{}, errorAt(at, len(word), "", "the time window ends before it begins")
	}
	return w, nil
}

// Levels are the levels that a mark can have, which are those of the catalogue.
func Levels() []string {
	return []string{"MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "plain", "derived", "note"}
}

// mark parses clause or record: ids, each with a level behind it if it is not
// that of the catalogue.
func (p *parser) mark(a *arguments, record bool) error {
	if len(a.words) == 0 {
		return a.wrong("write clause and its id", "a clause is missing")
	}
	p.marks = nil
	for _, w := range a.words {
		switch {
		case strings.Contains(w, "-"):
			p.marks = append(p.marks, ClauseMark{Clause: w, Record: record})
		case len(p.marks) > 0 && p.marks[len(p.marks)-1].grade(w):
		default:
			return a.wrong(didYouMean(w, Levels()), "%q is neither a clause id nor a level", w)
		}
	}
	p.asides = append(p.asides, Aside{IsMark: true, Marks: p.marks})
	return nil
}

// grade takes a word of a level; those with NOT have two.
func (m *ClauseMark) grade(word string) bool {
	level := strings.TrimSpace(m.Level + " " + word)
	if word != "NOT" {
		level = word
	}
	if !slices.Contains(Levels(), level) {
		return false
	}
	m.Level = level
	return true
}

var roleWords = []string{"consumer", "producer", "raw"}

func role(word string) (Role, bool) {
	for _, r := range []Role{Raw, Producer, Consumer} {
		if r.String() == word {
			return r, true
		}
	}
	return Raw, false
}

// connect parses: connect [NAME] as ROLE [{fields of its introduction}].
func (p *parser) connect(a *arguments, at Pos) (Step, error) {
	const help = `write connect as consumer, or connect worker as consumer {"field":"value"}`
	s := &Connect{Statement: p.placed(at)}
	words := a.words
	if len(words) > 0 && words[0] != "as" {
		s.Conn, words = words[0], words[1:]
	}
	if len(words) < 2 || words[0] != "as" || s.Conn != "" && !isConnName(s.Conn) {
		return nil, a.wrong(help, "the role of the connection is missing")
	}
	var ok bool
	if s.Role, ok = role(words[1]); !ok {
		return nil, a.wrong(didYouMean(words[1], roleWords), "unknown role %q", words[1])
	}
	if len(words) == 2 {
		return s, nil
	}
	a.pos += strings.IndexByte(a.rest(), '{')
	_, opens := p.script.Dialect.(Opener) // its fields are about more than an introduction
	if a.peek() != '{' || s.Role == Raw && !opens {
		return nil, a.wrong(help, "expected fields for HELLO, as a JSON object")
	}
	var err error
	if s.Hello, err = a.fields(); err == nil && strings.TrimSpace(a.rest()) != "" {
		err = a.wrong(help, "unexpected text after the fields")
	}
	return s, err
}

// ParseObject parses a JSON object that a client sends: its values are plain,
// but may have names in them.
func ParseObject(d Dialect, text string) (*Object, error) {
	c := &cursor{line: text, grammar: d.Grammar()}
	if c.peek() != '{' {
		return nil, errorAt(0, 1, "", "expected a JSON object, %s", c.got())
	}
	o, err := c.fields()
	if err == nil && !c.done() {
		err = errorAt(c.pos, len(c.rest()), "", "unexpected text after the object")
	}
	return o, err
}

// fields parses an object that can be sent.
func (c *cursor) fields() (*Object, error) {
	start := c.pos
	n, err := c.value()
	if err != nil {
		return nil, err
	}
	o := n.(*Object)
	o.source = c.line[start:c.pos]
	return o, constant(o, start, c.pos-start)
}

// silence parses: silence 300ms [on NAME...].
func (p *parser) silence(a *arguments, at Pos) (Step, error) {
	s := &Silence{Statement: p.placed(at), Marks: p.marks}
	if len(a.words) == 0 {
		return nil, a.wrong("write silence 300ms", "the duration is missing")
	}
	var err error
	if s.For, err = time.ParseDuration(a.words[0]); err != nil || s.For <= 0 {
		return nil, a.wrong("write silence 300ms", "%q is not a valid duration", a.words[0])
	}
	s.duration = a.words[0]
	if rest := a.words[1:]; len(rest) > 0 {
		if rest[0] != "on" || len(rest) == 1 {
			return nil, a.wrong("write silence 300ms on worker", "unexpected %q", strings.Join(rest, " "))
		}
		s.Conns = rest[1:]
	}
	return s, nil
}

// signal parses: quiet CLIENT and terminate CLIENT.
func (p *parser) signal(a *arguments, at Pos, state string) (Step, error) {
	if len(a.words) != 1 {
		return nil, a.wrong("write "+state+" $"+p.grammar.Names.Client, "the worker is missing")
	}
	a.skipBlanks()
	client, err := parseTemplate(&cursor{line: a.line[:a.pos+len(a.words[0])], pos: a.pos, grammar: a.grammar})
	if err != nil {
		return nil, err
	}
	return &Operate{Statement: p.placed(at), Action: target.Action(state), Worker: client[0]}, nil
}

func (p *parser) end(a *arguments, start int) error {
	if p.block == nil {
		farewell := strings.TrimSpace(string(p.script.Dialect.Sample(true).Status().Farewell))
		return errorAt(start, len("end"), "to end a connection write C: "+farewell, "there is no open block")
	}
	b := p.block
	p.block = nil
	b.After = p.takeAsides()
	if len(b.Steps) == 0 {
		return errorAt(start, len("end"), "", "the %s block is empty", b.Kind)
	}
	return a.none()
}

// openBlock parses the first line of a block.
func (p *parser) openBlock(a *arguments, at Pos, word string) (Step, error) {
	if p.block != nil {
		help := fmt.Sprintf("close the %s block of line %d first",
			p.block.Kind, p.block.Line)
		return nil, errorAt(at.Col-1, at.Width, help, "blocks cannot be nested")
	}
	b := &Block{Statement: p.placed(at)}
	for k, name := range blockNames {
		if name == word {
			b.Kind = BlockKind(k)
		}
	}
	switch b.Kind {
	case Repeat:
		return b, p.repeat(a, b)
	case Eventually:
		var err error
		a.skipBlanks()
		if b.Window, err = parseWindow(strings.Join(a.words, " "), a.pos); b.Window != (Window{}) {
			b.Marks = p.marks
		}
		return b, err
	default:
		return b, a.none()
	}
}

// repeat parses: repeat N [by M consumers|producers|raw] [..LIMIT].
func (p *parser) repeat(a *arguments, b *Block) error {
	const help = "write repeat 400, or repeat 400 by 20 consumers, or repeat 400 ..30s"
	count := func(word string, limit int) (int, bool) {
		n, err := strconv.Atoi(word)
		return n, err == nil && n >= 1 && n <= limit
	}
	var ok bool
	if last := len(a.words) - 1; strings.HasPrefix(a.words[last], "..") {
		limit, err := parseWindow(a.words[last], a.pos)
		if err != nil {
			return a.wrong(help, "%q is not a valid time limit", a.words[last])
		}
		b.Limit, a.words = limit.To, a.words[:max(last, 1)]
	}
	if len(a.words) != 1 && len(a.words) != 4 || a.words[0] == "" {
		return a.wrong(help, "the number is missing")
	}
	if b.Count, ok = count(a.words[0], 1_000_000); !ok {
		return a.wrong(help, "%q is not a number from 1 to 1000000", a.words[0])
	}
	if len(a.words) == 1 {
		return nil
	}
	if b.By, ok = count(a.words[2], 10_000); !ok || a.words[1] != "by" {
		return a.wrong(help, "%q is not a number of connections from 1 to 10000", a.words[2])
	}
	if b.Role, ok = role(strings.TrimSuffix(a.words[3], "s")); !ok {
		return a.wrong(help, "unknown role %q", a.words[3])
	}
	return nil
}
