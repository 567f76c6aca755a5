package clientrules

import (
	"fmt"
	"strings"
)

// repeatConn repeats a connection of one command.
func repeatConn(n int, role, command string) string {
	conn := "\n1 " + role + "\n1 C: " + command + "\n1 S: +OK\n1 C: END\n1 S: +OK\n1 C: <close>"
	return strings.Repeat(conn, n)
}

// openConns has a client open one connection after the other for a command each.
func openConns(n int, role string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\n%d %s\n%[1]d C: FLUSH\n%[1]d S: +OK", i+1, role)
	}
	return b.String()
}

// pool has a client open connections, use each once, and close them.
func pool(n int, role string) string {
	var opens, uses, ends strings.Builder
	for i := range n {
		fmt.Fprintf(&opens, "\n%d %s", i+1, role)
		fmt.Fprintf(&uses, "\n%d C: FLUSH\n%[1]d S: +OK", i+1)
		fmt.Fprintf(&ends, "\n%d C: END\n%[1]d S: +OK\n%[1]d C: <close>", i+1)
	}
	return opens.String() + uses.String() + ends.String()
}

// jobConns repeats ten times a connection of a worker that gets one job and reports it, with a number of FETCHes
// ahead.
func jobConns(nulls int) string {
	conn := "\n1 worker w1" + strings.Repeat("\n1 C: FETCH\n1 S: $-1", nulls) + `
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"t","args":[]}
			1 C: ACK {"jid":"j1"}
			1 S: +OK
			1 C: END
			1 S: +OK
			1 C: <close>`
	return strings.Repeat(conn, 10)
}

// crossing is two HELLOs of a worker, the second of which has a pid and is sent before the reply to the first.
func crossing(pid int) string {
	return fmt.Sprintf(`
		1 open
		2 open
		1 S: +HI {"v":2}
		2 S: +HI {"v":2}
		1 C: HELLO {"v":2,"labels":[],"pid":7,"wid":"w1","hostname":"h"}
		2 C: HELLO {"v":2,"labels":[],"pid":%d,"wid":"w1","hostname":"h"}
		1 S: +OK
		2 S: +OK`, pid)
}

