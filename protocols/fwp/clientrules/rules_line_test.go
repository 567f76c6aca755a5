package clientrules

func lineTests() []ruleTest {
	return []ruleTest{
		{breach: LineEnd, name: "CRLF", stream: `
			1 producer
			1 C: INFO
			1 S: ${}`},
		{breach: LineEnd, name: "a line in pieces", stream: `
			1 producer
			1 C: "IN"
			+1s
			1 C: "FO\r"
			1 C: "\n"
			1 S: ${}`},
		{breach: LineEnd, name: "LF alone", isWrong: true, stream: `
			1 producer
			1 C: "INFO\n"
			1 S: ${}`},
		{breach: LineEnd, name: "LF alone after an object", isWrong: true, stream: `
			1 producer
			1 C: "PUSH {\"jid\":\"j1\",\"jobtype\":\"t\",\"args\":[]}\n"
			1 S: +OK`},

		{breach: LineUnfinished, name: "a whole one", stream: `1 producer` + endLines},
		{breach: LineUnfinished, name: "END without its end", isWrong: true, stream: `
			1 producer
			1 C: "END"
			1 C: <close>`},
		{breach: LineUnfinished, name: "half a line", isWrong: true, stream: `
			1 producer
			1 C: "PUSH {\"jid\":"
			1 C: <close>`},
		{breach: LineUnfinished, name: "behind a whole line", isWrong: true, stream: `
			1 worker w1
			1 C: "FETCH\r\nEN"
			1 C: <close>`},
		{breach: LineUnfinished, name: "LF is missing", isWrong: true, stream: `
			1 producer
			1 C: "END\r"
			1 C: <close>`},
		{breach: LineStalled, name: "no more of a line for long", isWrong: true, stream: `
			1 producer
			1 C: "PUSH {\"jid\":"
			1 ready
			+10s
			1 C: <close>`},
		{breach: LineStalled, name: "no more of a line up to the end", isWrong: true, stream: `
			1 producer
			1 C: "PUSH {\"jid\":"
			1 ready
			+10s
			end`},
		{breach: LineStalled, name: "a rest behind a line in two parts", stream: `
			1 producer
			1 C: "PUSH {\"jid\":"
			1 ready
			1 C: "\"j\",\"jobtype\":\"t\",\"args\":[]}\r\n"
			1 S: +OK
			+10s
			1 C: END
			1 C: <close>`},
		{breach: LineStalled, name: "on its way at the end", isOpen: true, stream: `
			1 producer
			1 C: "PUSH {\"jid\":"
			1 ready
			+2s
			end`},
		{breach: LineStalled, name: "late, on a late machine", isOpen: true, stream: `
			1 producer
			1 C: "PUSH {\"jid\":"
			1 ready
			+10s
			lag 8s
			end`},
		{breach: LineStalled, name: "kept waiting up to the end", isOpen: true, stream: `
			1 producer
			1 C: "PUSH {\"jid\":"
			+10s
			end`},
		{breach: LineUnfinished, name: "given up when it was kept waiting", isOpen: true, stream: `
			1 producer
			1 C: "PUSH {\"jid\":"
			+10s
			1 C: <close>`},
		{breach: LineUnfinished, name: "given up while it was sent for long", isOpen: true, stream: `
			1 producer
			1 C: "PUSH {\"jid\":"
			1 ready
			+2s
			1 C: "\"j"
			1 ready
			+2s
			1 C: <close>`},
		{breach: LineUnfinished, name: "the server closed first", isOpen: true, stream: `
			1 producer
			1 C: "PUSH {\"jid\":"
			1 S: <close>`},
		{breach: LineUnfinished, name: "the server closed its side first", isOpen: true, stream: `
			1 producer
			1 C: "PUSH {\"jid\":"
			1 S: <fin>
			1 C: "\"j"
			1 C: <close>
			end`},
		{breach: LineUnfinished, name: "reset", isOpen: true, stream: `
			1 producer
			1 C: "PUSH {\"jid\":"
			1 C: <reset>`},
		{breach: LineUnfinished, name: "killed", isOpen: true, cfg: Config{HasProcesses: true}, stream: `
			p1 started
			1 producer p1
			1 C: "PUSH {\"jid\":"
			p1 KILL
			1 C: <close>`},

		{breach: LineForm, name: "a space before LF alone", isWrong: true, others: LineEnd, stream: `
			1 producer
			1 C: "INFO \n"`},
		{breach: LineSyntax, name: "no JSON before LF alone", isWrong: true, others: LineEnd, stream: `
			1 producer
			1 C: "PUSH {\"jid\n"`},
		{breach: LineUTF8, name: "bytes before LF alone", isWrong: true,
			others: LineEnd + " " + PushJobtype + " " + PushArgs, stream: `
			1 producer
			1 C: "PUSH {\"jid\":\"\xff\"}\n"`},
		{breach: LineForm, name: "no space behind the verb", isWrong: true, others: "", stream: `
			1 producer
			1 C: PUSH{"jid":"j1","jobtype":"t","args":[]}`},
		{breach: LineForm, name: "verb alone", stream: `
			1 producer
			1 C: INFO`},
		{breach: LineForm, name: "a verb that the text does not have", stream: `
			1 producer
			1 C: MUTATE  {"cmd":"kill"}`},
		{breach: LineForm, name: "two spaces", isWrong: true, stream: `
			1 producer
			1 C: PUSH  {"jid":"j1","jobtype":"t","args":[]}`},
		{breach: LineForm, name: "a trailing space", isWrong: true, stream: `
			1 producer
			1 C: "INFO \r\n"`},
		{breach: LineForm, name: "an argument where there is none", isWrong: true, stream: `
			1 producer
			1 C: FLUSH {}`},

		{breach: LineSyntax, name: "white space inside JSON", stream: `
			1 producer
			1 C: PUSH { "jid": "j1", "jobtype": "t", "args": [ 1 ] }`},
		{breach: LineSyntax, name: "hostile text in JSON", stream: `
			1 producer
			1 C: PUSH {"jid":"\\u0000\\r\\n \\"j","jobtype":"ключ","args":["\\ud83d\\ude00","\\\\"]}`},
		{breach: LineSyntax, name: "JSON that is cut", isWrong: true, stream: `
			1 producer
			1 C: PUSH {"jid":"j1"`},
		{breach: LineSyntax, name: "a verb in lower case", isWrong: true, stream: `
			1 producer
			1 C: info`},
		{breach: LineSyntax, name: "a space after the object", isWrong: true, stream: `
			1 producer
			1 C: "PUSH {\"jid\":\"j1\",\"jobtype\":\"t\",\"args\":[]} \r\n"`},

		{breach: LineUTF8, name: "ASCII", stream: `
			1 producer
			1 C: INFO`},
		{breach: LineUTF8, name: "four bytes", stream: `
			1 producer
			1 C: PUSH {"jid":"j1","jobtype":"😀","args":[]}`},
		{breach: LineUTF8, name: "Latin 1", isWrong: true, stream: `
			1 producer
			1 C: "PUSH {\"jid\":\"j1\",\"jobtype\":\"\xe9\",\"args\":[]}\r\n"`},
		{breach: LineUTF8, name: "a character cut in two", isWrong: true, stream: `
			1 worker w1
			1 C: "FETCH \xc3\r\n"`},

		{breach: CommandInFlight, name: "one after the other", stream: `
			1 producer
			1 C: INFO
			1 S: ${}
			1 C: INFO
			1 S: ${}`},
		{breach: CommandInFlight, name: "at the same time on two connections", stream: `
			1 producer
			2 producer
			1 C: INFO
			2 C: INFO
			1 S: ${}
			2 S: ${}`},
		{breach: CommandInFlight, name: "two lines in one segment", isWrong: true, stream: `
			1 producer
			1 C: "INFO\r\nINFO\r\n"`},
		{breach: CommandInFlight, name: "END before the reply", isWrong: true, stream: `
			1 producer
			1 C: PUSH {"jid":"j1","jobtype":"t","args":[]}
			1 C: END`},
	}
}
