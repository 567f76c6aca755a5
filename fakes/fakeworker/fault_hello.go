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
	fault("hello-before-hi", "HI-07 FRAME-07 AUTH-01 AUTH-03", "It sends HELLO before it has read HI.", on(Dialed, skip)),
	helloFault("hello-labels-text", "HELLO-09", "The labels of its HELLO are a string.", field("labels", "go")).
		also("hello-pid-text"),
	helloFault("hello-missing", "HELLO-01 STATE-02 HELLO-09 RESP-09 FETCH-11",
		"It sends its first command without a HELLO.", skip),
	fault("hello-refusal-ignored", "STATE-02", "It goes on when its HELLO was declined.",
		catalogue.On(refused(fwp.HELLO), okay)),
	helloFault("hello-v-old", "HELLO-02", "The v of its HELLO is 1.", field("v", 1)).
		also("hello-v-fraction", "hello-v-text"),
	helloFault("hello-wid-number", "HELLO-09 BEAT-10 BEAT-09", "The wid of its HELLO is a number.", field("wid", 17)),
	helloFault("hello-without-pid", "HELLO-09", "Its HELLO has no pid.", field("pid", nil)).
		also("hello-without-hostname", "hello-without-labels"),
	lineFault("hello-without-space", "FRAME-02 FRAME-04 HELLO-01", "No space stands between HELLO and its JSON.",
		fwp.HELLO, replace(" ", "")).also("hello-tab"),
	helloFault("hello-without-v", "HELLO-02", "Its HELLO has no v.", field("v", nil)),
	helloFault("hello-without-wid", "HELLO-09 BEAT-09 BEAT-10", "None of its HELLOs has a wid.", field("wid", nil)),
	helloFault("hi-exact", "HI-09", "It ends unless HI is written without spaces.",
		exitIf(func(e *Event) bool { return bytes.Contains(e.Reply.Text[3:], []byte(" ")) })),
	helloFault("hi-in-order", "AUTH-01 AUTH-03",
		"It asks for i before s in HI, and takes any other HI for one without them.", func(e *Event) {
			hi := string(e.Reply.Text)
			if strings.Index(hi, `"s"`) < strings.Index(hi, `"i"`) {
				delete(e.Fields, "pwdhash")
			}
		}),
	helloFault("hi-newer-refused", "HI-06", "It ends if the server speaks a newer version.",
		exitIf(func(e *Event) bool { return e.Hi.Version > fwp.Version })),
	helloFault("hi-strict", "HI-08", "It ends if HI has a field that it does not know.", exitIf(hiHasMore)),
	helloFault("pid-by-connection", "HELLO-12", "Each of its connections has another pid.",
		func(e *Event) { e.Fields["pid"] = 1000 + e.Conn }).
		also("hostname-by-connection", "labels-by-connection", "labels-of-beats"),
	fault("wid-by-connection", "BEAT-06 BEAT-13 STATE-17 STATE-20 END-04",
		"Each of its connections has a wid of its own, and it sends BEAT for one of them.", func(e *Event) {
			if e.Point == Introducing && !e.Beats {
				e.Fields["wid"] = fmt.Sprintf("%s-%d", e.Worker.cfg.WID, e.Conn)
			}
		}),
	setting("wid-fixed", "HELLO-10 BEAT-07 BEAT-08 HELLO-12", "Every process has the same wid.",
		func(c *Config) { c.WID = "worker-1" }).also("wid-of-the-second"),
	// These are wrong passwords. (HELLO, Required Fields for Protected Server)
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
	hashFault("hash-one-round", "AUTH-03", "It applies SHA-256 once, whatever i is.",
		func(pass string, hi fwp.Hi) any { return rounds(pass, hi.Salt, 1) }),
	hashFault("hash-one-round-more", "AUTH-03", "It applies SHA-256 once too often.",
		func(pass string, hi fwp.Hi) any { return rounds(pass, hi.Salt, hi.Iterations+1) }).also("hash-of-hex"),
	hashFault("hash-password-escaped", "WRK-16", "It hashes the password as it is written in the URL, escaped.",
		func(pass string, hi fwp.Hi) any {
			written := strings.TrimPrefix(url.UserPassword("", pass).String(), ":")
			return rounds(written, hi.Salt, hi.Iterations)
		}),
	hashFault("hash-salt-first", "AUTH-03", "It hashes the salt before the password.",
		func(pass string, hi fwp.Hi) any { return rounds(hi.Salt, pass, hi.Iterations) }).also("hash-salt-ignored"),
}

// helloFault returns a fault of the introductions.
func helloFault(name, clauses, summary string, act func(*Event)) Fault {
	return fault(name, clauses, summary, on(Introducing, act))
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
