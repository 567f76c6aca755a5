package monitor

func stateTests() []ruleTest {
	return []ruleTest{
		{breach: FetchAfterQuiet, name: "no FETCH any more", stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"quiet"}
			+15s
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"quiet"}`},
		{breach: FetchAfterQuiet, name: "a FETCH that was under way", stream: `
			1 worker w1
			2 worker w1
			2 C: FETCH
			1 C: BEAT {"wid":"w1"}
			1 S: $ {"state":"quiet"}
			+300ms
			2 S: $-1
			+15s
			1 C: BEAT {"wid":"w1"}`},
		{breach: FetchAfterQuiet, name: "it goes on", wrong: true, stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"quiet"}
			+2s
			1 C: FETCH`},
		{breach: FetchAfterQuiet, name: "on another connection, after a bulk string", wrong: true, stream: `
			1 worker w1
			2 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: $ {"state":"quiet"}
			+4s
			2 C: FETCH a b`},

		{breach: FetchAfterTerminate, name: "it leaves", stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"terminate"}
			+5s
			1 C: END
			1 S: +OK
			1 closed client`},
		{breach: FetchAfterTerminate, name: "after quiet", stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"quiet"}
			+15s
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"terminate"}
			+5s
			1 C: END
			1 S: +OK
			1 closed client`},
		{breach: FetchAfterTerminate, name: "it goes on", wrong: true, stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"terminate"}
			+2s
			1 C: FETCH`},
		{breach: FetchAfterTerminate, name: "after quiet", wrong: true, stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"quiet"}
			+15s
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"terminate"}
			+2s
			1 C: FETCH default`},
	}
}
