package scenarios

import (
	"strconv"
	"strings"
)

// connName parses a [name], which may be missing.
func connName(c *cursor, m []int, base int) (string, error) {
	if m[4] < 0 {
		return "", nil
	}
	name := c.line[base+m[4] : base+m[5]]
	if !connForm.MatchString(name) {
		return "", errorAt(base+m[4], max(len(name), 1), "names of connections are small letters and digits: C[worker1]:",
			"bad connection name %q", name)
	}
	return name, nil
}

// transcriptLine parses a C: or an S: line.
func (p *parser) transcriptLine(c *cursor, n int, m []int) (Step, error) {
	base := c.pos
	conn, err := connName(c, m, base)
	if err != nil {
		return nil, err
	}
	words, wordsAt := "", base
	if m[6] >= 0 {
		words, wordsAt = strings.TrimSpace(c.line[base+m[6]:base+m[7]]), base+m[6]
	}
	c.pos += m[1]
	if c.peek() == ' ' { // one blank belongs to the form, more belong to the text
		c.pos++
	}
	at := Pos{n, column(c.line, c.pos), max(len([]rune(c.rest())), 1)}
	if c.line[base] == 'C' {
		return p.clientLine(c, at, conn, strings.Fields(words), wordsAt)
	}
	within, err := parseWindow(words, wordsAt)
	if err != nil {
		return nil, err
	}
	choices, err := c.choices()
	if err != nil {
		return nil, err
	}
	return &Expect{Statement: p.placed(at), Conn: conn, Within: within, Choices: choices, Marks: p.marks}, nil
}

var clientModes = []string{"bad", "raw", "bytewise"}

var clientEndings = map[string]Ending{"<close>": Closed, "<half-close>": HalfShut, "<reset>": Reset}

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
		return nil, nil, errorAt(c.pos, 1, `write C raw: "bytes\r\n"`, "no bytes to send")
	}
	return all, written, nil
}
