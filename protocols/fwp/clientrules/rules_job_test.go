package clientrules

import (
	"fmt"
	"strings"
	"time"
)

func outcomes(jobtype string, _ []any) Outcome {
	switch jobtype {
	case "fwp.ok":
		return Outcome{IsKnown: true}
	case "fwp.fail":
		return Outcome{IsKnown: true, IsFailure: true}
	case "fwp.sleep":
		return Outcome{IsKnown: true, Duration: 2 * time.Second}
	case "fwp.long":
		return Outcome{IsKnown: true, Duration: 90 * time.Second}
	}
	return Outcome{}
}

const jobFetch = `
	1 worker w1
	1 C: FETCH
	1 S: ${"jid":"j1","jobtype":"t","args":[]}`

func fetchOf(jobtype string) string {
	return `
	1 worker w1
	1 C: FETCH
	1 S: ${"jid":"j1","jobtype":"` + jobtype + `","args":[]}`
}

// redelivery is a job whose reservation is over, and that its worker gets once more.
const redelivery = `
	1 worker w1
	1 C: FETCH
	1 S: ${"jid":"j1","jobtype":"t","args":[],"reserve_for":60}
	+40s
	1 C: BEAT {"wid":"w1"}
	1 S: +OK
	+21s
	1 C: FETCH
	1 S: ${"jid":"j1","jobtype":"t","args":[],"reserve_for":60}`

const failReport = `
	1 C: FAIL {"jid":"j1","errtype":"E","message":"m","backtrace":[]}
	1 S: +OK`

// fetchWithReservation is a long job with a reservation of some seconds.
func fetchWithReservation(seconds int) string {
	return fmt.Sprintf(`
	1 worker w1
	1 C: FETCH
	1 S: ${"jid":"j1","jobtype":"fwp.long","args":[],"reserve_for":%d}`, seconds)
}

// endAfterReservation is a worker that leaves in order two minutes after it has fetched such a job. Another report before that
// is the rule's situation.
func endAfterReservation(seconds int) string {
	return jobFetch + failReport + strings.TrimPrefix(fetchWithReservation(seconds), "\n\t1 worker w1") + `
	+120s
	1 C: END
	1 S: +OK
	1 C: <close>`
}

