package clientrules

import "strings"

const (
	quietWorker = `
	1 worker w1
	1 C: BEAT {"wid":"w1"}
	1 S: +{"state":"quiet"}`
	terminated = `
	1 worker w1
	1 C: BEAT {"wid":"w1"}
	1 S: +{"state":"terminate"}`
	terminatedBusy = `
	1 worker w1
	1 C: FETCH
	1 S: ${"jid":"j1","jobtype":"t","args":[]}
	2 worker w1
	2 C: BEAT {"wid":"w1"}
	2 S: +{"state":"terminate"}`
	signalledQuiet = `
	1 worker w1
	2 worker w1
	1 C: BEAT {"wid":"w1","current_state":"quiet"}
	1 S: +OK`
	signalledEnd = `
	1 worker w1
	2 worker w1
	1 C: BEAT {"wid":"w1","current_state":"terminate"}
	1 S: +OK`
	ended = `
	1 C: END
	1 S: +OK
	1 C: <close>`
	reportedElsewhere = `
			2 C: ACK {"jid":"j1"}
			2 S: +OK
			2 C: END
			2 S: <close>`
)

// ownBeats is a worker with two connections that send BEATs, one of which was told to be quiet.
const ownBeats = `
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
	return terminatedBusy + seconds(3) + `
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
	return terminated + strings.Repeat(fetch, 2+n)
}

