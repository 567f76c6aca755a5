package fakes_test

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
