package scenarios

import (
	"strconv"
	"strings"
)

// lineForm is the beginning of a C: or an S: line up to its colon: C[NAME] WORDS:
type lineForm struct {
	isNamed bool
	name    string
	words   string // trimmed
	wordsAt int    // offset
	end     int    // behind the colon
}

// parseLineForm returns the form of a line, false if it is another statement.
func parseLineForm(line string) (l lineForm, ok bool) {
	if line[0] != 'C' && line[0] != 'S' {
		return l, false
	}
	at := 1
	if strings.HasPrefix(line[at:], "[") {
		closing := strings.IndexByte(line, ']')
		if closing < 0 {
			return l, false
		}
		l.isNamed, l.name = true, line[at+1:closing]
		at = closing + 1
	}
	colon := strings.IndexByte(line[at:], ':')
	if colon < 0 || colon > 0 && line[at] != ' ' && line[at] != '\t' {
		return l, false
	}
	words := strings.TrimLeft(line[at:at+colon], " \t")
	l.end = at + colon + 1
	l.wordsAt = l.end - 1 - len(words)
	l.words = strings.TrimSpace(words)
	return l, true
}

// isConnName reports whether a connection can have this name: small letters and digits.
func isConnName(name string) bool {
	return name != "" && nameLength(name) == len(name) && !strings.Contains(name, "_")
}

// transcriptLine parses a C: or an S: line.
func (p *parser) transcriptLine(c *cursor, n int, l lineForm) (Step, error) {
	base := c.pos
	if l.isNamed && !isConnName(l.name) {
		return nil, errorAt(base+len("C["), max(len(l.name), 1),
			"use lower-case letters and digits for names of connections: C[worker1]:", "invalid connection name %q", l.name)
	}
	c.pos += l.end
	if c.peek() == ' ' { // one blank belongs to the form, more belong to the text
		c.pos++
	}
	at := Pos{n, column(c.line, c.pos), max(len([]rune(c.rest())), 1)}
	if c.line[base] == 'C' {
		return p.clientLine(c, at, l.name, strings.Fields(l.words), base+l.wordsAt)
	}
	window, err := parseReplyWindow(l.words, base+l.wordsAt)
	if err != nil {
		return nil, err
	}
	choices, err := c.choices()
	if err != nil {
		return nil, err
	}
	return &Expect{Statement: p.placed(at), Conn: l.name, Window: window, Choices: choices, Marks: p.marks}, nil
}

var clientModes = []string{"bad", "raw", "bytewise"}

var clientEndings = map[string]Ending{"<close>": Closed, "<half-close>": HalfClosed, "<reset>": Reset}

// clientLine parses what stands behind C:.
func (p *parser) clientLine(c *cursor, at Pos, conn string, modes []string, modesAt int) (Step, error) {
	s := &Send{Statement: p.placed(at), Conn: conn}
	for _, mode := range modes {
		switch mode {
		case "bad":
			s.Bad = true
		case "raw":
			s.Raw = true
		case "bytewise":
			s.Bytewise = true
		default:
			return nil, errorAt(modesAt, len(mode), didYouMean(mode, clientModes), "unknown word %q before the colon", mode)
		}
	}
	if e, ok := clientEndings[strings.TrimSpace(c.rest())]; ok && !s.Raw {
		s.Ending = e
		return s, nil
	}
	var err error
	if s.Raw {
		s.Segments, s.quoted, err = rawSegments(c)
	} else {
		s.Segments, err = parseTemplate(c)
	}
	return s, err
}

// rawSegments parses one or more Go strings; each is a segment. It returns the
// strings as they were written, too.
func rawSegments(c *cursor) (all []Template, written []string, err error) {
	for c.skipBlanks(); !c.done(); c.skipBlanks() {
		quoted, err := strconv.QuotedPrefix(c.rest())
		if err != nil {
			return nil, nil, errorAt(c.pos, len(c.rest()), `write C raw: "one\n" "\x00\xff"`,
				"expected a Go string in double quotes")
		}
		lit, _ := strconv.Unquote(quoted) // QuotedPrefix has checked it
		inner, err := parseTemplate(&cursor{line: lit, grammar: c.grammar})
		if err != nil {
			return nil, nil, errorAt(c.pos, len(quoted), "", "%v", err)
		}
		all = append(all, inner...)
		written = append(written, quoted)
		c.pos += len(quoted)
	}
	if len(all) == 0 {
		return nil, nil, errorAt(c.pos, 1, `write C raw: "bytes\r\n"`, "the bytes are missing")
	}
	return all, written, nil
}
