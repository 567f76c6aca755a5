package scenarios

import (
	"slices"
	"strings"
)

// contains is a value with texts in strings at any depth, and without others: for fields
// whose keys the specification does not name.
type contains struct {
	texts []containedText
}

type containedText struct {
	node   node // literal or interpolated
	absent bool // it must not be there
}

func (c contains) String() string {
	return "contains(" + join(c.texts, ",", containedText.String) + ")"
}

func (t containedText) String() string {
	if t.absent {
		return "!" + t.node.String()
	}
	return t.node.String()
}

// matches looks for each text. A text whose name has no value is not found.
func (c contains) matches(got any, sc *Scope) bool {
	if got == (missing{}) {
		return false
	}
	for _, t := range c.texts {
		s, ok := containedString(t.node, sc)
		if t.absent == (ok && isInside(got, s)) {
			return false
		}
	}
	return true
}

func containedString(n node, sc *Scope) (string, bool) {
	if t, ok := n.(interpolated); ok {
		return sc.boundText(t.parts)
	}
	s, ok := n.(literal).value.(string)
	return s, ok
}

// isInside reports whether s is part of one of the strings of a JSON value. Keys do
// not count.
func isInside(value any, s string) bool {
	inside := func(v any) bool { return isInside(v, s) }
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

// containsValue parses ("text",!"text",...) behind the word.
func (c *cursor) containsValue() (node, error) {
	const help = `write contains("this","this too",!"but not this")`
	start := c.pos
	if !c.take("(") {
		return nil, errorAt(c.pos, 1, help, "contains needs texts in parentheses")
	}
	var parsed contains
	for c.skipBlanks(); !c.take(")"); c.skipBlanks() {
		if len(parsed.texts) > 0 && !c.take(",") {
			return nil, c.unclosed(start, ")")
		}
		c.skipBlanks()
		t := containedText{absent: c.take("!")}
		if c.peek() != '"' {
			return nil, errorAt(c.pos, 1, help, "expected a text in double quotes, %s", c.got())
		}
		var err error
		if t.node, err = c.stringValue(); err != nil {
			return nil, err
		}
		parsed.texts = append(parsed.texts, t)
	}
	if len(parsed.texts) == 0 {
		return nil, errorAt(start, 2, help, "contains needs at least one text")
	}
	return parsed, nil
}
