package scenarios

import (
	"slices"
	"strings"
)

// holds is a value that has texts somewhere inside, in strings at any depth, and
// others nowhere: for fields whose keys the specification does not name.
type holds struct {
	texts []heldText
}

type heldText struct {
	node   node // literal or interpolated
	absent bool // it must not be there
}

func (h holds) String() string {
	words := make([]string, len(h.texts))
	for i, t := range h.texts {
		words[i] = t.node.String()
		if t.absent {
			words[i] = "!" + words[i]
		}
	}
	return "holds(" + strings.Join(words, ",") + ")"
}

// matches looks for each text. One whose name has no value is not there.
func (h holds) matches(got any, sc *scope) bool {
	if got == (missing{}) {
		return false
	}
	for _, t := range h.texts {
		s, known := heldString(t.node, sc)
		if t.absent == (known && contains(got, s)) {
			return false
		}
	}
	return true
}

func heldString(n node, sc *scope) (string, bool) {
	if t, ok := n.(interpolated); ok {
		return sc.known(t.parts)
	}
	s, ok := n.(literal).value.(string)
	return s, ok
}

// contains reports whether s stands in one of the strings of a JSON value. Keys are
// none of them.
func contains(value any, s string) bool {
	inside := func(v any) bool { return contains(v, s) }
	switch v := value.(type) {
	case string:
		return strings.Contains(v, s)
	case []any:
		return slices.ContainsFunc(v, inside)
	case map[string]any:
		for _, field := range v {
			if inside(field) {
				return true
			}
		}
	}
	return false
}

// holdsValue parses ("text",!"text",...) behind the word.
func (c *cursor) holdsValue() (node, error) {
	const help = `write holds("this","this too",!"but not this")`
	open := c.pos
	if !c.take("(") {
		return nil, complain(c.pos, 1, help, "holds needs texts in brackets")
	}
	var h holds
	for c.skipBlanks(); !c.take(")"); c.skipBlanks() {
		if len(h.texts) > 0 && !c.take(",") {
			return nil, c.unclosed(open, ")")
		}
		c.skipBlanks()
		t := heldText{absent: c.take("!")}
		if c.peek() != '"' {
			return nil, complain(c.pos, 1, help, "expected a text in double quotes, %s", c.got())
		}
		var err error
		if t.node, err = c.stringValue(); err != nil {
			return nil, err
		}
		h.texts = append(h.texts, t)
	}
	if len(h.texts) == 0 {
		return nil, complain(open, 2, help, "holds needs at least one text")
	}
	return h, nil
}
