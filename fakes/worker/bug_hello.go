package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// helloBugs are wrong introductions.
var helloBugs = []Bug{
	// These are wrong introductions, and what a worker makes of a greeting. (HELLO; HI)
	bug("hello-refusal-ignored", catalogue.ActIf(isRefusal(fwp.HELLO), answerOK)),
	bug("hello-without-pid", actAt(Introducing, field("pid", nil))),
	bug("hello-without-v", actAt(Introducing, field("v", nil))),
	bug("hi-exact",
		actAt(Introducing, exitIf(func(e *Event) bool { return bytes.Contains(e.Reply.Text[3:], []byte(" ")) }))),
	bug("hi-newer-refused", actAt(Introducing, exitIf(func(e *Event) bool { return e.Hi.Version > fwp.Version }))),
	bug("hi-strict", actAt(Introducing, exitIf(hasExtraMembers))),
	bug("wid-by-connection", func(e *Event) {
		if e.Point == Introducing && !e.IsBeatConn {
			e.Fields["wid"] = fmt.Sprintf("%s-%d", e.Worker.cfg.WID, e.Conn)
		}
	}),
	setting("wid-fixed", func(c *Config) { c.WID = "worker-1" }),
	// These are wrong passwords. (HELLO, Required Fields for Protected Server)
	hashBug("hash-leading-zeros",
		func(pass string, hi fwp.Hi) any { return strings.TrimLeft(rounds(pass, hi.Salt, hi.Iterations), "0") }),
	hashBug("hash-missing", func(string, fwp.Hi) any { return nil }),
	setting("certificate-unchecked", func(c *Config) {
		if c.TLS != nil {
			c.TLS = c.TLS.Clone()
			c.TLS.InsecureSkipVerify = true // what the bug is
		}
	}),
	hashBug("hash-one-round", func(pass string, hi fwp.Hi) any { return rounds(pass, hi.Salt, 1) }),
	hashBug("hash-password-escaped", func(pass string, hi fwp.Hi) any {
		password := strings.TrimPrefix(url.UserPassword("", pass).String(), ":")
		return rounds(password, hi.Salt, hi.Iterations)
	}),
}

// exitIf returns a step that ends the worker if a condition holds.
func exitIf(match func(*Event) bool) func(*Event) { return catalogue.ActIf(match, exit(1)) }

// hasExtraMembers reports whether a greeting has a field that the specification does not have.
func hasExtraMembers(e *Event) bool {
	var fields map[string]any
	_ = json.Unmarshal(bytes.TrimPrefix(e.Reply.Text, []byte("HI ")), &fields) // it was read before
	for name := range fields {
		if name != "v" && name != "i" && name != "s" {
			return true
		}
	}
	return false
}

// hashBug returns a bug of the password hash for protected servers; without a hash there is no field.
func hashBug(name string, compute func(pass string, hi fwp.Hi) any) Bug {
	return bug(name, actAt(Introducing, func(e *Event) {
		if e.Hi.Protected {
			field("pwdhash", compute(e.Worker.pass, e.Hi))(e)
		}
	}))
}

// rounds returns the hash of a password and a salt after n rounds.
func rounds(pass, salt string, n int) string {
	text, err := fwp.PasswordHash(pass, salt, max(n, 1))
	if err != nil {
		panic(err) // the greeting was read with the same bounds
	}
	return text
}
