package scenarios

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// value parses one JSON value of the language, without alternatives.
func (c *cursor) value() (node, error) {
	if c.depth++; c.depth > maxDepth {
		return nil, errorAt(c.pos, 1, "", "values may be nested at most %d deep", maxDepth)
	}
	defer func() { c.depth-- }()
	c.skipBlanks()
	exact := c.take("=")
	switch b := c.peek(); {
	case b == '{':
		return c.object(exact)
	case b == '[':
		return c.array(exact)
	case exact:
		return nil, errorAt(c.pos, 1, "", "= (exactly) works only before { or [")
	case b == '"':
		return c.stringValue()
	case c.startsName():
		return c.captureValue()
	case b == '/':
		re, err := c.regexp()
		return pattern{re}, err
	case b == '-' || b >= '0' && b <= '9':
		return c.numberValue()
	}
	return c.wordValue()
}

// alternatives parses value | value | ...
func (c *cursor) alternatives() (node, error) {
	first, err := c.value()
	if err != nil {
		return nil, err
	}
	all := alternatives{first}
	for c.skipBlanks(); c.take("|"); c.skipBlanks() {
		next, err := c.value()
		if err != nil {
			return nil, err
		}
		all = append(all, next)
	}
	if len(all) == 1 {
		return first, nil
	}
	return all, nil
}

func (c *cursor) object(exact bool) (node, error) {
	start := c.pos
	c.pos++
	o := &Object{exact: exact}
	for c.skipBlanks(); !c.take("}"); c.skipBlanks() {
		if len(o.fields) > 0 && !c.take(",") {
			return nil, c.unclosed(start, "}")
		}
		c.skipBlanks()
		if c.peek() != '"' {
			return nil, errorAt(c.pos, 1, `write {"name":"value"}`, "expected a field name in double quotes, %s", c.got())
		}
		key, err := c.quoted()
		if err != nil {
			return nil, err
		}
		if c.skipBlanks(); !c.take(":") {
			return nil, errorAt(c.pos, 1, "", "expected a colon after the field name %q, %s", key, c.got())
		}
		value, err := c.alternatives()
		if err != nil {
			return nil, err
		}
		o.fields = append(o.fields, field{key, value})
	}
	return o, nil
}

func (c *cursor) array(exact bool) (node, error) {
	start := c.pos
	c.pos++
	a := array{exact: exact}
	for c.skipBlanks(); !c.take("]"); c.skipBlanks() {
		if a.isOpenEnded {
			return nil, errorAt(c.pos, 1, "... must be the last element", "expected ] after ..., %s", c.got())
		}
		if len(a.elems) > 0 && !c.take(",") {
			return nil, c.unclosed(start, "]")
		}
		if c.skipBlanks(); c.take("...") {
			a.isOpenEnded = true
			continue
		}
		elem, err := c.alternatives()
		if err != nil {
			return nil, err
		}
		a.elems = append(a.elems, elem)
	}
	return a, nil
}

func (c *cursor) unclosed(start int, closing string) error {
	if c.done() {
		return errorAt(start, 1, "", "this %c is not closed with %s", c.line[start], closing)
	}
	return errorAt(c.pos, 1, "", "expected a comma or %s, %s", closing, c.got())
}

// got describes what stands at the cursor.
func (c *cursor) got() string {
	if c.done() {
		return "got the end of the line"
	}
	return fmt.Sprintf("got %q", []rune(c.rest())[0])
}

// quoted parses a JSON string.
func (c *cursor) quoted() (string, error) {
	start := c.pos
	plain := true // as written, without an escape
	for i := start + 1; i < len(c.line); i++ {
		switch b := c.line[i]; {
		case b == '\\':
			plain = false
			i++
		case b < ' ' || b >= utf8.RuneSelf:
			plain = false
		case b == '"':
			c.pos = i + 1
			if plain {
				return c.line[start+1 : i], nil
			}
			var s string
			if err := json.Unmarshal([]byte(c.line[start:c.pos]), &s); err != nil {
				if raw, ok := c.bytes(c.line[start:c.pos]); ok {
					return raw, nil
				}
				return "", errorAt(start, c.pos-start, "use the escapes of JSON", "invalid JSON string: %v", err)
			}
			return s, nil
		}
	}
	return "", errorAt(start, 1, "", "this string is not closed")
}

// bytes returns the bytes of a string with the escapes of Go, in a dialect whose lines have those: messages there may
// be no text.
func (c *cursor) bytes(quoted string) (string, bool) {
	if c.grammar == nil || !c.grammar.Framed() {
		return "", false
	}
	s, err := strconv.Unquote(quoted)
	return s, err == nil
}

func (c *cursor) stringValue() (node, error) {
	start := c.pos
	s, err := c.quoted()
	if err != nil {
		return nil, err
	}
	if !strings.ContainsAny(s, "$<") {
		return literal{s}, nil
	}
	inner := &cursor{line: s, grammar: c.grammar}
	parts, err := parseTemplate(inner)
	if err != nil {
		return nil, errorAt(start, c.pos-start, "", "%v", err)
	}
	switch {
	case len(parts) > 1:
		return nil, errorAt(start, c.pos-start, "", "<|> works only in client lines")
	case len(parts[0].refs()) > 0:
		return interpolated{parts[0]}, nil
	}
	return literal{parts[0][0].literal()}, nil
}

