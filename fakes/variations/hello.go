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
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// helloVariations are about HELLO, greetings and passwords.
var helloVariations = []fakes.Variation{
	// About HELLO: its version, its fields, and what follows one that is refused.
	variation("hello-any-version", do(setVersion, atPoint(fakes.Parsed, fwp.HELLO))),
	variation("hello-identity-kept",
		catalogue.WithMemoryBy(wid, catalogue.All(isValid(fwp.HELLO), hasWid), func(previous *string, e *event) {
			now := string(slices.Concat(e.Object.Get("hostname"), e.Object.Get("pid"), e.Object.Get("labels")))
			if *previous = cmp.Or(*previous, now); *previous != now {
				e.Decline("wid", "the wid had another identity")
			}
		})),
	variation("hello-of-wid-alone", do(fillConsumer, atPoint(fakes.Parsed, fwp.HELLO))),
	variation("hello-refused-closes-later", catalogue.WithMemoryBy(conn, at(fakes.Ran), func(isRefused *bool, e *event) {
		if *isRefused {
			*isRefused = false
			hangUp(e)
			return
		}
		*isRefused = isEarly(e) && e.Err != nil
	})),
	setting("hello-timeout", func(c *fakes.Config) {
		c.HelloTimeout = 2 * time.Second
		add(c, delayWrites(100*time.Millisecond))
	}),
	// About the greeting, and about passwords.
	variation("password-long-salt",
		changeSalt(func(salt string) string { return strings.Repeat("salt", 496) + salt })),
	setting("password-one-round", func(c *fakes.Config) { c.Iterations = 1 }),
	variation("password-strange-salt", changeSalt(func(salt string) string { return `"é/\` + "\t漢😀 " + salt })),
}

func isEarly(e *event) bool { return !e.Conn.Identified }

// setVersion replaces v of a HELLO with 2.
func setVersion(e *event) {
	args := e.Command.Args
	if len(args) > 0 && args[0] == '{' && args[len(args)-1] == '}' { // spaces around the object are still refused
		rewrite(e, func(fields map[string]json.RawMessage) bool {
			fields["v"] = json.RawMessage("2")
			return true
		})
	}
}

// fillConsumer adds what the HELLO of a worker lacks.
func fillConsumer(e *event) {
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
