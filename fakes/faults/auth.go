package faults

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// authFaults are about passwords.
var authFaults = []fakes.Fault{
	// These accept a password hash that is not the right one.
	fault("auth-any-hash", "AUTH-04 AUTH-03 AUTH-05 HELLO-04", "only the length of the hash is checked",
		password(func(_ *event, hash string) bool { return len(hash) == 2*sha256.Size })),
	fault("auth-hash-half", "AUTH-03", "only the first half of the hash is compared",
		almost(func(right, hash string) bool { return strings.HasPrefix(hash, right[:32]) })).
		Also("auth-hash-begins", "auth-hash-but-first", "auth-hash-longer"),
	fault("auth-hash-type", "AUTH-07", "a pwdhash that is a number is accepted",
		do(accept, checked(fwp.HELLO), onProtected, about("pwdhash"), number("pwdhash", anyInteger))).
		Also("auth-hash-nested"),
	fault("auth-optional", "AUTH-02 HELLO-04", "a protected server accepts a HELLO without pwdhash, or with an empty one",
		password(func(_ *event, hash string) bool { return hash == "" })).Also("auth-hash-empty"),
	fault("auth-password-cut", "AUTH-04", "the hash of the password without its last character is accepted too",
		hashOf(func(password, salt string) string { return password[:len(password)-1] + salt })).
		Also("auth-password-ignored"),
	fault("auth-round-less", "AUTH-03", "a hash with one round too few is accepted too",
		password(func(e *event, hash string) bool {
			return hash == fakes.Hash(secret(e)+e.Conn.Salt, e.Conn.Iterations-1)
		})).Also("auth-hex-rounds"),
	fault("auth-salt-first", "AUTH-03", "the hash of the salt followed by the password is accepted too",
		hashOf(func(password, salt string) string { return salt + password })).Also("auth-salt-ignored"),
	// These check no password of some clients.
	fault("auth-consumer-unchecked", "AUTH-04 AUTH-02 AUTH-07 HELLO-04",
		"the HELLO of a consumer is accepted with any hash, and without one", unchecked(has("wid"))),
	fault("auth-consumer-unversioned", "AUTH-04", "the HELLO of a consumer without v is accepted with any hash",
		unchecked(has("wid"), not(has("v")), has("pwdhash"))),
	fault("auth-known-worker", "AUTH-04", "the hash of a worker that was accepted before is not checked",
		after(wid, both(valid(fwp.HELLO), has("wid")), both(checked(fwp.HELLO), about("pwdhash")), accept)),
	fault("auth-once-for-all", "AUTH-02 AUTH-04 AUTH-03 AUTH-05 AUTH-07 HELLO-04",
		"no hash is checked after the HELLO of one connection was accepted",
		keepAll(both(checked(fwp.HELLO), onProtected), func(accepted *bool, e *event) {
			if *accepted && e.About() == "pwdhash" {
				e.Accept()
			} else {
				*accepted = e.Err == nil
			}
		})),
	fault("auth-version-missing", "AUTH-04 AUTH-02 AUTH-03",
		"a HELLO without v is accepted with any hash, and without one", unchecked(not(has("v")))).
		Also("auth-version-higher", "auth-version-lower"),
	// These serve a client whose HELLO was declined, or decline one for good.
	fault("auth-declined-for-good", "STATE-12",
		"a connection whose hash was declined is not accepted with the right one",
		after(conn, both(checked(fwp.HELLO), about("pwdhash")), valid(fwp.HELLO),
			decline("pwdhash", "the password was wrong"))),
	fault("auth-declined-served", "AUTH-06", "a client whose HELLO was declined is served every command",
		afterDeclined(accept, about(fakes.AboutState))).Also("auth-declined-fetch", "auth-declined-info"),
	fault("auth-second-hello", "AUTH-04", "the second HELLO of a connection is accepted with any hash",
		afterDeclined(accept, checked(fwp.HELLO), about("pwdhash"))),
	// About commands before HELLO on a protected server.
	fault("auth-identified-after", "AUTH-06",
		"on a protected server, commands before HELLO are served if the connection that ended last was identified",
		identifiedBy(onProtected, false)),
	fault("auth-identified-beside", "AUTH-06",
		"on a protected server, commands before HELLO are served while another connection is identified",
		identifiedBy(onProtected, true)),
	fault("auth-info-before-hello", "AUTH-06", "INFO is served before HELLO on a protected server",
		do(accept, checked(fwp.INFO), about(fakes.AboutState), onProtected)),
	fault("auth-push-before-hello", "AUTH-06 PUSH-03",
		"a PUSH before HELLO is refused and enqueued on a protected server",
		do(enact, checked(fwp.PUSH), about(fakes.AboutState), onProtected)).Also("auth-declined-push"),
	// About the salts of greetings.
	fault("auth-salt-of-the-last", "AUTH-03",
		"a hash is checked with the salt and the iterations of the latest greeting", saltOfLast()),
	fault("auth-salts-few", "AUTH-05", "the salts and iterations of greetings are four, in turn",
		keepAll(both(at(fakes.Greeting), onProtected), func(n *int, e *event) {
			salted(e, fmt.Sprintf("0f3c5d7a9b1e246%d", *n%4), 4242+*n%4)
			*n++
		})).Also("auth-salt-reused"),
}

func saltOfLast() func() func(*event) {
	type greeting struct {
		salt       string
		iterations int
	}
	return keepAll(both(either(at(fakes.Greeting), parsed(fwp.HELLO)), onProtected), func(last *greeting, e *event) {
		switch {
		case e.Point == fakes.Greeting:
			*last = greeting{e.Conn.Salt, e.Conn.Iterations}
		case last.iterations > 0:
			e.Conn.Salt, e.Conn.Iterations = last.salt, last.iterations
		}
	})
}
