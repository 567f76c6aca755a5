package scenarios

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Template is text with names in it, as clients send it. [ParseTemplate] makes
// one.
type Template []part

// part is literal text, or a name if ref is not nil.
type part struct {
	source string // of literal text, as written: a dollar may be doubled there
	ref    *ref
}

// literal is the text that is sent; "" for a name.
func (p part) literal() string { return strings.ReplaceAll(p.source, "$$", "$") }

// refKind is the way in which a name gets its value.
type refKind uint8

const (
	refPlain  refKind = iota // captured, or fresh if it belongs to a family
	refNow                   // $now, $now+2s, $now-1h@+05:30
	refFiller                // $filler(64KiB)
	refObject                // computed: $job{...}, a whole object
	refValue                 // computed: a value for a connection, as $pwdhash
)

// ref is one use of a name in a script. An exploration has hundreds of thousands.
type ref struct {
	text    string // as written: the key under which the value is bound
	kind    refKind
	base    string // the name alone
	indexed bool   // $jid#: one value for each repetition
	grammar *Grammar

	*computation // nil for refPlain
}

// computation is how the value of a name is computed.
type computation struct {
	offset  time.Duration // refNow
	zone    *time.Location
	size    int       // refFiller, bytes
	formula *Computed // refObject, refValue
	object  *Object   // refObject: the fields that replace or complement those of the dialect
	variant string    // refValue
	conn    string    // refValue: for which connection, if same is false
	same    bool
}

// family is the family of a plain name, or "".
func (r *ref) family() string {
	if r.kind != refPlain {
		return ""
	}
	return r.grammar.family(r.base)
}

// lineError is what is wrong at a place of a line, before it has a file.
type lineError struct {
	at, width int // byte offsets in the line
	message   string
	help      string
}

func (c *lineError) Error() string { return c.message }

func errorAt(at, width int, help, format string, args ...any) *lineError {
	return &lineError{at: at, width: width, help: help, message: fmt.Sprintf(format, args...)}
}

// cursor walks over a line.
type cursor struct {
	line    string
	pos     int
	depth   int // of values in each other
	grammar *Grammar
}

func (c *cursor) rest() string { return c.line[c.pos:] }
func (c *cursor) done() bool   { return c.pos >= len(c.line) }
func (c *cursor) peek() byte {
	if c.done() {
		return 0
	}
	return c.line[c.pos]
}

func (c *cursor) skipBlanks() {
	for c.peek() == ' ' || c.peek() == '\t' {
		c.pos++
	}
}

// take consumes prefix if it is next.
func (c *cursor) take(prefix string) bool {
	if !strings.HasPrefix(c.rest(), prefix) {
		return false
	}
	c.pos += len(prefix)
	return true
}

var (
	nowForm     = regexp.MustCompile(`^\$now([+-]\d+(?:ms|s|m|h))?(@[+-]\d\d:\d\d)?`)
	fillerForm  = regexp.MustCompile(`^\$filler\(\s*(\d+)\s*([A-Za-z]*)\s*\)`)
	variantForm = regexp.MustCompile(`^(?:\.(\w+))?(@[a-z0-9]+)?`)
)

// startsName reports whether a name begins at the cursor; a $ before anything
// else is a literal dollar.
func (c *cursor) startsName() bool {
	return c.peek() == '$' && nameLength(c.line[c.pos+1:]) > 0
}

// nameLength returns how many bytes of s are a name: a small letter, then small letters, digits and underscores.
func nameLength(s string) int {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return i
		}
	}
	return len(s)
}

// name parses the name that begins at the cursor.
func (c *cursor) name() (*ref, error) {
	start := c.pos
	base := c.line[start+1:]
	base = base[:nameLength(base)]
	r := &ref{base: base, grammar: c.grammar}
	var err error
	switch base {
	case "now":
		err = c.nowName(r)
	case "filler":
		err = c.fillerName(r)
	default:
		c.pos += 1 + len(base)
		if formula := c.grammar.computed(base); formula != nil {
			r.computation = &computation{formula: formula}
			err = c.computedName(r)
			break
		}
		r.indexed = c.take("#")
	}
	r.text = c.line[start:c.pos]
	return r, err
}

func (c *cursor) nowName(r *ref) error {
	r.kind, r.computation = refNow, &computation{}
	m := nowForm.FindStringSubmatch(c.rest())
	start := c.pos
	c.pos += len(m[0])
	if m[1] != "" {
		d, err := time.ParseDuration(m[1])
		if err != nil {
			return errorAt(start, len(m[0]), "write $now+2s or $now-500ms", "%s is not a valid time", m[0])
		}
		r.offset = d
	}
	if m[2] != "" {
		at, err := time.Parse("-07:00", m[2][1:])
		if err != nil {
			return errorAt(start, len(m[0]), "write $now@+05:30", "%s is not a valid time zone", m[2])
		}
		r.zone = at.Location()
	}
	return nil
}

// maxFiller is the size of the largest filler, in bytes. A server may send back what it holds.
const maxFiller = 8 << 20

