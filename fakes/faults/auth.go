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
	fault("auth-any-hash", password(func(_ *event, hash string) bool { return len(hash) == 2*sha256.Size })),
	fault("auth-hash-half", almost(func(right, hash string) bool { return strings.HasPrefix(hash, right[:32]) })),
	fault("auth-hash-type",
		do(accept, checked(fwp.HELLO), onProtected, about("pwdhash"), number("pwdhash", anyInteger))),
	fault("auth-optional", password(func(_ *event, hash string) bool { return hash == "" })),
	fault("auth-password-cut",
		hashOf(func(password, salt string) string { return password[:len(password)-1] + salt })),
	fault("auth-round-less", password(func(e *event, hash string) bool {
		return hash == fakes.Hash(secret(e)+e.Conn.Salt, e.Conn.Iterations-1)
	})),
	fault("auth-salt-first", hashOf(func(password, salt string) string { return salt + password })),
	// These check no password of some clients.
	fault("auth-consumer-unchecked", unchecked(has("wid"))),
	fault("auth-consumer-unversioned", unchecked(has("wid"), not(has("v")), has("pwdhash"))),
	fault("auth-known-worker",
		after(wid, both(valid(fwp.HELLO), has("wid")), both(checked(fwp.HELLO), about("pwdhash")), accept)),
	fault("auth-once-for-all", keepAll(both(checked(fwp.HELLO), onProtected), func(accepted *bool, e *event) {
		if *accepted && e.About() == "pwdhash" {
			e.Accept()
		} else {
			*accepted = e.Err == nil
		}
	})),
	fault("auth-version-missing", unchecked(not(has("v")))),
	// These serve a client whose HELLO was declined, or decline one for good.
	fault("auth-declined-for-good", after(conn, both(checked(fwp.HELLO), about("pwdhash")), valid(fwp.HELLO),
		decline("pwdhash", "the password was wrong"))),
	fault("auth-declined-served", afterDeclined(accept, about(fakes.AboutState))),
	fault("auth-second-hello", afterDeclined(accept, checked(fwp.HELLO), about("pwdhash"))),
	// About commands before HELLO on a protected server.
	fault("auth-identified-after", identifiedBy(onProtected, false)),
	fault("auth-identified-beside", identifiedBy(onProtected, true)),
	fault("auth-info-before-hello", do(accept, checked(fwp.INFO), about(fakes.AboutState), onProtected)),
	fault("auth-push-before-hello", do(enact, checked(fwp.PUSH), about(fakes.AboutState), onProtected)),
	// About the salts of greetings.
	fault("auth-salt-of-the-last", saltOfLast()),
	fault("auth-salts-few", keepAll(both(at(fakes.Greeting), onProtected), func(n *int, e *event) {
		salted(e, fmt.Sprintf("0f3c5d7a9b1e246%d", *n%4), 4242+*n%4)
		*n++
	})),
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
