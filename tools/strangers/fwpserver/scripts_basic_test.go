package main

// The common sample: what every right server does, whatever freedom it uses.
var basics = []script{
	{steps: `
		produce a
		a push j1
		b get = j1 {"args":[1],"jobtype":"t"}
		b ack j1
		b get = nil`},
	{steps: `
		open a
		a> HELLO {"v":2}
		a< +OK
		a> INFO
		a< bulk
		a> END
		a< +OK or eof
		a< eof`},
	{steps: `
		work a W-0123456789
		work b W-0123456789
		a> BEAT {"wid":"W-0123456789","rss_kb":54176}
		a< +OK
		b> BEAT {"wid":"W-0123456789"}
		b< +OK
		a> BEAT {"wid":5}
		a< -
		a> BEAT
		a< -`},
	{steps: `
		a> PUSH []
		a< -
		a> PUSH {"jid":5,"jobtype":"t","args":[]}
		a< -
		b> PUSH {"jid":"%j1","args":[]}
		b< -
		b> PUSH {"jid":"%j1","jobtype":"t","args":{}}
		b< -
		a get = nil`},
	{steps: `
		a> FETCH  q
		a< -
		a> INFO x
		a< -
		b> info
		b< -
		b> ACK {}
		b< -
		c> FAIL {"errtype":"E"}
		c< -
		c> INFO
		c< bulk`},
	{steps: `
		a push j1 "queue":"q","args":[1.5,[],{},null,true,{"k":[-3,"é\u00e9<&>"]}]
		a get q = j1 {"args":[1.5,[],{},null,true,{"k":[-3,"éé<&>"]}]}
		a fail j1
		advance 100s
		a get q = j1 {"failure":"~oh"}
		a ack j1`},
	{steps: `
		a push j1 "queue":"q","at":"<+60s>"
		a get q = nil
		advance 65s
		a get q = j1
		a ack j1`},
	{steps: `
		a push j1 "queue":"b"
		a push j2 "queue":"a"
		a get a b = j2
		a get a b = j1`},
	{steps: `
		a push j1 "queue":"q","reserve_for":60
		a get q = j1
		advance 55s
		b get q = nil
		advance 10s
		advance 60s
		b get q = j1
		b ack j1`},
	{steps: `
		a push j1 "queue":"q"
		a push j2 "queue":"q"
		a> FLUSH
		a< +OK
		a get q = nil
		a push j3 "queue":"q"
		a get q = j3`},
	{steps: `
		work a A-0123456789
		work b B-0123456789
		signal terminate
		a> BEAT {"wid":"A-0123456789"}
		a< {"state":"terminate"}
		b> BEAT {"wid":"B-0123456789"}
		b< {"state":"terminate"}`},
}
