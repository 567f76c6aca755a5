package clientrules

func serverTests() []ruleTest {
	server := Config{Server: true}
	return []ruleTest{
		{breach: BrokenGrammar, name: "replies", cfg: server, stream: fetchedJob + failed},
		{breach: BrokenGrammar, name: "a reply in pieces", cfg: server, stream: `
			1 producer
			1 C: INFO
			1 S: "$2\r"
			1 S: "\n{}\r"
			1 S: "\n"`},
		{breach: BrokenGrammar, name: "LF alone", wrong: true, cfg: server, stream: `
			1 producer
			1 C: INFO
			1 S: "+OK\n"`},
		{breach: BrokenGrammar, name: "a length in characters", wrong: true, cfg: server, stream: `
			1 producer
			1 C: INFO
			1 S: "$2\r\nüü\r\n+OK\r\n"`},

		{breach: Unasked, name: "one each", cfg: server, stream: fetchedJob + failed},
		{breach: Unasked, name: "END without a reply", cfg: server, stream: `
			1 producer
			1 C: END
			1 S: <close>`},
		{breach: Unasked, name: "two replies", wrong: true, cfg: server, stream: `
			1 producer
			1 C: INFO
			1 S: ${}
			1 S: +OK`},
		{breach: Unasked, name: "on an idle connection", wrong: true, cfg: server, stream: `
			1 producer
			+5s
			1 S: -ERR bye`},
	}
}
