package values

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// trait is something that a text has: a kind of characters, or of writing them.
type trait uint8

// The traits that are no categories of Unicode.
const (
	controls trait = iota
	nul
	deleteChar
	quotes
	backslashes
	angles
	inner
	first
	last
	shortEscape
	slashEscape
	smallEscape
	capitalEscape
	pairEscape
	plane1
	plane2
	plane14
	privatePlanes
	noCharacter
	likeNumber
	likeLiteral
	likeJSON
	likeReply
	categories // the first of them
)

var traitNames = [categories]string{
	"control characters", "NUL", "DEL", "quotes", "backslashes", "angle brackets", "spaces between", "a space first",
	"a space last", "short escapes", "escaped slash", `\u in small letters`, `\u in capitals`, "escaped pair", "plane 1",
	"plane 2", "plane 14", "planes 15 and 16", "no character", "like a number", "like a literal", "like JSON",
	"like a reply",
}

// tables are the categories of Unicode that are told apart beyond ASCII.
var tables = []struct {
	name string
	of   *unicode.RangeTable
}{
	{"Lu", unicode.Lu}, {"Ll", unicode.Ll}, {"Lt", unicode.Lt}, {"Lm", unicode.Lm}, {"Lo", unicode.Lo},
	{"Mn", unicode.Mn}, {"Mc", unicode.Mc}, {"Me", unicode.Me}, {"N", unicode.N}, {"P", unicode.P}, {"Sm", unicode.Sm},
	{"Sc", unicode.Sc}, {"Sk", unicode.Sk}, {"So", unicode.So}, {"Zs", unicode.Zs}, {"Zl", unicode.Zl},
	{"Zp", unicode.Zp}, {"Cc", unicode.Cc}, {"Cf", unicode.Cf}, {"Co", unicode.Co},
}

// mostRunes is how many characters beyond ASCII of a text are looked at.
const mostRunes = 32

// textReader collects the traits of one text.
type textReader struct {
	traits uint64
	length int // in bytes, without quotes and escapes
	runes  int // beyond ASCII
}

func (t *textReader) has(of trait) { t.traits |= 1 << of }

// text reads a text.
func (r *reader) text(part string) bool {
	var t textReader
	at := 1
	for at < len(r.rest) && r.rest[at] != '"' {
		switch c := r.rest[at]; {
		case c == '\\' && r.unseen(part):
			at += 2
		case c > '>' && c < 0x7f && c != '\\', r.unseen(part):
			t.length++
			at++
		case c == '\\':
			at += t.escape(r.rest[at:])
		case c < utf8.RuneSelf:
			t.ascii(c)
			t.length++
			at++
		default:
			char, size := utf8.DecodeRune(r.rest[at:])
			t.beyond(char)
			t.length += size
			at += size
		}
	}
	if at >= len(r.rest) {
		return false
	}
	inside := r.rest[1:at]
	r.rest = r.rest[at+1:]
	r.tell(part, wording().lengths.of(uint64(t.length)))
	if r.instant(part, inside) {
		return true
	}
	t.looks(inside)
	r.tellTraits(part, t.traits)
	return true
}

// tellTraits passes on a class for each trait of a text.
func (r *reader) tellTraits(part string, traits uint64) {
	for of := range int(categories) + len(tables) {
		switch {
		case traits&(1<<of) == 0:
		case of < int(categories):
			r.tell(part, traitNames[of])
		default:
			r.tell(part, "category "+tables[of-int(categories)].name)
		}
	}
}

// ascii records a character of ASCII.
func (t *textReader) ascii(c byte) {
	switch {
	case c == ' ':
		t.has(inner)
	case c == '<' || c == '>' || c == '&':
		t.has(angles)
	case c == 0x7f:
		t.has(deleteChar)
	case c < ' ':
		t.has(controls)
	}
}

// beyond records a character that is not ASCII.
func (t *textReader) beyond(c rune) {
	if t.runes++; t.runes > mostRunes {
		return
	}
	switch plane := c >> 16; {
	case c&0xfffe == 0xfffe:
		t.has(noCharacter)
	case plane == 1:
		t.has(plane1)
	case plane == 2:
		t.has(plane2)
	case plane == 14:
		t.has(plane14)
	case plane > 14:
		t.has(privatePlanes)
	}
	for i := range tables {
		if unicode.Is(tables[i].of, c) {
			t.has(categories + trait(i))
			return
		}
	}
}

