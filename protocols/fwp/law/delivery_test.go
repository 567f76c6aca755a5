package law_test

import (
	"strings"
	"testing"
)

const (
	emptyReply  = "1 S: $-1"
	pushUnnamed = `1 C: PUSH {"jid":"jid-0000000000000001","jobtype":"t","args":[]}` + "\n1 S: +OK" // to the queue default
)

// TestMissing has a FETCH bring nothing although a job must be there.
func TestMissing(t *testing.T) {
	t.Parallel()
	judge(t, map[string]row{
		"pushed": {join(hello, pushWith(""), fetchNothing), "FWP-PUSH-04 missing"},
		"pushed to no queue": {
			join(
				hello, pushUnnamed,
				"1 C: FETCH default", "+2s", emptyReply,
			),
			"FWP-WU-04 missing",
		},
		"and no queue asked for": {
			join(
				hello, pushUnnamed, "1 C: FETCH",
				"+2s", emptyReply,
			),
			"FWP-FETCH-08 missing",
		},
		"of the second queue": {
			join(hello, pushWith(""), "1 C: FETCH a q", "+2s", emptyReply),
			"FWP-PUSH-04 missing",
		},
		"of another queue": {join(hello, pushWith(""), "1 C: FETCH a", "+2s", emptyReply), ""},
		"pushed while it waited": {
			join(hello, otherHello, "2 C: FETCH q", "+1s", pushWith(""), "+1s", "2 S: $-1"),
			"FWP-FETCH-06 not-woken doubtful",
		},
		"the same, no queue": {
			join(
				hello, otherHello, "2 C: FETCH", "+1s",
				pushUnnamed, "+1s", "2 S: $-1",
			),
			"FWP-FETCH-08 not-woken doubtful",
		},
		"pushed just before its end": {
			join(hello, otherHello, "2 C: FETCH q", "+1500ms", pushWith(""), "+500ms", "2 S: $-1"),
			"",
		},
		"pushed 501 ms before its end": {
			join(hello, otherHello, "2 C: FETCH q", "+1500ms", pushWith(""), "+501ms", "2 S: $-1"),
			"FWP-FETCH-06 not-woken doubtful",
		},
		"pushed when it may be over": {
			join(hello, otherHello, "slack 1s", "2 C: FETCH q", "+2s", pushWith(""), "+1600ms", "2 S: $-1"),
			"",
		},
		"the same, with slack": {
			join("slack 100ms", hello, otherHello, "2 C: FETCH q", "+1500ms", pushWith(""), "+501ms", "2 S: $-1"),
			"",
		},
		"two that wait": {
			join(
				hello, otherHello, "2 C: FETCH q", "1 C: FETCH q", "3 C: HELLO {\"v\":2}", "3 S: +OK", "+1s",
				onConn("3", pushWith("")), "+1s", "2 S: $-1",
			),
			"",
		},
		"with a rival": {
			join(hello, otherHello, pushWith(""), "1 C: FETCH q", "2 C: FETCH q", "+2s", emptyReply),
			"",
		},
		"with a rival for another": {
			join(hello, otherHello, pushWith(""), "1 C: FETCH q", "2 C: FETCH a", "+2s", emptyReply),
			"FWP-PUSH-04 missing",
		},
		"by one that may not fetch": {join(hello, pushWith(""), `2 C: HELLO {"v":2}`, "2 S: +OK", onConn("2", fetchNothing)), ""},
		"by one that is quiet":      {join(hello, pushWith(""), "signal worker-1 quiet", fetchNothing), ""},
		"after a FLUSH":             {join(hello, pushWith(""), flush, fetchNothing), ""},
		"after a restart":           {join(hello, pushWith(""), "restart", fetchNothing), "FWP-STATE-08 missing"},
		"taken with another word, by a worker greeted with one": {
			join(strings.ReplaceAll(join(hello, pushWith("")), "1 S: +OK", "> 1 S: +DONE"), fetchNothing), "FWP-PUSH-04 missing",
		},
		"a queue with a dot": {
			join(
				hello, `1 C: PUSH {"jid":"jid-0000000000000001","jobtype":"t","args":[],"queue":"q.r"}`, "1 S: +OK",
				"1 C: FETCH q.r", "+2s", emptyReply,
			),
			"FWP-PUSH-04 missing",
		},
		"a queue in capitals": {
			join(
				hello, `1 C: PUSH {"jid":"jid-0000000000000001","jobtype":"t","args":[],"queue":"Q"}`, "1 S: +OK",
				"1 C: FETCH Q", "+2s", emptyReply,
			),
			"FWP-PUSH-04 missing",
		},
		"a queue in capitals, refused": {
			join(
				hello, `1 C: PUSH {"jid":"jid-0000000000000001","jobtype":"t","args":[],"queue":"Q"}`, "1 S: -ERR",
				"1 C: FETCH Q", "1 S: -ERR",
			),
			"",
		},
		"in a second": {join(hello, pushWith(`,"at":"2026-01-02T03:04:06Z"`), fetchNothing), ""},
		"and 150 s later": {
			join(hello, pushWith(`,"at":"2026-01-02T03:04:06Z"`), "+151s", fetchNothing),
			"FWP-STATE-11 missing",
		},
		"the same, with an offset": {
			join(hello, pushWith(`,"at":"2026-01-02T05:04:06+02:00"`), "+151s", fetchNothing),
			"FWP-WU-06 missing",
		},
		"long ago": {join(hello, pushWith(`,"at":"2026-01-02T03:00:00Z"`), fetchNothing), "FWP-WU-06 missing"},
		"failed":   {join(hello, pushWith(""), take, fail, "+150s", fetchNothing), "FWP-RETRY-04 missing"},
		"failed, with retries": {
			join(hello, pushWith(`,"retry":5`), take, fail, "+150s", fetchNothing),
			"FWP-STATE-09 missing",
		},
		"failed, with a retry": {
			join(hello, pushWith(`,"retry":1`), take, fail, "+150s", fetchNothing),
			"FWP-WU-07 missing",
		},
		"failed, 147 s ago": {join(hello, pushWith(""), take, fail, "+147s", fetchNothing), ""},
		"failed twice": {
			join(
				hello, pushWith(""), take, fail, "+150s",
				take+` {"failure":{"errtype":"Boom","message":"it broke"}}`, fail, "+147s", fetchNothing,
			),
			"",
		},
		"failed twice, 150 s ago": {
			join(
				hello, pushWith(""), take, fail, "+150s",
				take+` {"failure":{"errtype":"Boom","message":"it broke"}}`, fail, "+150s", fetchNothing,
			),
			"FWP-RETRY-04 missing",
		},
		"expired after a FAIL": {
			join(
				hello, pushWith(`,"reserve_for":60`), take, fail, "+150s",
				take+` {"failure":{"errtype":"Boom","message":"it broke"}}`, "+357s", fetchNothing,
			),
			"",
		},
		"expired after a FAIL, 300 s ago": {
			join(
				hello, pushWith(`,"reserve_for":60`), take, fail, "+150s",
				take+` {"failure":{"errtype":"Boom","message":"it broke"}}`, "+360s", fetchNothing,
			),
			"FWP-STATE-07 missing",
		},
		"failed, and due while it waited": {
			join(hello, pushWith(""), take, fail, "+148500ms", "1 C: FETCH q", "+2100ms", emptyReply), "",
		},
		"a queue with a blank at its end": {
			join(
				hello, `1 C: PUSH {"jid":"jid-0000000000000001","jobtype":"t","args":[],"queue":"q "}`, "1 S: +OK",
				"1 C: FETCH q", "+2s", emptyReply,
			),
			"FWP-PUSH-04 missing",
		},
		"failed for the last time": {join(hello, pushWith(`,"retry":0`), take, fail, "+300s", fetchNothing), ""},
		"expired": {
			join(hello, pushWith(""), take, "+1800s", "+150s", fetchNothing),
			"FWP-STATE-07 missing",
		},
		"scheduled, after a restart": {
			join(hello, pushWith(`,"at":"2026-01-02T03:04:15Z"`), "restart", "+180s", fetchNothing), "FWP-STATE-08 missing",
		},
		"scheduled in an odd queue, after a restart": {
			join(hello, pushWith(`,"at":"2026-01-02T03:04:15Z","queue":"é"`), "restart", "+180s", "1 C: FETCH é", "+2s",
				"1 S: $-1"),
			"", // lost with the restart, perhaps
		},
		"failed, after a restart": {
			join(hello, pushWith(`,"retry":3`), take, fail, "restart", "+400s", fetchNothing), "FWP-STATE-08 missing",
		},
		"expired, after a restart": {
			join(hello, pushWith(""), take, "restart", "+1800s", "+150s", fetchNothing),
			"FWP-STATE-08 missing",
		},
		"expired after a bad FAIL": {
			join(
				hello, pushWith(""), take, `1 C: FAIL {"jid":"jid-0000000000000001","errtype":5}`, "1 S: -ERR",
				"+1800s", "+150s", fetchNothing,
			),
			"FWP-FAIL-02 missing",
		},
		"expired, never to be tried": {join(hello, pushWith(`,"retry":0`), take, "+1800s", "+150s", fetchNothing), ""},
		"expired 147 s ago":          {join(hello, pushWith(""), take, "+1800s", "+147s", fetchNothing), ""},
	})
}