func stateTests() []ruleTest {
	processes := Config{Processes: true}
	return []ruleTest{
		{breach: FetchAfterQuiet, name: "no FETCH any more", stream: quietWorker + beats(1, "15s")},
		{breach: FetchAfterTerminate, name: "FETCHes that waited for the only connection", too: OneConnection,
			stream: sharedConnection(0) + ended},
		{breach: FetchAfterTerminate, name: "FETCHes that waited, where an order was lost before", too: OneConnection,
			stream: terminated + `
			2 worker w1
			2 C: FETCH
			1 S: <reset>
			2 S: <reset>` + sharedConnection(0) + ended},
		{breach: FetchAfterTerminate, name: "started anew with the same wid", stream: terminated + ended + `
			+10s` + fetchedJob},
		{breach: FetchAfterTerminate, name: "no end of FETCHes on the only connection", wrong: true,
			too: StateIgnored + " " + OneConnection, stream: sharedConnection(4)},
		{breach: FetchAfterTerminate, name: "a FETCH on the only connection, which was free", wrong: true, too: OneConnection,
			stream: terminated + `
			+6s
			1 C: BEAT {"wid":"w1"}
			1 S: +OK
			1 C: FETCH`},
		{breach: FetchAfterTerminate, name: "FETCHes on one of two connections", wrong: true, too: OneConnection,
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
		{breach: FetchAfterQuiet, name: "a later one, on a machine that is late", wrong: true, stream: `
			1 worker w1
			2 worker w1
			lag 300ms
			1 C: BEAT {"wid":"w1"}
			1 S: ${"state":"quiet"}
			+900ms
			2 C: FETCH`},
		{breach: FetchAfterQuiet, name: "on a connection that waits for the reply to its own BEAT", stream: ownBeats + `
			+2s
			2 C: FETCH
			2 S: $-1`, too: OneConnection},
		{breach: FetchAfterQuiet, name: "on a connection that has had that reply", wrong: true, stream: ownBeats + `
			+10s
			2 C: BEAT {"wid":"w1"}
			2 S: ${"state":"quiet"}
			+2s
			2 C: FETCH`, too: OneConnection},
		{breach: FetchAfterQuiet, name: "it goes on", wrong: true, too: OneConnection, stream: quietWorker + `
			+2s
			1 C: FETCH`},
		{breach: FetchAfterQuiet, name: "on another connection, after a bulk string", wrong: true, stream: `
			1 worker w1
			2 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: ${"state":"quiet"}
			+4s
			2 C: FETCH a b`},

		{breach: FetchAfterQuiet, name: "it was quieted by a signal", stream: signalledQuiet + beats(1, "15s")},
		{breach: FetchAfterQuiet, name: "it was quieted by a signal, and fetches", wrong: true, stream: signalledQuiet + `
			+2s
			2 C: FETCH`},
		{breach: FetchAfterTerminate, name: "it reports a signal", stream: signalledEnd + `
			+5s` + ended + `
			2 C: END
			2 S: +OK
			2 C: <close>`},
		{breach: FetchAfterTerminate, name: "it reports a signal, and fetches", wrong: true, stream: signalledEnd + `
			+2s
			2 C: FETCH`},

		{breach: FetchAfterTerminate, name: "it leaves", stream: terminated + `
			+5s` + ended},
		{breach: FetchAfterTerminate, name: "after quiet", stream: quietWorker + `
			+15s
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"terminate"}
			+5s` + ended},
		{breach: FetchAfterTerminate, name: "it goes on", wrong: true, too: OneConnection, stream: terminated + `
			+2s
			1 C: FETCH`},
		{breach: FetchAfterTerminate, name: "after quiet", wrong: true, too: OneConnection, stream: quietWorker + `
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
			+6s` + ended},
		{breach: StateIgnored, name: "a reply just before the loss, and again on the next connection", too: OneConnection,
			stream: lostOrder("300ms")},
		{breach: StateIgnored, name: "a reply long before the loss", wrong: true, too: FetchAfterQuiet + " " + OneConnection,
			stream: lostOrder("2s")},
		{breach: StateIgnored, name: "quiet", wrong: true, too: FetchAfterQuiet, stream: `
			1 worker w1
			2 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: ${"state":"quiet"}
			+1s
			2 C: FETCH
			+2s
			2 S: $-1
			2 C: FETCH`},
		{breach: StateIgnored, name: "terminate", wrong: true, too: FetchAfterTerminate, stream: `
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
		{breach: Unquieted, name: "it was never quiet", open: true, too: FetchAfterTerminate + " " + OneConnection,
			stream: terminated + beats(1, "15s") + `
			+2s
			1 C: FETCH
			1 S: $-1`},
		{breach: Unquieted, name: "it leaves later", stream: quietWorker + beats(2, "15s") + seconds(3) + ended},
		{breach: Unquieted, name: "it fetches after OK", wrong: true, too: FetchAfterQuiet,
			stream: quietWorker + beats(1, "15s") + `
			+1s
			2 worker w1
			2 C: FETCH`},
		{breach: Unquieted, name: "a second OK", wrong: true, too: FetchAfterQuiet,
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
			p1 TERM` + ended + `
			p1 exited 0`},
		{breach: QuietExit, name: "the server has closed its connection", cfg: processes, stream: "p1 started" + `
			1 worker w1 p1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"quiet"}` + seconds(20) + `
			1 S: <close>
			p1 exited 1`},
		{breach: QuietExit, name: "it leaves", wrong: true, cfg: processes, stream: "p1 started" + `
			1 worker w1 p1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"quiet"}
			+1s` + ended + `
			p1 exited 0`},
		{breach: QuietExit, name: "it crashes", wrong: true, cfg: processes, stream: "p1 started" + `
			1 worker w1 p1
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"quiet"}` + seconds(20) + `
			p1 exited 2`},

		{breach: TerminateJobLeft, name: "FAIL", stream: terminatedBusy + seconds(10) + failed + ended + `
			2 C: END
			2 S: <close>`},
		{breach: TerminateJobLeft, name: "the job is done first", stream: terminatedBusy + seconds(3) + `
			1 C: ACK {"jid":"j1"}
			1 S: +OK` + ended + `
			2 C: END
			2 S: <close>`},
		{breach: TerminateJobLeft, name: "on a connection in place of the others", stream: terminatedBusy + ended + `
			2 C: END
			2 S: +OK
			2 C: <close>
			+500ms
			2 worker w1` + reportedElsewhere},
		{breach: TerminateJobLeft, name: "it leaves", wrong: true, too: EndWithJobs,
			stream: terminatedBusy + seconds(3) + ended + `
			2 C: END
			2 S: +OK
			2 C: <close>`},
		{breach: TerminateJobLeft, name: "the server closes its connections", open: true,
			stream: terminatedBusy + seconds(3) + `
			1 S: <close>
			2 S: <close>
			p1 exited 1`},
		{breach: TerminateJobLeft, name: "a report on the connection that the server closed", stream: lossOfJob("S: <fin>", `
			1 C: ACK {"jid":"j1"}`)},
		{breach: TerminateJobLeft, name: "no report on the connection that the server closed", wrong: true,
			too: EndWithJobs, stream: lossOfJob("S: <fin>", "")},
		{breach: TerminateJobLeft, name: "the connection of the job was reset", open: true,
			stream: lossOfJob("S: <reset>", "")},
		{breach: TerminateJobLeft, name: "the connection of the job was closed", open: true,
			stream: lossOfJob("S: <close>", "")},
		{breach: TerminateJobLeft, name: "it stays with the job", wrong: true,
			too:    TerminateStays,
			stream: terminatedBusy + seconds(40)},

		{breach: TerminateStays, name: "after 29 s", stream: terminated + beats(1, "15s") + seconds(14) + ended},
		{breach: TerminateStays, name: "told again", stream: terminated + `
			+10s
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"terminate"}` + seconds(10) + ended},
		{breach: TerminateStays, name: "END, which the server does not heed", stream: terminated + `
			1 C: END` + seconds(40) + `
			1 S: <close>`},
		{breach: TerminateStays, name: "after 32 s", wrong: true,
			stream: terminated + beats(1, "15s") + seconds(17) + ended},
		{breach: TerminateStays, name: "for ever", wrong: true, stream: terminated + beats(4, "15s")},

		{breach: UnknownWorker, name: "it greets again", stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: -ERR Unknown worker w1` + seconds(2) + ended + `
			1 worker w1` + beat},
		{breach: UnknownWorker, name: "it leaves", stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: -ERR Unknown worker w1
			+1s` + ended},
		{breach: UnknownWorker, name: "a FETCH or two", stream: `
			1 worker w1
			2 worker w1
			2 C: BEAT {"wid":"w1"}
			2 S: -ERR Unknown worker w1
			+1s` + fetches(2, "FETCH")},
		{breach: UnknownWorker, name: "it works on", wrong: true, stream: `
			1 worker w1
			2 worker w1
			2 C: BEAT {"wid":"w1"}
			2 S: -ERR Unknown worker w1
			+1s` + fetches(12, "FETCH")},
		{breach: UnknownWorker, name: "it works on, and beats", wrong: true, stream: `
			1 worker w1
			2 worker w1
			2 C: BEAT {"wid":"w1"}
			2 S: -ERR Unknown worker w1
			+2s` + fetches(6, "FETCH") + `
			+13s` + fetches(6, "FETCH")},
	}
}
