package clientrules

import (
	"strconv"
	"strings"
)

const beat = `
	1 C: BEAT {"wid":"w1"}
	1 S: +OK`

const fetchNothing = `
	1 C: FETCH default
	+2s
	1 S: $-1`

// beats repeats a BEAT, with a wait before each.
func beats(n int, wait string) string { return strings.Repeat("\n+"+wait+beat, n) }

// seconds lets time pass, one event a second.
func seconds(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("\n+1s\nlag 0s # " + strconv.Itoa(i))
	}
	return strings.ReplaceAll(b.String(), " # ", "\n# ")
}

// beatsWithErrors is a worker that repeats each BEAT a second after an error.
func beatsWithErrors(errors int) string {
	return "1 worker w1" + strings.Repeat(`
		1 C: BEAT {"wid":"w1"}
		1 S: -ERR not now
		+1s`, errors) + beat
}

func beatTests() []ruleTest {
	return []ruleTest{
		{breach: BeatMissing, name: "every 15 s", stream: `1 worker w1` + beat + beats(5, "15s")},
		{breach: BeatMissing, name: "once a minute", others: BeatInterval, stream: `1 worker w1` + beat + beats(2, "60s")},
		{breach: BeatMissing, name: "while the server keeps it waiting", stream: `
			1 worker w1` + beat + seconds(15) + `
			1 C: BEAT {"wid":"w1"}` + seconds(100) + `
			1 S: +OK` + seconds(5) + beat},
		{breach: BeatMissing, name: "it has no connection", stream: `1 worker w1` + beat + seconds(15) + beat + `
			1 S: <close>` + seconds(80) + `
			1 worker w1` + beat + seconds(60) + beat},
		{breach: BeatMissing, name: "none behind END", isOpen: true, stream: `1 worker w1
			1 C: END
			1 S: +OK` + seconds(70)},
		{breach: BeatMissing, name: "after 60 s", stream: `1 worker w1` + seconds(60) + beat},
		{breach: BeatMissing, name: "after 62 s", isWrong: true, stream: `1 worker w1` + seconds(62) + beat},
		{breach: BeatMissing, name: "after 61 s, on a machine that was late by 0.7 s", stream: `1 worker w1
			lag 700ms` + seconds(61) + beat},
		{breach: BeatMissing, name: "after 63 s, on a machine that was late by 0.7 s", isWrong: true, stream: `1 worker w1
			lag 700ms` + seconds(63) + beat},
		{breach: BeatMissing, name: "after 120 s, on a machine that stood still for 70 s of them", stream: `1 worker w1` + beat +
			"\n+120s\nlag 70s" + beat},
		{breach: BeatMissing, name: "after 140 s, on a machine that stood still for 70 s of them", isWrong: true,
			stream: `1 worker w1` + beat + "\n+140s\nlag 70s" + beat},
		{breach: BeatMissing, name: "never", isWrong: true, stream: `1 worker w1` + seconds(70)},
		{breach: BeatMissing, name: "no more", isWrong: true, stream: `1 worker w1` + beat + beats(2, "15s") + seconds(62)},
		{breach: BeatMissing, name: "less and less often, within 60 s", others: BeatInterval, stream: `1 worker w1` + beat +
			beats(1, "10s") + beats(1, "15s") + beats(1, "20s") + beats(1, "30s") + beats(1, "45s") + beats(2, "60s")},
		{breach: BeatMissing, name: "less and less often, beyond 60 s", isWrong: true, others: BeatInterval,
			stream: `1 worker w1` + beat + beats(1, "15s") + beats(1, "30s") + beats(1, "60s") + seconds(120) + beat},
		{breach: BeatMissing, name: "the same, and nothing else is seen meanwhile", isWrong: true, others: BeatInterval,
			stream: `1 worker w1` + beat + beats(1, "15s") + beats(1, "30s") + beats(1, "60s") + beats(1, "120s")},

		{breach: QuietWithoutBeat, name: "it goes on", stream: quietWorker + beats(5, "15s")},
		{breach: QuietWithoutBeat, name: "the order to terminate", stream: quietWorker + beats(2, "15s") + `
			1 C: BEAT {"wid":"w1","current_state":"quiet"}
			1 S: +{"state":"terminate"}
			1 C: END
			1 S: <close>`},
		{breach: QuietWithoutBeat, name: "no more", isWrong: true, others: BeatMissing, stream: quietWorker + seconds(65)},
		{breach: QuietWithoutBeat, name: "after two", isWrong: true, others: BeatMissing, stream: quietWorker + beats(2, "15s") +
			seconds(62)},

		{breach: TerminateWithoutBeat, name: "it goes on", stream: terminateOrder + beats(1, "15s") + `
			+5s
			1 C: END
			1 S: +OK
			1 C: <close>`},
		{breach: TerminateWithoutBeat, name: "as rarely as before", stream: `1 worker w1` + beat + beats(2, "15s") + `
			+15s
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"terminate"}` + seconds(20) + beat + seconds(5) + `
			1 C: END
			1 S: <close>`},
		{breach: TerminateWithoutBeat, name: "none behind END", stream: terminateOrder + beats(2, "10s") + `
			1 C: END
			1 S: +OK` + seconds(29)},
		{breach: TerminateWithoutBeat, name: "silence behind its only BEAT", isOpen: true, stream: terminateOrder + seconds(25) + `
			1 C: END
			1 S: <close>`},
		{breach: TerminateWithoutBeat, name: "silence after a reply that was late", isWrong: true, stream: `1 worker w1
			1 C: BEAT {"wid":"w1"}
			+4s
			1 S: +OK
			+15s
			1 C: BEAT {"wid":"w1"}
			1 S: +{"state":"terminate"}` + seconds(25) + `
			1 C: END
			1 S: <close>`},
		{breach: TerminateWithoutBeat, name: "silence after beats", isWrong: true, stream: `1 worker w1` + beat +
			beats(3, "10s") + `
			+10s
			1 C: BEAT {"wid":"w1"}
			1 S: ${"state":"terminate"}` + seconds(29) + `
			1 C: END
			1 S: <close>`},

		{breach: BeatTooOften, name: "every 5 s", stream: `1 worker w1` + beat + beats(2, "5s")},
		{breach: BeatTooOften, name: "that carries a state", stream: `1 worker w1` + beat + beats(2, "15s") + `
			+1s
			1 C: BEAT {"wid":"w1","current_state":"quiet"}
			1 S: +OK` + beats(1, "1s") + beats(1, "15s")},
		{breach: BeatTooOften, name: "at once after a lost connection", stream: `1 worker w1` + beat + beats(1, "15s") + `
			1 S: <reset>
			1 worker w1` + beat},
		{breach: BeatTooOften, name: "again soon after an error", stream: beatsWithErrors(1) + beats(1, "15s")},
		{breach: BeatTooOften, name: "again and again after errors", isWrong: true, stream: beatsWithErrors(2)},
		{breach: BeatTooOften, name: "after 4.5 s, a tenth less than the bound",
			stream: `1 worker w1` + beat + beats(1, "4.5s")},
		{breach: BeatTooOften, name: "after 4.4 s", isWrong: true, stream: `1 worker w1` + beat + beats(1, "4.4s")},
		{breach: BeatTooOften, name: "after 3 s, on a machine that was late by 2 s", isOpen: true, stream: `1 worker w1` + beat + `
			lag 2s` + beats(1, "3s")},
		{breach: BeatTooOften, name: "after 2.9 s, on a machine that was late by 2 s", isWrong: true, stream: `1 worker w1` +
			beat + `
			lag 2s` + beats(1, "2.9s")},
		{breach: BeatTooOften, name: "every 4 s", isWrong: true, stream: `1 worker w1` + beat + beats(2, "4s")},
		{breach: BeatTooOften, name: "each connection has its own", stream: `1 worker w1
			2 worker w1` + beat + `
			+100ms
			2 C: BEAT {"wid":"w1"}`},
		{breach: BeatTooOften, name: "one of two connections", isWrong: true, stream: `1 worker w1
			2 worker w1` + beat + `
			+3s
			2 C: BEAT {"wid":"w1"}
			+1s
			1 C: BEAT {"wid":"w1"}`},

		{
			breach: BeatMissing, name: "of a worker without a connection that has a job", isWrong: true,
			cfg: Config{HasProcesses: true}, others: ClosedWithoutEnd, stream: `p1 started
			1 worker w1 p1
			1 C: FETCH
			1 S: ${"jid":"j1","jobtype":"t","args":[]}
			1 C: <close>` + seconds(62) + `
			2 worker w1 p1
			2 C: ACK {"jid":"j1"}
			2 S: +OK`,
		},
		{
			breach: BeatMissing, name: "of a worker without a connection that has no job", isOpen: true,
			cfg: Config{HasProcesses: true}, others: ClosedWithoutEnd, stream: `p1 started
			1 worker w1 p1
			1 C: <close>` + seconds(62) + `
			2 worker w1 p1`,
		},
		{breach: BeatTooOften, name: "on connections one after the other", isWrong: true, others: ClosedWithoutEnd,
			stream: `1 worker w1` + beat + `
			1 C: <close>
			+2s
			2 worker w1
			2 C: BEAT {"wid":"w1"}`},
		{breach: BeatTooOften, name: "on connections one after the other, each after 15 s", others: ClosedWithoutEnd,
			stream: `1 worker w1` + beat + `
			1 C: <close>
			+15s
			2 worker w1
			2 C: BEAT {"wid":"w1"}`},
		{breach: BeatTooOften, name: "on another connection, beside a third", others: ClosedWithoutEnd, stream: `1 worker w1
			3 worker w1` + beat + `
			1 C: <close>
			+2s
			2 worker w1
			2 C: BEAT {"wid":"w1"}`},

		{breach: BeatInterval, name: "every 15 s", stream: `1 worker w1` + beat + beats(3, "15s")},
		{breach: BeatInterval, name: "every 10 s, once late", stream: `1 worker w1` + beat + beats(3, "10s") +
			beats(1, "25s") + beats(3, "10s")},
		{breach: BeatInterval, name: "every 6 s", stream: `1 worker w1` + beat + beats(3, "6s")},
		{breach: BeatInterval, name: "every 18 s, on a machine that was late by 2 s", isOpen: true, stream: `1 worker w1` +
			beat + `
			lag 2s` + beats(3, "18s")},
		{breach: BeatInterval, name: "every 16.9 s", stream: `1 worker w1` + beat + beats(3, "16.9s")},
		{breach: BeatInterval, name: "every 17.1 s", isWrong: true, stream: `1 worker w1` + beat + beats(3, "17.1s")},
		{breach: BeatInterval, name: "every 50 s, three times", isWrong: true, stream: `1 worker w1` + beat + beats(2, "50s")},
		{breach: BeatInterval, name: "every 25 s, three times", isOpen: true, stream: `1 worker w1` + beat + beats(2, "25s")},
		{breach: BeatInterval, name: "once after 55 s", isOpen: true, stream: `1 worker w1` + beat + beats(1, "55s")},
		{breach: BeatInterval, name: "every 22 s, on a connection that fetches", others: OneConnection, stream: `1 worker w1` + beat + fetchNothing +
			beats(3, "22s")},
		{breach: BeatInterval, name: "every 24 s, on a connection that fetches", isWrong: true, others: OneConnection,
			stream: `1 worker w1` + beat + fetchNothing + beats(3, "24s")},
		{breach: BeatInterval, name: "every 20 s", isWrong: true, stream: `1 worker w1` + beat + beats(3, "20s")},
		{breach: BeatInterval, name: "12 s, 14 s, then 15 s", stream: `1 worker w1` + beat + beats(1, "12s") +
			beats(1, "14s") + beats(2, "15s")},
		{breach: BeatInterval, name: "two are late, one more than the other", stream: `1 worker w1` + beat +
			beats(3, "15s") + beats(1, "17s") + beats(1, "24s")},
		{breach: BeatInterval, name: "the last one is longer by 4 s", stream: `1 worker w1` + beat + beats(1, "12s") +
			beats(1, "18s") + beats(1, "22s")},
		{breach: BeatInterval, name: "one that tells a state is sent out of turn", stream: `1 worker w1` + beat +
			beats(3, "15s") + `
			+20s
			1 C: BEAT {"wid":"w1","current_state":"quiet"}
			1 S: +OK` + beats(3, "20s")},
		{breach: BeatInterval, name: "twice as long each time", stream: `1 worker w1` + beat + beats(1, "15s") +
			beats(1, "30s") + beats(1, "60s")},
		{breach: BeatInterval, name: "every 15 s on each of three connections", stream: `1 worker w1
			2 worker w1
			3 worker w1` + strings.Repeat(beat+`
			+5s
			2 C: BEAT {"wid":"w1"}
			2 S: +OK
			+5s
			3 C: BEAT {"wid":"w1"}
			3 S: +OK
			+5s`, 4)},

		{breach: BeatByProducer, name: "it pushes", stream: pushStream(`{"jid":"j1","jobtype":"t","args":[]}`) + `
			+15s
			1 C: INFO`},
		{breach: BeatByProducer, name: "it leaves", stream: `
			1 producer
			+60s
			1 C: END
			1 S: <close>`},
		{breach: BeatByProducer, name: "it beats", isWrong: true, stream: `
			1 producer
			1 C: BEAT {"wid":"p1"}`},
		{breach: BeatByProducer, name: "it beats after a while", isWrong: true, stream: `
			1 producer
			+15s
			1 C: BEAT {}`},

		{breach: BeatWid, name: "its own", stream: `1 worker w1` + beat},
		{breach: BeatWid, name: "with more fields", stream: `
			1 worker w1
			1 C: BEAT {"rss_kb":5,"wid":"w1"}`},
		{breach: BeatWid, name: "another", isWrong: true, stream: `
			1 worker w1
			1 C: BEAT {"wid":"w2"}`},
		{breach: BeatWid, name: "none", isWrong: true, stream: `
			1 worker w1
			1 C: BEAT {}`},

		{breach: BeatState, name: "quiet", stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1","current_state":"quiet"}`},
		{breach: BeatState, name: "terminate", stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1","current_state":"terminate"}`},
		{breach: BeatState, name: "a third", isWrong: true, stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1","current_state":"running"}`},
		{breach: BeatState, name: "empty", stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1","current_state":""}`},
		{breach: BeatState, name: "in capitals", isWrong: true, stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1","current_state":"QUIET"}`},

		{breach: BeatMemory, name: "an integer", stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1","rss_kb":54176}`},
		{breach: BeatMemory, name: "0", stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1","rss_kb":0}`},
		{breach: BeatMemory, name: "a fraction", isWrong: true, stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1","rss_kb":54176.5}`},
		{breach: BeatMemory, name: "a string", isWrong: true, stream: `
			1 worker w1
			1 C: BEAT {"wid":"w1","rss_kb":"54176"}`},
	}
}
