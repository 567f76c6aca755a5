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
	beat := func(fields, reply string) string { return `1 C: BEAT {"wid":"worker-1"` + fields + "}\n1 S: " + reply }
	const quietField, quietReply = `,"current_state":"quiet"`, `${"state":"quiet"}`
	ordered := join(hello, "signal worker-1 quiet")
	producer := `1 C: HELLO {"v":2}` + "\n1 S: +OK"
	const acceptedAnyway = `2 C: HELLO {"v":2,"hostname":"h","wid":"worker-9","pid":1.5,"labels":[]}` + "\n> 2 S: +OK"
	judge(t, map[string]row{
		"a BEAT refused": {join(hello, beat("", "-ERR")), "FWP-BEAT-01 refused"},
		"refused since another connection of the worker has ended": {
			join(hello, onConn("2", hello), "1 C: END\n1 S: +OK", onConn("2", beat("", "-ERR"))), "FWP-HELLO-11 refused",
		},
		"refused although it was served since": {
			join(hello, onConn("2", hello), "1 C: END\n1 S: +OK", onConn("2", beat("", "+OK")), onConn("2", beat("", "-ERR"))),
			"FWP-BEAT-01 refused",
		},
		"told, without an order": {join(hello, beat("", quietReply)), ""},
		"told another's order":   {join(hello, otherHello, "signal worker-2 quiet", beat("", quietReply)), "FWP-BEAT-01 state"},
		"told later than another's order": {
			join(hello, otherHello, "signal worker-2 quiet", beat("", "+OK"), beat("", quietReply)), "",
		},
		"told no state, without an order": {join(hello, beat("", `${"state":"tired"}`)), "FWP-BEAT-01 state"},
		"told before another's order": {
			join(hello, beat("", quietReply), otherHello, "signal worker-2 quiet", beat("", quietReply)), "",
		},
		"told after its own":      {join(hello, beat(quietField, "+OK"), beat("", quietReply)), ""},
		"told its own":            {join(hello, beat(quietField, quietReply)), ""},
		"told in a simple string": {join(ordered, beat("", `+{"state":"quiet"}`)), ""},
		"told another state":      {join(ordered, beat("", `${"state":"terminate"}`)), "FWP-BEAT-03 state"},
		"told a state of no kind": {join(ordered, beat("", `${"state":"tired"}`)), "FWP-BEAT-03 state"},
		"told a number":           {join(ordered, beat("", `${"state":1}`)), "FWP-BEAT-03 foreign"},
		"told in broken JSON":     {join(ordered, beat("", `${"state":"quiet"`)), "FWP-BEAT-03 foreign"},
		"told in another type":    {join(ordered, beat("", ":1")), "FWP-BEAT-04 foreign"},
		"and its last connection ends": {
			join(ordered, "1 C: <close>", onConn("2", hello), onConn("2", beat("", "+OK"))), "",
		},
		"and one of two ends": {
			join(ordered, onConn("2", hello), "1 C: <close>", onConn("2", beat("", "+OK"))), "FWP-BEAT-03 reply",
		},
		"and it is ordered again": {
			join(ordered, "1 C: <close>", onConn("2", hello), "signal worker-1 terminate", onConn("2", beat("", "+OK"))),
			"FWP-BEAT-03 reply",
		},
		"told in an integer": {join(hello, beat("", ":1")), "FWP-BEAT-01 foreign"},
		"told no object":     {join(hello, beat("", "$quiet")), "FWP-BEAT-01 foreign"},
		"ordered, told":      {join(ordered, beat("", quietReply)), ""},
		"ordered, not told":  {join(ordered, beat("", "+OK")), "FWP-BEAT-03 reply"},
		"ordered, told once": {
			join(ordered, beat("", quietReply), beat("", "+OK")),
			"FWP-BEAT-03 reply should",
		},
		"ordered again": {
			join(ordered, beat("", quietReply), "signal worker-1 terminate", beat("", "+OK")),
			"FWP-BEAT-03 reply",
		},
		"ordered, told, and it knows": {join(ordered, beat("", quietReply), beat(quietField, "+OK"), beat("", "+OK")), ""},
		"ordered, it knows, refused":  {join(ordered, beat(quietField, "-ERR")), "FWP-BEAT-03 refused"},
		"another is ordered":          {join(hello, otherHello, "signal worker-2 quiet", beat("", "+OK")), ""},
		"nobody is ordered":           {join(hello, "signal worker-3 quiet", beat("", "+OK")), ""},
		"a BEAT of another's id":      {join(hello, otherHello, onConn("2", beat("", "-ERR"))), ""},
		"of an unknown wid": {
			join(hello, `1 C: BEAT {"wid":"worker-9"}`, "1 S: +OK"),
			"FWP-BEAT-05 reply",
		},
		"of a wid in a HELLO that was accepted and should not": {
			join(hello, acceptedAnyway, `1 C: BEAT {"wid":"worker-9"}`, "1 S: +OK"), "",
		},
		"of a wid in a HELLO that was accepted and should not, refused": {
			join(hello, acceptedAnyway, `1 C: BEAT {"wid":"worker-9"}`, "1 S: -ERR"), "",
		},
		"of an unknown wid, a producer":     {join(producer, `1 C: BEAT {"wid":"worker-9"}`, "1 S: +OK"), ""},
		"with no id":                        {join(hello, `1 C: BEAT {"wid":""}`, "1 S: -ERR"), ""},
		"after a FLUSH":                     {join(hello, flush, beat("", "-ERR")), ""},
		"a state that is not in the text":   {join(hello, beat(`,"current_state":"tired"`, "-ERR")), ""},
		"FETCH of one that is quiet":        {join(hello, beat(quietField, "+OK"), fetchRefused), ""},
		"FETCH of one that knows its order": {join(ordered, beat("", quietReply), fetchRefused), ""},
		"FETCH of one that was ordered":     {join(ordered, fetchRefused), ""},
		"FETCH after a BEAT refused": {
			join(hello, `1 C: BEAT {"wid":"worker-1","current_state":5}`, "1 S: -ERR", fetchRefused),
			"FWP-STATE-12 refused",
		},
		"FETCH of any other":     {join(hello, beat("", "+OK"), fetchRefused), "FWP-FETCH-03 refused"},
		"FETCH of one with jobs": {join(hello, pushWith(""), fetchRefused), "FWP-FETCH-01 refused"},
		"FETCH of no queue":      {join(hello, "1 C: FETCH", "1 S: -ERR"), "FWP-FETCH-08 refused"},
		"FETCH of a producer":    {join(producer, fetchRefused), ""},
		"FETCH after two HELLOs": {join(hello, hello, fetchRefused), ""},
		"a BEAT of the first id after a second HELLO, of another": {
			join(hello, strings.Replace(hello, "worker-1", "worker-2", 1), "1 C: BEAT {\"bad\"\n1 S: -ERR", beat("", "-ERR")), "",
		},
		"and of the second": {
			join(hello, strings.Replace(hello, "worker-1", "worker-2", 1), `1 C: BEAT {"wid":"worker-2"}`, "1 S: -ERR"), "",
		},
		"a second HELLO without a hash": {join(hello, "1 C: HELLO\n1 S: +OK"), ""},
		"and a first one":               {"1 C: HELLO\n1 S: +OK", "FWP-HELLO-06 reply"},
		"a job fetched after two HELLOs, on another connection": {
			join(hello, hello, onConn("2", hello), pushWith(""), take, refuse(onConn("2", ack))), "",
		},
		"FETCH after a second, refused": {join(hello, refuse(hello), fetchRefused), "FWP-STATE-12 refused"},
		"the same id, refused":          {join(hello, onConn("2", refuse(hello))), "FWP-HELLO-11 refused"},
		"the same id, another pid": {
			join(hello, onConn("2", strings.Replace(refuse(hello), `"pid":1`, `"pid":2`, 1))),
			"",
		},
		"the same id, other labels": {
			join(hello, onConn("2", strings.Replace(refuse(hello), `[]`, `["x"]`, 1))),
			"",
		},
		"the same id, another host": {
			join(hello, onConn("2", strings.Replace(refuse(hello), `"h"`, `"i"`, 1))),
			"",
		},
		"taken with another pid": {
			join(hello, onConn("2", strings.Replace(hello, `"pid":1`, `"pid":2`, 1)), onConn("3", refuse(hello))),
			"",
		},
		"said again with another pid": {
			join(hello, strings.Replace(hello, `"pid":1`, `"pid":2`, 1), onConn("3", refuse(hello))),
			"",
		},
		"another version, refused":        {`1 C: HELLO {"v":3}` + "\n1 S: -ERR", ""},
		"another version, and then FETCH": {join(`1 C: HELLO {"v":3}`, "1 S: +OK", fetchRefused), ""},
	})
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	hi := func(hash, reply string) string {
		return join("protected", `1 C: HELLO {"v":2,"pwdhash":"`+hash+`"}`, "1 S: "+reply)
	}
	hexadecimal, err := fwp.HexPasswordHash("secret", "salt-1", 3)
	require.NoError(t, err)
	upper := strings.ToUpper(hexadecimal[:32] + hexadecimal[:32])
	judge(t, map[string]row{
		"right":          {hi("HASH", "+OK"), ""},
		"right, refused": {hi("HASH", "-ERR"), "FWP-AUTH-03 refused"},
		"right, after a refusal": {
			join("protected", "1 C: INFO", "1 S: -ERR", `1 C: HELLO {"v":2,"pwdhash":"HASH"}`, "1 S: -ERR"),
			"FWP-STATE-12 refused",
		},
		"none":               {join("protected", `1 C: HELLO {"v":2}`, "1 S: -ERR"), ""},
		"none, served":       {join("protected", `1 C: HELLO {"v":2}`, "1 S: +OK"), "FWP-AUTH-02 reply"},
		"wrong":              {hi("5", "-ERR"), ""},
		"wrong, served":      {hi("5", "+OK"), "FWP-AUTH-04 reply"},
		"in capitals":        {hi(upper, "+OK"), "FWP-AUTH-04 reply"},
		"hexadecimal rounds": {hi(hexadecimal, "+OK"), "FWP-AUTH-03 reply"},
		"a number": {
			join("protected", `1 C: HELLO {"v":2,"pwdhash":5}`, "1 S: +OK"),
			"FWP-AUTH-07 reply",
		},
		"one that was right": {
			join(hi("HASH", "+OK"), `2 C: HELLO {"v":2,"pwdhash":"HASH"}`, "2 S: -ERR"),
			"FWP-AUTH-03 refused",
		},
		"PUSH without it, refused": {
			join(
				"protected", pushWith("")[:len(pushWith(""))-3]+"-ERR",
				`2 C: HELLO {"v":2,"hostname":"h","wid":"w","pid":1,"labels":[],"pwdhash":"HASH"}`, "2 S: +OK",
				onConn("2", take),
			),
			"FWP-AUTH-06 delivered",
		},
	})
}

