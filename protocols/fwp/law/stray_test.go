package law_test

import (
	"fmt"
	"testing"
)

// pushing returns the PUSH of a job in a queue.
func pushing(n int, queue string) string {
	return fmt.Sprintf(`1 C: PUSH {"jid":"jid-000000000000000%d","jobtype":"t","args":[],"queue":"%s"}`+"\n1 S: +OK",
		n, queue)
}

func fetched(n int, queue, changed string) string {
	return fmt.Sprintf("1 C: FETCH %[2]s\n1 S: "+
		`${"jid":"jid-000000000000000%[1]d","jobtype":"t","args":[],"queue":"%[4]s",`+
		`"created_at":"2026-01-02T03:04:05Z","enqueued_at":"2026-01-02T03:04:05Z"%[3]s}`, n, queue, changed, queue)
}

func failed(n int, fields string) string {
	return fmt.Sprintf(`1 C: FAIL {"jid":"jid-000000000000000%d"%s}`+"\n1 S: +OK", n, fields)
}

// TestAFailureIsOfItsOwnJob has jobs delivered with what was said of others, or of themselves.
func TestAFailureIsOfItsOwnJob(t *testing.T) {
	t.Parallel()
	const said = `,"errtype":"E","message":"a telling message","backtrace":[]`
	const lines = `,"errtype":"E","backtrace":["a telling line"]`
	back := func(failure string) string { return `,"failure":` + failure }
	first := all(hello, pushing(1, "q"), fetched(1, "q", ""))
	second := all(pushing(2, "r"), fetched(2, "r", ""))
	judge(t, map[string]row{
		"its own message": {
			all(first, failed(1, said), "+60s", fetched(1, "q", back(`{"errtype":"E","message":"a telling message"}`))), "",
		},
		"that of another": {
			all(first, second, failed(1, said), failed(2, `,"errtype":"F"`), "+60s",
				fetched(2, "r", back(`{"errtype":"F","message":"a telling message"}`))),
			"FWP-WU-13 field",
		},
		"the backtrace of another": {
			all(first, second, failed(1, lines), failed(2, `,"errtype":"F"`), "+60s",
				fetched(2, "r", back(`{"errtype":"F","backtrace":["a telling line"]}`))),
			"FWP-WU-13 field",
		},
		"the same of both": {
			all(first, second, failed(1, said), failed(2, said), "+60s",
				fetched(2, "r", back(`{"errtype":"E","message":"a telling message"}`))), "",
		},
		"a short one": {
			all(first, second, failed(1, `,"errtype":"E","message":"short"`), failed(2, `,"errtype":"F"`), "+60s",
				fetched(2, "r", back(`{"errtype":"F","message":"short"}`))), "",
		},
	})
}

// TestWhatTheServerTook has the server take what it might have refused, and treat it in another way then.
func TestWhatTheServerTook(t *testing.T) {
	t.Parallel()
	const held = `,"queue":"q"`
	judge(t, map[string]row{
		"a job of an odd queue, from another": {
			all(hello, pushing(1, "q.a"), "1 C: FETCH q-a", "1 S: "+`${"jid":"jid-0000000000000001","jobtype":"t","args":[]}`),
			"FWP-FETCH-04 queue",
		},
		"a job that was flushed comes back after a FAIL": {
			all(hello, pushing(1, "q"), fetched(1, "q", ""), flush, failed(1, `,"errtype":"E"`), "+60s",
				fetched(1, "q", held)),
			"FWP-FLUSH-02 delivered",
		},
		"a job without created_at has one of last year": {
			all(hello, pushing(1, "q"), "1 C: FETCH q", "1 S: "+`${"jid":"jid-0000000000000001","jobtype":"t","args":[],`+
				`"created_at":"2025-01-02T03:04:05Z","enqueued_at":"2026-01-02T03:04:05Z"}`),
			"FWP-WU-10 field",
		},
		"a HELLO that must be declined is answered with the end": {
			all("protected", "1 C: HELLO {\"v\":2}", "1 S: <close>"), "FWP-HELLO-04 no-error",
		},
	})
}
