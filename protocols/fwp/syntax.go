package fwp

import (
	"errors"
	"fmt"
	"io"
)

// Rule is a rule of RESP's grammar, or a limit of this package, that a reply broke. The zero Rule is none. (Server
// Protocol Sender; RESP)
type Rule uint8

// The rules. Each points at another mistake in a server.
const (
	// RuleType: a reply starts with one of the bytes + - : $ *.
	RuleType Rule = iota + 1
	// RuleLineEnd: a line (of text, a length or an integer) ends with CR and LF, not
	// with one of them.
	RuleLineEnd
	// RuleTextBreak: a simple string or an error holds no CR before the CRLF that
	// ends it. (An LF before it counts as an end without its CR.)
	RuleTextBreak
	// RuleLength: a length is a decimal number without sign, leading zeros or
	// white space that fits into 63 bits, and for a bulk string at most 512 MiB; the
	// only negative one is -1.
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
	// an array within 65536 elements. This is a limit of this package.
	RuleTooLong
	// RuleTruncated: the stream does not end inside a reply.
	RuleTruncated
	// RuleDepth: arrays are nested at most 8 deep. This is a limit of this package.
	RuleDepth
)

var ruleNames = [...]string{
	RuleType:       "reply type",
	RuleLineEnd:    "line end",
	RuleTextBreak:  "line break in text",
	RuleLength:     "length",
	RuleBulkEnd:    "bulk string end",
	RuleCharacters: "length in characters",
	RuleNull:       "null",
	RuleInteger:    "integer",
	RuleTooLong:    "too long",
	RuleTruncated:  "truncated",
	RuleDepth:      "nesting depth",
}

// String returns a short name of the rule.
func (r Rule) String() string {
	if int(r) < len(ruleNames) && r > 0 {
		return ruleNames[r]
	}
	return fmt.Sprintf("rule %d", uint8(r))
}

// SyntaxError is the error for a reply that breaks the grammar or exceeds a limit. The rest of the stream cannot be
// split into replies. (Server Protocol Sender; RESP)
type SyntaxError struct {
	// Rule is the rule that was broken.
	Rule Rule
	// Offset is the first wrong byte, counted from 0 at the start of the stream (for
	// [Decode]: of its argument). For RuleNull and RuleTooLong it may be the start of
	// the wrong length.
	Offset int64
	// Expected describes what the grammar requires there.
	Expected string
	// Got quotes the bytes at Offset, and some before them, as a Go string literal. It has what was received when the
	// error was found, so its length depends on the sizes of the reads.
	Got string
	// Kind is the kind of the reply; Array if one of its elements is wrong. It is zero if the first byte is not a
	// kind.
	Kind Kind
}

// Limit reports whether the reply is beyond a limit of this package or of the reader, and breaks no rule of RESP.
func (e *SyntaxError) Limit() bool { return e.Rule == RuleTooLong || e.Rule == RuleDepth }

// Foreign reports whether a reply that exceeds a limit cannot be the response to verb, whatever follows. An empty
// verb stands for the greeting of a new connection. The kind decides; of simple strings, OK is the only one that
// answers most verbs, so a longer one is foreign. (Client Commands, Responses)
func (e *SyntaxError) Foreign(verb string) bool {
	long := e.Kind == SimpleString && verb != BEAT && isVerb(verb)
	return e.Limit() && (long || !e.Kind.Answers(verb))
}

// Error returns the rule, the offset, what was expected and what was received.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("reply syntax (%s): byte %d: expected %s, got %s", e.Rule, e.Offset, e.Expected, e.Got)
}

// Unwrap returns io.ErrUnexpectedEOF for RuleTruncated and nil for all other rules.
func (e *SyntaxError) Unwrap() error {
	if e.Rule == RuleTruncated {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// ErrShort is the error of [Decode] for the beginning of a reply: more bytes are needed.
var ErrShort = errors.New("the reply is not complete")
