package law_test

import (
	"fmt"
	"testing"
)

// pushTo returns the PUSH of a job in a queue.
func pushTo(n int, queue string) string {
	return fmt.Sprintf(`1 C: PUSH {"jid":"jid-000000000000000%d","jobtype":"t","args":[],"queue":"%s"}`+"\n1 S: +OK",
		n, queue)
}

func fetchJob(n int, queue, changed string) string {
	return fmt.Sprintf("1 C: FETCH %[2]s\n1 S: "+
		`${"jid":"jid-000000000000000%[1]d","jobtype":"t","args":[],"queue":"%[4]s",`+
		`"created_at":"2026-01-02T03:04:05Z","enqueued_at":"2026-01-02T03:04:05Z"%[3]s}`, n, queue, changed, queue)
}

func failJob(n int, fields string) string {
	return fmt.Sprintf(`1 C: FAIL {"jid":"jid-000000000000000%d"%s}`+"\n1 S: +OK", n, fields)
}

// TestStrayFailure has jobs delivered with what was said of others, or of themselves.
func TestStrayFailure(t *testing.T) {
	t.Parallel()
	const message = `,"errtype":"E","message":"a telling message","backtrace":[]`
	const lines = `,"errtype":"E","backtrace":["a telling line"]`
	back := func(failure string) string { return `,"failure":` + failure }
	first := join(hello, pushTo(1, "q"), fetchJob(1, "q", ""))
	second := join(pushTo(2, "r"), fetchJob(2, "r", ""))
	judge(t, map[string]row{
		"its own message": {
			join(first, failJob(1, message), "+60s", fetchJob(1, "q", back(`{"errtype":"E","message":"a telling message"}`))), "",
		},
		"that of another": {
			join(first, second, failJob(1, message), failJob(2, `,"errtype":"F"`), "+60s",
				fetchJob(2, "r", back(`{"errtype":"F","message":"a telling message"}`))),
			"FWP-WU-13 field",
		},
		"the backtrace of another": {
			join(first, second, failJob(1, lines), failJob(2, `,"errtype":"F"`), "+60s",
				fetchJob(2, "r", back(`{"errtype":"F","backtrace":["a telling line"]}`))),
			"FWP-WU-13 field",
		},
		"the same of both": {
			join(first, second, failJob(1, message), failJob(2, message), "+60s",
				fetchJob(2, "r", back(`{"errtype":"E","message":"a telling message"}`))), "",
		},
		"a short one": {
			join(first, second, failJob(1, `,"errtype":"E","message":"short"`), failJob(2, `,"errtype":"F"`), "+60s",
				fetchJob(2, "r", back(`{"errtype":"F","message":"short"}`))), "",
		},
	})
}

// TestToleratedCommands has the server take what it might have refused, and treat it in another way then.
func TestToleratedCommands(t *testing.T) {
	t.Parallel()
	const queueField = `,"queue":"q"`
	judge(t, map[string]row{
		"a job of an odd queue, from another": {
			join(hello, pushTo(1, "q.a"), "1 C: FETCH q-a", "1 S: "+`${"jid":"jid-0000000000000001","jobtype":"t","args":[]}`),
			"FWP-FETCH-04 queue",
		},
		"a job that was flushed comes back after a FAIL": {
			join(hello, pushTo(1, "q"), fetchJob(1, "q", ""), flush, failJob(1, `,"errtype":"E"`), "+60s",
				fetchJob(1, "q", queueField)),
			"FWP-FLUSH-02 delivered",
		},
		"a job without created_at has one of last year": {
			join(hello, pushTo(1, "q"), "1 C: FETCH q", "1 S: "+`${"jid":"jid-0000000000000001","jobtype":"t","args":[],`+
				`"created_at":"2025-01-02T03:04:05Z","enqueued_at":"2026-01-02T03:04:05Z"}`),
			"FWP-WU-10 field",
		},
		"a HELLO that must be declined is answered with the end": {
			join("protected", "1 C: HELLO {\"v\":2}", "1 S: <close>"), "FWP-HELLO-04 no-error",
		},
	})
}