// escape records what a backslash begins, and returns how many bytes that are.
func (t *textReader) escape(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	if t.length++; b[1] != 'u' || len(b) < 6 {
		switch b[1] {
		case '"':
			t.has(quotes)
		case '\\':
			t.has(backslashes)
		case '/':
			t.has(slashEscape)
		default:
			t.has(shortEscape)
		}
		return 2
	}
	code, _ := strconv.ParseUint(string(b[2:6]), 16, 16) // what is no number is no JSON either
	switch c := rune(code); {
	case c == 0:
		t.has(nul)
	case c < ' ':
		t.has(controls)
	case c >= 0xd800 && c < 0xe000:
		t.has(pairEscape)
		t.length++
	case c >= utf8.RuneSelf:
		t.length += utf8.RuneLen(c) - 1
		t.beyond(c)
	}
	switch {
	case bytes.ContainsAny(b[2:6], "abcdef"):
		t.has(smallEscape)
	case bytes.ContainsAny(b[2:6], "ABCDEF"):
		t.has(capitalEscape)
	}
	return 6
}

// looks records what a whole text looks like.
func (t *textReader) looks(inside []byte) {
	const longest = 64
	if len(inside) == 0 {
		return
	}
	if inside[0] == ' ' {
		t.has(first)
	}
	if inside[len(inside)-1] == ' ' {
		t.has(last)
	}
	if len(inside) > longest {
		return
	}
	switch text := string(inside); {
	case text == "true" || text == "false" || text == "null" || text == "nil":
		t.has(likeLiteral)
	case strings.IndexByte("{[", text[0]) >= 0:
		t.has(likeJSON)
	case strings.IndexByte("+-$*:", text[0]) >= 0 && len(text) > 1:
		t.has(likeReply)
	case numeric(text):
		t.has(likeNumber)
	}
}

func numeric(text string) bool {
	if text[0] > '9' && text[0] != 'I' && text[0] != 'N' {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// instant classifies a text that is a time, and reports whether it is one.
func (r *reader) instant(part string, inside []byte) bool {
	const shortest = len("2006-01-02T15:04:05Z")
	if len(inside) < shortest || inside[4] != '-' || inside[10] != 'T' {
		return false
	}
	at, err := time.Parse(time.RFC3339, string(inside))
	if err != nil {
		return false
	}
	digits := 0
	if inside[19] == '.' {
		for digits = 0; inside[20+digits] >= '0' && inside[20+digits] <= '9'; digits++ {
		}
	}
	w := wording()
	r.tell(part, w.fractions[min(digits, len(w.fractions)-1)])
	r.tell(part, zoneOf(inside))
	r.tell(part, w.months[at.Month()-1])
	r.tell(part, w.hours[at.Hour()])
	if r.tell(part, spanOf(at, r.now)); at.Month() == time.February && at.Day() == 29 {
		r.tell(part, "29 February")
	}
	return true
}

// zoneOf returns the class of the offset at the end of a time.
func zoneOf(inside []byte) string {
	zone := string(inside[len(inside)-len("+00:00"):])
	switch {
	case zone[5] == 'Z':
		return "Z"
	case zone[1:] == "00:00":
		return "offset " + zone
	case zone[4:] != "00":
		return "offset of minutes"
	case zone[0] == '-':
		return "offset behind"
	}
	return "offset ahead"
}

// spanOf returns how a time lies in the calendar, and to now.
func spanOf(at, now time.Time) string {
	switch year, ahead := at.UTC().Year(), at.Sub(now); {
	case year < 1583:
		return "before 1583"
	case year < 1902:
		return "before 1902"
	case year < 1970:
		return "before 1970"
	case year < 2000:
		return "before 2000"
	case ahead < -time.Hour:
		return "past"
	case ahead < 0:
		return "in the last hour"
	case ahead < 20*time.Second:
		return "in 20 s"
	case ahead < time.Hour:
		return "in an hour"
	case year < 2038:
		return "future"
	case year < 2106:
		return "from 2038"
	case year < 2263:
		return "from 2106"
	}
	return "from 2263"
}
