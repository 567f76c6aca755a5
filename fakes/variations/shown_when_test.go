package variations_test

import (
	"fmt"
	"strings"
)

// shownClosed has a conversation for each variation that closes connections, and of INFO.
var shownClosed = map[string]string{
	"producer-counted-closed": "a: hello\n" + strings.Repeat("a> INFO\na< ^.\n", 40) + `
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< close
		b: worker
		b> FETCH
		b< -1`,
	"flush-closes-producers": `
		a: hello
		b: worker
		c: hello
		c> FLUSH
		c< OK
		c> INFO
		c< ^.
		d: hello
		d> INFO
		d< ^.
		a> INFO
		a< close
		b> INFO
		b< ^.`,
	"info-bytes": `
		a: worker
		a> INFO
		a< \x00`,
	"info-other-types": `
		a: worker
		a> INFO
		a< "none"`,
}

// shownSlow has a conversation for each variation that takes its time, or is lenient.
var shownSlow = map[string]string{
	"accepts-options-of-any-type": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"retry":"3"}
		a< OK
		a> FETCH
		a< "retry":25,`,
	"flush-slow": `
		a: worker
		a> FLUSH
		a< OK
		took 1s`,
	"info-slow": `
		a: worker
		a> INFO
		a< ^\$
		took 400ms`,
	"refused-slowly": `
		a: worker
		a> ACK {}
		a< ^-
		took 300ms`,
	"reserve-ends-late": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"reserve_for":60}
		a< OK
		a> FETCH
		a< "j"
		wait 75s
		a> ACK {"jid":"j"}
		a< OK`,
	"retries-random": retried + `
		wait 60s
		b> FETCH q
		b< "j"
		took 1.08600794s`,
	"schedule-late": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"at":"2000-01-01T00:00:01Z"}
		a< OK
		wait 6s
		a> FETCH
		a< "j"
		took 1s`,
}

// shownOpen has a conversation for each variation of what the text leaves open.
var shownOpen = map[string]string{
	"time-many-digits": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< "enqueued_at":"2000-01-01T00:00:00.000000000000Z"`,
	"time-given-milliseconds": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"created_at":"1999-01-02T03:04:05.678901+01:00"}
		a< OK
		a> FETCH
		a< "1999-01-02T02:04:05.678Z"`,
	"time-given-seconds": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"created_at":"1999-01-02T03:04:05.678901+01:00"}
		a< OK
		a> FETCH
		a< "1999-01-02T02:04:05Z"`,
	"retries-first": fetched + `
		a> FAIL {"jid":"j"}
		a< OK
		a> PUSH {"jid":"k","jobtype":"t","args":[]}
		a< OK
		wait 100s
		a> FETCH
		a< "j"`,
	"retries-at-once-nearly": fetched + `
		a> FAIL {"jid":"j"}
		a< OK
		a> FETCH
		a< "j"
		took 500ms`,
	"worker-unknown-when-gone": `
		a: worker
		b: worker
		b! close
		wait 1ms
		a> BEAT {"wid":"b"}
		a< ^-`,
	"accepts-acks-of-failed-jobs": fetched + `
		a> FAIL {"jid":"j"}
		a< OK
		a> ACK {"jid":"j"}
		a< OK
		wait 100s
		a> FETCH
		a< -1`,
	"accepts-fails-of-waiting-jobs": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FAIL {"jid":"j"}
		a< OK
		a> FETCH
		a< -1
		wait 20s
		a> FETCH
		a< "j"`,
}

// shownLate has a conversation for each variation of what a server forgets, and of how it
// tells of a limit.
var shownLate = map[string]string{
	"fetch-waits-by-queues": `
		a: worker
		a> FETCH one two
		a< -1
		took 1.6s`,
	"info-late": `
		a: worker
		a> INFO
		a< "total_enqueued":0
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> INFO
		a< "total_enqueued":0`,
	"pace-slow-info": `
		a: worker
		a> INFO
		a< ^.
		took 400ms`,
	"pace-slow-fetch": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< "jid":"j"
		took 300ms`,
	"flush-forgets-connections-of-workers": `
		a: worker
		a> FLUSH
		a< OK
		a> BEAT {"wid":"a"}
		a< ^-
		b: worker
		b> BEAT {"wid":"a"}
		b< OK
		a> BEAT {"wid":"a"}
		a< ^-`,
	"connections-limited-after-hello": twenty + `
		u< HI
		u> HELLO {"v":2}
		u< OK
		u< ^-ERR too many
		u< close`,
	"connections-limited-of-workers": `
		a: worker
		b: worker
		c: worker
		d: worker
		e: worker
		f: worker
		g: worker
		h: worker
		i:
		i< HI
		i> HELLO {"v":2,"wid":"i","hostname":"x","pid":1,"labels":[]}
		i< ^-ERR too many
		a> END
		a< OK
		a< close
		j: worker`,
	"queues-named-once": `
		a: worker
		a> FETCH one two one
		a< ^-ERR`,
	"connections-limited-silent": twenty + `
		u> HELLO {"v":2}
		u< nothing
		s> END
		s< OK
		s< close
		t> END
		t< OK
		t< close
		v: hello
		v> INFO
		v< ^\$`,
	"hello-refused-closes-later": `
		a:
		a< HI
		a> INFO
		a< ^-
		wait 1s
		a> HELLO {"v":2}
		a< close`,
	"null-for-defaults": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< "retry":null`,
	"quiet-until-gone": `
		a: worker
		operator quiet
		a> BEAT {"wid":"a"}
		a< quiet
		a> END
		a< OK
		a< close
		a: worker
		a> BEAT {"wid":"a"}
		a< OK`,
}

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
	"json-limits": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":["\\u0000",9223372036854775807,1e308]}
		a< OK
		a> PUSH {"jid":"k","jobtype":"t","args":["\u0000"]}
		a< ^-
		a> PUSH {"jid":"k","jobtype":"t","args":[9223372036854775808]}
		a< ^-
		a> PUSH {"jid":"k","jobtype":"t","args":[1e309]}
		a< ^-`,
	"time-range": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[],"at":"1970-01-01T00:00:00Z","created_at":"2037-12-31T23:59:59Z"}
		a< OK
		a> PUSH {"jid":"k","jobtype":"t","args":[],"at":"1969-12-31T23:59:59Z"}
		a< ^-
		a> PUSH {"jid":"k","jobtype":"t","args":[],"created_at":"2038-01-01T00:00:00Z"}
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
		a< ^-`, nested(31), nested(32)),
	"error-long": `
		a: worker
		a> PUSH
		a< why why`,
}

// nested are arrays inside each other.
func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
