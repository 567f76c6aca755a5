package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/session"
)

// Choice is one thing that an S: line accepts: a kind of reply with what it
// must contain, or an end of the connection. [ParseChoices] makes one.
type Choice struct {
	source      string // as written
	form        *Form
	grammar     *Grammar
	ending      Ending         // if not Open, the connection must end like this
	any         bool           // <any>: whatever reply
	exact       *string        // the whole text
	prefix      string         // what stands before json
	re          *regexp.Regexp // what the text must match somewhere
	json        node
	parts       []node // what the parts must be
	isOpenEnded bool   // there may be more parts behind them
}

// String returns the choice as the script has it.
func (ch *Choice) String() string { return ch.source }

// Ending returns how the connection must end, [Open] if a message must come.
func (ch *Choice) Ending() Ending { return ch.ending }

// Any reports whether every reply matches.
func (ch *Choice) Any() bool { return ch.any }

// Form returns the form of the message; nil for an ending and for any reply.
func (ch *Choice) Form() *Form { return ch.form }

// ParseChoices parses what stands behind S: on a line, alternatives included.
func ParseChoices(d Dialect, text string) ([]Choice, error) {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return nil, errorAt(i, 1, "", "an expectation must be one line")
	}
	return (&cursor{line: text, grammar: d.Grammar()}).choices()
}

var expectedEndings = map[string]Ending{"<close>": Closed, "<fin>": Fin, "<reset>": Reset}

// choices parses what stands behind S: up to the end of the line.
func (c *cursor) choices() ([]Choice, error) {
	var all []Choice
	for {
		c.skipBlanks()
		start := c.pos
		ch, err := c.choice()
		if err != nil {
			return nil, err
		}
		ch.source = strings.TrimRight(c.line[start:c.pos], " \t")
		all = append(all, ch)
		c.skipBlanks()
		if c.done() {
			return all, nil
		}
		if !c.take("|") {
			return nil, errorAt(c.pos, len(c.rest()), "separate alternatives by |",
				"unexpected text after the expectation")
		}
	}
}

func (c *cursor) choice() (Choice, error) {
	if c.peek() == '<' {
		return c.endingChoice()
	}
	for i := range c.grammar.Forms {
		f := &c.grammar.Forms[i]
		isWord := unicode.IsLetter(rune(f.Sign[len(f.Sign)-1]))
		next := strings.TrimPrefix(c.rest(), f.Sign)
		if isWord && next != "" && next[0] != ' ' && next[0] != '\t' || !c.take(f.Sign) {
			continue
		}
		if isWord {
			c.skipBlanks()
		}
		ch, err := c.valueOf(f)
		ch.form, ch.grammar = f, c.grammar
		return ch, err
	}
	var examples []string
	for _, f := range c.grammar.Forms {
		if f.Example != "" {
			examples = append(examples, f.Example)
		}
	}
	return Choice{}, errorAt(c.pos, 1, "write "+strings.Join(examples, ", ")+", <close> or <any>",
		"expected a %s reply or an ending, %s", c.grammar.Encoding, c.got())
}

// valueOf parses what follows the sign of a form.
func (c *cursor) valueOf(f *Form) (Choice, error) {
	switch f.Value {
	case LineValue:
		return c.lineChoice()
	case BlockValue:
		return c.blockChoice(f)
	case NumberValue:
		return c.numberChoice(), nil
	case PartsValue, WordsValue:
		return c.partsChoice(f.Value == WordsValue)
	case ListValue:
		return c.listChoice()
	}
	return Choice{}, nil
}

func (c *cursor) endingChoice() (Choice, error) {
	start := c.pos
	word := c.rest()
	if i := strings.IndexByte(word, '>'); i >= 0 {
		word = word[:i+1]
	}
	c.pos += len(word)
	if word == "<any>" {
		return Choice{any: true}, nil
	}
	if e, ok := expectedEndings[word]; ok {
		return Choice{ending: e}, nil
	}
	help := didYouMean(word, []string{"<any>", "<close>", "<fin>", "<reset>"})
	return Choice{}, errorAt(start, len(word), help, "unknown expectation %s", word)
}

