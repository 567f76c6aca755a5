package fakes_test

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
