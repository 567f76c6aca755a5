package main

// Scripts of the mutants in the life of a job and in its fields.
var jobScripts = []script{
	{number: 31, wait: longWait, steps: `
		meet a b c
		a> FETCH
		waiting 1
		b> FETCH
		waiting 2
		c push j1
		a< j1
		b< nil`},
	{number: 32, steps: numbered(1, 20, `
		a push j%d "queue":"q"`) + `
		a get q = *` + "\n" + numbered(21, 24, `
		a push j%d "queue":"q"`) + times(23, `
		a get q = *`)},
	{number: 33, steps: `
		a push j1 "queue":"q"
		a get q = j1
		a> FAIL {"jid":"%j1","errtype":"E","message":"oh"}
		a< +OK
		a get q = nil`},
	{number: 34, steps: `
		a push j1 "queue":"q","reserve_for":60
		a get q = j1
		close a
		pause 60ms
		advance 62s
		advance 60s
		b get q = j1`},
	{number: 35, steps: `
		a push j1 "queue":"q"
		a get q = j1
		a> END
		a< +OK or eof
		b get q = nil`},
	{number: 36, steps: `
		a push j1 "queue":"q"
		a get q = j1
		a fail j1
		advance 100s
		a get q = j1
		a fail j1
		advance 200s
		a get q = j1`},
	{number: 37, steps: `
		a push j1 "queue":"q","at":"<+300s+02:00>"
		a get q = nil
		advance 310s
		a get q = j1`},
	{number: 38, steps: `
		a push j1 "queue":"q","at":"<+10s>"
		a push j2 "queue":"q","at":"<+10s>"
		advance 15s
		a get q = *
		a get q = *`},
	{number: 39, steps: `
		a push j1 "queue":"q","at":"<+10s>"
		a push j2 "queue":"q","at":"<+500s>"
		advance 15s
		a get q = j1
		a get q = nil`},
	{number: 40, steps: `
		a push j1 "queue":"q","args":[{"n":[9007199254740993]}]
		a get q = j1 {"args":[{"n":[9007199254740993]}]}
		a fail j1
		advance 60s
		a get q = j1 {"args":[{"n":[9007199254740993]}]}`},
	{number: 41, steps: `
		a push j1 "queue":"q","args":["a\u0000b"]
		a get q = j1 {"args":["a\u0000b"]}`},
	{number: 42, steps: `
		a push j1 "queue":"q","custom":{"k":[1]}
		a get q = j1 {"custom":{"k":[1]}}
		a fail j1
		advance 60s
		a get q = j1 {"custom":{"k":[1]}}`},
	{number: 43, steps: `
		a push j1 "queue":"q"
		a get q = j1 {"enqueued_at":"@0s"}
		a fail j1
		advance 60s
		a get q = j1 {"enqueued_at":"@0s"}`},
	{number: 44, steps: `
		a push j1 "queue":"q"
		a get q = j1 {"failure":null}
		a> FAIL {"jid":"%j1","errtype":"E","message":"first","backtrace":["x"]}
		a< +OK
		advance 100s
		a get q = j1 {"failure":"~first"}
		a> FAIL {"jid":"%j1","errtype":"E","message":"second","backtrace":["x"]}
		a< +OK
		advance 200s
		a get q = j1 {"failure":"~second&!~first"}`},
	{number: 45, steps: `
		a push j1 "queue":"q","reserve_for":60
		a get q = j1
		advance 62s
		advance 60s
		b get q = j1 {"failure":"~{"}`},
	{number: 46, steps: `
		a push j1 "queue":"q"
		a get q = j1
		a fail j1
		advance 60s
		a get q = j1 {"failure":"~oh&!~line-1"}`},
	{number: 47, steps: `
		a push j1 "queue":"q","backtrace":2
		a get q = j1
		a fail j1
		advance 60s
		a get q = j1 {"failure":"~line-1&~line-2&!~line-3&!~line-5"}`},
	{number: 48, steps: `
		a push j1 "queue":"q"
		a get q = j1 {"created_at":"@0s"}
		a fail j1
		advance 60s
		a get q = j1 {"created_at":"@-60s"}`},
	{number: 49, steps: `
		a> PUSH {"jid":"%j1","jobtype":"t","args":[],"queue":"q","reserve_for":10}
		a< - or +OK
		a get q = j1 or nil
		advance 20s
		advance 30s
		b get q = nil`},
	{number: 50, steps: `
		a push j1 "queue":"q","reserve_for":60
		advance 40s
		a get q = j1
		advance 40s
		advance 10s
		b get q = nil`},
	{number: 51, steps: `
		a push j0 "queue":"q0","retry":0
		a push j1 "queue":"q1"
		a get q1 = j1
		a fail j1
		advance 60s
		a get q1 = j1`},
	{number: 52, steps: `
		a push j0 "queue":"q0"
		a push j1
		a get = j1`},
	{number: 53, steps: `
		a push j1 "queue":"q","retry":0
		a get q = j1
		a fail j1
		advance 60s
		a get q = nil`},
	{number: 54, steps: `
		a push j1 "queue":"q","retry":1
		a get q = j1
		a fail j1
		advance 100s
		a get q = j1
		a fail j1
		advance 200s
		a get q = nil`},
	{number: 55, steps: `
		a push j1 "queue":"q","retry":-1
		a get q = j1
		a fail j1
		advance 60s
		a get q = nil`},
}
