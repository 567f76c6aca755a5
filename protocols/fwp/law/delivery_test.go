package law_test

import (
	"strings"
	"testing"
)

const (
	missing = "1 S: $-1"
	unnamed = `1 C: PUSH {"jid":"jid-0000000000000001","jobtype":"t","args":[]}` + "\n1 S: +OK" // to the queue default
)

// TestMissing has a FETCH bring nothing although a job must be there.
func TestMissing(t *testing.T) {
	t.Parallel()
	judge(t, map[string]row{
		"pushed": {all(hello, with(""), none), "FWP-PUSH-04 missing"},
		"pushed to no queue": {
			all(
				hello, unnamed,
				"1 C: FETCH default", "+2s", missing,
			),
			"FWP-WU-04 missing",
		},
		"and no queue asked for": {
			all(
				hello, unnamed, "1 C: FETCH",
				"+2s", missing,
			),
			"FWP-FETCH-08 missing",
		},
		"of the second queue": {
			all(hello, with(""), "1 C: FETCH a q", "+2s", missing),
			"FWP-PUSH-04 missing",
		},
		"of another queue": {all(hello, with(""), "1 C: FETCH a", "+2s", missing), ""},
		"pushed while it waited": {
			all(hello, other, "2 C: FETCH q", "+1s", with(""), "+1s", "2 S: $-1"),
			"FWP-FETCH-06 not-woken doubtful",
		},
		"the same, no queue": {
			all(
				hello, other, "2 C: FETCH", "+1s",
				unnamed, "+1s", "2 S: $-1",
			),
			"FWP-FETCH-08 not-woken doubtful",
		},
		"pushed just before its end": {
			all(hello, other, "2 C: FETCH q", "+1500ms", with(""), "+500ms", "2 S: $-1"),
			"",
		},
		"pushed 501 ms before its end": {
			all(hello, other, "2 C: FETCH q", "+1500ms", with(""), "+501ms", "2 S: $-1"),
			"FWP-FETCH-06 not-woken doubtful",
		},
		"pushed when it may be over": {
			all(hello, other, "slack 1s", "2 C: FETCH q", "+2s", with(""), "+1600ms", "2 S: $-1"),
			"",
		},
		"the same, with slack": {
			all("slack 100ms", hello, other, "2 C: FETCH q", "+1500ms", with(""), "+501ms", "2 S: $-1"),
			"",
		},
		"two that wait": {
			all(
				hello, other, "2 C: FETCH q", "1 C: FETCH q", "3 C: HELLO {\"v\":2}", "3 S: +OK", "+1s",
				by("3", with("")), "+1s", "2 S: $-1",
			),
			"",
		},
		"with a rival": {
			all(hello, other, with(""), "1 C: FETCH q", "2 C: FETCH q", "+2s", missing),
			"",
		},
		"with a rival for another": {
			all(hello, other, with(""), "1 C: FETCH q", "2 C: FETCH a", "+2s", missing),
			"FWP-PUSH-04 missing",
		},
		"by one that may not fetch": {all(hello, with(""), `2 C: HELLO {"v":2}`, "2 S: +OK", by("2", none)), ""},
		"by one that is quiet":      {all(hello, with(""), "signal worker-1 quiet", none), ""},
		"after a FLUSH":             {all(hello, with(""), flush, none), ""},
		"after a restart":           {all(hello, with(""), "restart", none), "FWP-STATE-08 missing"},
		"taken with another word, by a worker greeted with one": {
			all(strings.ReplaceAll(all(hello, with("")), "1 S: +OK", "> 1 S: +DONE"), none), "FWP-PUSH-04 missing",
		},
		"a queue with a dot": {
			all(
				hello, `1 C: PUSH {"jid":"jid-0000000000000001","jobtype":"t","args":[],"queue":"q.r"}`, "1 S: +OK",
				"1 C: FETCH q.r", "+2s", missing,
			),
			"FWP-PUSH-04 missing",
		},
		"a queue in capitals": {
			all(
				hello, `1 C: PUSH {"jid":"jid-0000000000000001","jobtype":"t","args":[],"queue":"Q"}`, "1 S: +OK",
				"1 C: FETCH Q", "+2s", missing,
			),
			"FWP-PUSH-04 missing",
		},
		"a queue in capitals, refused": {
			all(
				hello, `1 C: PUSH {"jid":"jid-0000000000000001","jobtype":"t","args":[],"queue":"Q"}`, "1 S: -ERR",
				"1 C: FETCH Q", "1 S: -ERR",
			),
			"",
		},
		"in a second": {all(hello, with(`,"at":"2026-01-02T03:04:06Z"`), none), ""},
		"and 150 s later": {
			all(hello, with(`,"at":"2026-01-02T03:04:06Z"`), "+151s", none),
			"FWP-STATE-11 missing",
		},
		"the same, with an offset": {
			all(hello, with(`,"at":"2026-01-02T05:04:06+02:00"`), "+151s", none),
			"FWP-WU-06 missing",
		},
		"long ago": {all(hello, with(`,"at":"2026-01-02T03:00:00Z"`), none), "FWP-WU-06 missing"},
		"failed":   {all(hello, with(""), take, fail, "+150s", none), "FWP-RETRY-04 missing"},
		"failed, with retries": {
			all(hello, with(`,"retry":5`), take, fail, "+150s", none),
			"FWP-STATE-09 missing",
		},
		"failed, with a retry": {
			all(hello, with(`,"retry":1`), take, fail, "+150s", none),
			"FWP-WU-07 missing",
		},
		"failed, 147 s ago": {all(hello, with(""), take, fail, "+147s", none), ""},
		"failed twice": {
			all(
				hello, with(""), take, fail, "+150s",
				take+` {"failure":{"errtype":"Boom","message":"it broke"}}`, fail, "+147s", none,
			),
			"",
		},
		"failed twice, 150 s ago": {
			all(
				hello, with(""), take, fail, "+150s",
				take+` {"failure":{"errtype":"Boom","message":"it broke"}}`, fail, "+150s", none,
			),
			"FWP-RETRY-04 missing",
		},
		"expired after a FAIL": {
			all(
				hello, with(`,"reserve_for":60`), take, fail, "+150s",
				take+` {"failure":{"errtype":"Boom","message":"it broke"}}`, "+357s", none,
			),
			"",
		},
		"expired after a FAIL, 300 s ago": {
			all(
				hello, with(`,"reserve_for":60`), take, fail, "+150s",
				take+` {"failure":{"errtype":"Boom","message":"it broke"}}`, "+360s", none,
			),
			"FWP-STATE-07 missing",
		},
		"failed, and due while it waited": {
			all(hello, with(""), take, fail, "+148500ms", "1 C: FETCH q", "+2100ms", missing), "",
		},
		"a queue with a blank at its end": {
			all(
				hello, `1 C: PUSH {"jid":"jid-0000000000000001","jobtype":"t","args":[],"queue":"q "}`, "1 S: +OK",
				"1 C: FETCH q", "+2s", missing,
			),
			"FWP-PUSH-04 missing",
		},
		"failed for the last time": {all(hello, with(`,"retry":0`), take, fail, "+300s", none), ""},
		"expired": {
			all(hello, with(""), take, "+1800s", "+150s", none),
			"FWP-STATE-07 missing",
		},
		"scheduled, after a restart": {
			all(hello, with(`,"at":"2026-01-02T03:04:15Z"`), "restart", "+180s", none), "FWP-STATE-08 missing",
		},
		"scheduled in an odd queue, after a restart": {
			all(hello, with(`,"at":"2026-01-02T03:04:15Z","queue":"é"`), "restart", "+180s", "1 C: FETCH é", "+2s",
				"1 S: $-1"),
			"", // lost with the restart, perhaps
		},
		"failed, after a restart": {
			all(hello, with(`,"retry":3`), take, fail, "restart", "+400s", none), "FWP-STATE-08 missing",
		},
		"expired, after a restart": {
			all(hello, with(""), take, "restart", "+1800s", "+150s", none),
			"FWP-STATE-08 missing",
		},
		"expired after a bad FAIL": {
			all(
				hello, with(""), take, `1 C: FAIL {"jid":"jid-0000000000000001","errtype":5}`, "1 S: -ERR",
				"+1800s", "+150s", none,
			),
			"FWP-FAIL-02 missing",
		},
		"expired, never to be tried": {all(hello, with(`,"retry":0`), take, "+1800s", "+150s", none), ""},
		"expired 147 s ago":          {all(hello, with(""), take, "+1800s", "+147s", none), ""},
	})
}

