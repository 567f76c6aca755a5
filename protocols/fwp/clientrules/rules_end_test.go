package clientrules

func endTests() []ruleTest {
	processes := Config{HasProcesses: true}
	return []ruleTest{
		{breach: LineAfterEnd, name: "OK and close", stream: `1 producer` + endLines},
		{breach: LineAfterEnd, name: "no OK", stream: `
			1 producer
			1 C: END
			1 S: <close>`},
		{breach: LineAfterEnd, name: "a second END", isWrong: true, stream: `
			1 producer
			1 C: END
			1 C: END`},
		{breach: LineAfterEnd, name: "a line after OK", isWrong: true, stream: `
			1 producer
			1 C: END
			1 S: +OK
			1 C: INFO`},

		{breach: ClosedWithoutEnd, name: "END", stream: `1 producer` + endLines},
		{breach: ClosedWithoutEnd, name: "one that gave up waiting, and one that ended", stream: `
			1 producer
			1 C: INFO
			+10s
			1 C: <close>
			1 producer` + endLines},
		{breach: ClosedWithoutEnd, name: "one that had given up waiting when its reply came, and one that ended", stream: `
			1 producer
			1 C: INFO
			+5s
			1 S: ${}
			1 C: <close>
			1 producer` + endLines},
		{breach: ClosedWithoutEnd, name: "killed, as it did not leave", isOpen: true, cfg: processes, stream: `
			p1 started
			1 worker w1 p1
			p1 TERM
			+20s
			p1 KILL
			1 C: <close>
			p1 exited -1`},
		{breach: ClosedWithoutEnd, name: "just closed", isWrong: true, stream: `
			1 producer
			1 C: <close>`},
		{breach: ClosedWithoutEnd, name: "after a command", isWrong: true, stream: `
			1 producer
			1 C: INFO
			1 S: ${}
			1 C: <close>`},

		{breach: EndWithJobs, name: "after its report", stream: jobFetch + failReport + endLines},
		{breach: EndWithJobs, name: "after a report with two spaces", others: LineForm, stream: jobFetch + `
			1 C: ACK  {"jid":"j1"}
			1 S: +OK` + endLines},
		{breach: EndWithJobs, name: "the worker has another connection", stream: jobFetch + `
			2 worker w1` + endLines + reportOnConn2},
		{breach: EndWithJobs, name: "its process has a connection that has not greeted yet", cfg: processes, stream: `
			p1 started
			1 worker w1 p1
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"t","args":[]}
			2 open p1` + endLines + `
			2 S: +HI {"v":2}
			2 C: HELLO {"v":2,"hostname":"h","wid":"w1","pid":8,"labels":[]}
			2 S: +OK` + reportOnConn2},
		{breach: EndWithJobs, name: "another connection takes its place", stream: jobFetch + endLines + `
			+500ms
			2 worker w1` + reportOnConn2},
		{breach: EndWithJobs, name: "another connection that has not greeted takes its place", cfg: processes, stream: `
			p1 started
			1 worker w1 p1
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"t","args":[]}` + endLines + `
			+500ms
			2 open p1` + seconds(5) + `
			2 S: +HI {"v":2}
			2 C: HELLO {"v":2,"hostname":"h","wid":"w1","pid":8,"labels":[]}
			2 S: +OK` + reportOnConn2},
		{breach: EndWithJobs, name: "another connection comes much later", isWrong: true, stream: jobFetch + endLines +
			seconds(5) + `
			2 worker w1` + reportOnConn2},
		{breach: EndWithJobs, name: "its other connection may have been accepted", isOpen: true, stream: jobFetch + `
			2 open
			2 S: +HI {"v":2}
			2 C: HELLO {"v":2,"hostname":"h","wid":"w1","pid":7,"labels":[]}
			2 S: +WELCOME` + endLines + reportOnConn2},
		{breach: EndWithJobs, name: "it is killed meanwhile", cfg: processes, stream: `
			p1 started
			1 worker w1 p1
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"t","args":[]}` + endLines + `
			+200ms
			p1 KILL
			p1 exited -1
			2 worker w2
			2 C: END
			2 S: <close>`},
		{breach: EndWithJobs, name: "a report on a connection that the server had closed", stream: jobFetch + `
			+1s
			1 S: <fin>
			2 worker w1
			1 C: FAIL {"jid":"j1","errtype":"E","message":"m","backtrace":[]}
			2 C: END
			2 S: <close>`},
		{breach: EndWithJobs, name: "another line on a connection that the server had closed", isWrong: true,
			stream: jobFetch + `
			+1s
			1 S: <fin>
			2 worker w1
			1 C: ACK {"jid":"j2"}
			1 C: FETCH
			1 C: <close>
			2 C: END
			2 S: <close>`},
		{breach: EndWithJobs, name: "the last of three that end at a time", stream: jobFetch + failReport + `
			2 worker w1
			1 C: END
			2 C: END
			1 S: +OK
			2 S: +OK
			2 S: <close>
			1 S: <close>`},
		{
			breach: EndWithJobs, name: "a job runs when the last of two ends", isWrong: true, others: JobNotReported,
			stream: jobFetch + `
			2 worker w1
			1 C: END
			2 C: END
			1 S: +OK
			2 S: +OK
			1 C: <close>
			2 C: <close>`,
		},
		{breach: EndWithJobs, name: "a job runs", isWrong: true, others: JobNotReported, stream: jobFetch + endLines},
		{breach: EndWithJobs, name: "a job runs that came on another connection", isWrong: true, others: JobNotReported, stream: `
			2 worker w1` + jobFetch + endLines + `
			2 C: END
			2 S: +OK
			2 C: <close>`},
	}
}
