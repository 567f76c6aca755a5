package blockq

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/internal/session"
)

// The bounds of the protocol, in bytes: of a name, queue or id, of a line without CRLF, and of a block.
const (
	maxName  = 64
	maxLine  = 256
	maxBlock = 1 << 20
)

// Line is a command or a reply.
type Line struct {
	Words []string // without the size of a block
	Block []byte   // of put and JOB
}

// wordsOf has the number of words of each line, by its first one; a put and a JOB have the size of a block as well. ERR
// has any number.
var wordsOf = map[string]int{
	"join": 2, "put": 3, "take": 2, "done": 2, "count": 2, "ping": 1, "bye": 1, "OK": 1, "NONE": 1, "JOB": 2, "COUNT": 2,
}

// Append appends a line as it is sent. It checks nothing.
func Append(out []byte, l Line) []byte {
	out = append(out, strings.Join(l.Words, " ")...)
	if l.Words[0] == "put" || l.Words[0] == "JOB" {
		return appendBlock(out, len(l.Block), l.Block)
	}
	return append(out, "\r\n"...)
}

// appendBlock appends the size that ends a line, and the block that follows it.
func appendBlock(out []byte, size int, block []byte) []byte {
	out = strconv.AppendInt(append(out, ' '), int64(size), 10)
	out = append(append(out, "\r\n"...), block...)
	return append(out, "\r\n"...)
}

// Parse reads the first line in b, with its block, and returns how many bytes it takes. The line keeps no part of b. The
// error is [session.ErrShort] while b is the beginning of a line, and a *[session.SyntaxError] if it is wrong: then n is
// the length of the line, or 0 if it is unknown where the next one begins.
func Parse(b []byte) (l Line, n int, err error) {
	end := bytes.Index(b[:min(len(b), maxLine+2)], []byte("\r\n"))
	switch {
	case end < 0 && len(b) < maxLine+2:
		return l, 0, session.ErrShort
	case end < 0:
		return l, 0, wrong(b, 0, "a shorter line")
	}
	l.Words, n = strings.Split(string(b[:end]), " "), end+2
	if l.Words[0] != "put" && l.Words[0] != "JOB" {
		if !l.valid() {
			err = wrong(b, 0, "a line of the protocol")
		}
		return l, n, err
	}
	last := len(l.Words) - 1
	size, fine := number(l.Words[last], maxBlock)
	if l.Words = l.Words[:last]; !fine || !l.valid() {
		return l, 0, wrong(b, 0, "a line of the protocol with the size of a block")
	}
	rest := b[n:]
	switch {
	case len(rest) > size && rest[size] != '\r', len(rest) > size+1 && rest[size+1] != '\n':
		return l, 0, wrong(b, n+size, "the end of the block")
	case len(rest) < size+2:
		return l, 0, session.ErrShort
	}
	l.Block = slices.Clone(rest[:size])
	return l, n + size + 2, nil
}

// wrong returns the error for bytes of which those from an offset on are not what is expected.
func wrong(b []byte, offset int, expected string) error {
	got := strconv.QuoteToASCII(string(b[offset:min(len(b), offset+16)]))
	return &session.SyntaxError{Rule: Rule, Offset: int64(offset), Expected: expected, Got: got}
}

// valid reports whether the words are those of a line.
func (l Line) valid() bool {
	if len(l.Words) == 0 || l.Words[0] == "ERR" {
		return len(l.Words) > 1
	}
	if most, known := wordsOf[l.Words[0]]; !known || len(l.Words) != most {
		return false
	}
	_, counted := number(l.Words[len(l.Words)-1], maxBlock)
	return (l.Words[0] != "COUNT" || counted) && !slices.ContainsFunc(l.Words, func(word string) bool { return !isName(word) })
}

// Rule is the rule of the grammar, of which there is one.
const Rule = "grammar"

// number reads a decimal number without leading zeros.
func number(word string, most int) (int, bool) {
	n, err := strconv.Atoi(word)
	return n, err == nil && n >= 0 && n <= most && strconv.Itoa(n) == word
}

// isName reports whether a word is a name: printable ASCII, and not too long.
func isName(word string) bool {
	return word != "" && len(word) <= maxName && !strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r > '~' })
}
