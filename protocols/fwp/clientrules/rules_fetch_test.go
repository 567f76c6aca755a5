package clientrules

import "strings"

// fetches repeats a FETCH that finds nothing.
func fetches(n int, line string) string {
	return strings.Repeat("\n1 C: "+line+"\n1 S: $-1", n)
}

func fetchTests() []ruleTest {
	cfg1, cfg2 := Config{Concurrency: 1}, Config{Concurrency: 2}
	const job1, job2 = `$ {"jid":"j1","jobtype":"t","args":[]}`, `$ {"jid":"j2","jobtype":"t","args":[]}`
	return []ruleTest{
		{breach: BeyondConcurrency, name: "as many as it may", cfg: cfg2, stream: `
			1 worker w1
			1 C: FETCH
			1 S: ` + job1 + `
			1 C: FETCH
			1 S: ` + job2 + `
			+2s
			1 C: ACK {"jid":"j1"}
			1 S: +OK`},
		{breach: BeyondConcurrency, name: "the next while the report is under way", cfg: cfg1, stream: `
			1 worker w1
			2 worker w1
			1 C: FETCH
			1 S: ` + job1 + `
			+2s
			2 C: ACK {"jid":"j1"}
			1 C: FETCH
			1 S: ` + job2 + `
			2 S: +OK`},
		{breach: BeyondConcurrency, name: "the next where the one before may not have come", cfg: cfg1, stream: `
			1 worker w1
			1 C: FETCH
			1 S: ` + job1 + `
			1 S: <close>
			2 worker w1
			2 C: FETCH
			2 S: ` + job2 + `
			+2s
			2 C: ACK {"jid":"j2"}
			2 S: +OK`},
		{breach: BeyondConcurrency, name: "the next where the one before was there for long", isWrong: true, cfg: cfg1, stream: `
			1 worker w1
			1 C: FETCH
			1 S: ` + job1 + `
			+2s
			1 S: <fin>
			2 worker w1
			2 C: FETCH
			2 S: ` + job2},
		{breach: BeyondConcurrency, name: "the next where a report of the one before may be lost", cfg: cfg1,
			stream: jobFetch + `
			+2s
			1 S: <reset>
			2 worker w1
			2 C: FETCH
			2 S: ` + job2},
		{breach: BeyondConcurrency, name: "a second one", isWrong: true, cfg: cfg1, stream: `
			1 worker w1
			1 C: FETCH
			1 S: ` + job1 + `
			1 C: FETCH
			1 S: ` + job2},
		{breach: BeyondConcurrency, name: "on two connections", isWrong: true, cfg: cfg1, stream: `
			1 worker w1
			2 worker w1
			1 C: FETCH
			2 C: FETCH
			1 S: ` + job1 + `
			2 S: ` + job2},

		{breach: FetchIdle, name: "one after the other", cfg: cfg1, stream: `
			1 worker w1
			1 C: FETCH
			+2s
			1 S: $-1
			1 C: FETCH
			+2s
			1 S: $-1
			1 C: FETCH`},
		{breach: FetchIdle, name: "busy", cfg: cfg1, stream: `
			1 worker w1
			1 C: FETCH
			1 S: ` + job1 + `
			+15s
			1 C: BEAT {"wid":"w1"}
			1 S: +OK
			+25s
			1 C: ACK {"jid":"j1"}
			1 S: +OK
			1 C: FETCH`, others: OneConnection},
		{breach: FetchIdle, name: "none behind END", cfg: cfg1, stream: `
			1 worker w1
			1 C: FETCH
			1 S: $-1
			1 C: END
			1 S: +OK` + seconds(12)},
		{breach: FetchIdle, name: "one of two", isWrong: true, cfg: cfg2, stream: `
			1 worker w1
			1 C: FETCH
			1 S: ` + job1 + `
			+12s
			1 C: ACK {"jid":"j1"}
			1 S: +OK`},
		{breach: FetchIdle, name: "one of an unknown number", cfg: Config{HasProcesses: true}, stream: `
			p1 started
			1 worker w1 p1
			1 C: FETCH
			1 S: ` + job1 + `
			+20s
			1 C: ACK {"jid":"j1"}
			1 S: +OK`},
		{breach: FetchIdle, name: "another worker of its process is quiet", cfg: Config{HasProcesses: true}, stream: `
			p1 started
			1 worker w1 p1
			1 C: FETCH
			1 S: $-1
			2 worker w2 p1
			2 C: BEAT {"wid":"w2"}
			2 S: +{"state":"quiet"}
			+12s
			1 C: INFO
			1 S: ${}`},
		{breach: FetchIdle, name: "none of an unknown number", isWrong: true, cfg: Config{HasProcesses: true}, stream: `
			p1 started
			1 worker w1 p1
			1 C: FETCH
			1 S: $-1
			+12s
			1 C: INFO
			1 S: ${}`},
		{breach: FetchIdle, name: "nothing at all", isWrong: true, cfg: cfg1, stream: `
			1 worker w1
			+13s
			2 worker w1`},

		{breach: FetchOtherQueue, name: "its queues", cfg: Config{Queues: []string{"a", "b"}}, stream: `
			1 worker w1
			1 C: FETCH b a`},
		{breach: FetchOtherQueue, name: "none is default", cfg: Config{Queues: []string{"default"}}, stream: `
			1 worker w1
			1 C: FETCH`},
		{breach: FetchOtherQueue, name: "one more", isWrong: true, cfg: Config{Queues: []string{"a", "b"}}, stream: `
			1 worker w1
			1 C: FETCH a b default`},
		{breach: FetchOtherQueue, name: "none at all", isWrong: true, cfg: Config{Queues: []string{"a"}}, stream: `
			1 worker w1
			1 C: FETCH`},

		{breach: FetchQueueMissing, name: "one at last", cfg: Config{Queues: []string{"a", "b"}}, stream: `
			1 worker w1` + fetches(50, "FETCH a") + fetches(1, "FETCH b") + `
			2 worker w2`, isWrong: true},
		{breach: FetchQueueMissing, name: "both each time", cfg: Config{Queues: []string{"a", "b"}}, stream: `
			1 worker w1` + fetches(51, "FETCH a b")},
		{breach: FetchQueueMissing, name: "one less often", cfg: Config{Queues: []string{"a", "b"}}, stream: `
			1 worker w1` + fetches(1, "FETCH b") + fetches(50, "FETCH a")},
		{breach: FetchQueueMissing, name: "one never", isWrong: true, cfg: Config{Queues: []string{"a", "b", "c"}}, stream: `
			1 worker w1` + fetches(76, "FETCH b c")},

		{breach: FetchOtherQueue, name: "those of its process", cfg: Config{Queues: []string{"a", "b"}}, stream: `
			p1 started c d
			1 worker w1 p1
			1 C: FETCH c d`},
		{breach: FetchOtherQueue, name: "those of another process", isWrong: true, cfg: Config{Queues: []string{"a"}}, stream: `
			p1 started c d
			1 worker w1 p1
			1 C: FETCH a`},
		{breach: FetchQueueMissing, name: "one of its process", isWrong: true, cfg: Config{Queues: []string{"a"}}, stream: `
			p1 started c d
			1 worker w1 p1` + fetches(51, "FETCH c")},
	}
}
