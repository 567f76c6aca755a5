package variations_test

import (
	"fmt"
	"strings"
)

// shownClients has a conversation for each variation of what a server makes of its clients.
var shownClients = map[string]string{
	"flush-refused": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FLUSH
		a< ^-
		a> FETCH
		a< "j"`,
	"info-refused": `
		a: worker
		a> INFO
		a< ^-
		a> INFO
		a< ^-`,
	"beat-state-mixed": `
		a: worker
		operator quiet
		a> BEAT {"wid":"a"}
		a< ^\$.*quiet
		operator terminate
		a> BEAT {"wid":"a"}
		a< ^\+.*terminate`,
	"quiet-null-at-once": `
		a: worker
		a> BEAT {"wid":"a","current_state":"quiet"}
		a< OK
		a> FETCH
		a< -1
		took 1ms`,
	"fetch-of-the-gone": `
		a: worker
		b: worker
		a> FETCH
		wait 1s
		a! close
		b> PUSH {"jid":"j","jobtype":"t","args":[],"reserve_for":60}
		b< OK
		b> FETCH
		b< -1
		wait 100s
		b> FETCH
		b< "j"`,
	"worker-connections-few": `
		a: worker
		b: hello
		c: worker
		a2:
		a2< HI
		a2> HELLO {"hostname":"here","wid":"a","pid":17,"labels":["go"],"v":2}
		a2< OK
		a3:
		a3< HI
		a3> HELLO {"hostname":"here","wid":"a","pid":17,"labels":["go"],"v":2}
		a3< OK
		a4:
		a4< HI
		a4> HELLO {"hostname":"here","wid":"a","pid":17,"labels":["go"],"v":2}
		a4< OK
		a5:
		a5< HI
		a5> HELLO {"hostname":"here","wid":"a","pid":17,"labels":["go"],"v":2}
		a5< ^-`,
	"queues-few": "a: worker\n" + filled(40) + `
		a> PUSH {"jid":"k","jobtype":"t","args":[],"queue":"more"}
		a< ^-`,
	"queues-short": "a: worker\n" + strings.Repeat(`
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK`, 1500) + `
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< ^-`,
	"producer-closed-often": "a: hello\n" + strings.Repeat("a> INFO\na< ^.\n", 7) + `
		a> INFO
		a< close`,
	"hello-identity-kept": `
		a: worker
		a> END
		a< OK
		a< close
		b:
		b< HI
		b> HELLO {"hostname":"there","wid":"a","pid":17,"labels":["go"],"v":2}
		b< ^-
		b> HELLO {"hostname":"here","wid":"a","pid":17,"labels":["go"],"v":2}
		b< OK`,
	"job-jid-ignored": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< "j"
		a> FETCH
		a< -1`,
	"hello-of-wid-alone": `
		a:
		a< HI
		a> HELLO {"v":2,"wid":"a"}
		a< OK
		a> BEAT {"wid":"a"}
		a< OK`,
	"consumer-silent-forgotten": `
		a: worker
		wait 50s
		a> BEAT {"wid":"a"}
		a< OK
		wait 61s
		a> BEAT {"wid":"a"}
		a< ^-`,
	"time-created-seconds": `
		a: worker
		wait 500ms
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< "created_at":"2000-01-01T00:00:00Z"`,
	"password-long-salt": `
		a:
		a< saltsaltsalt`,
	"line-verbs-in-any-case": `
		a: worker
		a> info
		a< ^\$`,
}

// filled pushes a job to each of n queues.
func filled(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a> PUSH {\"jid\":\"j%d\",\"jobtype\":\"t\",\"args\":[],\"queue\":\"q%d\"}\na< OK\n", i, i)
	}
	return b.String()
}