func workerTests() []ruleTest {
	return []ruleTest{
		{breach: WorkerFields, name: "all four", stream: `1 worker w1`},
		{breach: WorkerFields, name: "labels, and a field of its own", stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: HELLO {"v":2,"wid":"w1","hostname":"h","pid":7,"labels":["a","b"],"lang":"x"}`},
		{breach: WorkerFields, name: "no labels", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: HELLO {"v":2,"wid":"w1","hostname":"h","pid":7}`},
		{breach: WorkerFields, name: "pid as a string", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: HELLO {"v":2,"wid":"w1","hostname":"h","pid":"7","labels":[]}`},
		{breach: WorkerFields, name: "wid as a number", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: HELLO {"v":2,"wid":1,"hostname":"h","pid":7,"labels":[]}`},
		{breach: WorkerFields, name: "null labels", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: HELLO {"v":2,"wid":"w1","hostname":"h","pid":7,"labels":null}`},

		{breach: FetchWithoutWid, name: "with a wid", stream: `
			1 worker w1
			1 C: FETCH`},
		{breach: FetchWithoutWid, name: "a producer of the same process", stream: `
			1 worker w1
			2 producer
			2 C: PUSH {"jid":"j1","jobtype":"t","args":[]}
			1 C: FETCH default`},
		{breach: FetchWithoutWid, name: "a producer's HELLO", isWrong: true, stream: `
			1 producer
			1 C: FETCH`},
		{breach: FetchWithoutWid, name: "hostname and pid, and no wid", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: HELLO {"v":2,"hostname":"h","pid":7,"labels":[]}
			1 S: +OK
			1 C: FETCH default`},

		{breach: WidShared, name: "two processes", cfg: Config{HasProcesses: true}, stream: `
			p1 started
			p2 started
			1 worker w1 p1
			2 worker w2 p2`},
		{breach: WidShared, name: "two connections of a process, and another", cfg: Config{HasProcesses: true}, stream: `
			p1 started
			p2 started
			1 worker w1 p1
			2 worker w2 p2
			3 worker w1 p1`},
		{breach: WidShared, name: "started anew, before the end of its connection is seen", cfg: Config{HasProcesses: true},
			stream: `
			p1 started
			1 worker w1 p1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"terminate"}
			1 C: END
			p1 exited 0
			p2 started
			2 worker w1 p2
			1 C: <close>
			3 worker w1 p2
			+1s
			3 C: FETCH`},
		{breach: WidShared, name: "by the one after the next", isWrong: true, cfg: Config{HasProcesses: true}, stream: `
			p1 started
			1 worker w1 p1
			p1 exited 0
			p2 started
			p3 started
			2 worker w1 p2
			1 S: <close>
			3 worker w1 p3`},
		{breach: WidShared, name: "the same", isWrong: true, cfg: Config{HasProcesses: true}, stream: `
			p1 started
			p2 started
			1 worker w1 p1
			2 worker w1 p2`},
		{breach: WidShared, name: "and the same pid", isWrong: true, cfg: Config{HasProcesses: true}, stream: `
			p1 started
			p2 started
			1 worker w1 p1
			2 open p2
			2 S: +HI {"v":2}
			2 C: HELLO {"hostname":"h","wid":"w1","pid":8,"labels":[],"v":2}`},

		{breach: HelloDiffers, name: "the same", stream: `
			1 worker w1
			2 worker w1`},
		{breach: HelloDiffers, name: "in another order, with a field more", stream: `
			1 worker w1
			2 open
			2 S: +HI {"v":2}
			2 C: HELLO {"v":2,"labels":[],"pid":7,"wid":"w1","hostname":"h","n":2}`},
		{breach: HelloDiffers, name: "the same, sent before the reply to the first", stream: crossing(7)},
		{breach: HelloDiffers, name: "another pid, sent before the reply to the first", isWrong: true, stream: crossing(8)},
		{breach: HelloDiffers, name: "another pid, when it was started anew", stream: `
			1 worker w1` + endLines + `
			2 worker w1 p2
			3 worker w1 p2`},
		{breach: HelloDiffers, name: "another pid", isWrong: true, stream: `
			1 worker w1
			2 open
			2 S: +HI {"v":2}
			2 C: HELLO {"v":2,"labels":[],"pid":8,"wid":"w1","hostname":"h"}`},
		{breach: HelloDiffers, name: "other labels", isWrong: true, stream: `
			1 worker w1
			2 open
			2 S: +HI {"v":2}
			2 C: HELLO {"v":2,"labels":["beat"],"pid":7,"wid":"w1","hostname":"h"}`},

		{breach: ConnectionForEach, name: "many commands", stream: `
			1 producer
			1 C: INFO
			1 S: ${}
			1 C: INFO
			1 S: ${}
			1 C: INFO
			1 S: ${}
			1 C: INFO
			1 S: ${}
			1 C: INFO
			1 S: ${}`},
		{breach: ConnectionForEach, name: "nine short ones and a long one", stream: repeatConn(9, "worker w1", "FLUSH") + `
			1 worker w1
			1 C: FETCH
			1 S: $-1
			1 C: FETCH
			1 S: $-1
			1 C: FETCH
			1 S: $-1
			1 C: FETCH
			1 S: $-1
			1 C: FETCH`},
		{
			breach: ConnectionForEach, name: "a worker", isWrong: true,
			stream: repeatConn(10, "worker w1", `ACK {"jid":"j1"}`), others: ReportUnfetched,
		},
		{breach: ConnectionForEach, name: "beside one with as many commands", stream: "1 worker w1\n2 worker w1" +
			strings.Repeat("\n2 C: FETCH\n2 S: $-1", 11) + repeatConn(10, "worker w1", `FLUSH`)},
		{breach: ConnectionForEach, name: "pushes of the jobs of a worker",
			stream: repeatConn(10, "worker w1", `PUSH {"jid":"p1","jobtype":"a","args":[],"queue":"q"}`),
			others: PushJIDReused, isOpen: true},
		{
			breach: ConnectionForEach, name: "ended by the server behind END", isWrong: true,
			stream: strings.ReplaceAll(repeatConn(10, "worker w1", `FLUSH`), "C: <close>", "S: <close>"),
		},
		{breach: ConnectionForEach, name: "one job each, reported twice", isWrong: true, others: JobReportedTwice,
			stream: strings.ReplaceAll(jobConns(0), "1 C: ACK", "1 C: ACK {\"jid\":\"j1\"}\n1 S: +OK\n1 C: ACK")},
		{breach: ConnectionForEach, name: "one job each", isWrong: true, stream: jobConns(0)},
		{breach: ConnectionForEach, name: "one job each, after a FETCH", isWrong: true, stream: jobConns(1)},
		{breach: ConnectionForEach, name: "one job each, after three FETCHes", stream: jobConns(3)},
		{breach: ConnectionForEach, name: "few commands, for a minute", stream: strings.ReplaceAll(
			repeatConn(10, "worker w1", "FLUSH"), "\n1 C: END", "\n+61s\n1 C: END"), others: BeatMissing},
		{breach: ConnectionForEach, name: "a pool that is closed, and many commands", stream: pool(12, "worker w1") +
			"\n1 worker w1" + strings.Repeat("\n1 C: FETCH\n1 S: $-1", 5)},
		{breach: ConnectionForEach, name: "left open", isWrong: true, stream: openConns(11, "worker w1")},
		{
			breach: ConnectionForEach, name: "left open by a producer", isWrong: true, cfg: Config{HasProcesses: true},
			stream: "p1 started" + openConns(11, "producer p1"),
		},
		{breach: ConnectionForEach, name: "each idle once, and used again", stream: openConns(10, "worker w1") +
			strings.Repeat("\n1 C: FLUSH\n1 S: +OK", 5)},
		{breach: ConnectionForEach, name: "a pool, of which each is used once", isOpen: true, stream: pool(12, "worker w1")},
		{
			breach: ConnectionForEach, name: "a producer's process", isWrong: true, cfg: Config{HasProcesses: true},
			stream: "p1 started" + repeatConn(10, "producer p1", `FLUSH`),
		},

		{breach: OneConnection, name: "two connections", stream: `
			1 worker w1
			2 worker w1
			1 C: FETCH
			2 C: BEAT {"wid":"w1"}
			2 S: +OK
			1 S: $-1
			1 C: FETCH`},
		{breach: OneConnection, name: "one for FETCH and reports", stream: `
			1 worker w1
			2 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: +OK
			2 C: FETCH
			2 S: $-1
			2 C: FETCH`},
		{breach: OneConnection, name: "FETCH after BEAT", isWrong: true, stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: +OK
			1 C: FETCH`},
		{breach: OneConnection, name: "BEAT after FETCH", isWrong: true, stream: `
			1 worker w1
			2 worker w1
			2 C: BEAT {"wid":"w1"}
			2 S: +OK
			1 C: FETCH
			1 S: $-1
			+5s
			1 C: BEAT {"wid":"w1"}
			1 S: +OK`},
	}
}