// lineChoice parses the text of a line: nothing, /re/, or text that may end in a JSON object.
func (c *cursor) lineChoice() (Choice, error) {
	var ch Choice
	var err error
	if c.peek() == '/' {
		ch.re, err = c.regexp()
		return ch, err
	}
	end := len(c.line)
	if strings.HasPrefix(c.rest(), "| ") && strings.HasSuffix(c.line[:c.pos], " ") {
		return ch, nil // the blank behind a sign that is a word was skipped
	}
	if i := strings.Index(c.rest(), " | "); i >= 0 {
		end = c.pos + i
	}
	words := c.line[c.pos:end]
	if i := strings.IndexByte(words, '{'); i >= 0 {
		i -= len(words[:i]) - len(strings.TrimSuffix(words[:i], "=")) // ={ is exactly this object
		ch.prefix = words[:i]
		if before := strings.TrimRight(ch.prefix, " \t"); strings.HasSuffix(before, "=") {
			return ch, errorAt(c.pos+len(before)-1, i-len(before)+1, "write ={, without a blank, for exactly this object",
				"an equals sign that is a part of the text")
		}
		c.pos += i
		ch.json, err = c.value()
		return ch, err
	}
	c.pos = end
	words = strings.TrimRight(words, " \t")
	if words != "" {
		ch.exact = &words
	}
	return ch, nil
}

// blockChoice parses a JSON value, a quoted text, /re/, or nothing.
func (c *cursor) blockChoice(f *Form) (Choice, error) {
	var ch Choice
	var err error
	switch b := c.peek(); {
	case b == '/':
		ch.re, err = c.regexp()
	case b == '"':
		var s string
		s, err = c.quoted()
		ch.exact = &s
	case b == '{' || b == '[' || b == '=':
		ch.json, err = c.value()
	case b != 0 && b != ' ' && b != '\t' && b != '|':
		err = errorAt(c.pos, 1, f.Help, "unexpected text after %s", f.Sign)
	}
	return ch, err
}

func (c *cursor) numberChoice() Choice {
	s := wholeNumber.FindString(c.rest())
	c.pos += len(s)
	if s == "" {
		return Choice{}
	}
	return Choice{exact: &s}
}

// listChoice parses a list whose bracket was taken.
func (c *cursor) listChoice() (Choice, error) {
	c.pos--
	n, err := c.array(false)
	if err != nil {
		return Choice{}, err
	}
	list := n.(array)
	return Choice{parts: append([]node{}, list.elems...), isOpenEnded: list.isOpenEnded}, nil
}

// partsChoice parses values that are separated by blanks. Where words stand for themselves, ... may end the line, and
// no value means no part.
func (c *cursor) partsChoice(words bool) (Choice, error) {
	var ch Choice
	if words {
		ch.parts = []node{}
	}
	for c.skipBlanks(); !c.done() && c.peek() != '|' && !ch.isOpenEnded; c.skipBlanks() {
		if ch.isOpenEnded = words && c.take("..."); ch.isOpenEnded {
			continue
		}
		if n := c.namedWord(words); n != nil {
			ch.parts = append(ch.parts, n)
			continue
		}
		word := bareWord.FindString(c.rest())
		if words && word != "" && !slices.Contains(kindWords, typeWord.FindString(word)) {
			c.pos += len(word)
			ch.parts = append(ch.parts, literal{word})
			continue
		}
		n, err := c.value()
		if err != nil {
			return ch, err
		}
		ch.parts = append(ch.parts, n)
	}
	return ch, nil
}

// namedWord parses a word of which a name is only a part, such as $queue-a; nil if there is none, or words are not
// parsed.
func (c *cursor) namedWord(words bool) node {
	word := anyWord.FindString(c.rest())
	if !words || word == "" {
		return nil
	}
	parts, err := parseTemplate(&cursor{line: word, grammar: c.grammar})
	if err != nil || len(parts) != 1 || len(parts[0]) < 2 || len(parts[0].refs()) == 0 {
		return nil
	}
	if _, typed, ok := strings.Cut(word, ":"); ok && slices.Contains(kindWords, typeWord.FindString(typed)) {
		return nil
	}
	c.pos += len(word)
	return interpolated{parts[0]}
}

var (
	anyWord  = regexp.MustCompile(`^[^ \t"/{\[=|][^ \t]*`)
	bareWord = regexp.MustCompile(`^[^ \t"$/{\[=|][^ \t]*`)
	typeWord = regexp.MustCompile(`^[a-z]+`)

	wholeNumber = regexp.MustCompile(`^-?\d+`)
)

