package fakeworker

import (
	"encoding/hex"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// hashFaults are wrong passwords. (HELLO, Required Fields for Protected Server)
var hashFaults = []Fault{
	hashFault("hash-array", "AUTH-01 AUTH-03", "Its pwdhash is an array.",
		func(pass string, hi fwp.Hi) any { return []string{rounds(pass, hi.Salt, hi.Iterations)} }),
	fault("hash-kept", "AUTH-03", "It sends the password hash of its first connection on all others.", keepHash),
	hashFault("hash-leading-zeros", "AUTH-03", "Its pwdhash lacks the zeros at its beginning.",
		func(pass string, hi fwp.Hi) any { return strings.TrimLeft(rounds(pass, hi.Salt, hi.Iterations), "0") }),
	hashFault("hash-missing", "AUTH-01", "Its HELLO to a protected server has no pwdhash.",
		func(string, fwp.Hi) any { return nil }),
	helloFault("hash-missing-beside", "AUTH-01", "The HELLO of its connection for BEAT has no pwdhash.",
		catalogue.On(ofBeats, field("pwdhash", nil))),
	hashFault("hash-odd-salts", "AUTH-03", "Its pwdhash is 64 zeros for a salt that is not of ASCII.",
		func(pass string, hi fwp.Hi) any {
			if strings.ContainsFunc(hi.Salt, func(r rune) bool { return r >= utf8.RuneSelf }) {
				return hex.EncodeToString(make([]byte, 32))
			}
			return rounds(pass, hi.Salt, hi.Iterations)
		}),
	hashFault("hash-of-hex", "AUTH-03", "It hashes the hexadecimal text of each round.",
		func(pass string, hi fwp.Hi) any {
			text, err := fwp.HexPasswordHash(pass, hi.Salt, hi.Iterations)
			if err != nil {
				panic(err)
			}
			return text
		}),
	hashFault("hash-one-round", "AUTH-03", "It applies SHA-256 once, whatever i is.",
		func(pass string, hi fwp.Hi) any { return rounds(pass, hi.Salt, 1) }),
	hashFault("hash-one-round-more", "AUTH-03", "It applies SHA-256 once too often.",
		func(pass string, hi fwp.Hi) any { return rounds(pass, hi.Salt, hi.Iterations+1) }),
	hashFault("hash-password-escaped", "AUTH-03", "It hashes the password as it is written in the URL, escaped.",
		func(pass string, hi fwp.Hi) any { return rounds(url.QueryEscape(pass), hi.Salt, hi.Iterations) }),
	hashFault("hash-salt-first", "AUTH-03", "It hashes the salt before the password.",
		func(pass string, hi fwp.Hi) any { return rounds(hi.Salt, pass, hi.Iterations) }),
	hashFault("hash-salt-ignored", "AUTH-03", "It hashes the password without the salt.",
		func(pass string, hi fwp.Hi) any { return rounds(pass, "", hi.Iterations) }),
}

// hashFault returns a fault of the password hash for protected servers; without a hash there is no field.
func hashFault(name, clauses, summary string, compute func(pass string, hi fwp.Hi) any) Fault {
	return helloFault(name, clauses, summary, func(e *Event) {
		if e.Hi.Protected {
			field("pwdhash", compute(e.Worker.pass, e.Hi))(e)
		}
	})
}

// rounds returns the hash of a password and a salt after n rounds.
func rounds(pass, salt string, n int) string {
	text, err := fwp.PasswordHash(pass, salt, max(n, 1))
	if err != nil {
		panic(err) // the greeting was read with the same bounds
	}
	return text
}

// keepHash sends the first password hash again and again.
func keepHash() func(*Event) {
	return catalogue.Keep(at(Introducing), func(first *any, e *Event) {
		if *first == nil {
			*first = e.Fields["pwdhash"]
		}
		if *first != nil {
			e.Fields["pwdhash"] = *first
		}
	})()
}
