package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// maxDepth is how deep values may nest in a job.
const maxDepth = 1000

// scanner reads JSON without building it. The first thing that is wrong stays in
// problem; from then on nothing moves.
type scanner struct {
	text    []byte
	at      int
	problem string
}

func (s *scanner) fail(problem string) {
	s.problem = cmp.Or(s.problem, problem)
}

// peek returns the next byte that is not white space, 0 at the end or after a failure.
func (s *scanner) peek() byte {
	if s.problem != "" {
		return 0
	}
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// take steps over c if it comes next.
func (s *scanner) take(c byte) bool {
	if s.peek() != c || s.at == len(s.text) {
		return false
	}
	s.at++
	return true
}

func (s *scanner) need(c byte) {
	if !s.take(c) {
		s.fail("expected " + string(rune(c)))
	}
}

// hasMember reports whether an object or array that ends with closing has another member.
func (s *scanner) hasMember(isFirst bool, closing byte) bool {
	if s.problem != "" || s.take(closing) {
		return false
	}
	if !isFirst {
		s.need(',')
	}
	return s.problem == ""
}

// raw steps over a string and returns what stands between its quotes, and whether
// there is an escape in it.
func (s *scanner) raw() (text []byte, hasEscape bool) {
	s.need('"')
	if s.problem != "" {
		return nil, false
	}
	for start := s.at; ; s.at++ {
		s.at += plainLength(s.text[s.at:])
		switch {
		case s.at == len(s.text):
			s.fail("expected the end of a string")
			return nil, false
		case s.text[s.at] == '"':
			s.at++
			return s.text[start : s.at-1], hasEscape
		case s.text[s.at] == '\\':
			hasEscape = true
			if s.escape(); s.problem != "" {
				return nil, false
			}
		default:
			s.fail("expected no control character in a string")
			return nil, false
		}
	}
}

// plainLength returns how many bytes of a string come before a quote, an escape or a control character. A large job
// spends most of its time here.
func plainLength(text []byte) int {
	for i, c := range text {
		if c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return len(text)
}

// escape steps from a backslash to the last byte of its escape.
func (s *scanner) escape() {
	s.at++
	if s.at == len(s.text) {
		s.fail("expected the end of a string")
		return
	}
	switch s.text[s.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
	case 'u':
		for range 4 {
			s.at++
			if s.at == len(s.text) || hexValue(s.text[s.at]) < 0 {
				s.fail("expected four hexadecimal digits after \\u")
				return
			}
		}
	default:
		s.fail("expected another letter after a backslash")
	}
}

// str reads a string. The result lies in the text that is scanned, unless there are
// escapes in it.
func (s *scanner) str() []byte {
	text, hasEscape := s.raw()
	if hasEscape {
		return unescape(text)
	}
	return text
}

func hexValue(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return -1
}

// unescape resolves the escapes of a string that was scanned.
func unescape(text []byte) []byte {
	var resolved string
	_ = json.Unmarshal(slices.Concat([]byte{'"'}, text, []byte{'"'}), &resolved) // it is a valid string
	return []byte(resolved)
}

// skip steps over a value of any kind.
func (s *scanner) skip(depth int) {
	if depth > maxDepth {
		s.fail(fmt.Sprintf("expected at most %d levels", maxDepth))
		return
	}
	switch c := s.peek(); {
	case c == '"':
		s.raw()
	case c == '{':
		s.at++
		for isFirst := true; s.hasMember(isFirst, '}'); isFirst = false {
			s.peek()
			s.raw()
			s.need(':')
			s.skip(depth + 1)
		}
	case c == '[':
		s.at++
		for isFirst := true; s.hasMember(isFirst, ']'); isFirst = false {
			s.skip(depth + 1)
		}
	case c == '-' || c >= '0' && c <= '9':
		s.number()
	default:
		s.word()
	}
}

// value steps over a value and returns it as it stands there.
func (s *scanner) value() []byte {
	s.peek()
	from := s.at
	s.skip(1)
	return s.text[from:s.at]
}

func (s *scanner) word() {
	for _, word := range [...]string{"true", "false", "null"} {
		if rest := s.text[s.at:]; len(rest) >= len(word) && string(rest[:len(word)]) == word {
			s.at += len(word)
			return
		}
	}
	s.fail("expected a value")
}

// number steps over a number and returns it if it is an integer that fits.
func (s *scanner) number() (n int64, isInteger bool) {
	from := s.at
	for s.at < len(s.text) && s.text[s.at]-'0' <= 9 {
		n = 10*n + int64(s.text[s.at]-'0')
		s.at++
	}
	digits, end := s.at-from, s.at
	for s.at < len(s.text) && strings.IndexByte("0123456789+-.eE", s.text[s.at]) >= 0 {
		s.at++
	}
	if s.at == end && digits < 19 && (digits == 1 || s.text[from] != '0') { // as most are
		return n, true
	}
	text := s.text[from:s.at]
	if !json.Valid(text) {
		s.at = from
		s.fail("expected a number")
		return 0, false
	}
	return integer(string(text))
}

// integer reads a number that must be an integer that fits.
func (s *scanner) integer() int64 {
	if c := s.peek(); c == '-' || c >= '0' && c <= '9' {
		if n, isInteger := s.number(); isInteger {
			return n
		}
	}
	s.fail("expected an integer")
	return 0
}

// integer returns the integer that a number with a fraction or an exponent stands for: 42.0
// and 4.2e1 are 42. Servers may write numbers anew. What is longer than any way to write
// 64 bits that makes sense is none.
func integer(text string) (n int64, isInteger bool) {
	const longest, greatest = 64, 64 // bytes; exponent
	if len(text) > longest {
		return 0, false
	}
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		if exponent, err := strconv.Atoi(text[e+1:]); err != nil || max(exponent, -exponent) > greatest {
			return 0, false
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}
