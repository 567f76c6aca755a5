package clientrules

import (
	"fmt"
	"strings"
	"time"
)

func outcomes(jobtype string, _ []any) Outcome {
	switch jobtype {
	case "fwp.ok":
		return Outcome{Known: true}
	case "fwp.fail":
		return Outcome{Known: true, Fails: true}
	case "fwp.sleep":
		return Outcome{Known: true, Takes: 2 * time.Second}
	case "fwp.long":
		return Outcome{Known: true, Takes: 90 * time.Second}
	}
	return Outcome{}
}

const fetchedJob = `
	1 worker w1
	1 C: FETCH
	1 S: ${"jid":"j1","jobtype":"t","args":[]}`

func fetchedOf(jobtype string) string {
	return `
	1 worker w1
	1 C: FETCH
	1 S: ${"jid":"j1","jobtype":"` + jobtype + `","args":[]}`
}

// deliveredAgain is a job whose reservation is over, and that its worker gets once more.
const deliveredAgain = `
	1 worker w1
	1 C: FETCH
	1 S: ${"jid":"j1","jobtype":"t","args":[],"reserve_for":60}
	+40s
	1 C: BEAT {"wid":"w1"}
	1 S: +OK
	+21s
	1 C: FETCH
	1 S: ${"jid":"j1","jobtype":"t","args":[],"reserve_for":60}`

const failed = `
	1 C: FAIL {"jid":"j1","errtype":"E","message":"m","backtrace":[]}
	1 S: +OK`

// reservedFor is a long job with a reservation of some seconds.
func reservedFor(seconds int) string {
	return fmt.Sprintf(`
	1 worker w1
	1 C: FETCH
	1 S: ${"jid":"j1","jobtype":"fwp.long","args":[],"reserve_for":%d}`, seconds)
}

// leavesLate is a worker that leaves in order two minutes after it has fetched such a job. Another report before that
// is the rule's situation.
func leavesLate(seconds int) string {
	return fetchedJob + failed + strings.TrimPrefix(reservedFor(seconds), "\n\t1 worker w1") + `
	+120s
	1 C: END
	1 S: +OK
	1 C: <close>`
}