// TestEmpty has a FETCH of an empty queue take its time.
func TestEmpty(t *testing.T) {
	t.Parallel()
	fetch := func(d string) string { return join(hello, "1 C: FETCH q", "+"+d, emptyReply) }
	judge(t, map[string]row{
		"2 s":                  {fetch("2s"), ""},
		"1.5 s":                {fetch("1500ms"), ""},
		"less":                 {fetch("1499ms"), "FWP-FETCH-05 block doubtful should"},
		"3 s":                  {fetch("3s"), ""},
		"more":                 {fetch("3001ms"), "FWP-FETCH-05 block doubtful"},
		"more, with slack":     {join("slack 1s", fetch("3001ms")), ""},
		"one that may not ask": {join(`1 C: HELLO {"v":2}`, "1 S: +OK", "1 C: FETCH q", emptyReply), ""},
	})
}

// TestDelivered has a FETCH bring a job that it must not bring.
func TestDelivered(t *testing.T) {
	t.Parallel()
	judge(t, map[string]row{
		"an unknown job":       {join(hello, "1 C: FETCH q", `1 S: ${"jid":"x"}`), "FWP-FETCH-01 unknown"},
		"of the queue default": {join(hello, "1 C: FETCH q default", `1 S: ${"jid":"x"}`), ""},
		"of no queue":          {join(hello, "1 C: FETCH", `1 S: ${"jid":"x"}`), ""},
		"after a PUSH served": {
			join(hello, `1 C: PUSH {"jid":5}`, "> 1 S: +OK", "1 C: FETCH q", `1 S: ${"jid":"x"}`),
			"",
		},
		"from a part of the name":   {join(hello, pushWith(""), "1 C: FETCH q\u00a0r", "1 S: JOB"), "FWP-FETCH-04 queue"},
		"from another queue":        {join(hello, pushWith(""), "1 C: FETCH a", "1 S: JOB"), "FWP-FETCH-04 queue"},
		"from another than default": {join(hello, pushWith(""), "1 C: FETCH", "1 S: JOB"), "FWP-FETCH-08 queue"},
		"that another asked for": {
			join(hello, otherHello, pushWith(""), "2 C: FETCH q", "1 C: FETCH a", "1 S: JOB"),
			"FWP-RESP-06 swapped",
		},
		"that is held": {join(hello, otherHello, pushWith(""), take, onConn("2", take)), "FWP-STATE-05 delivered"},
		"that is held for 15 s": {
			join(hello, otherHello, pushWith(""), take, "+15s", onConn("2", take)),
			"FWP-STATE-05 delivered",
		},
		"that is held for longer": {
			join(hello, otherHello, pushWith(""), take, "+16s", onConn("2", take)),
			"FWP-WU-05 delivered",
		},
		"held for an unusual time": {
			join(hello, otherHello, pushWith(`,"reserve_for":65536`), take, onConn("2", take)),
			"FWP-WU-05 delivered",
		},
		"the same, reserved for 60 s": {
			join(hello, otherHello, pushWith(`,"reserve_for":60`), take, "+16s", onConn("2", take)),
			"FWP-WU-05 delivered",
		},
		"the same, reserved for 59 s": {
			join(hello, otherHello, pushWith(`,"reserve_for":59`), take, "+16s", onConn("2", take)),
			"FWP-WU-05b delivered",
		},
		"that was acknowledged": {join(hello, pushWith(""), take, ack, take), "FWP-ACK-02 delivered"},
		"that was refused":      {join(hello, refuse(pushWith(`,"retry":-2`)), take), "FWP-PUSH-03 delivered"},
		"that was flushed":      {join(hello, pushWith(""), flush, take), "FWP-FLUSH-02 delivered"},
		"pushed after a FLUSH":  {join(hello, pushWith(""), flush, pushWith(""), take), ""},
		"missing after a FLUSH": {join(hello, pushWith(""), flush, pushWith(""), fetchNothing), "FWP-PUSH-04 missing"},
		"pushed twice":          {join(hello, pushWith(""), pushWith(""), fetchNothing), ""},
		"that failed 299 ms ago": {
			join(hello, pushWith(""), take, fail, "+299ms", take),
			"FWP-STATE-06 delivered",
		},
		"that failed 300 ms ago": {
			join(
				hello, pushWith(""), take, fail, "+300ms",
				take+` {"failure":{"errtype":"Boom","message":"it broke"}}`,
			),
			"",
		},
		"that failed with white space around its message": {
			join(
				hello, pushWith(""), take, strings.Replace(fail, "it broke", "  it broke ", 1), "+300ms",
				take+` {"failure":{"errtype":"Boom","message":"it broke"}}`,
			),
			"",
		},
		"that failed, retry 0": {
			join(hello, pushWith(`,"retry":0`), take, fail, "+300s", take),
			"FWP-RETRY-01 delivered",
		},
		"that failed, retry -1": {
			join(hello, pushWith(`,"retry":-1`), take, fail, "+300s", take),
			"FWP-RETRY-02 delivered",
		},
		"that failed once too often": {
			join(
				hello, pushWith(`,"retry":1`), take, fail, "+150s",
				take+` {"failure":{"errtype":"Boom","message":"it broke"}}`, fail, "+300s", take,
			),
			"FWP-RETRY-03 delivered",
		},
		"that is scheduled": {join(hello, pushWith(`,"at":"2026-01-02T03:05:05Z"`), take), "FWP-WU-06 field"},
		"that passed over another, after a restart": {
			join(hello, pushWith(""), pushSecond(`,"queue":"r"`), "restart", "1 C: FETCH q r", "1 S: JOB2", take),
			"FWP-FETCH-04 order doubtful",
		},
		"that has the jid of another one, but for its case": {
			join(hello, strings.ReplaceAll(pushWith(""), "0001", "000a"), strings.ReplaceAll(pushSecond(`,"queue":"r"`), "0002", "000A"),
				"1 C: FETCH q", `1 S: ${"jid":"jid-000000000000000A","queue":"q"}`),
			"FWP-FETCH-01 unknown",
		},
		"that passed over another": {
			join(hello, pushWith(""), pushSecond(`,"queue":"r"`), "1 C: FETCH q r", "1 S: JOB2", take),
			"FWP-FETCH-04 order doubtful",
		},
		"that seemed to pass over one that is lost": {
			join(hello, pushWith(""), pushSecond(`,"queue":"r"`), "1 C: FETCH q r", "1 S: JOB2", "1 C: FETCH q", "+2s", "1 S: $-1"),
			"FWP-PUSH-04 missing",
		},
		"in another order": {
			join(hello, pushWith(""), pushSecond(`,"queue":"r"`), "1 C: FETCH r q", "1 S: JOB2"),
			"",
		},
		"of the same queue":           {join(hello, pushWith(""), pushSecond(""), "1 C: FETCH q", "1 S: JOB2"), ""},
		"once more than pushed":       {join(hello, pushWith(""), pushWith(""), take, take, take), ""},
		"while a FLUSH was under way": {join(hello, otherHello, pushWith(""), "2 C: FETCH q", flush, "2 S: JOB"), ""},
		"pushed before, sent after": {
			join(hello, otherHello, pushWith(""), flush, "2 C: FETCH q", "2 S: JOB"),
			"FWP-FLUSH-02 delivered",
		},
		"to a client that has gone": {join(hello, otherHello, pushWith(""), "2 C: FETCH q", "2 C: <close>", fetchNothing), ""},
		"though it may be held":     {join(hello, otherHello, pushWith(""), "2 C: FETCH q", "2 C: <close>", take), ""},
	})
}

