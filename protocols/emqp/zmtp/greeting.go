package zmtp

import "bytes"

// GreetingSize is the size of a greeting, in octets. (Formal Grammar)
const GreetingSize = 64

// FirstPiece is the size of the signature and the major version, in octets. A peer can choose its version after them.
// (Version Negotiation)
const FirstPiece = 11

// NULL is the mechanism without authentication. (The NULL Security Mechanism)
const NULL = "NULL"

// Version is a version of the protocol.
type Version struct{ Major, Minor byte }

// Pings reports whether the version has PING and PONG. (Changes from ZMTP 3.0)
func (v Version) Pings() bool { return v.Major > 3 || v.Major == 3 && v.Minor >= 1 }

// isKnown reports whether the filler of the version is known.
func (v Version) isKnown() bool { return v.Major == 3 && v.Minor <= 1 }

// Greeting is the start of a connection, in each direction. (Formal Grammar)
type Greeting struct {
	Padding   [8]byte // ignored; zeros, or for older peers the size of an identity plus 1
	Version   Version
	Mechanism string // at most 20 octets
	AsServer  byte   // 0 if the mechanism is NULL
	Filler    [31]byte
}

// NewGreeting returns the greeting of a 3.1 peer with the NULL mechanism.
func NewGreeting() Greeting { return Greeting{Version: Version{3, 1}, Mechanism: NULL} }

// Append appends the 64 octets of the greeting to b. It checks nothing, and cuts a mechanism after 20 octets.
func (g Greeting) Append(b []byte) []byte {
	var mechanism [20]byte
	copy(mechanism[:], g.Mechanism)
	b = append(append(append(b, 0xff), g.Padding[:]...), 0x7f, g.Version.Major, g.Version.Minor)
	b = append(append(b, mechanism[:]...), g.AsServer)
	return append(b, g.Filler[:]...)
}

// ParseGreeting parses the greeting at the start of b. ok is false, without an error, if b is the valid start of a
// greeting and too short. The error is a *[SyntaxError].
func ParseGreeting(b []byte) (g Greeting, ok bool, err error) {
	b = b[:min(len(b), GreetingSize)]
	if err := checkGreeting(b); err != nil {
		return g, false, err
	}
	if len(b) < GreetingSize {
		return g, false, nil
	}
	copy(g.Padding[:], b[1:9])
	g.Version = Version{b[10], b[11]}
	g.Mechanism = string(bytes.TrimRight(b[12:32], "\x00"))
	g.AsServer = b[32]
	copy(g.Filler[:], b[33:])
	return g, true, nil
}

// checkGreeting returns the first thing that is wrong with the beginning of a greeting, nil if that is nothing.
func checkGreeting(b []byte) error {
	for i := range b {
		if rule, expected := checkOctet(b, i); rule != "" {
			return newSyntaxError(rule, b, i, expected)
		}
	}
	return nil
}

// checkOctet returns the rule that the octet i of a greeting breaks, and what is expected instead; "" if it breaks
// none. The octets before it are right.
func checkOctet(b []byte, i int) (rule Rule, expected string) {
	c := b[i]
	switch {
	case i == 0 && c != 0xff:
		return RuleSignature, "the octet FF, with which a greeting begins"
	case i == 9 && c != 0x7f:
		return RuleSignature, "the octet 7F, which ends the signature"
	case i == 10 && c < 3:
		return RuleVersion, "version 3 or higher"
	case i >= 12 && i < 32:
		return checkMechanism(b, i)
	case i == 32:
		return checkAsServer(b)
	case i > 32 && c != 0 && (Version{b[10], b[11]}).isKnown():
		return RuleFiller, "zeros to the end of the greeting"
	}
	return "", ""
}

// checkMechanism is checkOctet inside the name of the mechanism, which ends with its first zero.
func checkMechanism(b []byte, i int) (Rule, string) {
	isPadding := i > 12 && b[i-1] == 0
	if c := b[i]; c != 0 && (isPadding || !isMechanismChar(c)) {
		return RuleMechanism, "the name of a mechanism, and zeros behind it"
	}
	return "", ""
}

func checkAsServer(b []byte) (Rule, string) {
	isNull := string(bytes.TrimRight(b[12:32], "\x00")) == NULL
	switch {
	case isNull && b[32] != 0:
		return RuleAsServer, "as-server 0, since the mechanism is NULL"
	case b[32] > 1:
		return RuleAsServer, "as-server 0 or 1"
	}
	return "", ""
}

func isMechanismChar(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '+'
}
