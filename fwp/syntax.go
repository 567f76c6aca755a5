package fwp

import (
	"errors"
	"fmt"
	"io"
)

// Rule names the rule of RESP's grammar, or the limit of this package, that a reply
// broke. The zero Rule is none. (Server Protocol Sender; RESP)
type Rule uint8

// The rules, each told apart because each points at another mistake in a server.
const (
	// RuleType: a reply starts with one of the bytes + - : $ *.
	RuleType Rule = iota + 1
	// RuleLineEnd: a line (of text, a length or an integer) ends with CR and LF, not
	// with one of them.
	RuleLineEnd
	// RuleTextBreak: a simple string or an error holds no CR before the CRLF that
	// ends it. (An LF before it is taken for an end without its CR.)
	RuleTextBreak
	// RuleLength: a length is a decimal number without sign, leading zeros or
	// white space that fits into 63 bits; the only negative one is -1.
	RuleLength
	// RuleBulkEnd: CRLF follows a bulk string where its announced length ends.
	RuleBulkEnd
	// RuleCharacters: the same, and the announced length is that of the text in
	// characters instead of bytes.
	RuleCharacters
	// RuleNull: the null is $-1, not *-1 and not an empty bulk string.
	RuleNull
	// RuleInteger: an integer is an optional sign and decimal digits, and fits
	// into a signed 64-bit number.
	RuleInteger
	// RuleTooLong: a reply stays within the limit that the reader was given, and
	// an array within 65536 elements. This limit is ours, not the protocol's.
	RuleTooLong
	// RuleTruncated: the stream does not end inside a reply.
	RuleTruncated
	// RuleDepth: arrays are nested at most 8 deep. This limit is ours.
	RuleDepth
)

// String names the rule in a few words.
func (r Rule) String() string {
	switch r {
	case RuleType:
		return "reply type"
	case RuleLineEnd:
		return "line end"
	case RuleTextBreak:
		return "line break in text"
	case RuleLength:
		return "length"
	case RuleBulkEnd:
		return "bulk string end"
	case RuleCharacters:
		return "length in characters"
	case RuleNull:
		return "null"
	case RuleInteger:
		return "integer"
	case RuleTooLong:
		return "too long"
	case RuleTruncated:
		return "truncated"
	case RuleDepth:
		return "nesting depth"
	}
	return fmt.Sprintf("rule %d", uint8(r))
}

// SyntaxError is a peer that broke the grammar. What follows on that stream cannot
// be told into replies any more. (Server Protocol Sender; RESP)
type SyntaxError struct {
	// Rule is the rule that was broken.
	Rule Rule
	// Offset is the first byte that cannot be right, counted from 0 at the start
	// of the stream (for [Decode]: of its argument). For RuleNull and RuleTooLong
	// it may be the start of the length that announces the wrong thing.
	Offset int64
	// Expected says in words what belongs there.
	Expected string
	// Got quotes, as a Go string literal, the bytes at Offset that had come when
	// the error became certain, and some before them; so it may say more or less
	// about the same stream when that is cut differently.
	Got string
}

// Error says where the stream goes wrong, which rule it breaks, what was expected
// and what came.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("reply syntax (%s): byte %d: expected %s, got %s", e.Rule, e.Offset, e.Expected, e.Got)
}

// Unwrap gives io.ErrUnexpectedEOF for RuleTruncated and nil for all other rules.
func (e *SyntaxError) Unwrap() error {
	if e.Rule == RuleTruncated {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// ErrShort is what [Decode] returns while the bytes at hand are the proper beginning
// of a reply: more of them are needed.
var ErrShort = errors.New("the reply is not complete")
