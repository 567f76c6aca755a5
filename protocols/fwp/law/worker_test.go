package law_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/transcript"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
)

func TestWorkers(t *testing.T) {
	t.Parallel()
	beat := func(more, reply string) string { return `1 C: BEAT {"wid":"worker-1"` + more + "}\n1 S: " + reply }
	const quiet, told = `,"current_state":"quiet"`, `${"state":"quiet"}`
	ordered := all(hello, "signal worker-1 quiet")
	producer := `1 C: HELLO {"v":2}` + "\n1 S: +OK"
	judge(t, map[string]row{
		"a BEAT refused": {all(hello, beat("", "-ERR")), "FWP-BEAT-01 refused"},
		"refused since another connection of the worker has ended": {
			all(hello, by("2", hello), "1 C: END\n1 S: +OK", by("2", beat("", "-ERR"))), "FWP-HELLO-11 refused",
		},
		"refused although it was served since": {
			all(hello, by("2", hello), "1 C: END\n1 S: +OK", by("2", beat("", "+OK")), by("2", beat("", "-ERR"))),
			"FWP-BEAT-01 refused",
		},
		"told, without an order": {all(hello, beat("", told)), ""},
		"told another's order":   {all(hello, other, "signal worker-2 quiet", beat("", told)), "FWP-BEAT-01 state"},
		"told later than another's order": {
			all(hello, other, "signal worker-2 quiet", beat("", "+OK"), beat("", told)), "",
		},
		"told no state, without an order": {all(hello, beat("", `${"state":"tired"}`)), "FWP-BEAT-01 state"},
		"told before another's order": {
			all(hello, beat("", told), other, "signal worker-2 quiet", beat("", told)), "",
		},
		"told after its own":      {all(hello, beat(quiet, "+OK"), beat("", told)), ""},
		"told its own":            {all(hello, beat(quiet, told)), ""},
		"told in a simple string": {all(ordered, beat("", `+{"state":"quiet"}`)), ""},
		"told another state":      {all(ordered, beat("", `${"state":"terminate"}`)), "FWP-BEAT-03 state"},
		"told a state of no kind": {all(ordered, beat("", `${"state":"tired"}`)), "FWP-BEAT-03 state"},
		"told a number":           {all(ordered, beat("", `${"state":1}`)), "FWP-BEAT-03 foreign"},
		"told in broken JSON":     {all(ordered, beat("", `${"state":"quiet"`)), "FWP-BEAT-03 foreign"},
		"told in another type":    {all(ordered, beat("", ":1")), "FWP-BEAT-04 foreign"},
		"and its last connection ends": {
			all(ordered, "1 C: <close>", by("2", hello), by("2", beat("", "+OK"))), "",
		},
		"and one of two ends": {
			all(ordered, by("2", hello), "1 C: <close>", by("2", beat("", "+OK"))), "FWP-BEAT-03 reply",
		},
		"and it is ordered again": {
			all(ordered, "1 C: <close>", by("2", hello), "signal worker-1 terminate", by("2", beat("", "+OK"))),
			"FWP-BEAT-03 reply",
		},
		"told in an integer": {all(hello, beat("", ":1")), "FWP-BEAT-01 foreign"},
		"told no object":     {all(hello, beat("", "$quiet")), "FWP-BEAT-01 foreign"},
		"ordered, told":      {all(ordered, beat("", told)), ""},
		"ordered, not told":  {all(ordered, beat("", "+OK")), "FWP-BEAT-03 reply"},
		"ordered, told once": {
			all(ordered, beat("", told), beat("", "+OK")),
			"FWP-BEAT-03 reply should",
		},
		"ordered again": {
			all(ordered, beat("", told), "signal worker-1 terminate", beat("", "+OK")),
			"FWP-BEAT-03 reply",
		},
		"ordered, told, and it knows": {all(ordered, beat("", told), beat(quiet, "+OK"), beat("", "+OK")), ""},
		"ordered, it knows, refused":  {all(ordered, beat(quiet, "-ERR")), "FWP-BEAT-03 refused"},
		"another is ordered":          {all(hello, other, "signal worker-2 quiet", beat("", "+OK")), ""},
		"nobody is ordered":           {all(hello, "signal worker-3 quiet", beat("", "+OK")), ""},
		"a BEAT of another's id":      {all(hello, other, by("2", beat("", "-ERR"))), ""},
		"of an unknown wid": {
			all(hello, `1 C: BEAT {"wid":"worker-9"}`, "1 S: +OK"),
			"FWP-BEAT-05 reply",
		},
		"of an unknown wid, a producer":     {all(producer, `1 C: BEAT {"wid":"worker-9"}`, "1 S: +OK"), ""},
		"with no id":                        {all(hello, `1 C: BEAT {"wid":""}`, "1 S: -ERR"), ""},
		"after a FLUSH":                     {all(hello, flush, beat("", "-ERR")), ""},
		"a state that is not in the text":   {all(hello, beat(`,"current_state":"tired"`, "-ERR")), ""},
		"FETCH of one that is quiet":        {all(hello, beat(quiet, "+OK"), noFetch), ""},
		"FETCH of one that knows its order": {all(ordered, beat("", told), noFetch), ""},
		"FETCH of one that was ordered":     {all(ordered, noFetch), ""},
		"FETCH after a BEAT refused": {
			all(hello, `1 C: BEAT {"wid":"worker-1","current_state":5}`, "1 S: -ERR", noFetch),
			"FWP-STATE-12 refused",
		},
		"FETCH of any other":     {all(hello, beat("", "+OK"), noFetch), "FWP-FETCH-03 refused"},
		"FETCH of one with jobs": {all(hello, with(""), noFetch), "FWP-FETCH-01 refused"},
		"FETCH of no queue":      {all(hello, "1 C: FETCH", "1 S: -ERR"), "FWP-FETCH-08 refused"},
		"FETCH of a producer":    {all(producer, noFetch), ""},
		"FETCH after two HELLOs": {all(hello, hello, noFetch), ""},
		"a BEAT of the first id after a second HELLO, of another": {
			all(hello, strings.Replace(hello, "worker-1", "worker-2", 1), "1 C: BEAT {\"bad\"\n1 S: -ERR", beat("", "-ERR")), "",
		},
		"and of the second": {
			all(hello, strings.Replace(hello, "worker-1", "worker-2", 1), `1 C: BEAT {"wid":"worker-2"}`, "1 S: -ERR"), "",
		},
		"a second HELLO without a hash": {all(hello, "1 C: HELLO\n1 S: +OK"), ""},
		"and a first one":               {"1 C: HELLO\n1 S: +OK", "FWP-HELLO-06 reply"},
		"a job fetched after two HELLOs, on another connection": {
			all(hello, hello, by("2", hello), with(""), take, refused(by("2", ack))), "",
		},
		"FETCH after a second, refused": {all(hello, refused(hello), noFetch), "FWP-STATE-12 refused"},
		"the same id, refused":          {all(hello, by("2", refused(hello))), "FWP-HELLO-11 refused"},
		"the same id, another pid": {
			all(hello, by("2", strings.Replace(refused(hello), `"pid":1`, `"pid":2`, 1))),
			"",
		},
		"the same id, other labels": {
			all(hello, by("2", strings.Replace(refused(hello), `[]`, `["x"]`, 1))),
			"",
		},
		"the same id, another host": {
			all(hello, by("2", strings.Replace(refused(hello), `"h"`, `"i"`, 1))),
			"",
		},
		"taken with another pid": {
			all(hello, by("2", strings.Replace(hello, `"pid":1`, `"pid":2`, 1)), by("3", refused(hello))),
			"",
		},
		"said again with another pid": {
			all(hello, strings.Replace(hello, `"pid":1`, `"pid":2`, 1), by("3", refused(hello))),
			"",
		},
		"another version, refused":        {`1 C: HELLO {"v":3}` + "\n1 S: -ERR", ""},
		"another version, and then FETCH": {all(`1 C: HELLO {"v":3}`, "1 S: +OK", noFetch), ""},
	})
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	hi := func(hash, reply string) string {
		return all("protected", `1 C: HELLO {"v":2,"pwdhash":"`+hash+`"}`, "1 S: "+reply)
	}
	hexadecimal, err := fwp.HexPasswordHash("secret", "salt-1", 3)
	require.NoError(t, err)
	upper := strings.ToUpper(hexadecimal[:32] + hexadecimal[:32])
	judge(t, map[string]row{
		"right":          {hi("HASH", "+OK"), ""},
		"right, refused": {hi("HASH", "-ERR"), "FWP-AUTH-03 refused"},
		"right, after a refusal": {
			all("protected", "1 C: INFO", "1 S: -ERR", `1 C: HELLO {"v":2,"pwdhash":"HASH"}`, "1 S: -ERR"),
			"FWP-STATE-12 refused",
		},
		"none":               {all("protected", `1 C: HELLO {"v":2}`, "1 S: -ERR"), ""},
		"none, served":       {all("protected", `1 C: HELLO {"v":2}`, "1 S: +OK"), "FWP-AUTH-02 reply"},
		"wrong":              {hi("5", "-ERR"), ""},
		"wrong, served":      {hi("5", "+OK"), "FWP-AUTH-04 reply"},
		"in capitals":        {hi(upper, "+OK"), "FWP-AUTH-04 reply"},
		"hexadecimal rounds": {hi(hexadecimal, "+OK"), "FWP-AUTH-03 reply"},
		"a number": {
			all("protected", `1 C: HELLO {"v":2,"pwdhash":5}`, "1 S: +OK"),
			"FWP-AUTH-07 reply",
		},
		"one that was right": {
			all(hi("HASH", "+OK"), `2 C: HELLO {"v":2,"pwdhash":"HASH"}`, "2 S: -ERR"),
			"FWP-AUTH-03 refused",
		},
		"PUSH without it, refused": {
			all(
				"protected", with("")[:len(with(""))-3]+"-ERR",
				`2 C: HELLO {"v":2,"hostname":"h","wid":"w","pid":1,"labels":[],"pwdhash":"HASH"}`, "2 S: +OK",
				by("2", take),
			),
			"FWP-AUTH-06 delivered",
		},
	})
}

