package variations_test

// shown has a conversation for each variation that only a server with it has.
var shown = map[string]string{
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
	"line-short": `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":["FILLER"]}
		a< ^-
		a> INFO
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
		took 130.335707ms`,
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
		a< ^-
		b: connect
		b< HI
		b> HELLO {"v":2,"hostname":"","wid":"w","pid":1,"labels":[]}
		b< ^-`,
	"refuses-producers": `
		a: hello
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< ^-
		w: worker
		w> FETCH
		w< "j"`,
	"refuses-short-failures": fetched + `
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
	"told-closes": `
		a: worker
		a> BEAT {"wid":"a"}
		a< OK
		operator quiet
		a> BEAT {"wid":"a"}
		a< quiet
		a< close`,
}

// fetched has a worker that has fetched a job.
const fetched = `
		a: worker
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< OK
		a> FETCH
		a< "j"
		`

// twenty connections, and one more.
const twenty = `
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