func jobTests() []ruleTest {
	known := Config{Outcome: outcomes}
	return []ruleTest{
		{breach: JobNotReported, name: "ACK", stream: fetchedJob + `
			1 C: ACK {"jid":"j1"}
			1 S: +OK
			1 C: END
			1 S: +OK
			1 C: <close>`},
		{breach: JobNotReported, name: "the rest is lost with the server", stream: fetchedJob + failed + `
			1 C: FETCH
			1 S: ${"jid":"j2","jobtype":"t","args":[]}
			1 S: <reset>`},
		{breach: JobNotReported, name: "it may have been killed", too: ClosedWithoutEnd, stream: fetchedJob + failed + `
			1 C: FETCH
			1 S: ${"jid":"j2","jobtype":"t","args":[]}
			1 C: <close>`},
		{breach: JobNotReported, name: "it still runs", stream: fetchedJob + failed + `
			1 C: FETCH
			1 S: ${"jid":"j2","jobtype":"t","args":[]}`},
		{breach: JobNotReported, name: "it leaves", wrong: true, too: EndWithJobs, stream: fetchedJob + `
			+1s
			1 C: END
			1 S: +OK
			1 C: <close>`},
		{breach: JobNotReported, name: "it runs on without a connection", cfg: Config{Processes: true},
			too: ClosedWithoutEnd + " " + BeatMissing, stream: `p1 started
			1 worker w1 p1
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"t","args":[]}
			1 C: <close>
			+65s
			2 worker w1 p1
			2 C: ACK {"jid":"j1"}
			2 S: +OK
			2 C: FETCH
			2 S: ${"jid":"j2","jobtype":"t","args":[]}
			2 C: <close>`},
		{breach: JobNotReported, name: "its process ends", wrong: true, cfg: Config{Processes: true}, too: ClosedWithoutEnd,
			stream: `p1 started
			1 worker w1 p1
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"t","args":[]}
			1 C: <close>
			+1s
			p1 exited 0`},
		{breach: JobNotReported, name: "the first of two", wrong: true, too: EndWithJobs, stream: fetchedJob + `
			1 C: FETCH
			1 S: ${"jid":"j2","jobtype":"t","args":[]}
			1 C: ACK {"jid":"j2"}
			1 S: +OK
			1 C: END
			1 S: +OK
			1 C: <close>`},

		{
			breach: JobNotReported, name: "delivered again while it runs, and reported once", too: OneConnection,
			stream: deliveredAgain + `
			1 C: ACK {"jid":"j1"}
			1 S: +OK
			1 C: END
			1 S: +OK
			1 C: <close>`,
		},
		{breach: JobNotReported, name: "delivered again while it runs, and not reported then", wrong: true, too: EndWithJobs,
			stream: fetchedJob + failed + `
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"t","args":[]}
			1 C: END
			1 S: +OK
			1 C: <close>`},

		{breach: JobNotReported, name: "it leaves when the reservation of the job is over",
			too: EndWithJobs + " " + BeatMissing, stream: leavesLate(60)},
		{breach: JobNotReported, name: "a reservation below a minute counts as that of half an hour", wrong: true,
			too: EndWithJobs + " " + BeatMissing, stream: leavesLate(59)},

		{breach: JobReportedTwice, name: "once", stream: fetchedJob + failed},
		{breach: JobReportedTwice, name: "again after an error", stream: fetchedJob + `
			1 C: ACK {"jid":"j1"}
			1 S: -ERR try later
			1 C: ACK {"jid":"j1"}
			1 S: +OK`},
		{breach: JobReportedTwice, name: "again after a lost connection", stream: fetchedJob + `
			1 C: ACK {"jid":"j1"}
			1 S: <reset>
			2 worker w1
			2 C: ACK {"jid":"j1"}
			2 S: +OK`},
		{breach: JobReportedTwice, name: "again, as the reply came just before the loss", stream: fetchedJob + failed + `
			1 S: <reset>
			2 worker w1
			2 C: ACK {"jid":"j1"}
			2 S: +OK`},
		{breach: JobReportedTwice, name: "again, and the reply came long before the loss", wrong: true,
			stream: fetchedJob + failed + `
			+2s
			1 S: <reset>
			2 worker w1
			2 C: ACK {"jid":"j1"}
			2 S: +OK`},
		{breach: JobReportedTwice, name: "delivered again", stream: fetchedJob + failed + `
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"t","args":[]}
			1 C: ACK {"jid":"j1"}
			1 S: +OK`},
		{breach: JobReportedTwice, name: "delivered again while it runs, and reported twice", too: OneConnection,
			stream: deliveredAgain + `
			1 C: ACK {"jid":"j1"}
			1 S: +OK
			+5s
			1 C: ACK {"jid":"j1"}
			1 S: -ERR unknown`},
		{breach: JobReportedTwice, name: "delivered again behind a reply that no command asked for",
			stream: fetchedJob + failed + `
			1 S: +OK` + strings.TrimPrefix(fetchedJob, "\n\t1 worker w1") + failed},
		{breach: JobReportedTwice, name: "late, when another worker has reported it", stream: fetchedJob + `
			1 S: <close>
			+62s
			2 worker w2
			2 C: FETCH
			2 S: ${"jid":"j1","jobtype":"t","args":[]}
			2 C: ACK {"jid":"j1"}
			2 S: +OK
			3 worker w1
			3 C: ACK {"jid":"j1"}
			3 S: -ERR unknown`},
		{breach: JobReportedTwice, name: "delivered again, and reported three times", wrong: true, too: OneConnection,
			stream: deliveredAgain + strings.Repeat(`
			1 C: ACK {"jid":"j1"}
			1 S: +OK`, 3)},
		{breach: JobReportedTwice, name: "again and again after an error", wrong: true,
			stream: fetchedJob + strings.Repeat(`
			1 C: ACK {"jid":"j1"}
			1 S: -ERR no such job`, 12)},
		{breach: JobReportedTwice, name: "ACK and ACK", wrong: true, stream: fetchedJob + `
			1 C: ACK {"jid":"j1"}
			1 S: +OK
			1 C: ACK {"jid":"j1"}
			1 S: +OK`},
		{breach: JobReportedTwice, name: "ACK and FAIL at the same time", wrong: true, stream: fetchedJob + `
			2 worker w1
			1 C: ACK {"jid":"j1"}
			2 C: FAIL {"jid":"j1","errtype":"E","message":"m","backtrace":[]}`},

		{breach: ReportUnfetched, name: "fetched", stream: fetchedJob + failed},
		{breach: ReportUnfetched, name: "on another connection", stream: fetchedJob + `
			2 worker w1
			2 C: ACK {"jid":"j1"}`},
		{breach: ReportUnfetched, name: "fetched behind a reply that no command asked for", open: true,
			stream: strings.Replace(fetchedJob+failed, "w1", "w1\n1 S: +OK", 1)},
		{breach: ReportUnfetched, name: "never fetched", wrong: true, stream: `
			1 worker w1
			1 C: ACK {"jid":"j1"}`},
		{breach: ReportUnfetched, name: "an empty one", open: true, stream: strings.ReplaceAll(fetchedJob+failed, "j1", "")},
		{breach: ReportUnfetched, name: "another jid", wrong: true, stream: fetchedJob + `
			1 C: FAIL {"jid":"J1","errtype":"E","message":"m","backtrace":[]}`},

		{breach: AckOfFailed, name: "succeeds", cfg: known, stream: fetchedOf("fwp.ok") + `
			1 C: ACK {"jid":"j1"}`},
		{breach: AckOfFailed, name: "fails", cfg: known, stream: fetchedOf("fwp.fail") + failed},
		{breach: AckOfFailed, name: "ACK", wrong: true, cfg: known, stream: fetchedOf("fwp.fail") + `
			1 C: ACK {"jid":"j1"}`},
		{breach: AckOfFailed, name: "ACK later", wrong: true, cfg: known, stream: fetchedOf("fwp.fail") + `
			+3s
			2 worker w1
			2 C: ACK {"jid":"j1"}`},

		{breach: FailOfDone, name: "fails", cfg: known, stream: fetchedOf("fwp.fail") + failed},
		{breach: FailOfDone, name: "not done when it has to leave", cfg: known, stream: fetchedOf("fwp.sleep") + `
			2 worker w1
			2 C: BEAT {"wid":"w1"}
			2 S: +{"state":"terminate"}
			+1s` + failed},
		{breach: FailOfDone, name: "given up when its reservation is over", cfg: known, stream: `
			1 worker w1
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"fwp.long","args":[],"reserve_for":60}
			+59s` + failed},
		{breach: FailOfDone, name: "given up long before", wrong: true, cfg: known, stream: `
			1 worker w1
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"fwp.long","args":[],"reserve_for":60}
			+30s` + failed},
		{breach: FailOfDone, name: "given up at three quarters of its reservation", cfg: known, stream: reservedFor(60) + `
			+45s` + failed},
		{breach: FailOfDone, name: "given up sooner", wrong: true, cfg: known, stream: reservedFor(60) + `
			+44s` + failed},
		{breach: FailOfDone, name: "given up, as if a reservation could be below a minute", wrong: true, cfg: known,
			stream: reservedFor(59) + `
			+59s` + failed},
		{breach: FailOfDone, name: "not done when another worker of its process has to leave",
			cfg: Config{Outcome: outcomes, Processes: true}, stream: `
			p1 started
			1 worker w1 p1
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"fwp.sleep","args":[]}
			2 worker w2 p1
			2 C: BEAT {"wid":"w2"}
			2 S: +{"state":"terminate"}
			+1s` + failed},
		{breach: FailOfDone, name: "FAIL", wrong: true, cfg: known, stream: fetchedOf("fwp.ok") + failed},
		{breach: FailOfDone, name: "given up for a timeout, and it says so", cfg: known, stream: fetchedOf("fwp.long") + `
			+31s
			1 C: FAIL {"jid":"j1","errtype":"TimeoutError","message":"30 s are over","backtrace":[]}
			1 S: +OK`},
		{breach: FailOfDone, name: "one that has no function for so many arguments, and one that fails", cfg: known,
			stream: fetchedOf("fwp.ok") + `
			1 C: FAIL {"jid":"j1","errtype":"Error","message":"undef","backtrace":[]}
			1 S: +OK` + strings.ReplaceAll(fetchedOf("fwp.fail"), "j1", "j2") + `
			1 C: FAIL {"jid":"j2","errtype":"E","message":"m","backtrace":[]}`},
		{breach: FailOfDone, name: "done, and called a timeout", wrong: true, cfg: known, stream: fetchedOf("fwp.ok") + `
			1 C: FAIL {"jid":"j1","errtype":"E","message":"it timed out","backtrace":[]}
			1 S: +OK`},
		{breach: FailOfDone, name: "FAIL while it runs", wrong: true, cfg: known, stream: fetchedOf("fwp.sleep") + `
			+1s` + failed},

		{breach: AckEarly, name: "after it ran", cfg: known, stream: fetchedOf("fwp.sleep") + `
			+2s
			1 C: ACK {"jid":"j1"}`},
		{breach: AckEarly, name: "a timer that is a little fast", cfg: known, stream: fetchedOf("fwp.sleep") + `
			+1990ms
			1 C: ACK {"jid":"j1"}`},
		{breach: AckEarly, name: "at once", wrong: true, cfg: known, stream: fetchedOf("fwp.sleep") + `
			1 C: ACK {"jid":"j1"}`},
		{breach: AckEarly, name: "half way", wrong: true, cfg: known, stream: fetchedOf("fwp.sleep") + `
			+1s
			1 C: ACK {"jid":"j1"}`},

		{breach: AckFields, name: "only jid", stream: fetchedJob + `
			1 C: ACK {"jid":"j1"}`},
		{breach: AckFields, name: "with white space", stream: fetchedJob + `
			1 C: ACK { "jid" : "j1" }`},
		{breach: AckFields, name: "one more", wrong: true, stream: fetchedJob + `
			1 C: ACK {"jid":"j1","result":5}`},
		{breach: AckFields, name: "a number", wrong: true, stream: fetchedJob + `
			1 C: ACK {"jid":1}`},

		{breach: FailFields, name: "all four", stream: fetchedJob + failed},
		{breach: FailFields, name: "a backtrace, and a field of its own", stream: fetchedJob + `
			1 C: FAIL {"jid":"j1","errtype":"E","message":"m","backtrace":["a","b"],"n":1}`},
		{breach: FailFields, name: "no backtrace", wrong: true, stream: fetchedJob + `
			1 C: FAIL {"jid":"j1","errtype":"E","message":"m"}`},
		{breach: FailFields, name: "a backtrace of one text", wrong: true, stream: fetchedJob + `
			1 C: FAIL {"jid":"j1","errtype":"E","message":"m","backtrace":"a\\nb"}`},

		{breach: FailEmpty, name: "both", stream: fetchedJob + failed},
		{breach: FailEmpty, name: "a type alone", stream: fetchedJob + `
			1 C: FAIL {"jid":"j1","errtype":"E","message":"","backtrace":[]}`},
		{breach: FailEmpty, name: "empty texts", wrong: true, stream: fetchedJob + `
			1 C: FAIL {"jid":"j1","errtype":"","message":"","backtrace":[]}`},
		{breach: FailEmpty, name: "only jid", wrong: true, too: FailFields, stream: fetchedJob + `
			1 C: FAIL {"jid":"j1"}`},

		{breach: ErrorEndsConnection, name: "it goes on", stream: fetchedJob + `
			1 C: ACK {"jid":"j1"}
			1 S: -ERR no
			1 C: FETCH`},
		{breach: ErrorEndsConnection, name: "it ends later, in order", stream: fetchedJob + failed + `
			1 C: FETCH
			1 S: -ERR no
			+1s
			1 C: END
			1 S: +OK
			1 C: <close>`},
		{breach: ErrorEndsConnection, name: "it closes each connection, after an error or not", too: ClosedWithoutEnd,
			stream: fetchedJob + `
			1 C: <close>
			2 worker w1
			2 C: FETCH
			2 S: -ERR no
			2 C: ACK {"jid":"j1"}
			2 S: -ERR no
			2 C: <close>`},
		{breach: ErrorEndsConnection, name: "behind a reply that no command asked for", open: true, stream: `
			1 worker w1
			1 C: FETCH
			1 S: -ERR no
			1 S: -ERR bye
			1 C: <close>`},
		{breach: ErrorEndsConnection, name: "for bytes that are no reply", stream: `
			1 worker w1
			1 C: FETCH
			1 S: -ERR no
			1 C: FETCH
			1 S: bye
			1 C: <close>`},
		{breach: ErrorEndsConnection, name: "its other connection is closed first", wrong: true, too: ClosedWithoutEnd,
			stream: fetchedJob + `
			2 worker w1
			1 C: ACK {"jid":"j1"}
			1 S: -ERR no
			2 C: <close>
			1 C: <close>`},
		{breach: ErrorEndsConnection, name: "after FETCH", wrong: true, stream: `
			1 worker w1
			1 C: FETCH
			1 S: -ERR no
			1 C: <close>`},
		{breach: ErrorEndsConnection, name: "it gives up the next command at once", wrong: true, stream: `
			1 worker w1
			1 C: FETCH
			1 S: -ERR no
			1 C: FETCH
			+100ms
			1 C: <close>`},
		{breach: ErrorEndsConnection, name: "behind an error to BEAT, which shows no habit", wrong: true, too: OneConnection,
			stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1"}
			1 S: -ERR no
			1 C: FETCH
			1 C: <close>
			2 worker w1
			2 C: FETCH
			2 S: -ERR no
			2 C: <close>`},
		{breach: ErrorEndsConnection, name: "it gives up the next command later", stream: `
			1 worker w1
			1 C: FETCH
			1 S: -ERR no
			1 C: FETCH
			+2s
			1 C: <close>`},
		{breach: ErrorEndsConnection, name: "after ACK", wrong: true, stream: fetchedJob + `
			1 C: ACK {"jid":"j1"}
			1 S: -ERR no
			+100ms
			1 C: <close>
			2 worker w1`},
	}
}
