package fakes_test

import (
	"fmt"
	"strings"
)

// shownDelayed has a conversation for each variation that is late, or answers in pieces.
var shownDelayed = map[string]string{
	"hello-slow": `
		a: hello
		took 1.2s`,
	"pace-slow-reports": `
		a: worker
		a> BEAT {"wid":"a"}
		a< OK
		took 500ms
		a> INFO
		a< ^.
		took 0s`,
	"pace-segments": `
		a:
		a< HI
		took 150ms
		a> HELLO {"v":2}
		a< OK
		took 150ms`,
	"pace-last-byte": `
		a:
		a< HI
		took 200ms
		a> HELLO {"v":2}
		a< OK
		took 200ms`,
	"pace-pauses": "a: worker\n" + strings.Repeat("a> INFO\na< ^.\ntook 0s\n", 38) + `
		a> INFO
		a< ^.
		took 1.5s
		a> INFO
		a< ^.
		took 0s`,
	"fetch-polls": `
		a: worker
		b: worker
		b> FETCH
		wait 500ms
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		b< "j"
		took 300ms`,
	"password-wrong-slow": `
		a:
		a< HI
		a> HELLO {"v":2,"pwdhash":"0"}
		a< ^-
		took 2s`,
	"retries-growing": retried + `
		wait 9500ms
		b> FETCH q
		b< "j"
		took 500ms`,
	"reserve-ends-by-the-minute": `
		a: worker
		wait 30s
		a> PUSH {"jid":"j","jobtype":"t","args":[],"reserve_for":60}
		a< OK
		a> FETCH
		a< "j"
		wait 80s
		a> ACK {"jid":"j"}
		a< OK`,
}

// shownValues has a conversation for each variation of the values that a server takes, and of how long its errors are.
var shownValues = map[string]string{
	"json-doubles": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[9007199254740993,0.1234567890123456789,{"a":1e2}]}
		a< OK
		a> FETCH
		a< \[9007199254740993,0\.12345678901234568,\{"a":100\}\]`,
	"json-surrogates-refused": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":["\ud83d\ude00"]}
		a< OK
		a> PUSH {"jid":"k","jobtype":"t","args":["\ud83d"]}
		a< ^-`,
	"json-names-once": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[{"a":[1,"a"]},{"a":"a"}]}
		a< OK
		a> PUSH {"jid":"k","jobtype":"t","args":[{"a":{"b":1},"c":[],"a":1}]}
		a< ^-`,
	"json-depth": fmt.Sprintf(`
		a: worker
		a> PUSH {"jid":"j","jobtype":"[","args":%s}
		a< OK
		a> PUSH {"jid":"k","jobtype":"t","args":%s}
		a< ^-`, nested(499), nested(500)),
	"error-long": `
		a: worker
		a> PUSH
		a< why why`,
}

// nested are arrays inside each other.
func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
