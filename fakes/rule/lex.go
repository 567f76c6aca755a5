package rule

import (
	"fmt"
	"strings"
	"unicode"
)

// Error says what is wrong with a rule, and where. Line is 1 for a rule that is not in a file; columns count
// characters, from 1.
type Error struct {
	Line, Column int
	Text         string
}

func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Text) }

// kind is what a token is.
type kind uint8

const (
	end  kind = iota // of the rule
	word             // letters, digits and what else is no mark
	text             // in quotes
	mark             // ; : , = != ~ < >
)

// token is a part of a rule. For a text it is what the quotes contain.
type token struct {
	kind   kind
	text   string
	column int
}

func (t token) String() string {
	switch t.kind {
	case end:
		return "the end"
	case text:
		return fmt.Sprintf("the text %q", t.text)
	default:
		return fmt.Sprintf("%q", t.text)
	}
}

const marks = ";:,=~<>!"

// split returns the tokens of a rule. A text is in double quotes, with \" and \\ in it, or in single quotes, where
// nothing is escaped.
func split(rule string) (all []token, err error) {
	in := []rune(rule)
	for i := 0; i < len(in); {
		start, c := i, in[i]
		switch {
		case unicode.IsSpace(c):
			i++
			continue
		case c == '"' || c == '\'':
			t, next, isClosed := quotedText(in, i)
			if !isClosed {
				return nil, &Error{1, start + 1, fmt.Sprintf("the text has no end: expected a closing %c", c)}
			}
			all, i = append(all, token{text, t, start + 1}), next
			continue
		case c == '!' && i+1 < len(in) && in[i+1] == '=':
			i += 2
		case strings.ContainsRune(marks, c):
			i++
		default:
			for i < len(in) && !unicode.IsSpace(in[i]) && !strings.ContainsRune(marks+"\"'", in[i]) {
				i++
			}
			all = append(all, token{word, string(in[start:i]), start + 1})
			continue
		}
		all = append(all, token{mark, string(in[start:i]), start + 1})
	}
	return append(all, token{end, "", len(in) + 1}), nil
}

// Quote returns a text as a rule has it.
func Quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// quotedText returns the text that begins with the quotation mark at i, and what is behind it.
func quotedText(in []rune, i int) (t string, next int, isClosed bool) {
	var b strings.Builder
	for quote, j := in[i], i+1; j < len(in); j++ {
		switch {
		case in[j] == quote:
			return b.String(), j + 1, true
		case in[j] == '\\' && quote == '"' && j+1 < len(in) && strings.ContainsRune(`"\`, in[j+1]):
			j++
		}
		b.WriteRune(in[j])
	}
	return "", 0, false
}
