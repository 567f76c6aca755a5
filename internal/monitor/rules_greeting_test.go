package monitor

func greetingTests() []ruleTest {
	return []ruleTest{
		{breach: BeforeGreeting, name: "HI first", stream: `1 producer`},
		{breach: BeforeGreeting, name: "HI in pieces", stream: `
			1 open
			1 S! "+HI {\"v\""
			+1s
			1 S! ":2}\r\n"
			1 C: HELLO {"v":2}`},
		{breach: BeforeGreeting, name: "HELLO at once", wrong: true, stream: `
			1 open
			1 C: HELLO {"v":2}
			1 S: +HI {"v":2}
			1 S: +OK`},
		{breach: BeforeGreeting, name: "within HI", wrong: true, stream: `
			1 open
			1 S! "+HI {\"v\":2}\r"
			1 C: HELLO {"v":2}
			1 S! "\n"`},

		{breach: HelloNotFirst, name: "HELLO first", stream: `1 producer`},
		{breach: HelloNotFirst, name: "a second HELLO", stream: `
			1 producer
			1 C: HELLO {"v":2}`},
		{breach: HelloNotFirst, name: "PUSH first", wrong: true, stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: PUSH {"jid":"j1","jobtype":"t","args":[]}`},
		{breach: HelloNotFirst, name: "END first", wrong: true, stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: END`},
	}
}
