package scenarios

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/text"
)

// Choice is one thing that an S: line accepts: a kind of reply with what it
// must contain, or an end of the connection. [ParseChoices] makes one.
type Choice struct {
	source string // as written
	ending Ending // if not Open, the connection must end like this
	any    bool   // <any>: whatever reply
	kind   fwp.Kind
	exact  *string        // the whole text
	prefix string         // what stands before json
	re     *regexp.Regexp // what the text must match somewhere
	json   node
}

// String is the choice as the script writes it.
func (ch *Choice) String() string { return ch.source }

// ParseChoices parses what stands behind S: on a line, alternatives included.
func ParseChoices(text string) ([]Choice, error) {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return nil, complain(i, 1, "", "an expectation is one line")
	}
	return (&cursor{line: text}).choices()
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
			return nil, complain(c.pos, len(c.rest()), "alternatives are separated by |", "unexpected text behind the expectation")
		}
	}
}

func (c *cursor) choice() (Choice, error) {
	switch b := c.peek(); b {
	case '<':
		return c.endingChoice()
	case '+', '-':
		c.pos++
		return c.lineChoice(fwp.Kind(b))
	case '$':
		c.pos++
		return c.bulkChoice()
	case ':':
		c.pos++
		return c.integerChoice()
	case '*':
		c.pos++
		return Choice{kind: fwp.Array}, nil
	}
	return Choice{}, complain(c.pos, 1,
		`write +OK, - (any error), ${...} (bulk string), $-1 (null), <close> or <any>`,
		"expected a RESP reply or an ending, %s", c.got())
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
	return Choice{}, complain(start, len(word), didYouMean(word, []string{"<any>", "<close>", "<fin>", "<reset>"}), "unknown expectation %s", word)
}

// lineChoice parses the text of a simple string or an error: nothing, /re/,
// or text that may end in a JSON object.
func (c *cursor) lineChoice(k fwp.Kind) (Choice, error) {
	ch := Choice{kind: k}
	var err error
	if c.peek() == '/' {
		ch.re, err = c.regexp()
		return ch, err
	}
	end := len(c.line)
	if i := strings.Index(c.rest(), " | "); i >= 0 {
		end = c.pos + i
	}
	words := c.line[c.pos:end]
	if i := strings.IndexByte(words, '{'); i >= 0 {
		ch.prefix = words[:i]
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

// bulkChoice parses -1 (null), a JSON value, a quoted text behind a second
// quote mark, /re/, or nothing.
func (c *cursor) bulkChoice() (Choice, error) {
	ch := Choice{kind: fwp.BulkString}
	var err error
	switch b := c.peek(); {
	case c.take("-1"):
		ch.kind = fwp.NullBulk
	case b == '/':
		ch.re, err = c.regexp()
	case b == '"':
		var s string
		s, err = c.quoted()
		ch.exact = &s
	case b == '{' || b == '[' || b == '=':
		ch.json, err = c.value()
	case !c.done() && strings.IndexByte(" \t|", b) < 0:
		err = complain(c.pos, 1, `a bulk string is written ${...}, $"text", $/re/ or $ alone; null is $-1`, "unexpected text after $")
	}
	return ch, err
}

func (c *cursor) integerChoice() (Choice, error) {
	ch := Choice{kind: fwp.Integer}
	s := regexp.MustCompile(`^-?\d+`).FindString(c.rest())
	c.pos += len(s)
	if s != "" {
		ch.exact = &s
	}
	return ch, nil
}

// compare returns how what was received differs from the choice: no differences means that it matches.
func (ch *Choice) compare(a session.Received, sc *scope) []Difference {
	switch {
	case ch.ending != Open:
		return ch.compareEnding(a)
	case a.Ending != Open:
		return []Difference{{Want: ch.words(), Got: a.String()}}
	case ch.any:
		return nil
	case ch.kind != fwp.Kind(a.Message.Kind):
		return []Difference{{Want: kindInWords(ch.kind), Got: kindInWords(fwp.Kind(a.Message.Kind))}}
	}
	return ch.compareText(string(a.Message.Text), sc)
}

func (ch *Choice) compareEnding(a session.Received) []Difference {
	if a.Ending == ch.ending || ch.ending == Closed && a.Ending != Open {
		return nil
	}
	return []Difference{{Want: ch.words(), Got: a.String()}}
}

func (ch *Choice) compareText(got string, sc *scope) []Difference {
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
		return []Difference{{Want: fmt.Sprintf("text that begins with %q", ch.prefix), Got: strconv.Quote(text.Shorten(got))}}
	}
	value, err := parseJSON([]byte(rest))
	if err != nil {
		return []Difference{{Want: "JSON", Got: fmt.Sprintf("%v: %q", err, text.Shorten(rest))}}
	}
	return matchJSON(ch.json, value, sc)
}

// words says what the choice accepts, for those who do not know the language.
func (ch *Choice) words() string {
	switch {
	case ch.ending == Closed:
		return "the end of the connection"
	case ch.ending == Fin:
		return "an orderly close (FIN)"
	case ch.ending == Reset:
		return "a reset"
	case ch.any:
		return "a reply, whatever it is"
	case ch.exact != nil:
		return kindInWords(ch.kind) + " " + strconv.Quote(*ch.exact)
	case ch.re != nil:
		return kindInWords(ch.kind) + " that matches /" + ch.re.String() + "/"
	case ch.json != nil:
		return kindInWords(ch.kind) + " with " + ch.prefix + ch.json.String()
	}
	return kindInWords(ch.kind)
}

// kindInWords names a RESP kind with its article.
func kindInWords(k fwp.Kind) string {
	switch k {
	case fwp.ErrorReply, fwp.Integer, fwp.Array:
		return "an " + k.String()
	}
	return "a " + k.String()
}
