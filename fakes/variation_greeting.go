package fakes

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

func greetingVariations() []Variation {
	return []Variation{
		variation("hi-late", "Not Identified State",
			"HI is sent 1 s after the connection was accepted",
			on(Greeting, func(e *Event) { e.Delay = time.Second })),
		variation("hi-more-fields", "Not Identified State",
			"HI has fields that the protocol does not define",
			on(Greeting, func(e *Event) {
				e.Reply.Text = bytes.TrimSuffix(e.Reply.Text, []byte("}"))
				e.Reply.Text = append(e.Reply.Text, `,"server":{"name":"å","tags":[null,1.5]},"V":3,"I":1}`...)
			})),
		setting("hello-timeout", "AMB-34",
			"a connection without HELLO within 2 s is closed, by a server that is 100 ms away",
			func(c *Config) {
				c.HelloTimeout = 2 * time.Second
				c.add(away(100 * time.Millisecond))
			}),
	}
}

func passwordVariations() []Variation {
	return []Variation{
		setting("password-one-round", "Not Identified State",
			"the password is hashed once",
			func(c *Config) { c.Iterations = 1 }),
		variation("password-strange-salt", "Not Identified State",
			"the salt contains quotes, slashes and characters that are not ASCII",
			on(Greeting, func(e *Event) {
				if e.Conn.Iterations > 0 {
					e.Conn.Salt = `"é/\` + "\t漢😀 " + e.Conn.Salt
					e.Reply = e.Conn.hi()
				}
			})),
		variation("password-hash-lower-case", "AMB-03",
			"a hash in upper case is declined",
			when(Checked, fwp.HELLO, func(e *Event) {
				if hash := e.Object.Text("pwdhash"); hash != strings.ToLower(hash) {
					e.decline("pwdhash", "the password is wrong")
				}
			})),
	}
}

func helloVariations() []Variation {
	return []Variation{
		variation("hello-any-version", "AMB-08",
			"a HELLO is accepted whatever its v is",
			when(Parsed, fwp.HELLO, anyVersion)),
		variation("hello-again", "AMB-09",
			"a second HELLO is accepted",
			when(Checked, fwp.HELLO, func(e *Event) {
				if e.about() == AboutState && e.Object != nil {
					e.accept()
				}
			})),
		variation("hello-wid-conflict", "AMB-10",
			"a HELLO with a known wid and another pid is accepted by an open server",
			when(Checked, fwp.HELLO, func(e *Event) {
				if e.about() == "wid" && e.Object.Text("wid") != "" && e.Conn.Iterations == 0 {
					e.accept()
				}
			})),
		variation("hello-refused-closes", "AMB-11",
			"after an error before HELLO, or in reply to it, the connection is closed",
			on(Ran, func(e *Event) {
				if e.Err != nil && !e.Conn.Identified {
					e.Close = true
				}
			})),
		variation("hello-not-needed-by-end", "AMB-12",
			"END is served before HELLO",
			when(Checked, fwp.END, func(e *Event) {
				if e.about() == AboutState {
					e.accept()
				}
			})),
	}
}

// anyVersion replaces v of a HELLO with 2.
func anyVersion(e *Event) {
	var fields map[string]json.RawMessage
	args := e.Command.Args
	if json.Unmarshal(args, &fields) != nil || fields == nil || args[0] != '{' || args[len(args)-1] != '}' {
		return // spaces around the object are still refused
	}
	fields["v"] = json.RawMessage("2")
	if b, err := json.Marshal(fields); err == nil {
		e.Command.Args = b
	}
}