// TestDeliveryTime has a FETCH bring its job too late.
func TestDeliveryTime(t *testing.T) {
	t.Parallel()
	waiting := join(hello, otherHello, "2 C: FETCH q")
	judge(t, map[string]row{
		"that was there": {
			join(hello, pushWith(""), "1 C: FETCH q", "+501ms", "1 S: JOB"),
			"FWP-STATE-04 late doubtful",
		},
		"in time": {join(hello, pushWith(""), "1 C: FETCH q", "+500ms", "1 S: JOB"), ""},
		"with slack": {
			join("slack 1s", hello, pushWith(""), "1 C: FETCH q", "+1500ms", "1 S: JOB"),
			"",
		},
		"by a server that is slow": {
			join(hello, pushWith(""), "1 C: INFO", "+501ms", "1 S: ${}", "1 C: FETCH q", "+501ms", "1 S: JOB"),
			"",
		},
		"while another waits": {
			join(hello, otherHello, pushWith(""), "2 C: FETCH a", "1 C: FETCH q", "+501ms", "1 S: JOB"),
			"FWP-FETCH-06 late doubtful",
		},
		"while another came": {
			join(hello, otherHello, pushWith(""), "1 C: FETCH q", "2 C: FETCH a", "+501ms", "1 S: JOB"),
			"FWP-FETCH-06 late doubtful",
		},
		"that came while it waited": {
			join(waiting, "+1s", pushWith(""), "+501ms", "2 S: JOB"),
			"FWP-FETCH-06 late doubtful",
		},
		"that came in time": {join(waiting, "+1s", pushWith(""), "+500ms", "2 S: JOB"), ""},
		"of one that may not fetch": {
			join(hello, pushWith(""), `2 C: HELLO {"v":2}`, "2 S: +OK", "2 C: FETCH q", "+2s", "2 S: JOB"),
			"",
		},
		"with a rival": {
			join(hello, otherHello, pushWith(""), "1 C: FETCH q", "2 C: FETCH q", "+1s", "1 S: JOB"),
			"",
		},
		"an INFO when another has waited": {
			join(waiting, "1 C: INFO", "+2s", "1 S: $x"),
			"FWP-FETCH-06 stalled doubtful",
		},
		"an INFO while another waits": {join(waiting, "1 C: INFO", "+1400ms", "1 S: $x"), ""},
		"an INFO, and no FETCH waits": {join(hello, "1 C: INFO", "+2s", "1 S: $x"), ""},
		"an INFO in a second":         {join(waiting, "+1s", "1 C: INFO", "+1s", "1 S: $x"), ""},
		"an INFO after a slow one": {
			join(hello, "1 C: INFO", "+501ms", "1 S: $x", otherHello, "2 C: FETCH q", "1 C: INFO", "+2s", "1 S: $x"),
			"",
		},
		"an INFO, slow in company before": {
			join(waiting, "1 C: INFO", "+501ms", "1 S: $x", "1 C: INFO", "+1499ms", "1 S: $x"),
			"FWP-FETCH-06 stalled doubtful",
		},
		"a refusal": {join(waiting, "1 C: INFO x", "+2s", "1 S: -ERR"), ""},
		"a HELLO":   {join(waiting, `3 C: HELLO {"v":2}`, "+2s", "3 S: +OK"), ""},
		"an INFO, and another came": {
			join(hello, otherHello, "1 C: INFO", "2 C: FETCH q", "+2s", "1 S: $x"),
			"FWP-FETCH-06 stalled doubtful",
		},
		"an INFO after another was served": {
			join(waiting, "1 C: INFO", "+1700ms", "2 S: $-1", "+301ms", "1 S: $x"),
			"",
		},
		"an INFO soon after another had a job at once": {
			join(hello, otherHello, pushWith(""), "1 C: INFO", "+1s", "2 C: FETCH q", "2 S: JOB", "+300ms", "1 S: $x"),
			"",
		},
		"an INFO soon after one that came later": {
			join(hello, otherHello, "1 C: INFO", "2 C: FETCH q", "+1700ms", "2 S: $-1", "+300ms", "1 S: $x"),
			"FWP-FETCH-06 stalled doubtful",
		},
		"an INFO soon after another was served": {
			join(waiting, "1 C: INFO", "+1700ms", "2 S: $-1", "+300ms", "1 S: $x"),
			"FWP-FETCH-06 stalled doubtful",
		},
		"an INFO, the other was served": {
			join(waiting, "1 C: INFO", "+2s", "2 S: $-1", "1 S: $x"),
			"FWP-FETCH-06 stalled doubtful",
		},
	})
}