// Compare returns how what was received differs from the choice: no differences means that it matches.
func (ch *Choice) Compare(a session.Received, sc *Scope) []Difference {
	switch {
	case ch.ending != Open:
		return ch.compareEnding(a)
	case a.Ending != Open:
		return []Difference{{Want: ch.Words(), Got: a.String()}}
	case ch.any:
		return nil
	case ch.form.Kind != a.Message.Kind:
		return []Difference{{Want: ch.form.Words, Got: ch.grammar.words(a.Message.Kind)}}
	case ch.parts != nil:
		return ch.compareParts(a.Message.Parts, sc)
	}
	return ch.compareText(string(a.Message.Text), sc)
}

func (ch *Choice) compareEnding(a session.Received) []Difference {
	if a.Ending == ch.ending || ch.ending == Closed && a.Ending != Open {
		return nil
	}
	return []Difference{{Want: ch.Words(), Got: a.String()}}
}

func (ch *Choice) compareText(got string, sc *Scope) []Difference {
	switch {
	case ch.exact != nil && got != *ch.exact:
		return []Difference{{Want: strconv.Quote(*ch.exact), Got: strconv.Quote(text.Shorten(got))}}
	case ch.re != nil && !ch.re.MatchString(got):
		return []Difference{{Want: "/" + ch.re.String() + "/", Got: strconv.Quote(text.Shorten(got))}}
	case ch.json == nil:
		return nil
	}
	rest, ok := strings.CutPrefix(got, ch.prefix)
	if !ok {
		want := fmt.Sprintf("text that begins with %q", ch.prefix)
		return []Difference{{Want: want, Got: strconv.Quote(text.Shorten(got))}}
	}
	value, err := number.Decode([]byte(rest))
	if err != nil {
		return []Difference{{Want: "JSON", Got: fmt.Sprintf("%v: %q", err, text.Shorten(rest))}}
	}
	return matchJSON(ch.json, value, sc)
}

// compareParts compares each part with its value: as JSON where that is an object or an
// array, else as text.
func (ch *Choice) compareParts(got [][]byte, sc *Scope) []Difference {
	if ch.isOpenEnded && len(got) > len(ch.parts) {
		got = got[:len(ch.parts)]
	}
	if len(got) != len(ch.parts) {
		return []Difference{{Want: fmt.Sprintf("%d parts", len(ch.parts)), Got: strconv.Itoa(len(got))}}
	}
	var all []Difference
	for i, n := range ch.parts {
		var value any = string(got[i])
		switch n := n.(type) {
		case kind:
			value = n.asNumber(got[i])
		case capture:
			value = n.typ.asNumber(got[i])
		case *Object, array:
			var err error
			if value, err = number.Decode(got[i]); err != nil {
				d := Difference{Path: fmt.Sprintf("[%d]", i), Want: "JSON", Got: fmt.Sprintf("%v: %q", err, text.Excerpt(got[i]))}
				return []Difference{d}
			}
		}
		for _, d := range matchJSON(n, value, sc) {
			d.Path = fmt.Sprintf("[%d]%s", i, d.Path)
			all = append(all, d)
		}
	}
	return all
}

// sample returns a message that the choice probably matches, for the linter.
func (ch *Choice) sample() session.Message {
	m := session.Message{Kind: ch.form.Kind, Text: []byte(ch.form.Sample)}
	switch {
	case ch.exact != nil:
		m.Text = []byte(*ch.exact)
	case ch.json != nil:
		m.Text = []byte(ch.prefix + ch.json.String())
	}
	for range ch.parts {
		m.Parts = append(m.Parts, nil)
	}
	return m
}

// Words describes what the choice accepts, for readers of a report.
func (ch *Choice) Words() string {
	switch {
	case ch.ending == Closed:
		return "the end of the connection"
	case ch.ending == Fin:
		return "an orderly close (FIN)"
	case ch.ending == Reset:
		return "a reset"
	case ch.any:
		return "any reply"
	case ch.exact != nil:
		return ch.form.Words + " " + strconv.Quote(*ch.exact)
	case ch.re != nil:
		return ch.form.Words + " that matches /" + ch.re.String() + "/"
	case ch.json != nil:
		return ch.form.Words + " with " + ch.prefix + ch.json.String()
	}
	if len(ch.parts) > 0 {
		return ch.form.Words + " with " + join(ch.parts, " ", node.String)
	}
	return ch.form.Words
}

// Chosen describes the alternative that was received, for readers of a report.
func (ch *Choice) Chosen(a session.Received) string {
	switch {
	case ch.any || ch.ending != Open:
		return a.String()
	case ch.form.Short != "":
		return ch.form.Short
	case ch.exact == nil && ch.re == nil && ch.json == nil && ch.parts == nil:
		return ch.form.Words
	}
	return ch.source
}
