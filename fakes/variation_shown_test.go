package fakes_test

// shown is a conversation for each variation that only a server like this leads.
var shown = map[string]string{
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
	"beat-says-nothing-of-itself": `
		a: worker
		a> BEAT {"wid":"a","current_state":"quiet"}
		a< OK
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< "jid":"j"`,
	"beat-state-echoed": `
		a: worker
		a> BEAT {"wid":"a","current_state":"terminate"}
		a< ^\$\{"state":"terminate"\}$`,
	"beat-state-once": `
		a: worker
		operator quiet
		a> BEAT {"wid":"a"}
		a< quiet
		a> BEAT {"wid":"a"}
		a< OK
		operator terminate
		a> BEAT {"wid":"a"}
		a< terminate`,
	"beat-state-simple": `
		a: worker
		operator quiet
		a> BEAT {"wid":"a"}
		a< ^\+\{"state":"quiet"\}$`,
	"beat-state-until-known": `
		a: worker
		operator quiet
		a> BEAT {"wid":"a"}
		a< quiet
		a> BEAT {"wid":"a"}
		a< quiet
		a> BEAT {"wid":"a","current_state":"quiet"}
		a< OK
		a> BEAT {"wid":"a"}
		a< OK
		operator terminate
		a> BEAT {"wid":"a"}
		a< terminate`,
	"command-more-verbs": `
		a: worker
		a> PUSHB []
		a< ^\$\{\}$
		a> QUEUE PAUSE *
		a< ^\*2$`,
	"connections-limited":      twenty + "u< ^-ERR too many\n u< close",
	"connections-limited-mute": twenty + "u< close",
	"consumer-silent-closed": `
		a: worker
		wait 50s
		a> BEAT {"wid":"a"}
		a< OK
		wait 59s
		a> INFO
		a< ^\$
		wait 2s
		a> INFO
		a< close`,
	"end-late": `
		a: worker
		a> END
		a< OK
		a< close
		took 900ms`,
	"end-late-without-ok": `
		a: worker
		a> END
		a< close
		took 900ms`,
	"end-reset": `
		a: worker
		a> END
		a< OK
		a< reset`,
	"end-without-ok": `
		a: worker
		a> END
		a< close`,
	"error-codes": `
		a: worker
		a> PUSH
		a< ^-MALFORMED
		a> ACK {"jid":"j"}
		a< ^-NOTFOUND`,
	"error-empty": `
		a: worker
		a> PUSH
		a< ^-$`,
	"error-quotes": `
		a: worker
		a> PUSH {"é":
		a< ^-\+OK .*"PUSH \{\\"é\\":"`,
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
	"fetch-waits-coarsely": `
		a: worker
		a> FETCH
		a< -1
		took 2.1s`,
	"fetch-waits-less": `
		a: worker
		a> FETCH
		a< -1
		took 1.6s`,
	"fetch-wakes-on-any-queue": `
		a: worker
		b: hello
		a> FETCH one two
		wait 500ms
		b> PUSH {"jid":"j","jobtype":"t","args":[],"queue":"two"}
		a< "j"
		took 0s`,
	"flush-forgets-workers": `
		a: worker
		a> FLUSH
		a< OK
		a> BEAT {"wid":"a"}
		a< ^-
		b: worker
		b> BEAT {"wid":"b"}
		b< OK`,
	"hello-again": `
		a: worker
		a> HELLO {"v":2}
		a< OK
		a> HELLO {
		a< ^-`,
	"hello-any-version": `
		a:
		a< HI
		a> HELLO []
		a< ^-
		a> HELLO {}
		a< OK
		b:
		b< HI
		b> HELLO {"v":"3","wid":5}
		b< ^-
		b> HELLO {"v":"3"}
		b< OK`,
	"hello-not-needed-by-end": `
		a:
		a< HI
		a> END
		a< OK
		a< close`,
	"hello-refused-closes": `
		a:
		a< HI
		a> INFO
		a< ^-
		a< close
		b:
		b< HI
		b> HELLO
		b< ^-
		b< close`,
	"hello-timeout": `
		a:
		wait 90ms
		a< HI
		took 100ms
		a< close
		took 2s`,
	"hello-wid-conflict": `
		a: worker
		b:
		b< HI
		b> HELLO {"hostname":"there","wid":"a","pid":18,"labels":[],"v":2}
		b< OK`,
	"hi-late": `
		a:
		a< HI
		took 1s`,
	"hi-more-fields": `
		a:
		a< ^\+HI \{"v":2,"server":`,
	"info-nothing": `
		a: hello
		a> INFO
		a< ^\$\{\}$`,
	"info-text": `
		a: hello
		a> INFO
		a< ^\$# Server`,
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
		a> PUSH {"jid":"j"}
		a< ^-
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
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
	"line-64-kib": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":["FILLER"]}
		a< ^-
		a> INFO
		a< ^\$`,
	"line-lf-taken": `
		a: worker
		a> "INFO\n"
		a< ^\$
		a> "INFO\r \n"
		a< ^-`,
	"line-lf-unseen": `
		a: worker
		a> "IN\nFO\r"
		a> "\nINFO\r\n"
		a< ^-
		a< ^\$`,
	"line-utf8-ignored": `
		a: worker
		a> "PUSH {"jid":"j","jobtype":"\xff","args":[]}\r\n"
		a< OK
		a> FETCH
		a< "jobtype":"\x{FFFD}"`,
	"line-utf8-replaced": `
		a: worker
		a> "PUSH {"jid":"j","jobtype":"\xff","args":[]}\r\n"
		a< OK
		a> FETCH
		a< "jobtype":"` + "\uFFFD" + `"`,
	"null-for-none": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< "custom":null,"failure":null\}$`,
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
	"pace-bytes": `
		a:
		a< HI
		took 12µs`,
	"pace-far-away": `
		a:
		a< HI
		took 30ms`,
	"pace-jitter": `
		a:
		a< HI
		took 230.81198ms`,
	"pace-slow-push": `
		a: hello
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		took 400ms`,
	"password-hash-lower-case": `
		a:
		a< HI
		a> HELLO {"v":2,"pwdhash":"6D877F8E5544B1F2598768F817413AB8A357AFFFA924DEDAE99EB91472D4EC30"}
		a< ^-
		a> HELLO {"v":2,"pwdhash":"6d877f8e5544b1f2598768f817413ab8a357afffa924dedae99eb91472d4ec30"}
		a< OK`,
	"password-one-round": `
		a:
		a< "i":1\}$`,
	"password-strange-salt": `
		a:
		a< "s":"\\"é/\\\\\\u0009漢😀 [0-9a-f]{16}"`,
	"producer-idle-closed": `
		w: worker
		a: hello
		wait 900ms
		a> INFO
		a< ^\$
		a< close
		took 1s
		w> INFO
		w< ^\$`,
	"producer-refused-closed": `
		a: hello
		a> INFO x
		a< ^-
		a< close
		w: worker
		w> INFO x
		w< ^-
		w> INFO
		w< ^\$`,
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
	"quiet-fetches": `
		a: worker
		a> BEAT {"wid":"a","current_state":"quiet"}
		a< OK
		a> PUSH {"jid":"j","jobtype":"t","args":[],"queue":"q"}
		a< OK
		a> FETCH default q
		a< "j"`,
	"quiet-refused": `
		a: worker
		a> FETCH
		a< -1
		a> BEAT {"wid":"a","current_state":"quiet"}
		a< OK
		a> FETCH
		a< ^-`,
	"refuses-odd-values": `
		a: worker
		a> PUSH {"jid":"","jobtype":"t","args":[]}
		a< ^-
		a> PUSH {"jid":"j","jobtype":"t","args":[],"retry":-1}
		a< OK
		a> PUSH {"jid":"j","jobtype":"t","args":[],"retry":-2}
		a< ^-
		a> PUSH {"jid":"j","jobtype":"t","args":[],"backtrace":-1}
		a< ^-`,
	"refuses-producers": `
		a: hello
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< ^-
		w: worker
		w> FETCH
		w< "j"`,
	"refuses-short-failures": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< "j"
		a> FAIL {"jid":"j"}
		a< ^-
		a> FAIL {"jid":"j","errtype":"E","message":"m","backtrace":[]}
		a< OK`,
	"refuses-unknown-fields": `
		a: worker
		a> BEAT {"wid":"a","rss_kb":1,"current_state":"quiet"}
		a< OK
		a> BEAT {"wid":"a","mine":1}
		a< ^-
		b:
		b< HI
		b> HELLO {"v":2,"mine":1}
		b< ^-`,
	"refuses-what-is-anothers": `
		a: worker
		b: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< "j"
		b> ACK {"jid":"j"}
		b< ^-
		b> BEAT {"wid":"a"}
		b< ^-
		a> ACK {"jid":"j"}
		a< OK`,
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
	"time-milliseconds": timed + `a< "enqueued_at":"2000-01-01T00:00:00.012Z"`,
	"time-seconds":      timed + `a< "enqueued_at":"2000-01-01T00:00:00\+00:00"`,
	"time-zone":         timed + `a< "created_at":"1999-12-31T14:30:00.0123456-09:30",.*"enqueued_at":"1999-12-31T14:30:00.0123456-09:30"`,
	"told-closes": `
		a: worker
		a> BEAT {"wid":"a"}
		a< OK
		operator quiet
		a> BEAT {"wid":"a"}
		a< quiet
		a< close`,
}

const (
	// twenty connections, and one more.
	twenty = `
		a: hello
		b: hello
		c: hello
		d: hello
		e: hello
		f: hello
		g: hello
		h: hello
		i: hello
		j: hello
		k: hello
		l: hello
		m: hello
		n: hello
		o: hello
		p: hello
		q: hello
		r: hello
		s: hello
		t: hello
		t> INFO
		t< ^\$
		u:
		`
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
