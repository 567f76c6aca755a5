package variations_test

import "strings"

// shownByJobs is shown for the variations that are about jobs.
var shownByJobs = map[string]string{
	"accepts-acks-of-waiting-jobs": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> ACK {"jid":"j"}
		a< OK
		a> FETCH
		a< ^\$-1
		took 2s`,
	"accepts-short-reservations": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"reserve_for":5}
		a< OK
		a> FETCH
		a< "reserve_for":60,`,
	"accepts-unknown-jobs": `
		a: worker
		a> ACK {"jid":"j"}
		a< ^\+OK$
		a> FAIL {"jid":"j"}
		a< ^\+OK$`,
	"expiry-enqueues": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"retry":0,"reserve_for":60}
		a< OK
		a> FETCH
		a< "j"
		wait 60s
		a> FETCH
		a< ReservationExpired
		took 0s`,
	"job-at-left-out": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"at":"1999-01-01T00:00:00Z"}
		a< OK
		a> FETCH
		a< ^\$\{"jid":"j","jobtype":"t","args":\[\],"queue":`,
	"job-defaults-left-out": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"queue":"default","at":"","retry":7}
		a< OK
		a> FETCH
		a< ^\$\{"jid":"j","jobtype":"t","args":\[\],"retry":7,"created_at":"[^"]+","enqueued_at":"[^"]+"\}$`,
	"job-defaults-spelled-out": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< "at":"","backtrace":0,"custom":null,"failure":null\}$`,
	"job-failure-names": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"backtrace":2}
		a< OK
		a> FETCH
		a< "j"
		a> FAIL {"jid":"j","errtype":"E","message":"m","backtrace":["one","two"]}
		a< OK
		wait 60s
		a> FETCH
		a< "failure":\{"why":"E: m","trace":"one\\u000atwo"\}`,
	"job-jid-lengths": `
		a: hello
		a> PUSH {"jid":"0123456789abcde","jobtype":"t","args":[]}
		a< ^-
		a> PUSH {"jid":"0123456789abcdef","jobtype":"t","args":[]}
		a< OK`,
	"job-jid-once": `
		a: hello
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< ^-
		a> PUSH {"jid":"k"}
		a< ^-
		a> PUSH {"jid":"k","jobtype":"t","args":[]}
		a< ^-`,
	"job-messages-short": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"backtrace":9}
		a< OK
		a> FETCH
		a< "j"
		a> FAIL {"jid":"j","errtype":"E","message":"FILLER","backtrace":["1","2","3","4","5","6"]}
		a< OK
		wait 60s
		a> FETCH
		a< "message":"x{100}","backtrace":\["1","2","3","4","5"\]`,
	"job-queue-letters": `
		a: worker
		a> FETCH a:b
		a< ^-
		a> PUSH {"jid":"j","jobtype":"t","args":[],"queue":"ü"}
		a< ^-
		a> PUSH {"jid":"j","jobtype":"t","args":[],"queue":"a-B_9"}
		a< OK`,
	"job-read-only-refused": `
		a: hello
		a> PUSH {"jid":"j","jobtype":"t","args":[],"failure":{}}
		a< ^-
		a> PUSH {"jid":"j","jobtype":"t","args":[],"enqueued_at":"2020-01-01T00:00:00Z"}
		a< ^-`,
	"json-escapes": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"b/é😀\n","args":[]}
		a< OK
		a> FETCH
		a< ^\$\{"\\u0061rgs":\[\],.*"b\\/\\u00E9\\uD83D\\uDE00\\u000A"`,
	"json-more-fields": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[{}],"custom":{}}
		a< OK
		a> FETCH
		a< ^\$\{"args":\[\{\}\],.*"custom":\{\},.*"fakes":\{"since":1.5e3,"tags":\[null,"ü"\]\}
		a> INFO
		a< "fakes":\{"since"`,
	"json-numbers": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[1,-1.5,1e3,9007199254740993],"custom":{"a":1}}
		a< OK
		a> FETCH
		a< "args":\[1.0,-1.50,1.0E3,9007199254740993.0\],.*"custom":\{"a":1.0\},.*"retry":25[,}]`,
	"json-sorted-backwards": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[{"a":1,"b":2}]}
		a< OK
		a> FETCH
		a< ^\$\{"retry":.*"args":\[\{"b":2,"a":1\}\]`,
	"json-white-space": `
		a:
		a< ^\+HI \{ \t"v" \t: \t2 \t\}$
		a> HELLO {"v":2}
		a< OK
		a> INFO
		a< (?s)^\$\{\r\n\t "faktory"\r\n\t :.*\}\n$`,
	"kill-forgets": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		operator kill
		a: worker
		a> FETCH
		a< -1`,
	"restart-refuses": `
		a: hello
		operator restart
		wait 100ms
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< ^-ERR shutdown in progress
		a< close
		wait 1s
		b: hello`,
	"null-for-none": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< "custom":null,"failure":null\}$`,
	"job-queue-lower-case": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"queue":"A"}
		a< ^-
		a> FETCH a_b
		a< ^-`,
	"job-jobtype-short": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"` + strings.Repeat("t", 201) + `","args":[]}
		a< ^-`,
	"job-keys-first": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[{"a":1,"a":2}]}
		a< OK
		a> FETCH
		a< \[\{"a":1\}\]`,
	"null-for-omitted": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"retry":3}
		a< OK
		a> FETCH
		a< "retry":null`,
	"null-is-empty-text": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"created_at":"","queue":""}
		a< OK
		a> FETCH
		a< "queue":"default",.*"created_at":"2`,
	"null-is-left-out": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"mine":null}
		a< OK
		a> FETCH
		a< "args":\[\],"queue"`,
	"queue-last-in-first-out": `
		a: worker
		a> PUSH {"jid":"1","jobtype":"t","args":[]}
		a< OK
		a> PUSH {"jid":"2","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< "2"`,
	"queue-without-order": `
		a: worker
		a> PUSH {"jid":"1","jobtype":"t","args":[]}
		a< OK
		a> PUSH {"jid":"2","jobtype":"t","args":[]}
		a< OK
		a> PUSH {"jid":"3","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< "[23]"`,
	"queues-limited": `
		a: worker
		a> FETCH a b c d e f g h i j k l m n o p
		a< ^\$-1$
		a> FETCH a b c d e f g h i j k l m n o p q
		a< ^-ERR too many`,
	"retries-late": retried + `
		wait 79s
		b> FETCH q
		b< "j"
		took 1s`,
	"retries-soon": retried + `
		b> FETCH q
		b< "j"
		took 1s`,
	"schedule-every-5s": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"at":"2000-01-01T00:00:01Z","reserve_for":61,"retry":-1}
		a< OK
		wait 2s
		a> FETCH
		a< -1
		wait 1s
		a> FETCH
		a< "j"
		took 0s
		wait 69s
		a> ACK {"jid":"j"}
		a< OK`,
	"time-clock-ahead": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"at":"2000-01-01T00:50:00Z"}
		a< OK
		a> FETCH
		a< "at":"2000-01-01T00:50:00Z",.*"created_at":"2000-01-01T01:00:00Z",.*"enqueued_at":"2000-01-01T01:00:00Z"`,
	"time-clock-behind": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"at":"1999-12-31T23:59:50Z"}
		a< OK
		wait 9s
		a> FETCH
		a< "at":"1999-12-31T23:59:50Z",.*"enqueued_at":"1999-12-31T23:59:50Z"
		took 1s`,
	"time-lower-case": timed +
		`a< "created_at":"2000-01-01t00:00:00.0123456z","enqueued_at":"2000-01-01t00:00:00.0123456z"`,
	"time-milliseconds": timed + `a< "enqueued_at":"2000-01-01T00:00:00.012Z"`,
	"time-seconds":      timed + `a< "enqueued_at":"2000-01-01T00:00:00\+00:00"`,
	"time-zone": timed +
		`a< "created_at":"1999-12-31T14:30:00.0123456-09:30",.*"enqueued_at":"1999-12-31T14:30:00.0123456-09:30"`,
}

const (
	retried = `
		b: worker
		b> PUSH {"jid":"j","jobtype":"t","args":[],"queue":"q"}
		b< OK
		b> FETCH q
		b< "j"
		b> FAIL {"jid":"j"}
		b< OK
		`
	timed = `
		wait 12345600ns
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		`
)
