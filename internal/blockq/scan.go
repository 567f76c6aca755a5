package blockq

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrShort reports that the bytes so far are a beginning, and that more must follow.
var ErrShort = errors.New("blockq: incomplete")

// SyntaxError reports bytes that break the grammar.
type SyntaxError struct {
	Offset   int64  // of the first wrong byte: in the bytes given to Decode, in a Reader's stream
	Expected string // what the grammar allows there
	Got      string // what is there instead, quoted
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("byte %d: expected %s, got %s", e.Offset, e.Expected, e.Got)
}

// scanner reads the parts of a reply or command from left to right. Its first error
// is kept, and every method returns its zero value after it. It fails at the first
// wrong byte, so bytes that follow do not change an error.
type scanner struct {
	b   []byte
	pos int
	err error
}

func (s *scanner) rest() []byte { return s.b[s.pos:] }

// fail records that the byte at offset is not what is expected, or that it is missing.
func (s *scanner) fail(offset int, expected string) {
	switch {
	case s.err != nil:
	case offset >= len(s.b):
		s.err = ErrShort
	default:
		got := s.b[offset:min(offset+16, len(s.b))]
		if line, _, ended := bytes.Cut(got, []byte("\r\n")); ended && len(line) > 0 {
			got = line
		}
		s.err = &SyntaxError{Offset: int64(offset), Expected: expected, Got: strconv.QuoteToASCII(string(got))}
	}
}

// keyword reads one of words, none of which begins with another.
func (s *scanner) keyword(words ...string) string {
	if s.err != nil {
		return ""
	}
	longest := 0
	for _, word := range words {
		n := commonPrefix(word, s.rest())
		if n == len(word) {
			s.pos += n
			return word
		}
		longest = max(longest, n)
	}
	s.fail(s.pos+longest, quotedList(words))
	return ""
}

// quotedList returns words as "a" or "a", "b" or "c".
func quotedList(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = strconv.Quote(word)
	}
	last := len(quoted) - 1
	if last == 0 {
		return quoted[0]
	}
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}

func commonPrefix(word string, b []byte) int {
	n := 0
	for n < len(word) && n < len(b) && word[n] == b[n] {
		n++
	}
	return n
}

// run reads the bytes for which allowed holds: at least one, at most limit.
func (s *scanner) run(expected string, limit int, allowed func(byte) bool) []byte {
	if s.err != nil {
		return nil
	}
	rest := s.rest()
	n := 0
	for n < len(rest) && n < limit && allowed(rest[n]) {
		n++
	}
	if n == 0 || n == len(rest) {
		s.fail(s.pos+n, expected)
		return nil
	}
	s.pos += n
	return rest[:n]
}

// name reads a space and a name.
func (s *scanner) name(expected string) string {
	s.keyword(" ")
	return string(s.run(expected, MaxName, func(c byte) bool { return c > ' ' && c < 0x7f }))
}

// text reads a space and the rest of the line.
func (s *scanner) text(expected string) string {
	s.keyword(" ")
	return string(s.run(expected, maxLine, func(c byte) bool { return c >= ' ' && c < 0x7f }))
}

// number reads a space and a decimal number without leading zeros, not above limit.
func (s *scanner) number(expected string, limit int) int {
	s.keyword(" ")
	start := s.pos
	digits := s.run(expected, len("1048576"), func(c byte) bool { return c >= '0' && c <= '9' })
	if s.err != nil {
		return 0
	}
	n, err := strconv.Atoi(string(digits))
	if err != nil || n > limit || digits[0] == '0' && len(digits) > 1 {
		s.fail(start, expected)
	}
	return n
}

func (s *scanner) lineEnd() { s.keyword("\r\n") }

// block reads n bytes and the CRLF behind them. The result aliases the scanner's bytes.
func (s *scanner) block(n int) []byte {
	if s.err != nil {
		return nil
	}
	if len(s.rest()) < n {
		s.err = ErrShort
		return nil
	}
	block := s.rest()[:n:n]
	s.pos += n
	s.lineEnd()
	return block
}