// A server without a password accepts any hash.
func TestHashOnOpenServer(t *testing.T) {
	t.Parallel()
	judge(t, map[string]row{"refused": {`1 C: HELLO {"v":2,"pwdhash":"5"}` + "\n1 S: -ERR", "FWP-HELLO-15 refused"}})
}

// TestHeldJobs follows what a worker holds for certain, and whom a queue wakes.
func TestHeldJobs(t *testing.T) {
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
	play(join(hello, pushWith(""), pushSecond("")))
	assert.Equal(t, []string{first, next}, jids(c.w.JobsIn("q", c.now)))
	assert.Empty(t, c.w.JobsIn("r", c.now))
	assert.Empty(t, c.w.HeldJobs("worker-1"))
	assert.False(t, c.w.HasFetch("q"))
	play("1 C: FETCH a q")
	assert.True(t, c.w.HasFetch("q"))
	assert.True(t, c.w.HasFetch("a"))
	assert.False(t, c.w.HasFetch("b"))
	play("1 S: JOB\n1 C: FETCH q\n1 S: JOB2")
	assert.False(t, c.w.HasFetch("q"))
	assert.Equal(t, []string{first, next}, jids(c.w.HeldJobs("worker-1")))
	assert.Empty(t, c.w.HeldJobs("worker-2"))
	play(ack)
	assert.Equal(t, []string{next}, jids(c.w.HeldJobs("worker-1")))
	assert.Equal(t, []string{next}, jids(c.w.JobsIn("q", c.now)), "it may come back")
	play(strings.ReplaceAll(ack, `01"`, `02"`))
	assert.Empty(t, c.w.HeldJobs("worker-1"))
	assert.Empty(t, c.w.JobsIn("q", c.now))
}