// TestEmpty has a FETCH of an empty queue take its time.
func TestEmpty(t *testing.T) {
	t.Parallel()
	fetch := func(d string) string { return all(hello, "1 C: FETCH q", "+"+d, missing) }
	judge(t, map[string]row{
		"2 s":                  {fetch("2s"), ""},
		"1.5 s":                {fetch("1500ms"), ""},
		"less":                 {fetch("1499ms"), "FWP-FETCH-05 block doubtful should"},
		"3 s":                  {fetch("3s"), ""},
		"more":                 {fetch("3001ms"), "FWP-FETCH-05 block doubtful"},
		"more, with slack":     {all("slack 1s", fetch("3001ms")), ""},
		"one that may not ask": {all(`1 C: HELLO {"v":2}`, "1 S: +OK", "1 C: FETCH q", missing), ""},
	})
}

// TestDelivered has a FETCH bring a job that it must not bring.
func TestDelivered(t *testing.T) {
	t.Parallel()
	judge(t, map[string]row{
		"an unknown job":       {all(hello, "1 C: FETCH q", `1 S: ${"jid":"x"}`), "FWP-FETCH-01 unknown"},
		"of the queue default": {all(hello, "1 C: FETCH q default", `1 S: ${"jid":"x"}`), ""},
		"of no queue":          {all(hello, "1 C: FETCH", `1 S: ${"jid":"x"}`), ""},
		"after a PUSH served": {
			all(hello, `1 C: PUSH {"jid":5}`, "> 1 S: +OK", "1 C: FETCH q", `1 S: ${"jid":"x"}`),
			"",
		},
		"from a part of the name":   {all(hello, with(""), "1 C: FETCH q\u00a0r", "1 S: JOB"), "FWP-FETCH-04 queue"},
		"from another queue":        {all(hello, with(""), "1 C: FETCH a", "1 S: JOB"), "FWP-FETCH-04 queue"},
		"from another than default": {all(hello, with(""), "1 C: FETCH", "1 S: JOB"), "FWP-FETCH-08 queue"},
		"that another asked for": {
			all(hello, other, with(""), "2 C: FETCH q", "1 C: FETCH a", "1 S: JOB"),
			"FWP-RESP-06 swapped",
		},
		"that is held": {all(hello, other, with(""), take, by("2", take)), "FWP-STATE-05 delivered"},
		"that is held for 15 s": {
			all(hello, other, with(""), take, "+15s", by("2", take)),
			"FWP-STATE-05 delivered",
		},
		"that is held for longer": {
			all(hello, other, with(""), take, "+16s", by("2", take)),
			"FWP-WU-05 delivered",
		},
		"held for an unusual time": {
			all(hello, other, with(`,"reserve_for":65536`), take, by("2", take)),
			"FWP-WU-05 delivered",
		},
		"the same, reserved for 60 s": {
			all(hello, other, with(`,"reserve_for":60`), take, "+16s", by("2", take)),
			"FWP-WU-05 delivered",
		},
		"the same, reserved for 59 s": {
			all(hello, other, with(`,"reserve_for":59`), take, "+16s", by("2", take)),
			"FWP-WU-05b delivered",
		},
		"that was acknowledged": {all(hello, with(""), take, ack, take), "FWP-ACK-02 delivered"},
		"that was refused":      {all(hello, refused(with(`,"retry":-2`)), take), "FWP-PUSH-03 delivered"},
		"that was flushed":      {all(hello, with(""), flush, take), "FWP-FLUSH-02 delivered"},
		"pushed after a FLUSH":  {all(hello, with(""), flush, with(""), take), ""},
		"missing after a FLUSH": {all(hello, with(""), flush, with(""), none), "FWP-PUSH-04 missing"},
		"pushed twice":          {all(hello, with(""), with(""), none), ""},
		"that failed 299 ms ago": {
			all(hello, with(""), take, fail, "+299ms", take),
			"FWP-STATE-06 delivered",
		},
		"that failed 300 ms ago": {
			all(
				hello, with(""), take, fail, "+300ms",
				take+` {"failure":{"errtype":"Boom","message":"it broke"}}`,
			),
			"",
		},
		"that failed with white space around its message": {
			all(
				hello, with(""), take, strings.Replace(fail, "it broke", "  it broke ", 1), "+300ms",
				take+` {"failure":{"errtype":"Boom","message":"it broke"}}`,
			),
			"",
		},
		"that failed, retry 0": {
			all(hello, with(`,"retry":0`), take, fail, "+300s", take),
			"FWP-RETRY-01 delivered",
		},
		"that failed, retry -1": {
			all(hello, with(`,"retry":-1`), take, fail, "+300s", take),
			"FWP-RETRY-02 delivered",
		},
		"that failed once too often": {
			all(
				hello, with(`,"retry":1`), take, fail, "+150s",
				take+` {"failure":{"errtype":"Boom","message":"it broke"}}`, fail, "+300s", take,
			),
			"FWP-RETRY-03 delivered",
		},
		"that is scheduled": {all(hello, with(`,"at":"2026-01-02T03:05:05Z"`), take), "FWP-WU-06 field"},
		"that passed over another, after a restart": {
			all(hello, with(""), second(`,"queue":"r"`), "restart", "1 C: FETCH q r", "1 S: JOB2", take),
			"FWP-FETCH-04 order doubtful",
		},
		"that has the jid of another one, but for its case": {
			all(hello, strings.ReplaceAll(with(""), "0001", "000a"), strings.ReplaceAll(second(`,"queue":"r"`), "0002", "000A"),
				"1 C: FETCH q", `1 S: ${"jid":"jid-000000000000000A","queue":"q"}`),
			"FWP-FETCH-01 unknown",
		},
		"that passed over another": {
			all(hello, with(""), second(`,"queue":"r"`), "1 C: FETCH q r", "1 S: JOB2", take),
			"FWP-FETCH-04 order doubtful",
		},
		"that seemed to pass over one that is lost": {
			all(hello, with(""), second(`,"queue":"r"`), "1 C: FETCH q r", "1 S: JOB2", "1 C: FETCH q", "+2s", "1 S: $-1"),
			"FWP-PUSH-04 missing",
		},
		"in another order": {
			all(hello, with(""), second(`,"queue":"r"`), "1 C: FETCH r q", "1 S: JOB2"),
			"",
		},
		"of the same queue":           {all(hello, with(""), second(""), "1 C: FETCH q", "1 S: JOB2"), ""},
		"once more than pushed":       {all(hello, with(""), with(""), take, take, take), ""},
		"while a FLUSH was under way": {all(hello, other, with(""), "2 C: FETCH q", flush, "2 S: JOB"), ""},
		"pushed before, sent after": {
			all(hello, other, with(""), flush, "2 C: FETCH q", "2 S: JOB"),
			"FWP-FLUSH-02 delivered",
		},
		"to a client that has gone": {all(hello, other, with(""), "2 C: FETCH q", "2 C: <close>", none), ""},
		"though it may be held":     {all(hello, other, with(""), "2 C: FETCH q", "2 C: <close>", take), ""},
	})
}

