package variations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// style is a way to write the same JSON.
type style struct {
	extraMembers, isReversed, isSpaced, escape, numbers bool

	blank   string // between any two tokens
	isGiven bool   // the value is from a producer
}

// restyle writes the JSON hashes of greetings and replies in another style.
func restyle(s style) func(*event) {
	return func(e *event) {
		if e.Point != fakes.Greeting && e.Point != fakes.Ran || e.Reply.Kind == fwp.ErrorReply {
			return
		}
		text := bytes.TrimPrefix(e.Reply.Text, []byte("HI "))
		value, err := decode(text)
		if _, hash := value.(map[string]any); err != nil || !hash {
			return
		}
		s := s
		begin, end := "", ""
		switch {
		case s.isSpaced && e.Reply.Kind == fwp.BulkString:
			s.blank, begin, end = "\r\n\t ", "\n ", "\n"
		case s.isSpaced:
			s.blank = " \t"
		}
		prefix := bytes.Clone(bytes.TrimSuffix(e.Reply.Text, text))
		e.Reply.Text = append(s.append(append(prefix, begin...), value), end...)
	}
}

func decode(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

func (s style) append(dst []byte, value any) []byte {
	switch value := value.(type) {
	case map[string]any:
		return s.appendObject(dst, value)
	case []any:
		dst = append(dst, '[')
		for i, element := range value {
			dst = s.append(s.comma(dst, i), element)
		}
		return append(append(dst, s.blank...), ']')
	case string:
		return s.appendText(dst, value)
	case json.Number:
		if s.numbers && s.isGiven {
			return append(dst, rewriteNumber(value.String())...)
		}
		return append(dst, value...)
	case nil:
		return append(dst, "null"...)
	}
	return fmt.Append(dst, value) // true and false
}

func (s style) comma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(append(dst, s.blank...), ',')
	}
	return append(dst, s.blank...)
}

func (s style) appendObject(dst []byte, fields map[string]any) []byte {
	if s.extraMembers && !s.isGiven {
		fields["fakes"] = map[string]any{"since": json.Number("1.5e3"), "tags": []any{nil, "ü"}}
	}
	names := slices.Sorted(maps.Keys(fields))
	if s.isReversed {
		slices.Reverse(names)
	}
	dst = append(dst, '{')
	for i, name := range names {
		dst = s.appendText(s.comma(dst, i), name)
		dst = append(append(append(dst, s.blank...), ':'), s.blank...)
		inner := s
		inner.isGiven = s.isGiven || name == "args" || name == "custom" || name == "fakes"
		dst = inner.append(dst, fields[name])
	}
	return append(append(dst, s.blank...), '}')
}

func (s style) appendText(dst []byte, text string) []byte {
	if !s.escape {
		return appendQuoted(dst, text)
	}
	dst = append(dst, '"')
	for _, r := range text {
		switch {
		case r == '/' || r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ' || r > '~' || strings.ContainsRune("aeiou", r):
			for _, unit := range utf16.Encode([]rune{r}) {
				dst = fmt.Appendf(dst, `\u%04X`, unit)
			}
		default:
			dst = append(dst, byte(r))
		}
	}
	return append(dst, '"')
}

// rewriteNumber returns another form of a number.
func rewriteNumber(number string) string {
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(number), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	} else {
		mantissa += "0"
	}
	if hasExponent {
		return mantissa + "E" + exponent
	}
	return mantissa
}

func appendQuoted(dst []byte, text string) []byte {
	var o object
	o.SetText("text", text)
	return append(dst, o.Get("text")...)
}