func (c *cursor) fillerName(r *ref) error {
	r.kind, r.computation = refFiller, &computation{}
	m := fillerForm.FindStringSubmatch(c.rest())
	if m == nil {
		return errorAt(c.pos, len("$filler"), "write $filler(64KiB)", "$filler needs a size in brackets")
	}
	n, err := strconv.Atoi(m[1])
	unit := map[string]int{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[m[2]]
	if err != nil || n < 1 || unit == 0 || n > maxFiller/unit {
		return errorAt(c.pos, len(m[0]), "write $filler(64KiB)", "a filler must have 1 B to 8 MiB (B, KiB or MiB)")
	}
	c.pos += len(m[0])
	r.size = n * unit
	return nil
}

// computedName parses what follows a computed name.
func (c *cursor) computedName(r *ref) error {
	if r.formula.Fields != nil {
		return c.objectName(r)
	}
	r.kind, r.same = refValue, true
	if next := c.peek(); next != '.' && next != '@' {
		return nil
	}
	start := c.pos - len("$") - len(r.base)
	m := variantForm.FindStringSubmatch(c.rest())
	c.pos += len(m[0])
	if m[1] != "" && !slices.Contains(r.formula.Variants, m[1]) {
		return errorAt(start, c.pos-start, didYouMean(m[1], r.formula.Variants), "there is no $%s.%s", r.base, m[1])
	}
	r.variant = m[1]
	if m[2] != "" {
		r.conn, r.same = m[2][1:], false
	}
	return nil
}

func (c *cursor) objectName(r *ref) error {
	r.kind = refObject
	if c.peek() != '{' {
		r.object = &Object{}
		return nil
	}
	start := c.pos
	n, err := c.value()
	if err != nil {
		return err
	}
	r.object = n.(*Object)
	return constant(r.object, start, c.pos-start)
}

// Cut stands in a client line where one segment ends and the next begins.
const Cut = "<|>"

// ParseTemplate parses the text of a client line in the segments into which
// <|> cuts it, at least one.
func ParseTemplate(d Dialect, text string) ([]Template, error) {
	return parseTemplate(&cursor{line: text, grammar: d.Grammar()})
}

// parseTemplate reads the text of a client line, cut where <|> stands.
func parseTemplate(c *cursor) ([]Template, error) {
	segments, begin := []Template{{}}, c.pos // begin: of literal text
	last := func() *Template { return &segments[len(segments)-1] }
	flush := func() {
		if begin < c.pos {
			*last() = append(*last(), part{source: c.line[begin:c.pos]})
		}
	}
	for !c.done() {
		switch {
		case strings.HasPrefix(c.rest(), Cut):
			flush()
			c.pos += len(Cut)
			begin = c.pos
			segments = append(segments, Template{})
		case c.take("$$"):
		case c.startsName():
			flush()
			r, err := c.name()
			if err != nil {
				return nil, err
			}
			*last() = append(*last(), part{ref: r})
			begin = c.pos
		default:
			end := len(c.line)
			if i := strings.IndexAny(c.line[c.pos+1:], "$<"); i >= 0 {
				end = c.pos + 1 + i
			}
			c.pos = end
		}
	}
	flush()
	return segments, nil
}

// refs lists the names of a template.
func (t Template) refs() (rs []*ref) {
	for _, p := range t {
		if p.ref != nil {
			rs = append(rs, p.ref)
		}
	}
	return rs
}

// singleRef returns the single name that the template consists of, or nil.
func (t Template) singleRef() *ref {
	if len(t) == 1 {
		return t[0].ref
	}
	return nil
}

// Rename returns the template with other names. rename gets each name as it is
// written, such as $jid4 or $queue#, and returns what is written instead, a name
// too. Computed values, such as $now, stay.
func (t Template) Rename(rename func(name string) string) (Template, error) {
	renamed := slices.Clone(t)
	for i, p := range renamed {
		if p.ref == nil || p.ref.kind != refPlain {
			continue
		}
		c := &cursor{line: rename(p.ref.text), grammar: p.ref.grammar}
		if !c.startsName() {
			return nil, fmt.Errorf("%q is not a name", c.line)
		}
		r, err := c.name()
		if err == nil && !c.done() {
			err = fmt.Errorf("%q is not a name", c.line)
		}
		if err != nil {
			return nil, err
		}
		renamed[i] = part{ref: r}
	}
	return renamed, nil
}

// Name is one use of a name in a template.
type Name struct{ ref *ref }

// String returns the name as it is written, such as $jid4, $queue# or $now+2s.
func (n Name) String() string { return n.ref.text }

// Base returns the name alone: jid4, queue or now.
func (n Name) Base() string { return n.ref.base }

// Indexed reports whether the name has one value for each repetition.
func (n Name) Indexed() bool { return n.ref.indexed }

// Computed returns the value of a name that depends on nothing but the time, such
// as $now+2s and $filler(64KiB); false if it is another name.
func (n Name) Computed(now time.Time) (string, bool) { return n.ref.computed(now) }

// Expand returns the text of the template with each name replaced by its value.
func (t Template) Expand(value func(Name) string) string {
	text, _ := t.expand(func(r *ref) (string, error) { return value(Name{r}), nil })
	return text
}

func (t Template) expand(value func(*ref) (string, error)) (string, error) {
	if len(t) == 1 && t[0].ref == nil {
		return t[0].literal(), nil
	}
	var b strings.Builder
	for _, p := range t {
		if p.ref == nil {
			b.WriteString(p.literal())
			continue
		}
		v, err := value(p.ref)
		if err != nil {
			return "", err
		}
		b.WriteString(v)
	}
	return b.String(), nil
}

// computed is the value of a name that depends on nothing but the time.
func (r *ref) computed(now time.Time) (string, bool) {
	switch r.kind {
	case refNow:
		t := now.UTC().Add(r.offset)
		if r.zone != nil {
			t = t.In(r.zone)
		}
		return t.Format(cmp.Or(r.grammar.Names.TimeForm, timeForm)), true
	case refFiller:
		return filler(r.size), true
	}
	return "", false
}

// JoinSegments returns the text of a client line in segments, as it is written.
func JoinSegments(segments []Template) string {
	return join(segments, Cut, Template.String)
}

// String returns the template as it was written.
func (t Template) String() string {
	var b strings.Builder
	for _, p := range t {
		if p.ref != nil {
			b.WriteString(p.ref.text)
		} else {
			b.WriteString(p.source)
		}
	}
	return b.String()
}
