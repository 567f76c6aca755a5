package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// document is one source document, cut into what a clause can point to. Nothing of its text is kept in the suite.
type document []part

// part is the text between a heading and the next one, whatever their levels are.
type part struct {
	headings []string // from the outermost one to its own, without markup
	units    []unit
}

// unit is the smallest thing that a clause points to: a sentence of a paragraph, an item of a list, a row of a table
// (0 is its head) or a line of a code block. White space is normalised to single blanks.
type unit struct {
	block, number int // both from 1, but for the head of a table
	text          string
}

// blockKind tells blocks apart: a block ends with an empty line, and where the next line is of another kind.
type blockKind byte

const (
	noBlock   blockKind = 0
	paragraph blockKind = 'p'
	list      blockKind = 'l'
	table     blockKind = 't'
	code      blockKind = 'c'
)

var (
	listItem   = regexp.MustCompile(`^\s*(?:[-*•]|\d+\.)\s+(.*)$`)
	tableRule  = regexp.MustCompile(`^[\s|:-]+$`)
	underline  = regexp.MustCompile(`^(?:-{3,}|={3,})$`)
	markup     = regexp.MustCompile(`^(#{1,6}) (.*)$`)
	titleWords = regexp.MustCompile(`^\p{Lu}\p{L}*(?: \p{Lu}\p{L}*)*$`)
)

// cutter cuts a document line by line.
type cutter struct {
	parts    document
	headings []string // by level, "" where a level was left out
	kind     blockKind
	blocks   int      // of the open part
	lines    []string // of the open block; of a list or a table, one for each item or row
}

// cut cuts a document. It knows as much of Markdown as the sources use, and takes a line of its own in title case for
// a heading, because the worker guide has lost its markup.
func cut(text string) document {
	c := &cutter{parts: document{{}}}
	lines := strings.Split(text, "\n")
	blank := func(i int) bool { return i < 0 || i >= len(lines) || strings.TrimSpace(lines[i]) == "" }
	for i, raw := range lines {
		line := strings.Join(strings.Fields(raw), " ")
		alone := blank(i-1) && blank(i+1)
		switch level, title := heading(line); {
		case strings.HasPrefix(line, "```"):
			c.fence()
		case c.kind == code:
			c.add(code, line)
		case line == "":
			c.close()
		case level > 0 && alone:
			c.open(level, title)
		case underline.MatchString(line) && c.kind == paragraph && len(c.lines) == 1:
			title, c.kind, c.lines = c.lines[0], noBlock, nil
			c.open(1, title)
		default:
			c.text(raw, line)
		}
	}
	c.close()
	return c.parts
}

// heading returns the level and the title of a line that would be a heading if it stood alone, and level 0 for others.
func heading(line string) (level int, title string) {
	if m := markup.FindStringSubmatch(line); m != nil {
		return len(m[1]), strings.ReplaceAll(m[2], "`", "")
	}
	if titleWords.MatchString(line) && strings.ToUpper(line) != line {
		return 1, line
	}
	return 0, ""
}

// fence begins or ends a code block.
func (c *cutter) fence() {
	was := c.kind
	c.close()
	if was != code {
		c.kind = code
	}
}

// text takes a line that belongs to a block of text.
func (c *cutter) text(raw, line string) {
	item := listItem.FindStringSubmatch(raw)
	switch {
	case strings.HasPrefix(line, "|"):
		c.add(table, line)
	case item != nil:
		c.add(list, strings.Join(strings.Fields(item[1]), " "))
	case c.kind == list: // the item goes on
		c.lines[len(c.lines)-1] += " " + line
	default:
		c.add(paragraph, line)
	}
}

// add appends a line to the open block, or to a new one if that is of another kind.
func (c *cutter) add(kind blockKind, line string) {
	if c.kind != kind {
		c.close()
		c.kind = kind
	}
	if line != "" {
		c.lines = append(c.lines, line)
	}
}

// close ends the open block, if there is one.
func (c *cutter) close() {
	units, first := c.lines, 1
	switch c.kind {
	case paragraph:
		units = sentences(strings.Join(c.lines, " "))
	case table:
		units, first = rows(c.lines), 0
	}
	if len(units) > 0 {
		c.blocks++
	}
	p := &c.parts[len(c.parts)-1]
	for i, text := range units {
		p.units = append(p.units, unit{c.blocks, first + i, text})
	}
	c.kind, c.lines = noBlock, nil
}

// open begins a part.
func (c *cutter) open(level int, title string) {
	c.close()
	for len(c.headings) < level {
		c.headings = append(c.headings, "")
	}
	c.headings = append(c.headings[:level-1:level-1], title)
	c.parts = append(c.parts, part{headings: c.headings})
	c.blocks = 0
}

// rows are the rows of a table without the rule below its head, and without what aligns their cells.
func rows(lines []string) []string {
	var all []string
	for _, line := range lines {
		if tableRule.MatchString(line) {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		all = append(all, strings.TrimRight(strings.Join(cells, " | "), " |"))
	}
	return all
}

// sentences cuts a paragraph whose words have single blanks between them.
func sentences(text string) []string {
	var all []string
	words := strings.Split(text, " ")
	start := 0
	for i := range words {
		if i == len(words)-1 || ends(words[i]) && begins(words[i+1]) {
			all = append(all, strings.Join(words[start:i+1], " "))
			start = i + 1
		}
	}
	return all
}

const brackets = "()[]\"'`*_"

func ends(word string) bool {
	word = strings.Trim(word, brackets)
	switch word {
	case "e.g.", "i.e.", "vs.", "etc.":
		return false
	}
	return strings.HasSuffix(word, ".") || strings.HasSuffix(word, "!") || strings.HasSuffix(word, "?")
}

func begins(word string) bool {
	first := []rune(word)[0]
	return !unicode.IsLower(first) && !strings.ContainsRune(";:,.", first)
}

// part finds the part below a heading. The heading may be preceded by those around it, with slashes between them; of
// several that fit the first is meant.
func (d document) part(heading string) (part, error) {
	for _, p := range d {
		if path := "/" + strings.Join(p.headings, "/"); strings.HasSuffix(path, "/"+heading) {
			return p, nil
		}
	}
	return part{}, fmt.Errorf("no heading %q", heading)
}

// pick finds the units that a range names: "2.1" is the first unit of the second block, "2.1-2.3" goes on to the
// third, "2" is the whole block, "2-3" are both blocks.
func (p part) pick(units string) ([]unit, error) {
	from, to, isRange := strings.Cut(units, "-")
	if !isRange {
		to = from
	}
	first, last := -1, -1
	for i, u := range p.units {
		if first < 0 && u.is(from) {
			first = i
		}
		if u.is(to) {
			last = i
		}
	}
	if first < 0 || last < first {
		return nil, fmt.Errorf("no units %s below %q", units, p.headings[len(p.headings)-1])
	}
	return p.units[first : last+1], nil
}

func (u unit) is(address string) bool {
	return address == u.String() || address == strconv.Itoa(u.block)
}

func (u unit) String() string { return fmt.Sprintf("%d.%d", u.block, u.number) }

// hashOf is the hash of units that follow each other: the first 12 hexadecimal digits of the SHA-256 of their texts,
// with line feeds between them.
func hashOf(units []unit) string {
	texts := make([]string, len(units))
	for i, u := range units {
		texts[i] = u.text
	}
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	return hex.EncodeToString(sum[:])[:hashDigits]
}

const hashDigits = 12
