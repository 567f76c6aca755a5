package fakes

// unfinishedFaults are about the last bytes of a client.
func unfinishedFaults() []Fault {
	taken := func(empty bool) func(*Event) {
		return on(Unfinished, func(e *Event) { e.Skip = (len(e.Line) == 0) != empty })
	}
	return []Fault{
		fault("line-unfinished", "FRAME-08",
			"the beginning of a line is a command when its connection ends",
			taken(false)),
		fault("reply-at-the-end", "RESP-05",
			"a client that sends no more is sent an error",
			taken(true)),
	}
}