func jobTests() []ruleTest {
	cfg := Config{Outcome: outcomes}
	return []ruleTest{
		{breach: JobNotReported, name: "ACK", stream: jobFetch + `
			1 C: ACK {"jid":"j1"}
			1 S: +OK
			1 C: END
			1 S: +OK
			1 C: <close>`},
		{breach: JobNotReported, name: "the rest is lost with the server", stream: jobFetch + failReport + `
			1 C: FETCH
			1 S: ${"jid":"j2","jobtype":"t","args":[]}
			1 S: <reset>`},
		{breach: JobNotReported, name: "it may have been killed", others: ClosedWithoutEnd, stream: jobFetch + failReport + `
			1 C: FETCH
			1 S: ${"jid":"j2","jobtype":"t","args":[]}
			1 C: <close>`},
		{breach: JobNotReported, name: "it still runs", stream: jobFetch + failReport + `
			1 C: FETCH
			1 S: ${"jid":"j2","jobtype":"t","args":[]}`},
		{breach: JobNotReported, name: "it leaves", isWrong: true, others: EndWithJobs, stream: jobFetch + `
			+1s
			1 C: END
			1 S: +OK
			1 C: <close>`},
		{breach: JobNotReported, name: "it runs on without a connection", cfg: Config{HasProcesses: true},
			others: ClosedWithoutEnd + " " + BeatMissing, stream: `p1 started
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
		{breach: JobNotReported, name: "its process ends", isWrong: true, cfg: Config{HasProcesses: true}, others: ClosedWithoutEnd,
			stream: `p1 started
			1 worker w1 p1
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"t","args":[]}
			1 C: <close>
			+1s
			p1 exited 0`},
		{breach: JobNotReported, name: "the first of two", isWrong: true, others: EndWithJobs, stream: jobFetch + `
			1 C: FETCH
			1 S: ${"jid":"j2","jobtype":"t","args":[]}
			1 C: ACK {"jid":"j2"}
			1 S: +OK
			1 C: END
			1 S: +OK
			1 C: <close>`},

		{
			breach: JobNotReported, name: "delivered again while it runs, and reported once", others: OneConnection,
			stream: redelivery + `
			1 C: ACK {"jid":"j1"}
			1 S: +OK
			1 C: END
			1 S: +OK
			1 C: <close>`,
		},
		{breach: JobNotReported, name: "delivered again while it runs, and not reported then", isWrong: true, others: EndWithJobs,
			stream: jobFetch + failReport + `
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"t","args":[]}
			1 C: END
			1 S: +OK
			1 C: <close>`},

		{breach: JobNotReported, name: "it leaves when the reservation of the job is over",
			others: EndWithJobs + " " + BeatMissing, stream: endAfterReservation(60)},
		{breach: JobNotReported, name: "a reservation below a minute counts as that of half an hour", isWrong: true,
			others: EndWithJobs + " " + BeatMissing, stream: endAfterReservation(59)},

		{breach: JobReportedTwice, name: "once", stream: jobFetch + failReport},
		{breach: JobReportedTwice, name: "again after an error", stream: jobFetch + `
			1 C: ACK {"jid":"j1"}
			1 S: -ERR try later
			1 C: ACK {"jid":"j1"}
			1 S: +OK`},
		{breach: JobReportedTwice, name: "again after a lost connection", stream: jobFetch + `
			1 C: ACK {"jid":"j1"}
			1 S: <reset>
			2 worker w1
			2 C: ACK {"jid":"j1"}
			2 S: +OK`},
		{breach: JobReportedTwice, name: "again, as the reply came just before the loss", stream: jobFetch + failReport + `
			1 S: <reset>
			2 worker w1
			2 C: ACK {"jid":"j1"}
			2 S: +OK`},
		{breach: JobReportedTwice, name: "again, and the reply came long before the loss", isWrong: true,
			stream: jobFetch + failReport + `
			+2s
			1 S: <reset>
			2 worker w1
			2 C: ACK {"jid":"j1"}
			2 S: +OK`},
		{breach: JobReportedTwice, name: "delivered again", stream: jobFetch + failReport + `
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"t","args":[]}
			1 C: ACK {"jid":"j1"}
			1 S: +OK`},
		{breach: JobReportedTwice, name: "delivered again while it runs, and reported twice", others: OneConnection,
			stream: redelivery + `
			1 C: ACK {"jid":"j1"}
			1 S: +OK
			+5s
			1 C: ACK {"jid":"j1"}
			1 S: -ERR unknown`},
		{breach: JobReportedTwice, name: "delivered again behind a reply that no command asked for",
			stream: jobFetch + failReport + `
			1 S: +OK` + strings.TrimPrefix(jobFetch, "\n\t1 worker w1") + failReport},
		{breach: JobReportedTwice, name: "late, when another worker has reported it", stream: jobFetch + `
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
		{breach: JobReportedTwice, name: "delivered again, and reported three times", isWrong: true, others: OneConnection,
			stream: redelivery + strings.Repeat(`
			1 C: ACK {"jid":"j1"}
			1 S: +OK`, 3)},
		{breach: JobReportedTwice, name: "again and again after an error", isWrong: true,
			stream: jobFetch + strings.Repeat(`
			1 C: ACK {"jid":"j1"}
			1 S: -ERR no such job`, 12)},
		{breach: JobReportedTwice, name: "ACK and ACK", isWrong: true, stream: jobFetch + `
			1 C: ACK {"jid":"j1"}
			1 S: +OK
			1 C: ACK {"jid":"j1"}
			1 S: +OK`},
		{breach: JobReportedTwice, name: "ACK and FAIL at the same time", isWrong: true, stream: jobFetch + `
			2 worker w1
			1 C: ACK {"jid":"j1"}
			2 C: FAIL {"jid":"j1","errtype":"E","message":"m","backtrace":[]}`},

		{breach: ReportUnfetched, name: "fetched", stream: jobFetch + failReport},
		{breach: ReportUnfetched, name: "on another connection", stream: jobFetch + `
			2 worker w1
			2 C: ACK {"jid":"j1"}`},
		{breach: ReportUnfetched, name: "fetched behind a reply that no command asked for", isOpen: true,
			stream: strings.Replace(jobFetch+failReport, "w1", "w1\n1 S: +OK", 1)},
		{breach: ReportUnfetched, name: "never fetched", isWrong: true, stream: `
			1 worker w1
			1 C: ACK {"jid":"j1"}`},
		{breach: ReportUnfetched, name: "an empty one", isOpen: true, stream: strings.ReplaceAll(jobFetch+failReport, "j1", "")},
		{breach: ReportUnfetched, name: "another jid", isWrong: true, stream: jobFetch + `
			1 C: FAIL {"jid":"J1","errtype":"E","message":"m","backtrace":[]}`},

		{breach: AckOfFailed, name: "succeeds", cfg: cfg, stream: fetchOf("fwp.ok") + `
			1 C: ACK {"jid":"j1"}`},
		{breach: AckOfFailed, name: "fails", cfg: cfg, stream: fetchOf("fwp.fail") + failReport},
		{breach: AckOfFailed, name: "ACK", isWrong: true, cfg: cfg, stream: fetchOf("fwp.fail") + `
			1 C: ACK {"jid":"j1"}`},
		{breach: AckOfFailed, name: "ACK later", isWrong: true, cfg: cfg, stream: fetchOf("fwp.fail") + `
			+3s
			2 worker w1
			2 C: ACK {"jid":"j1"}`},

		{breach: FailOfDone, name: "fails", cfg: cfg, stream: fetchOf("fwp.fail") + failReport},
		{breach: FailOfDone, name: "not done when it has to leave", cfg: cfg, stream: fetchOf("fwp.sleep") + `
			2 worker w1
			2 C: BEAT {"wid":"w1"}
			2 S: +{"state":"terminate"}
			+1s` + failReport},
		{breach: FailOfDone, name: "given up when its reservation is over", cfg: cfg, stream: `
			1 worker w1
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"fwp.long","args":[],"reserve_for":60}
			+59s` + failReport},
		{breach: FailOfDone, name: "given up long before", isWrong: true, cfg: cfg, stream: `
			1 worker w1
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"fwp.long","args":[],"reserve_for":60}
			+30s` + failReport},
		{breach: FailOfDone, name: "given up at three quarters of its reservation", cfg: cfg, stream: fetchWithReservation(60) + `
			+45s` + failReport},
		{breach: FailOfDone, name: "given up sooner", isWrong: true, cfg: cfg, stream: fetchWithReservation(60) + `
			+44s` + failReport},
		{breach: FailOfDone, name: "given up, as if a reservation could be below a minute", isWrong: true, cfg: cfg,
			stream: fetchWithReservation(59) + `
			+59s` + failReport},
		{breach: FailOfDone, name: "not done when another worker of its process has to leave",
			cfg: Config{Outcome: outcomes, HasProcesses: true}, stream: `
			p1 started
			1 worker w1 p1
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"fwp.sleep","args":[]}
			2 worker w2 p1
			2 C: BEAT {"wid":"w2"}
			2 S: +{"state":"terminate"}
			+1s` + failReport},
		{breach: FailOfDone, name: "FAIL", isWrong: true, cfg: cfg, stream: fetchOf("fwp.ok") + failReport},
		{breach: FailOfDone, name: "given up for a timeout, and it says so", cfg: cfg, stream: fetchOf("fwp.long") + `
			+31s
			1 C: FAIL {"jid":"j1","errtype":"TimeoutError","message":"30 s are over","backtrace":[]}
			1 S: +OK`},
		{breach: FailOfDone, name: "one that has no function for so many arguments, and one that fails", cfg: cfg,
			stream: fetchOf("fwp.ok") + `
			1 C: FAIL {"jid":"j1","errtype":"Error","message":"undef","backtrace":[]}
			1 S: +OK` + strings.ReplaceAll(fetchOf("fwp.fail"), "j1", "j2") + `
			1 C: FAIL {"jid":"j2","errtype":"E","message":"m","backtrace":[]}`},
		{breach: FailOfDone, name: "done, and called a timeout", isWrong: true, cfg: cfg, stream: fetchOf("fwp.ok") + `
			1 C: FAIL {"jid":"j1","errtype":"E","message":"it timed out","backtrace":[]}
			1 S: +OK`},
		{breach: FailOfDone, name: "FAIL while it runs", isWrong: true, cfg: cfg, stream: fetchOf("fwp.sleep") + `
			+1s` + failReport},

		{breach: AckEarly, name: "after it ran", cfg: cfg, stream: fetchOf("fwp.sleep") + `
			+2s
			1 C: ACK {"jid":"j1"}`},
		{breach: AckEarly, name: "a timer that is a little fast", cfg: cfg, stream: fetchOf("fwp.sleep") + `
			+1990ms
			1 C: ACK {"jid":"j1"}`},
		{breach: AckEarly, name: "at once", isWrong: true, cfg: cfg, stream: fetchOf("fwp.sleep") + `
			1 C: ACK {"jid":"j1"}`},
		{breach: AckEarly, name: "half way", isWrong: true, cfg: cfg, stream: fetchOf("fwp.sleep") + `
			+1s
			1 C: ACK {"jid":"j1"}`},

		{breach: AckFields, name: "only jid", stream: jobFetch + `
			1 C: ACK {"jid":"j1"}`},
		{breach: AckFields, name: "with white space", stream: jobFetch + `
			1 C: ACK { "jid" : "j1" }`},
		{breach: AckFields, name: "one more", isWrong: true, stream: jobFetch + `
			1 C: ACK {"jid":"j1","result":5}`},
		{breach: AckFields, name: "a number", isWrong: true, stream: jobFetch + `
			1 C: ACK {"jid":1}`},

		{breach: FailFields, name: "all four", stream: jobFetch + failReport},
		{breach: FailFields, name: "a backtrace, and a field of its own", stream: jobFetch + `
			1 C: FAIL {"jid":"j1","errtype":"E","message":"m","backtrace":["a","b"],"n":1}`},
		{breach: FailFields, name: "no backtrace", isWrong: true, stream: jobFetch + `
			1 C: FAIL {"jid":"j1","errtype":"E","message":"m"}`},
		{breach: FailFields, name: "a backtrace of one text", isWrong: true, stream: jobFetch + `
			1 C: FAIL {"jid":"j1","errtype":"E","message":"m","backtrace":"a\\nb"}`},

		{breach: FailEmpty, name: "both", stream: jobFetch + failReport},
		{breach: FailEmpty, name: "a type alone", stream: jobFetch + `
			1 C: FAIL {"jid":"j1","errtype":"E","message":"","backtrace":[]}`},
		{breach: FailEmpty, name: "empty texts", isWrong: true, stream: jobFetch + `
			1 C: FAIL {"jid":"j1","errtype":"","message":"","backtrace":[]}`},
		{breach: FailEmpty, name: "only jid", isWrong: true, others: FailFields, stream: jobFetch + `
			1 C: FAIL {"jid":"j1"}`},

		{breach: ErrorEndsConnection, name: "it goes on", stream: jobFetch + `
			1 C: ACK {"jid":"j1"}
			1 S: -ERR no
			1 C: FETCH`},
		{breach: ErrorEndsConnection, name: "it ends later, in order", stream: jobFetch + failReport + `
			1 C: FETCH
			1 S: -ERR no
			+1s
			1 C: END
			1 S: +OK
			1 C: <close>`},
		{breach: ErrorEndsConnection, name: "it closes each connection, after an error or not", others: ClosedWithoutEnd,
			stream: jobFetch + `
			1 C: <close>
			2 worker w1
			2 C: FETCH
			2 S: -ERR no
			2 C: ACK {"jid":"j1"}
			2 S: -ERR no
			2 C: <close>`},
		{breach: ErrorEndsConnection, name: "behind a reply that no command asked for", isOpen: true, stream: `
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
		{breach: ErrorEndsConnection, name: "its other connection is closed first", isWrong: true, others: ClosedWithoutEnd,
			stream: jobFetch + `
			2 worker w1
			1 C: ACK {"jid":"j1"}
			1 S: -ERR no
			2 C: <close>
			1 C: <close>`},
		{breach: ErrorEndsConnection, name: "after FETCH", isWrong: true, stream: `
			1 worker w1
			1 C: FETCH
			1 S: -ERR no
			1 C: <close>`},
		{breach: ErrorEndsConnection, name: "it gives up the next command at once", isWrong: true, stream: `
			1 worker w1
			1 C: FETCH
			1 S: -ERR no
			1 C: FETCH
			+100ms
			1 C: <close>`},
		{breach: ErrorEndsConnection, name: "behind an error to BEAT, which shows no habit", isWrong: true, others: OneConnection,
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
		{breach: ErrorEndsConnection, name: "after ACK", isWrong: true, stream: jobFetch + `
			1 C: ACK {"jid":"j1"}
			1 S: -ERR no
			+100ms
			1 C: <close>
			2 worker w1`},
	}
}
