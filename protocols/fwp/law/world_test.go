package law_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/transcript"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// TestConversations has a conversation for each clause that a reply can break. How they are
// written stands at talk.
func TestConversations(t *testing.T) {
	t.Parallel()
	plain := pushWith("")
	spaced := strings.Replace(plain, `"q"`, `"q r"`, 1)
	for name, test := range map[string]struct{ talk, clause string }{
		"a day's work":         {join(hello, plain, take, ack, "1 C: END", "1 S: +OK"), ""},
		"refused before HELLO": {"1 C: INFO\n1 S: -ERR", ""},
		"served before HELLO":  {"1 C: INFO\n1 S: $x", "FWP-STATE-01"},
		"END before HELLO":     {"1 C: END\n1 S: +OK", ""},
		"refused for weeks":    {join(hello, refuse(pushWith(`,"reserve_for":3000000`))), ""},
		"refused for a day":    {join(hello, refuse(pushWith(`,"reserve_for":86400`))), "FWP-PUSH-01"},
		"lost for weeks":       {join(hello, pushWith(`,"reserve_for":3000000`), fetchNothing), "FWP-PUSH-04"},
		"lost":                 {join(hello, plain, "1 C: FETCH q", "+2s", "1 S: $-1"), "FWP-PUSH-04"},
		"empty":                {join(hello, "1 C: FETCH q", "+2s", "1 S: $-1"), ""},
		"empty at once":        {join(hello, "1 C: FETCH q\n1 S: $-1"), "FWP-FETCH-05"},
		"empty after 4 s":      {join(hello, "1 C: FETCH q", "+4s", "1 S: $-1"), "FWP-FETCH-05"},
		"twice":                {join(hello, otherHello, plain, take, "2 C: FETCH q\n2 S: JOB"), "FWP-STATE-05"},
		"after its ACK":        {join(hello, plain, take, ack, take), "FWP-ACK-02"},
		"ACK of another's":     {join(hello, otherHello, plain, take, strings.ReplaceAll(ack, "1 ", "2 ")), ""},
		"ACK refused":          {join(hello, plain, take, strings.Replace(ack, "+OK", "-ERR", 1)), "FWP-ACK-01"},
		"ACK refused after bad FAIL": {
			join(
				hello, plain, take, `1 C: FAIL {"jid":"jid-0000000000000001","errtype":5}`, "1 S: -ERR",
				strings.Replace(ack, "+OK", "-ERR", 1),
			),
			"FWP-FAIL-02",
		},
		"back at once":     {join(hello, plain, take, fail, take), "FWP-STATE-06"},
		"back later, mute": {join(hello, plain, take, fail, "+20s", take), "FWP-WU-13"},
		"never back": {
			join(hello, plain, take, fail, "+160s", "1 C: FETCH q", "+2s", "1 S: $-1"),
			"FWP-RETRY-04",
		},
		"not back yet": {
			join(hello, plain, take, fail, "+100s", "1 C: FETCH q", "+2s", "1 S: $-1"),
			"",
		},
		"retry 0 back":  {join(hello, pushWith(`,"retry":0`), take, fail, "+20s", take), "FWP-RETRY-01"},
		"retry -1 back": {join(hello, pushWith(`,"retry":-1`), take, fail, "+20s", take), "FWP-RETRY-02"},
		"expired": {
			join(hello, pushWith(`,"reserve_for":60`), take, "+61s", "1 C: FETCH q", "+2s", "1 S: $-1"),
			"",
		},
		"expired and lost": {
			join(hello, pushWith(`,"reserve_for":60`), take, "+211s", "1 C: FETCH q", "+2s", "1 S: $-1"),
			"FWP-STATE-07",
		},
		"expired early": {join(hello, take[:0]+plain, take, "+40s", take), "FWP-WU-05"},
		"wrong queue":   {join(hello, plain, "1 C: FETCH r\n1 S: JOB"), "FWP-FETCH-04"},
		"wrong order": {
			join(
				hello, plain, strings.ReplaceAll(strings.ReplaceAll(plain, "01\"", "02\""), `"q"`, `"r"`),
				"1 C: FETCH r q\n1 S: JOB\n1 C: FETCH r\n1 S: JOB2",
			),
			"FWP-FETCH-04",
		},
		"after a wrong command":      {join(hello, info, "1 C: INFO x", "1 S: -ERR", infoRefused), "FWP-STATE-12"},
		"wrong command served":       {join(hello, "1 C: INFO x", "1 S: $x"), "FWP-INFO-03"},
		"a jid twice":                {join(hello, plain, plain, take, take, ack, take), ""},
		"worker closed":              {join(hello, "1 S: <close>"), "FWP-STATE-13"},
		"silent worker closed":       {join(hello, "+61s", "1 S: <close>"), ""},
		"closed before HELLO":        {"1 S: <close>", ""},
		"closed instead of refused":  {"1 C: INFO\n1 S: <close>", "FWP-STATE-01"},
		"bad HELLO, closed":          {"1 C: HELLO []\n1 S: <close>", "FWP-HELLO-06"},
		"an unknown command, closed": {"1 C: XYZZY\n1 S: <close>", ""},
		"END with an argument":       {join(hello, "1 C: END x", "1 S: <close>"), "FWP-FRAME-03"},
		"FETCH of no queue refused":  {join(hello, "1 C: FETCH", "1 S: -ERR"), "FWP-FETCH-08"},
		"second HELLO": {
			join(hello, info, strings.Replace(hello, "+OK", "-ERR", 1), infoRefused),
			"FWP-STATE-12",
		},
		"bad hash of a consumer":    {"1 C: HELLO [1]\n1 S: +OK", "FWP-HELLO-06"},
		"another pid":               {join(hello, strings.ReplaceAll(otherHello, "worker-2", "worker-1")), ""},
		"an integer":                {join(hello, "1 C: INFO\n1 S: :1"), "FWP-INFO-01"},
		"BEAT of an unknown worker": {join(hello, `1 C: BEAT {"wid":"other"}`, "1 S: +OK"), "FWP-BEAT-05"},
		"refused and enqueued": {
			join(hello, strings.Replace(pushWith(`,"at":5`), "+OK", "-ERR", 1), take),
			"FWP-PUSH-03",
		},
		"two words, refused": {
			join(hello, strings.Replace(spaced, "+OK", "-ERR", 1), "1 C: FETCH q r", "+2s", "1 S: $-1"),
			"",
		},
		"two words, fetched":       {join(hello, spaced, "1 C: FETCH q r\n1 S: JOB"), ""},
		"two words, lost":          {join(hello, spaced, "1 C: FETCH q r", "+2s", "1 S: $-1"), "FWP-WU-16"},
		"two words, one asked for": {join(hello, spaced, "1 C: FETCH r", "+2s", "1 S: $-1"), ""},
		"two words later, lost": {
			join(
				hello, strings.Replace(spaced, `"q r"`, `"q r","at":"2026-01-02T03:04:07Z"`, 1), "+170s",
				"1 C: FETCH q r", "+2s", "1 S: $-1",
			),
			"FWP-WU-16",
		},
		"two words after one": {
			join(hello, plain, strings.ReplaceAll(spaced, "01\"", "02\""), "1 C: FETCH q r\n1 S: JOB"),
			"",
		},
		"early on a protected one": {"1 C: INFO\n1 S: <close>", "FWP-STATE-01"},
		"long after a wrong command": {
			join(hello, "1 C: INFO x", "1 S: -ERR", "1 C: INFO", "1 S: $x", "1 C: INFO", "1 S: -ERR"),
			"FWP-STATE-03",
		},
		"text behind a job":            {join(hello, plain, "1 C: FETCH q\n1 S: JOB}"), "FWP-FETCH-01"},
		"an unknown command, a number": {join(hello, "1 C: XYZZY\n1 S: :1"), "FWP-FRAME-03"},
		"null in a BEAT":               {join(hello, `1 C: BEAT {"wid":"worker-1","rss_kb":null}`, "1 S: -ERR"), ""},
		"END with an argument, OK":     {join(hello, "1 C: END x", "1 S: +OK"), "FWP-FRAME-03"},
		"taken by a ghost": {
			join(hello, otherHello, "2 C: FETCH q", "2 C: <close>", plain, "1 C: FETCH q", "+2s", "1 S: $-1"),
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := talk(t, test.talk)
			if test.clause == "" {
				assert.Nil(t, v)
			} else if assert.NotNil(t, v) {
				assert.Equal(t, test.clause, v.Clause, "%v", v)
			}
		})
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	const okay, refused, either = model.Okay, model.Refused, model.Okay | model.Refused
	const unit = `PUSH {"jid":"jid-0000000000000001","jobtype":"t","args":[]`
	for _, test := range []struct {
		line    string
		allowed model.Answer
		clause  string
	}{
		{"INFO", okay, "FWP-INFO-01"}, {"INFO x", refused, "FWP-INFO-03"}, {"INFO ", refused, "FWP-FRAME-03"},
		{"info", refused, "FWP-FRAME-03"},
		{"", refused, "FWP-FRAME-03"}, {"XYZZY", either, "FWP-FRAME-03"}, {"+OK", refused, "FWP-FRAME-03"},
		{"INFO\n", refused, "FWP-FRAME-08"}, {"INFO\xff", either, "FWP-FRAME-09"},
		{"FETCH", okay, "FWP-FETCH-01"}, {"FETCH a b", okay, "FWP-FETCH-01"},
		{"FETCH  a", refused, "FWP-FRAME-03"}, {"FETCH a ", refused, "FWP-FRAME-03"},
		{"FETCH a.b", either, "FWP-FETCH-01"},
		{"PUSH", refused, "FWP-PUSH-02"}, {"PUSH {", refused, "FWP-PUSH-02"}, {"PUSH []", refused, "FWP-WU-00"},
		{"PUSH {}", refused, "FWP-WU-01"}, {"PUSH  " + unit[5:] + "}", refused, "FWP-FRAME-03"},
		{unit + "}", okay, "FWP-PUSH-01"}, {unit + `,"queue":"a b"}`, either, "FWP-WU-16"},
		{unit + `,"queue":""}`, either, "FWP-PUSH-01"}, {unit + `,"retry":null}`, okay, "FWP-PUSH-01"},
		{unit + `,"retry":"5"}`, refused, "FWP-WU-14"}, {unit + `,"retry":-2}`, either, "FWP-PUSH-01"},
		{unit + `,"retry":1.5}`, refused, "FWP-WU-14"}, {unit + `,"retry":1.0}`, either, "FWP-PUSH-01"},
		{unit + `,"reserve_for":59}`, either, "FWP-PUSH-01"}, {unit + `,"reserve_for":"60"}`, refused, "FWP-WU-05b"},
		{unit + `,"at":"x"}`, refused, "FWP-WU-06b"}, {unit + `,"at":""}`, okay, "FWP-PUSH-01"},
		{unit + `,"custom":[]}`, refused, "FWP-WU-11"}, {unit + `,"failure":{}}`, either, "FWP-PUSH-01"},
		{unit + `,"mine":1}`, either, "FWP-PUSH-01"},
		{`PUSH {"jid":"short","jobtype":"t","args":[]}`, either, "FWP-PUSH-01"},
		{`PUSH {"jid":5,"jobtype":"t","args":[]}`, refused, "FWP-WU-01"},
		{`ACK {"jid":"x"}`, okay, "FWP-ACK-01"}, {`ACK {"jid":null}`, refused, "FWP-ACK-03"},
		{`ACK {"jid":"x","y":1}`, either, "FWP-ACK-01"},
		{`FAIL {"jid":"x"}`, either, "FWP-FAIL-01"}, {`FAIL {"jid":"x","errtype":5}`, refused, "FWP-FAIL-02"},
		{`BEAT {"wid":5}`, refused, "FWP-BEAT-02"}, {`BEAT {"wid":"x","rss_kb":"1"}`, either, "FWP-BEAT-01"},
		{`HELLO {"v":2}`, okay, "FWP-HELLO-03"}, {`HELLO {"v":3}`, either, "FWP-HELLO-05"},
		{`HELLO {"v":2,"mine":1}`, either, "FWP-HELLO-05"}, {`HELLO {"v":2,"pid":"1"}`, refused, "FWP-HELLO-14"},
	} {
		v := fwplaw.ReadLine([]byte(test.line))
		assert.Equal(t, test.allowed, v.Form, "%q", test.line)
		assert.Equal(t, test.clause, v.Clause, "%q", test.line)
		recommended := test.clause == "FWP-WU-05b" || test.clause == "FWP-WU-11"
		assert.Equal(t, recommended, v.IsRecommendation, "%q", test.line)
	}
}

// A FETCH is idle while no job is known that may come at once.
func TestIdle(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		talk string
		want bool
	}{
		"no job":           {hello, true},
		"one":              {join(hello, pushWith("")), false},
		"one in hand":      {join(hello, pushWith(""), take), true},
		"one that is due":  {join(hello, pushWith(`,"at":"2026-01-02T03:04:15Z"`)), false},
		"in another queue": {join(hello, pushWith(`,"queue":"r"`)), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConversation(t)
			c.play(test.talk, func(e transcript.Event, v *law.Violation) { require.Nil(t, v, e) })
			assert.False(t, c.w.IsIdle(1, c.now), "nothing is awaited")
			c.play("1 C: FETCH q", func(_ transcript.Event, v *law.Violation) { require.Nil(t, v) })
			assert.Equal(t, test.want, c.w.IsIdle(1, c.now))
		})
	}
}