// A server without a password accepts any hash.
func TestAHashWithoutAPassword(t *testing.T) {
	t.Parallel()
	judge(t, map[string]row{"refused": {`1 C: HELLO {"v":2,"pwdhash":"5"}` + "\n1 S: -ERR", "FWP-HELLO-15 refused"}})
}

// TestWhatAWorkerHolds follows what a worker holds for certain, and whom a queue wakes.
func TestWhatAWorkerHolds(t *testing.T) {
	t.Parallel()
	c := newConversation(t)
	play := func(text string) {
		c.play(text, func(e transcript.Event, v *law.Violation) { assert.Nil(t, v, e) })
	}
	jids := func(all []*fwplaw.Job) (jids []string) {
		for _, j := range all {
			jids = append(jids, j.JID)
		}
		return jids
	}
	const first, next = "jid-0000000000000001", "jid-0000000000000002"
	play(all(hello, with(""), second("")))
	assert.Equal(t, []string{first, next}, jids(c.w.In("q", c.now)))
	assert.Empty(t, c.w.In("r", c.now))
	assert.Empty(t, c.w.Held("worker-1"))
	assert.False(t, c.w.Wanted("q"))
	play("1 C: FETCH a q")
	assert.True(t, c.w.Wanted("q"))
	assert.True(t, c.w.Wanted("a"))
	assert.False(t, c.w.Wanted("b"))
	play("1 S: JOB\n1 C: FETCH q\n1 S: JOB2")
	assert.False(t, c.w.Wanted("q"))
	assert.Equal(t, []string{first, next}, jids(c.w.Held("worker-1")))
	assert.Empty(t, c.w.Held("worker-2"))
	play(ack)
	assert.Equal(t, []string{next}, jids(c.w.Held("worker-1")))
	assert.Equal(t, []string{next}, jids(c.w.In("q", c.now)), "it may come back")
	play(strings.ReplaceAll(ack, `01"`, `02"`))
	assert.Empty(t, c.w.Held("worker-1"))
	assert.Empty(t, c.w.In("q", c.now))
}
