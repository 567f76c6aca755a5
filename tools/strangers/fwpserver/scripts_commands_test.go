package main

// Scripts of the mutants in the commands, and of those that a restart brings out.
var commandScripts = []script{
	{number: 56, steps: `
		a> PUSH {"jid":"%j1","jobtype":"t","args":[],"queue":"q","custom":[]}
		a< -
		a get q = nil`},
	{number: 57, steps: numbered(1, 3, `
		a push j%d "queue":"q1"`) + `
		a push j4 "queue":"q2"` + times(3, `
		a get q1 q2 = * {"queue":"q1"}`) + `
		a get q1 q2 = j4`},
	{number: 58, steps: `
		a push j1 "queue":"q9"
		a get q1 q2 q3 q4 q5 q6 q7 q8 q9 = j1`},
	{number: 59, steps: `
		meet a
		a> FETCH q1 q2 q3 q4 q5 q6
		a<900ms nil`},
	{number: 60, wait: longWait, steps: `
		meet a b c
		a> FETCH
		waiting 1
		b> FETCH
		waiting 2
		c push j1
		c push j2
		a< *
		b< *`},
	{number: 61, wait: longWait, steps: `
		meet a b
		a> FETCH q
		waiting 1
		b push j1 "queue":"q"
		a< j1`},
	{number: 62, steps: `
		a push j1 "queue":"q"
		a get q = j1
		a push j2 "queue":"q"
		a get = nil`},
	{number: 63, steps: `
		a push j1 "queue":"q","reserve_for":60
		a get q = j1
		b ack j1
		advance 62s
		advance 60s
		b get q = nil`},
	{number: 64, steps: `
		a push j1 "queue":"q"
		a get q = j1
		a fail j1
		advance 100s
		a get q = j1
		a ack j1
		advance 200s
		a get q = nil`},
	{number: 65, steps: `
		a push j1 "queue":"q"
		a get q = j1
		a> FAIL {"jid":"%j1","errtype":"E","message":"oh","backtrace":"x"}
		a< -
		advance 60s
		b get q = nil`},
	{number: 66, steps: `
		a push j1 "queue":"q"
		a get q = j1
		a> FAIL {"jid":"%j1","errtype":"E","message":"first\nsecond","backtrace":["x"]}
		a< +OK
		advance 60s
		a get q = j1 {"failure":"~first&~second"}`},
	{number: 67, steps: `
		a push j1 "queue":"q"
		a get q = j1
		a ack j1
		a> FAIL {"jid":"%j1","errtype":"E","message":"oh","backtrace":["x"]}
		a< - or +OK
		advance 60s
		a get q = nil`},
	{number: 68, steps: `
		a push j1 "queue":"q","at":"<+10s>"
		a> FLUSH
		a< +OK
		advance 15s
		b get q = nil`},
	{number: 69, steps: `
		a push j1 "queue":"q"
		a get q = j1
		b> FLUSH
		b< +OK
		a> FAIL {"jid":"%j1","errtype":"E","message":"oh","backtrace":["x"]}
		a< - or +OK
		advance 60s
		a get q = nil`},
	{number: 70, steps: `
		a push j1 "queue":"q"
		a> FLUSH x
		a< -
		a get q = j1`},
	{number: 71, steps: `
		a> FLUSH
		a< +OK
		a> INFO
		a< bulk`},
	{number: 72, steps: `
		work a A-0123456789
		work b B-0123456789
		signal quiet
		b> BEAT {"wid":"B-0123456789"}
		b< {"state":"quiet"}
		a> BEAT {"wid":"A-0123456789"}
		a< {"state":"quiet"}`},
	{number: 73, steps: `
		work a A-0123456789
		signal quiet
		a> BEAT {"wid":"A-0123456789"}
		a< {"state":"quiet"}
		signal terminate
		a> BEAT {"wid":"A-0123456789","current_state":"quiet"}
		a< {"state":"terminate"}`},
	{number: 74, steps: `
		work a A-0123456789
		a> BEAT {"wid":"A-0123456789","current_state":"quiet"}
		a< +OK
		a> BEAT {"wid":"A-0123456789","rss_kb":5}
		a< +OK`},
	{number: 75, steps: `
		a push j1 "queue":"q"
		a get q = j1
		a> END
		a< +OK or eof
		a<1000ms eof`},
	{number: 76, steps: `
		work a A-0123456789
		signal quiet
		a> BEAT {"wid":"A-0123456789"}
		a< {"state":"quiet"}
		a push j1 "queue":"q"
		b get q = j1`},
	{number: 77, steps: `
		a push j1 "queue":"q"
		a> FLUSH
		a< +OK
		restart
		b get q = nil`},
	{number: 78, steps: `
		a push j1 "queue":"q","reserve_for":60
		a get q = j1
		a ack j1
		restart
		advance 62s
		advance 60s
		b get q = nil`},
	{number: 79, steps: `
		a push j1 "queue":"q","args":[9007199254740993]
		restart
		a get q = j1 {"args":[9007199254740993]}`},
	{number: 80, steps: `
		a push j1 "queue":"q","retry":1
		a get q = j1
		a fail j1
		advance 100s
		a get q = j1
		restart
		a fail j1
		advance 200s
		a get q = nil`},
}