// TestLate has a FETCH bring its job too late.
func TestLate(t *testing.T) {
	t.Parallel()
	waiting := all(hello, other, "2 C: FETCH q")
	judge(t, map[string]row{
		"that was there": {
			all(hello, with(""), "1 C: FETCH q", "+501ms", "1 S: JOB"),
			"FWP-STATE-04 late doubtful",
		},
		"in time": {all(hello, with(""), "1 C: FETCH q", "+500ms", "1 S: JOB"), ""},
		"with slack": {
			all("slack 1s", hello, with(""), "1 C: FETCH q", "+1500ms", "1 S: JOB"),
			"",
		},
		"by a server that is slow": {
			all(hello, with(""), "1 C: INFO", "+501ms", "1 S: ${}", "1 C: FETCH q", "+501ms", "1 S: JOB"),
			"",
		},
		"while another waits": {
			all(hello, other, with(""), "2 C: FETCH a", "1 C: FETCH q", "+501ms", "1 S: JOB"),
			"FWP-FETCH-06 late doubtful",
		},
		"while another came": {
			all(hello, other, with(""), "1 C: FETCH q", "2 C: FETCH a", "+501ms", "1 S: JOB"),
			"FWP-FETCH-06 late doubtful",
		},
		"that came while it waited": {
			all(waiting, "+1s", with(""), "+501ms", "2 S: JOB"),
			"FWP-FETCH-06 late doubtful",
		},
		"that came in time": {all(waiting, "+1s", with(""), "+500ms", "2 S: JOB"), ""},
		"of one that may not fetch": {
			all(hello, with(""), `2 C: HELLO {"v":2}`, "2 S: +OK", "2 C: FETCH q", "+2s", "2 S: JOB"),
			"",
		},
		"with a rival": {
			all(hello, other, with(""), "1 C: FETCH q", "2 C: FETCH q", "+1s", "1 S: JOB"),
			"",
		},
		"an INFO when another has waited": {
			all(waiting, "1 C: INFO", "+2s", "1 S: $x"),
			"FWP-FETCH-06 stalled doubtful",
		},
		"an INFO while another waits": {all(waiting, "1 C: INFO", "+1400ms", "1 S: $x"), ""},
		"an INFO, and no FETCH waits": {all(hello, "1 C: INFO", "+2s", "1 S: $x"), ""},
		"an INFO in a second":         {all(waiting, "+1s", "1 C: INFO", "+1s", "1 S: $x"), ""},
		"an INFO after a slow one": {
			all(hello, "1 C: INFO", "+501ms", "1 S: $x", other, "2 C: FETCH q", "1 C: INFO", "+2s", "1 S: $x"),
			"",
		},
		"an INFO, slow in company before": {
			all(waiting, "1 C: INFO", "+501ms", "1 S: $x", "1 C: INFO", "+1499ms", "1 S: $x"),
			"FWP-FETCH-06 stalled doubtful",
		},
		"a refusal": {all(waiting, "1 C: INFO x", "+2s", "1 S: -ERR"), ""},
		"a HELLO":   {all(waiting, `3 C: HELLO {"v":2}`, "+2s", "3 S: +OK"), ""},
		"an INFO, and another came": {
			all(hello, other, "1 C: INFO", "2 C: FETCH q", "+2s", "1 S: $x"),
			"FWP-FETCH-06 stalled doubtful",
		},
		"an INFO after another was served": {
			all(waiting, "1 C: INFO", "+1700ms", "2 S: $-1", "+301ms", "1 S: $x"),
			"",
		},
		"an INFO soon after another had a job at once": {
			all(hello, other, with(""), "1 C: INFO", "+1s", "2 C: FETCH q", "2 S: JOB", "+300ms", "1 S: $x"),
			"",
		},
		"an INFO soon after one that came later": {
			all(hello, other, "1 C: INFO", "2 C: FETCH q", "+1700ms", "2 S: $-1", "+300ms", "1 S: $x"),
			"FWP-FETCH-06 stalled doubtful",
		},
		"an INFO soon after another was served": {
			all(waiting, "1 C: INFO", "+1700ms", "2 S: $-1", "+300ms", "1 S: $x"),
			"FWP-FETCH-06 stalled doubtful",
		},
		"an INFO, the other was served": {
			all(waiting, "1 C: INFO", "+2s", "2 S: $-1", "1 S: $x"),
			"FWP-FETCH-06 stalled doubtful",
		},
	})
}
