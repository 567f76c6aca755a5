package faults

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// authFaults are about passwords.
var authFaults = []fakes.Fault{
	// These accept a password hash that is not the right one.
	fault("auth-hash-half", password(func(e *event, hash string) bool {
		return strings.HasPrefix(hash, fakes.Hash(secret(e)+e.Conn.Salt, e.Conn.Iterations)[:32])
	})),
	fault("auth-hash-type",
		do(accept, checked(fwp.HELLO), onProtected, about("pwdhash"), number("pwdhash", anyInteger))),
	fault("auth-optional", password(func(_ *event, hash string) bool { return hash == "" })),
	fault("auth-round-less", password(func(e *event, hash string) bool {
		return hash == fakes.Hash(secret(e)+e.Conn.Salt, e.Conn.Iterations-1)
	})),
	// These check no password of some clients.
	fault("auth-known-worker",
		after(wid, both(valid(fwp.HELLO), has("wid")), both(checked(fwp.HELLO), about("pwdhash")), accept)),
	fault("auth-version-missing", do(accept, checked(fwp.HELLO), onProtected, about("v", "pwdhash"), not(has("v")))),
	// These serve a client whose HELLO was declined, or decline one for good.
	fault("auth-declined-for-good", after(conn, both(checked(fwp.HELLO), about("pwdhash")), valid(fwp.HELLO),
		decline("pwdhash", "the password was wrong"))),
	fault("auth-second-hello", afterDeclined(accept, checked(fwp.HELLO), about("pwdhash"))),
	// About commands before HELLO on a protected server.
	fault("auth-push-before-hello", do(enact, checked(fwp.PUSH), about(fakes.AboutState), onProtected)),
	// About the salts of greetings.
	fault("auth-salt-of-the-last", saltOfLast()),
	fault("auth-salts-few", keepAll(both(at(fakes.Greeting), onProtected), func(n *int, e *event) {
		salted(e, fmt.Sprintf("0f3c5d7a9b1e246%d", *n%4), 4242+*n%4)
		*n++
	})),
}

// password accepts a HELLO that is refused for a missing or wrong hash that fits accepts.
func password(fits func(e *event, hash string) bool) func(*event) {
	return do(accept, checked(fwp.HELLO), about("pwdhash"), func(e *event) bool {
		hash := e.Object.Text("pwdhash")
		return (hash != "" || e.Object.Get("pwdhash") == nil) && fits(e, hash)
	})
}

func secret(e *event) string { return e.Conn.Server().Config.Password }

// afterDeclined acts on the commands of a client whose last HELLO was declined.
func afterDeclined(act func(*event), conditions ...condition) func() func(*event) {
	hook := do(act, conditions...)
	return keep(conn, either(ran(fwp.HELLO), checked()), func(was *bool, e *event) {
		switch {
		case e.Point == fakes.Ran:
			*was = e.Err != nil && e.Conn.Iterations > 0
		case *was:
			hook(e)
		}
	})
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
