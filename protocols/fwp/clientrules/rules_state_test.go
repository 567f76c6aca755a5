package clientrules

import "strings"

const (
	quietWorker = `
	1 worker w1
	1 C: BEAT {"wid":"w1"}
	1 S: +{"state":"quiet"}`
	terminateOrder = `
	1 worker w1
	1 C: BEAT {"wid":"w1"}
	1 S: +{"state":"terminate"}`
	terminateOrderAtWork = `
	1 worker w1
	1 C: FETCH
	1 S: ${"jid":"j1","jobtype":"t","args":[]}
	2 worker w1
	2 C: BEAT {"wid":"w1"}
	2 S: +{"state":"terminate"}`
	signalQuiet = `
	1 worker w1
	2 worker w1
	1 C: BEAT {"wid":"w1","current_state":"quiet"}
	1 S: +OK`
	signalTerminate = `
	1 worker w1
	2 worker w1
	1 C: BEAT {"wid":"w1","current_state":"terminate"}
	1 S: +OK`
	endLines = `
	1 C: END
	1 S: +OK
	1 C: <close>`
	reportOnConn2 = `
			2 C: ACK {"jid":"j1"}
			2 S: +OK
			2 C: END
			2 S: <close>`
)

// beatsPerConn is a worker with two connections that send BEATs, one of which was told to be quiet.
const beatsPerConn = `
	1 worker w1
	2 worker w1
	2 C: BEAT {"wid":"w1"}
	2 S: +OK
	1 C: BEAT {"wid":"w1"}
	1 S: ${"state":"quiet"}`

// lostOrder is a worker that loses its connection some time after the order to be quiet, and fetches on until a later
// one.
func lostOrder(after string) string {
	const fetch = `
		2 C: FETCH
		+2s
		2 S: $-1`
	return `
		1 worker w1
		1 C: BEAT {"wid":"w1"}
		1 S: +{"state":"quiet"}
		+` + after + `
		1 S: <reset>
		2 worker w1` + fetch + fetch + `
		2 C: BEAT {"wid":"w1"}
		2 S: +{"state":"quiet"}
		+6s`
}

// lossOfJob is a worker with an order to terminate that loses the connection of its job, in a way, and leaves.
func lossOfJob(way, after string) string {
	return terminateOrderAtWork + seconds(3) + `
		1 ` + way + seconds(3) + after + `
		2 C: END
		2 S: +OK
		2 C: <close>`
}

// sharedConnection is a worker with one connection and two executors, of which one waits for it at the order to
// terminate, and then n FETCHes more.
func sharedConnection(n int) string {
	const fetch = `
		1 C: FETCH
		+2s
		1 S: $-1`
	return terminateOrder + strings.Repeat(fetch, 2+n)
}