func (c *cursor) captureValue() (node, error) {
	r, err := c.name()
	if err != nil {
		return nil, err
	}
	if !c.take(":") {
		return capture{ref: r}, nil
	}
	n, err := c.wordValue()
	if err != nil {
		return nil, err
	}
	k, ok := n.(kind)
	if !ok {
		return nil, errorAt(c.pos, 1, "", "expected a type after %s:, such as int or time", r.text)
	}
	return capture{ref: r, typ: &k}, nil
}

// regexp parses /expression/; a slash inside is written \/.
func (c *cursor) regexp() (*regexp.Regexp, error) {
	start := c.pos
	for i := start + 1; i < len(c.line); i++ {
		switch c.line[i] {
		case '\\':
			i++
		case '/':
			c.pos = i + 1
			re, err := regexp.Compile(strings.ReplaceAll(c.line[start+1:i], `\/`, "/"))
			if err != nil {
				return nil, errorAt(start, c.pos-start, "", "invalid regular expression: %v", err)
			}
			return re, nil
		}
	}
	return nil, errorAt(start, 1, "", "this regular expression is not closed with /")
}

func (c *cursor) numberValue() (node, error) {
	s := c.rest()[:numberLength(c.rest())]
	if s == "" {
		return nil, errorAt(c.pos, 1, "", "invalid JSON number")
	}
	c.pos += len(s)
	return literal{json.Number(s)}, nil
}

// numberLength returns how many bytes of s are a number of JSON; 0 if it does not begin with one.
func numberLength(s string) int {
	n := len(s) - len(strings.TrimPrefix(s, "-"))
	count := digits(s[n:])
	switch {
	case count == 0:
		return 0
	case s[n] == '0':
		count = 1
	}
	n += count
	if fraction, ok := strings.CutPrefix(s[n:], "."); ok && digits(fraction) > 0 {
		n += 1 + digits(fraction)
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		exponent := s[n+1:]
		signed := 0
		if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
			signed = 1
		}
		if d := digits(exponent[signed:]); d > 0 {
			n += 1 + signed + d
		}
	}
	return n
}

// digits returns how many digits s begins with.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

// letters returns how many bytes of s are the letters that it begins with.
func letters(s string) int {
	for i, r := range s {
		if !unicode.IsLetter(r) {
			return i
		}
	}
	return len(s)
}

// nonJSONWords are values that languages know, and JSON does not.
var nonJSONWords = []string{"NaN", "nan", "Infinity", "Inf", "undefined"}

// wordValue parses true, false, null, absent and the type words.
func (c *cursor) wordValue() (node, error) {
	start := c.pos
	word := c.rest()[:letters(c.rest())]
	c.pos += len(word)
	switch word {
	case "true", "false":
		return literal{word == "true"}, nil
	case "null":
		return literal{nil}, nil
	case "absent":
		return absence{}, nil
	case "contains":
		return c.containsValue()
	case "":
		return nil, errorAt(start, 1, "", "expected a JSON value, a type or a name, %s", c.got())
	}
	if slices.Contains(nonJSONWords, word) {
		const help = "JSON has no such value: write the argument as text, without $ (C bad: VERB {\"field\":NaN}), or the " +
			"bytes of the line (C raw: \"...\\r\\n\")"
		return nil, errorAt(start, len(word), help, "%s is not JSON", word)
	}
	if !slices.Contains(kindWords, word) {
		words := append([]string{"absent", "contains", "true", "false", "null"}, kindWords...)
		return nil, errorAt(start, len(word), didYouMean(word, words), "unknown word %q", word)
	}
	k := kind{word: word}
	if c.peek() != '(' {
		return k, nil
	}
	return c.rangeOf(k)
}

// rangeOf parses (lo..hi) behind int, number or time; either end may be left
// out.
func (c *cursor) rangeOf(k kind) (node, error) {
	start := c.pos
	if k.word != "int" && k.word != "number" && k.word != "time" {
		return nil, errorAt(start, 1, "only int, number and time may have a range", "%s has no range", k.word)
	}
	c.pos++
	var err error
	if k.lo, err = c.bound(k.word); err != nil {
		return nil, err
	}
	if !c.take("..") {
		return nil, errorAt(c.pos, 1, "write int(60..) or time($now-5s..$now+5s)",
			"expected .. between the ends of the range, %s", c.got())
	}
	if k.hi, err = c.bound(k.word); err != nil {
		return nil, err
	}
	if !c.take(")") {
		return nil, errorAt(c.pos, 1, "", "expected ) at the end of the range, %s", c.got())
	}
	return k, nil
}

var boundNumber = regexp.MustCompile(`^-?\d+(\.\d+)?`)

func (c *cursor) bound(word string) (*bound, error) {
	if word == "time" {
		if !c.startsName() {
			return nil, nil
		}
		r, err := c.name()
		return &bound{time: r}, err
	}
	s := strings.TrimSuffix(boundNumber.FindString(c.rest()), ".")
	if s == "" {
		return nil, nil
	}
	c.pos += len(s)
	return &bound{number: json.Number(s)}, nil
}
