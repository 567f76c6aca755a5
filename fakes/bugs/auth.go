package bugs

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// authBugs are about passwords.
var authBugs = []fakes.Bug{
	// These accept a password hash that is not the right one.
	bug("auth-hash-half", password(func(e *event, hash string) bool {
		return strings.HasPrefix(hash, fakes.Hash(secret(e)+e.Conn.Salt, e.Conn.Iterations)[:32])
	})),
	bug("auth-round-less", password(func(e *event, hash string) bool {
		return hash == fakes.Hash(secret(e)+e.Conn.Salt, e.Conn.Iterations-1)
	})),
	// About the salts of greetings.
	bug("auth-salt-of-the-last", reuseSalt()),
	bug("auth-salts-few", withMemory(allOf(at(fakes.Greeting), isProtected), func(n *int, e *event) {
		setSalt(e, fmt.Sprintf("0f3c5d7a9b1e246%d", *n%4), 4242+*n%4)
		*n++
	})),
}

// password accepts a HELLO that is refused for a missing or wrong hash that fits accepts.
func password(fits func(e *event, hash string) bool) func(*event) {
	return do((*event).Accept, atChecked(fwp.HELLO), isAbout("pwdhash"), func(e *event) bool {
		hash := e.Object.Text("pwdhash")
		return (hash != "" || e.Object.Get("pwdhash") == nil) && fits(e, hash)
	})
}

func secret(e *event) string { return e.Conn.Server().Config.Password }

func reuseSalt() func() func(*event) {
	type greeting struct {
		salt       string
		iterations int
	}
	return withMemory(allOf(anyOf(at(fakes.Greeting), atParsed(fwp.HELLO)), isProtected), func(last *greeting, e *event) {
		switch {
		case e.Point == fakes.Greeting:
			*last = greeting{e.Conn.Salt, e.Conn.Iterations}
		case last.iterations > 0:
			e.Conn.Salt, e.Conn.Iterations = last.salt, last.iterations
		}
	})
}
