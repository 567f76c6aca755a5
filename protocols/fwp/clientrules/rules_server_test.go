package clientrules

func serverTests() []ruleTest {
	server := Config{JudgesServer: true}
	return []ruleTest{
		{breach: BrokenGrammar, name: "replies", cfg: server, stream: jobFetch + failReport},
		{breach: BrokenGrammar, name: "a reply in pieces", cfg: server, stream: `
			1 producer
			1 C: INFO
			1 S: "$2\r"
			1 S: "\n{}\r"
			1 S: "\n"`},
		{breach: BrokenGrammar, name: "LF alone", isWrong: true, cfg: server, stream: `
			1 producer
			1 C: INFO
			1 S: "+OK\n"`},
		{breach: BrokenGrammar, name: "a length in characters", isWrong: true, cfg: server, stream: `
			1 producer
			1 C: INFO
			1 S: "$2\r\nüü\r\n+OK\r\n"`},

		{breach: Unasked, name: "one each", cfg: server, stream: jobFetch + failReport},
		{breach: Unasked, name: "END without a reply", cfg: server, stream: `
			1 producer
			1 C: END
			1 S: <close>`},
		{breach: Unasked, name: "two replies", isWrong: true, cfg: server, stream: `
			1 producer
			1 C: INFO
			1 S: ${}
			1 S: +OK`},
		{breach: Unasked, name: "on an idle connection", isWrong: true, cfg: server, stream: `
			1 producer
			+5s
			1 S: -ERR bye`},
	}
}
