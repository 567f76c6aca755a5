package variations

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// helloVariations are about HELLO, greetings and passwords.
var helloVariations = []fakes.Variation{
	// About HELLO, whose state and version.
	variation("hello-again", "AMB-09", "a second HELLO is accepted",
		do(accept, of(fakes.Checked, fwp.HELLO), about(fakes.AboutState), func(e *event) bool { return e.Object != nil })),
	variation("hello-any-version", "AMB-08", "a HELLO is accepted whatever its v is",
		do(anyVersion, of(fakes.Parsed, fwp.HELLO))),
	variation("hello-identity-kept", "AMB-10",
		"a HELLO with a wid that had another hostname, pid or labels is declined, also when that worker has gone",
		catalogue.KeepBy(wid, catalogue.All(valid(fwp.HELLO), hasWid), func(known *string, e *event) {
			now := string(slices.Concat(e.Object.Get("hostname"), e.Object.Get("pid"), e.Object.Get("labels")))
			if *known = cmp.Or(*known, now); *known != now {
				e.Decline("wid", "the wid had another identity")
			}
		})),
	variation("hello-not-needed-by-end", "AMB-12", "END is served before HELLO",
		do(accept, of(fakes.Checked, fwp.END), about(fakes.AboutState))),
	variation("hello-of-wid-alone", "Required Fields for Consumers",
		"a HELLO with a wid is one of a worker, whether or not it has hostname, pid and labels",
		do(widAlone, of(fakes.Parsed, fwp.HELLO))),
	variation("hello-refused-closes", "AMB-11",
		"after an error before HELLO, or in reply to it, the connection is closed",
		do(closes, at(fakes.Ran), wrong, early)),
	variation("hello-refused-closes-later", "AMB-11",
		"after an error before HELLO the connection is closed when the next line comes, which is not answered",
		catalogue.KeepBy(conn, at(fakes.Ran), func(refused *bool, e *event) {
			if *refused {
				*refused = false
				hangUp(e)
				return
			}
			*refused = early(e) && e.Err != nil
		})),
	variation("hello-slow", "HELLO Command", "a HELLO takes 1.2 s",
		do(delay(1200*time.Millisecond), of(fakes.Ran, fwp.HELLO))),
	setting("hello-timeout", "AMB-34",
		"a connection without HELLO within 2 s is closed, by a server that is 100 ms away", func(c *fakes.Config) {
			c.HelloTimeout = 2 * time.Second
			add(c, away(100*time.Millisecond))
		}),
	variation("hello-wid-conflict", "AMB-10", "a HELLO with a known wid and another pid is accepted by an open server",
		do(accept, of(fakes.Checked, fwp.HELLO), about("wid"), func(e *event) bool {
			return wid(e) != "" && e.Conn.Iterations == 0
		})),
	// About the greeting, and about passwords.
	variation("hi-late", "Not Identified State", "HI is sent 1 s after the connection was accepted",
		do(delay(time.Second), at(fakes.Greeting))),
	variation("hi-more-fields", "Not Identified State", "HI has fields that the protocol does not define",
		do(func(e *event) {
			e.Reply.Text = append(bytes.TrimSuffix(e.Reply.Text, []byte("}")),
				`,"server":{"name":"å","tags":[null,1.5]},"V":3,"I":1}`...)
		}, at(fakes.Greeting))),
	variation("password-hash-lower-case", "AMB-03", "a hash in upper case is declined",
		do(decline("pwdhash", "the password is wrong"), of(fakes.Checked, fwp.HELLO), func(e *event) bool {
			hash := e.Object.Text("pwdhash")
			return hash != strings.ToLower(hash)
		})),
	variation("password-long-salt", "Not Identified State", "the salt has 2000 characters",
		salted(func(salt string) string { return strings.Repeat("salt", 496) + salt })),
	setting("password-one-round", "Not Identified State", "the password is hashed once",
		func(c *fakes.Config) { c.Iterations = 1 }),
	variation("password-strange-salt", "Not Identified State",
		"the salt contains quotes, slashes and characters that are not ASCII",
		salted(func(salt string) string { return `"é/\` + "\t漢😀 " + salt })),
	variation("password-wrong-slow", "HELLO Command", "a HELLO is declined 2 s later",
		do(delay(2*time.Second), of(fakes.Ran, fwp.HELLO), wrong)),
}

func early(e *event) bool { return !e.Conn.Identified }

// anyVersion replaces v of a HELLO with 2.
func anyVersion(e *event) {
	args := e.Command.Args
	if len(args) > 0 && args[0] == '{' && args[len(args)-1] == '}' { // spaces around the object are still refused
		rewrite(e, func(fields map[string]json.RawMessage) bool {
			fields["v"] = json.RawMessage("2")
			return true
		})
	}
}

// widAlone adds what the HELLO of a worker lacks.
func widAlone(e *event) {
	rewrite(e, func(fields map[string]json.RawMessage) bool {
		if !bytes.HasPrefix(fields["wid"], []byte(`"`)) {
			return false
		}
		for name, value := range map[string]string{"hostname": `""`, "pid": "0", "labels": "[]"} {
			if fields[name] == nil {
				fields[name] = json.RawMessage(value)
			}
		}
		return true
	})
}

// rewrite changes the fields of the argument, which stays as it was written where change returns false.
func rewrite(e *event, change func(map[string]json.RawMessage) bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(e.Command.Args, &fields) != nil || fields == nil || !change(fields) {
		return
	}
	if b, err := json.Marshal(fields); err == nil {
		e.Command.Args = b
	}
}
