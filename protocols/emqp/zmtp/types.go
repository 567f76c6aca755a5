package zmtp

import (
	"fmt"
	"slices"
	"strconv"
)

// The socket types of the two sockets of the package. (The Socket-Type Property)
const (
	DEALER = "DEALER"
	ROUTER = "ROUTER"
)

// isSocketType reports whether the text is a socket type.
func isSocketType(text string) bool {
	return slices.Contains([]string{
		"REQ", "REP", DEALER, ROUTER, "PUB", "XPUB", "SUB", "XSUB", "PUSH", "PULL", "PAIR",
		"CLIENT", "SERVER", "RADIO", "DISH", "SCATTER", "GATHER", "PEER", "CHANNEL",
	}, text)
}

// Compatible reports whether a socket of the type ours, DEALER or ROUTER, may talk to one of the type theirs. (The
// Socket-Type Property)
func Compatible(ours, theirs string) bool {
	other := map[string]string{DEALER: "REP", ROUTER: "REQ"}[ours]
	return other != "" && (theirs == DEALER || theirs == ROUTER || theirs == other)
}

// Rule names the rule that a peer breaks. Its text is stable.
type Rule string

// The rules. The last three are limits of this package, see [Limits].
const (
	RuleSignature Rule = "signature"       // FF, eight octets of any value, 7F (Formal Grammar)
	RuleVersion   Rule = "version"         // 3 or higher (Version Negotiation)
	RuleMechanism Rule = "mechanism"       // its characters, then zeros (Formal Grammar)
	RuleAsServer  Rule = "as-server"       // 0 or 1; 0 if the mechanism is NULL (The NULL Security Mechanism)
	RuleFiller    Rule = "filler"          // 31 zeros, in a known version (Formal Grammar)
	RuleReserved  Rule = "reserved"        // bits 7 to 3 of the flags are zero (Framing)
	RuleMore      Rule = "more"            // a command has no MORE (Framing)
	RuleSize      Rule = "size"            // a long size is below 2^63, and fits into the stream (Framing)
	RuleHandshake Rule = "handshake"       // READY or ERROR first, READY once (The NULL Security Mechanism)
	RuleCommand   Rule = "command"         // the name of a command (Formal Grammar)
	RuleMetadata  Rule = "metadata"        // properties of READY (The NULL Security Mechanism)
	RuleType      Rule = "type"            // a Socket-Type that exists (The Socket-Type Property)
	RuleIdentity  Rule = "identity"        // up to 255 octets, the first is not zero (The Identity Property)
	RuleReason    Rule = "reason"          // of ERROR (The NULL Security Mechanism)
	RulePing      Rule = "ping"            // the data of PING and PONG (Connection Heartbeating)
	RuleTruncated Rule = "truncated"       // the stream ends inside of a greeting, a frame or a message
	RuleTooLong   Rule = "too long"        // more octets than the limit
	RuleTooMany   Rule = "too many"        // more frames in a message than the limit
	RuleInside    Rule = "too much inside" // too many octets of commands between the frames of one message
)

// Limit reports whether r is a limit of this package, which the specification does not have.
func (r Rule) Limit() bool { return r == RuleTooLong || r == RuleTooMany || r == RuleInside }

// SyntaxError is the error for octets that break the grammar or exceed a limit of this package. The rest of the
// stream cannot be split into frames.
type SyntaxError struct {
	Rule     Rule
	Offset   int64  // of the first wrong octet, from 0: in the stream, or in the argument of a Parse function
	Expected string // in words
	Got      string // quoted
}

// Error returns where the stream goes wrong, and which rule it breaks.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("ZMTP syntax (%s): octet %d: expected %s, got %s", e.Rule, e.Offset, e.Expected, e.Got)
}

// newSyntaxError returns the error for the octets at an offset of b.
func newSyntaxError(rule Rule, b []byte, at int, expected string) *SyntaxError {
	got := "the end of the data"
	if at < len(b) {
		got = strconv.QuoteToASCII(string(b[at:min(at+16, len(b))]))
	}
	return &SyntaxError{Rule: rule, Offset: int64(at), Expected: expected, Got: got}
}
