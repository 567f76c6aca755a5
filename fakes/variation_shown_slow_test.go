package fakes_test

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
		wait 5s
		a> FETCH
		a< "j"
		took 2s`,
}
