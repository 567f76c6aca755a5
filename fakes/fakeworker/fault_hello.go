package fakeworker

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// helloFaults are wrong introductions.
var helloFaults = []Fault{
	// These are wrong introductions, and what a worker makes of a greeting. (HELLO; HI)
	fault("hello-before-hi", on(Dialed, skip)),
	fault("hello-labels-text", on(Introducing, field("labels", "go"))),
	fault("hello-missing", on(Introducing, skip)),
	fault("hello-refusal-ignored", catalogue.On(refused(fwp.HELLO), okay)),
	fault("hello-v-old", on(Introducing, field("v", 1))),
	fault("hello-wid-number", on(Introducing, field("wid", 17))),
	fault("hello-without-pid", on(Introducing, field("pid", nil))),
	lineFault("hello-without-space", fwp.HELLO, replace(" ", "")),
	fault("hello-without-v", on(Introducing, field("v", nil))),
	fault("hello-without-wid", on(Introducing, field("wid", nil))),
	fault("hi-exact",
		on(Introducing, exitIf(func(e *Event) bool { return bytes.Contains(e.Reply.Text[3:], []byte(" ")) }))),
	fault("hi-in-order", on(Introducing, func(e *Event) {
		hi := string(e.Reply.Text)
		if strings.Index(hi, `"s"`) < strings.Index(hi, `"i"`) {
			delete(e.Fields, "pwdhash")
		}
	})),
	fault("hi-newer-refused", on(Introducing, exitIf(func(e *Event) bool { return e.Hi.Version > fwp.Version }))),
	fault("hi-strict", on(Introducing, exitIf(hiHasMore))),
	fault("pid-by-connection", on(Introducing, func(e *Event) { e.Fields["pid"] = 1000 + e.Conn })),
	fault("wid-by-connection", func(e *Event) {
		if e.Point == Introducing && !e.Beats {
			e.Fields["wid"] = fmt.Sprintf("%s-%d", e.Worker.cfg.WID, e.Conn)
		}
	}),
	setting("wid-fixed", func(c *Config) { c.WID = "worker-1" }),
	// These are wrong passwords. (HELLO, Required Fields for Protected Server)
	hashFault("hash-array",
		func(pass string, hi fwp.Hi) any { return []string{rounds(pass, hi.Salt, hi.Iterations)} }),
	fault("hash-asked-once", askedOnce),
	fault("hash-kept", keepHash),
	hashFault("hash-leading-zeros",
		func(pass string, hi fwp.Hi) any { return strings.TrimLeft(rounds(pass, hi.Salt, hi.Iterations), "0") }),
	hashFault("hash-missing", func(string, fwp.Hi) any { return nil }),
	fault("hash-missing-over-tls", on(Introducing, func(e *Event) {
		if e.Worker.tls != nil {
			delete(e.Fields, "pwdhash")
		}
	})),
	fault("hash-missing-beside", on(Introducing, catalogue.On(ofBeats, field("pwdhash", nil)))),
	hashFault("hash-odd-salts", func(pass string, hi fwp.Hi) any {
		if strings.ContainsFunc(hi.Salt, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return hex.EncodeToString(make([]byte, 32))
		}
		return rounds(pass, hi.Salt, hi.Iterations)
	}),
	hashFault("hash-one-round", func(pass string, hi fwp.Hi) any { return rounds(pass, hi.Salt, 1) }),
	hashFault("hash-one-round-more",
		func(pass string, hi fwp.Hi) any { return rounds(pass, hi.Salt, hi.Iterations+1) }),
	hashFault("hash-password-escaped", func(pass string, hi fwp.Hi) any {
		written := strings.TrimPrefix(url.UserPassword("", pass).String(), ":")
		return rounds(written, hi.Salt, hi.Iterations)
	}),
	hashFault("hash-salt-first", func(pass string, hi fwp.Hi) any { return rounds(hi.Salt, pass, hi.Iterations) }),
}

// ofBeats reports whether a step is one of the connection for BEAT.
func ofBeats(e *Event) bool { return e.Beats }

// exitIf returns a step that ends the worker if a condition holds.
func exitIf(is func(*Event) bool) func(*Event) { return catalogue.On(is, exit(1)) }

// hiHasMore reports whether a greeting has a field that the specification does not have.
func hiHasMore(e *Event) bool {
	var fields map[string]any
	_ = json.Unmarshal(bytes.TrimPrefix(e.Reply.Text, []byte("HI ")), &fields) // it was read before
	for name := range fields {
		if name != "v" && name != "i" && name != "s" {
			return true
		}
	}
	return false
}

// hashFault returns a fault of the password hash for protected servers; without a hash there is no field.
func hashFault(name string, compute func(pass string, hi fwp.Hi) any) Fault {
	return fault(name, on(Introducing, func(e *Event) {
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

// askedOnce decides at the first greeting whether a password hash is sent.
func askedOnce() func(*Event) {
	return catalogue.Keep(at(Introducing), func(first *fwp.Hi, e *Event) {
		if first.Version == 0 {
			*first = e.Hi
		}
		if !first.Protected {
			delete(e.Fields, "pwdhash")
		}
	})()
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