func stateTests() []ruleTest {
	processes := Config{HasProcesses: true}
	return []ruleTest{
		{breach: FetchAfterQuiet, name: "no FETCH any more", stream: quietWorker + beats(1, "15s")},
		{breach: FetchAfterTerminate, name: "FETCHes that waited for the only connection", others: OneConnection,
			stream: sharedConnection(0) + endLines},
		{breach: FetchAfterTerminate, name: "FETCHes that waited, where an order was lost before", others: OneConnection,
			stream: terminateOrder + `
			2 worker w1
			2 C: FETCH
			1 S: <reset>
			2 S: <reset>` + sharedConnection(0) + endLines},
		{breach: FetchAfterTerminate, name: "started anew with the same wid", stream: terminateOrder + endLines + `
			+10s` + jobFetch},
		{breach: FetchAfterTerminate, name: "no end of FETCHes on the only connection", isWrong: true,
			others: StateIgnored + " " + OneConnection, stream: sharedConnection(4)},
		{breach: FetchAfterTerminate, name: "a FETCH on the only connection, which was free", isWrong: true, others: OneConnection,
			stream: terminateOrder + `
			+6s
			1 C: BEAT {"wid":"w1"}
			1 S: +OK
			1 C: FETCH`},
		{breach: FetchAfterTerminate, name: "FETCHes on one of two connections", isWrong: true, others: OneConnection,
			stream: `
			2 worker w1` + sharedConnection(0)},
		{breach: FetchAfterQuiet, name: "a FETCH that was under way", stream: `
			1 worker w1
			2 worker w1
			2 C: FETCH
			1 C: BEAT {"wid":"w1"}
			1 S: ${"state":"quiet"}
			+300ms
			2 S: $-1
			+15s
			1 C: BEAT {"wid":"w1"}`},
		{breach: FetchAfterQuiet, name: "one that met the reply on its way", stream: `
			1 worker w1
			2 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: ${"state":"quiet"}
			+10ms
			2 C: FETCH
			+2s
			2 S: $-1`},
		{breach: FetchAfterQuiet, name: "one on its way, on a machine that is late", stream: `
			1 worker w1
			2 worker w1
			lag 300ms
			1 C: BEAT {"wid":"w1"}
			1 S: ${"state":"quiet"}
			+700ms
			2 C: FETCH
			+2s
			2 S: $-1`},
		{breach: FetchAfterQuiet, name: "a later one, on a machine that is late", isWrong: true, stream: `
			1 worker w1
			2 worker w1
			lag 300ms
			1 C: BEAT {"wid":"w1"}
			1 S: ${"state":"quiet"}
			+900ms
			2 C: FETCH`},
		{breach: FetchAfterQuiet, name: "on a connection that waits for the reply to its own BEAT", stream: beatsPerConn + `
			+2s
			2 C: FETCH
			2 S: $-1`, others: OneConnection},
		{breach: FetchAfterQuiet, name: "on a connection that has had that reply", isWrong: true, stream: beatsPerConn + `
			+10s
			2 C: BEAT {"wid":"w1"}
			2 S: ${"state":"quiet"}
			+2s
			2 C: FETCH`, others: OneConnection},
		{breach: FetchAfterQuiet, name: "it goes on", isWrong: true, others: OneConnection, stream: quietWorker + `
			+2s
			1 C: FETCH`},
		{breach: FetchAfterQuiet, name: "on another connection, after a bulk string", isWrong: true, stream: `
			1 worker w1
			2 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: ${"state":"quiet"}
			+4s
			2 C: FETCH a b`},

		{breach: FetchAfterQuiet, name: "it was quieted by a signal", stream: signalQuiet + beats(1, "15s")},
		{breach: FetchAfterQuiet, name: "it was quieted by a signal, and fetches", isWrong: true, stream: signalQuiet + `
			+2s
			2 C: FETCH`},
		{breach: FetchAfterTerminate, name: "it reports a signal", stream: signalTerminate + `
			+5s` + endLines + `
			2 C: END
			2 S: +OK
			2 C: <close>`},
		{breach: FetchAfterTerminate, name: "it reports a signal, and fetches", isWrong: true, stream: signalTerminate + `
			+2s
			2 C: FETCH`},

		{breach: FetchAfterTerminate, name: "it leaves", stream: terminateOrder + `
			+5s` + endLines},
		{breach: FetchAfterTerminate, name: "after quiet", stream: quietWorker + `
			+15s
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"terminate"}
			+5s` + endLines},
		{breach: FetchAfterTerminate, name: "it goes on", isWrong: true, others: OneConnection, stream: terminateOrder + `
			+2s
			1 C: FETCH`},
		{breach: FetchAfterTerminate, name: "after quiet", isWrong: true, others: OneConnection, stream: quietWorker + `
			+15s
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"terminate"}
			+2s
			1 C: FETCH default`},

		{breach: StateIgnored, name: "quiet", stream: quietWorker + seconds(6)},
		{breach: StateIgnored, name: "terminate in a bulk string", stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: ${"state":"terminate"}
			+6s` + endLines},
		{breach: StateIgnored, name: "a reply just before the loss, and again on the next connection", others: OneConnection,
			stream: lostOrder("300ms")},
		{breach: StateIgnored, name: "a reply long before the loss", isWrong: true, others: FetchAfterQuiet + " " + OneConnection,
			stream: lostOrder("2s")},
		{breach: StateIgnored, name: "quiet", isWrong: true, others: FetchAfterQuiet, stream: `
			1 worker w1
			2 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: ${"state":"quiet"}
			+1s
			2 C: FETCH
			+2s
			2 S: $-1
			2 C: FETCH`},
		{breach: StateIgnored, name: "terminate", isWrong: true, others: FetchAfterTerminate, stream: `
			1 worker w1
			2 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"terminate"}
			+1s
			2 C: FETCH
			+2s
			2 S: $-1
			2 C: FETCH`},

		{breach: Unquieted, name: "it stays quiet", stream: quietWorker + beats(3, "15s")},
		{breach: Unquieted, name: "it was never quiet", isOpen: true, others: FetchAfterTerminate + " " + OneConnection,
			stream: terminateOrder + beats(1, "15s") + `
			+2s
			1 C: FETCH
			1 S: $-1`},
		{breach: Unquieted, name: "it leaves later", stream: quietWorker + beats(2, "15s") + seconds(3) + endLines},
		{breach: Unquieted, name: "it fetches after OK", isWrong: true, others: FetchAfterQuiet,
			stream: quietWorker + beats(1, "15s") + `
			+1s
			2 worker w1
			2 C: FETCH`},
		{breach: Unquieted, name: "a second OK", isWrong: true, others: FetchAfterQuiet,
			stream: quietWorker + beats(2, "15s") + `
			+3s
			2 worker w1
			2 C: FETCH default`},

		{breach: QuietExit, name: "it stays", cfg: processes, stream: "p1 started" + `
			1 worker w1 p1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"quiet"}` + seconds(20)},
		{breach: QuietExit, name: "a signal ends it", cfg: processes, stream: "p1 started" + `
			1 worker w1 p1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"quiet"}` + seconds(20) + `
			p1 TERM` + endLines + `
			p1 exited 0`},
		{breach: QuietExit, name: "the server has closed its connection", cfg: processes, stream: "p1 started" + `
			1 worker w1 p1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"quiet"}` + seconds(20) + `
			1 S: <close>
			p1 exited 1`},
		{breach: QuietExit, name: "it leaves", isWrong: true, cfg: processes, stream: "p1 started" + `
			1 worker w1 p1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"quiet"}
			+1s` + endLines + `
			p1 exited 0`},
		{breach: QuietExit, name: "it crashes", isWrong: true, cfg: processes, stream: "p1 started" + `
			1 worker w1 p1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"quiet"}` + seconds(20) + `
			p1 exited 2`},

		{breach: TerminateJobLeft, name: "FAIL", stream: terminateOrderAtWork + seconds(10) + failReport + endLines + `
			2 C: END
			2 S: <close>`},
		{breach: TerminateJobLeft, name: "the job is done first", stream: terminateOrderAtWork + seconds(3) + `
			1 C: ACK {"jid":"j1"}
			1 S: +OK` + endLines + `
			2 C: END
			2 S: <close>`},
		{breach: TerminateJobLeft, name: "on a connection in place of the others", stream: terminateOrderAtWork + endLines + `
			2 C: END
			2 S: +OK
			2 C: <close>
			+500ms
			2 worker w1` + reportOnConn2},
		{breach: TerminateJobLeft, name: "it leaves", isWrong: true, others: EndWithJobs,
			stream: terminateOrderAtWork + seconds(3) + endLines + `
			2 C: END
			2 S: +OK
			2 C: <close>`},
		{breach: TerminateJobLeft, name: "the server closes its connections", isOpen: true,
			stream: terminateOrderAtWork + seconds(3) + `
			1 S: <close>
			2 S: <close>
			p1 exited 1`},
		{breach: TerminateJobLeft, name: "a report on the connection that the server closed", stream: lossOfJob("S: <fin>", `
			1 C: ACK {"jid":"j1"}`)},
		{breach: TerminateJobLeft, name: "no report on the connection that the server closed", isWrong: true,
			others: EndWithJobs, stream: lossOfJob("S: <fin>", "")},
		{breach: TerminateJobLeft, name: "the connection of the job was reset", isOpen: true,
			stream: lossOfJob("S: <reset>", "")},
		{breach: TerminateJobLeft, name: "the connection of the job was closed", isOpen: true,
			stream: lossOfJob("S: <close>", "")},
		{breach: TerminateJobLeft, name: "it stays with the job", isWrong: true,
			others: TerminateStays,
			stream: terminateOrderAtWork + seconds(40)},

		{breach: TerminateStays, name: "after 29 s", stream: terminateOrder + beats(1, "15s") + seconds(14) + endLines},
		{breach: TerminateStays, name: "told again", stream: terminateOrder + `
			+10s
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"terminate"}` + seconds(10) + endLines},
		{breach: TerminateStays, name: "END, which the server does not heed", stream: terminateOrder + `
			1 C: END` + seconds(40) + `
			1 S: <close>`},
		{breach: TerminateStays, name: "after 32 s", isWrong: true,
			stream: terminateOrder + beats(1, "15s") + seconds(17) + endLines},
		{breach: TerminateStays, name: "for ever", isWrong: true, stream: terminateOrder + beats(4, "15s")},

		{breach: UnknownWorker, name: "it greets again", stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: -ERR Unknown worker w1` + seconds(2) + endLines + `
			1 worker w1` + beat},
		{breach: UnknownWorker, name: "it leaves", stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: -ERR Unknown worker w1
			+1s` + endLines},
		{breach: UnknownWorker, name: "a FETCH or two", stream: `
			1 worker w1
			2 worker w1
			2 C: BEAT {"wid":"w1"}
			2 S: -ERR Unknown worker w1
			+1s` + fetches(2, "FETCH")},
		{breach: UnknownWorker, name: "it works on", isWrong: true, stream: `
			1 worker w1
			2 worker w1
			2 C: BEAT {"wid":"w1"}
			2 S: -ERR Unknown worker w1
			+1s` + fetches(12, "FETCH")},
		{breach: UnknownWorker, name: "it works on, and beats", isWrong: true, stream: `
			1 worker w1
			2 worker w1
			2 C: BEAT {"wid":"w1"}
			2 S: -ERR Unknown worker w1
			+2s` + fetches(6, "FETCH") + `
			+13s` + fetches(6, "FETCH")},
	}
}
