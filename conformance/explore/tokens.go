package explore

import (
	"slices"
	"strings"
)

// Tokens are a text in pieces that mutations do not go through: bytes, and names.
type Tokens []string

// Tokenize splits a text as it stands in steps.
func Tokenize(text string) Tokens {
	var all Tokens
	for len(text) > 0 {
		end := 1
		if text[0] == '$' {
			if end = nameEnd(text); strings.HasPrefix(text, "$filler(") {
				end = max(end, strings.IndexByte(text, ')')+1)
			}
		}
		if strings.HasPrefix(text, "$$") {
			all, text = append(all, "$"), text[2:]
			continue
		}
		all, text = append(all, text[:end]), text[end:]
	}
	return all
}

// String writes tokens as they stand in steps.
func (t Tokens) String() string {
	var b strings.Builder
	for _, s := range t {
		if s == "$" {
			b.WriteByte('$')
		}
		b.WriteString(s)
	}
	return b.String()
}

// Put returns a copy in which others are in the place of the tokens [from,to).
func (t Tokens) Put(from, to int, others ...string) Tokens {
	return slices.Concat(t[:from], others, t[to:])
}
