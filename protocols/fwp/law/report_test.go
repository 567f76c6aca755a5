package law_test

import (
	"strings"
	"testing"
)

const (
	badFail = "1 C: FAIL {\"jid\":\"jid-0000000000000001\",\"errtype\":5}\n1 S: -ERR"
	noAck   = "1 C: ACK {\"jid\":\"jid-0000000000000001\"}\n1 S: -ERR"
)

// TestReports has an ACK or a FAIL refused.
func TestReports(t *testing.T) {
	t.Parallel()
	held := all(hello, other, with(""), take)
	const end = "1 C: END\n1 S: +OK"
	both := all(held, by("4", hello))
	judge(t, map[string]row{
		"an ACK":                       {all(held, noAck), "FWP-ACK-01 refused"},
		"a FAIL":                       {all(held, refused(fail)), "FWP-FAIL-01 refused"},
		"an ACK within 20 s":           {all(held, "+20s", noAck), "FWP-ACK-01 refused"},
		"an ACK after 20 s":            {all(held, "+21s", noAck), "FWP-WU-05 refused"},
		"a FAIL after 20 s":            {all(held, "+21s", refused(fail)), "FWP-WU-05 refused"},
		"an ACK of an unusual time":    {all(hello, other, with(`,"reserve_for":65536`), take, noAck), "FWP-WU-05 refused"},
		"an ACK when it is over":       {all(held, "+1800s", noAck), ""},
		"an ACK just before":           {all(held, "+1799s", noAck), "FWP-WU-05 refused"},
		"an ACK after a bad FAIL":      {all(held, badFail, noAck), "FWP-FAIL-02 refused"},
		"an ACK after a FLUSH refused": {all(held, "2 C: FLUSH x", "2 S: -ERR", noAck), "FWP-FLUSH-03 refused"},
		"an ACK of a flushed job":      {all(held, flush, noAck), ""},
		"an ACK after a restart":       {all(held, "restart", noAck), ""},
		"a FAIL after a restart":       {all(held, "restart", refused(fail)), ""},
		"an ACK of a later delivery":   {all(hello, other, with(""), "restart", take, noAck), "FWP-ACK-01 refused"},
		"an ACK of another's job":      {all(held, by("2", noAck)), ""},
		"an ACK of an unknown job":     {all(hello, noAck), ""},
		"an ACK by a producer":         {all(held, `3 C: HELLO {"v":2}`, "3 S: +OK", by("3", noAck)), ""},
		"an ACK on another connection": {all(both, by("4", noAck)), "FWP-ACK-01 refused"},
		"behind the END of the first":  {all(both, end, by("4", noAck)), "FWP-END-05 refused"},
		"and another one was served":   {all(both, end, by("4", info), by("4", noAck)), "FWP-END-05 refused"},
		"a FAIL behind the END":        {all(both, end, by("4", refused(fail))), "FWP-END-05 refused"},
		"an ACK 20 s behind it":        {all(both, end, "+21s", by("4", noAck)), "FWP-HELLO-11 refused"},
		"behind the END of the other":  {all(both, by("4", end), noAck), "FWP-HELLO-11 refused"},
		"behind the END, by another":   {all(both, end, by("2", noAck)), ""},
		"and answered with a bulk": {
			all(held, `3 C: HELLO {"v":2}`, "3 S: +OK", strings.ReplaceAll(by("3", noAck), "-ERR", "$x")),
			"FWP-ACK-01 foreign",
		},
		"a second ACK":                    {all(held, ack, noAck), ""},
		"an ACK of a job that nobody has": {all(hello, with(""), noAck), ""},
		"an ACK after two HELLOs":         {all(held, hello, noAck), ""},
		"an ACK after another's FAIL":     {all(held, by("2", fail), noAck), ""},
		"an ACK after another's bad FAIL": {all(held, by("2", badFail), noAck), "FWP-FAIL-02 refused"},
		"an ACK of a job pushed twice":    {all(held, with(""), noAck), ""},
		"an ACK before HELLO":             {all(held, by("3", noAck)), ""},
		"an ACK after a lost FAIL": {
			all(held, strings.Split(fail, "\n")[0], "1 C: <close>", "2 C: FETCH a", "+2s", "2 S: $-1"),
			"",
		},
		"delivered after a lost ACK": {
			all(held, strings.Split(ack, "\n")[0], "1 C: <close>", by("2", take)),
			"FWP-ACK-02 delivered",
		},
		"delivered after a lost FAIL":    {all(held, strings.Split(fail, "\n")[0], "1 C: <close>", by("2", take)), ""},
		"delivered after another's ACK":  {all(held, by("2", ack), by("2", take)), "FWP-ACK-02 delivered"},
		"delivered after another's FAIL": {all(held, by("2", fail), by("2", take)), ""},
		"delivered after a bad FAIL":     {all(held, badFail, by("2", take)), "FWP-FAIL-02 delivered"},
		"after a bad FAIL and an ACK":    {all(held, badFail, ack, by("2", take)), "FWP-FAIL-02 delivered"},
		"failed after its ACK":           {all(held, ack, fail, "+1m", take), "FWP-ACK-02 delivered"},
		"failed twice without a retry": {
			all(hello, with(`,"retry":0`), take, fail, fail, "+1m", take),
			"FWP-RETRY-01 delivered",
		},
		"missing after another's FAIL": {all(held, by("2", fail), "+1800s", "+150s", none), ""},
		"missing after another's lost ACK": {
			all(held, by("2", strings.Split(ack, "\n")[0]), "2 C: <close>", "+1800s", "+150s", none),
			"",
		},
		"missing after a lost PUSH": {
			all(hello, strings.Split(with(""), "\n")[0], "1 C: <close>", by("2", all(hello, none))),
			"",
		},
		"delivered after a lost PUSH": {
			all(hello, strings.Split(with(""), "\n")[0], "1 C: <close>", by("2", all(hello, take))),
			"",
		},
		"missing after a lost FLUSH":   {all(hello, other, with(""), "2 C: FLUSH", "2 C: <close>", none), ""},
		"delivered after a lost FLUSH": {all(hello, other, with(""), "2 C: FLUSH", "2 C: <close>", take), ""},
		"missing after a lost FETCH":   {all(hello, other, with(""), "2 C: FETCH q", "2 C: <close>", none), ""},
		"pushed within 4 s of a lost FETCH": {
			all(hello, other, "2 C: FETCH q", "2 C: <close>", "+4s", with(""), none),
			"",
		},
		"pushed later": {
			all(hello, other, "2 C: FETCH q", "2 C: <close>", "+4001ms", with(""), none),
			"FWP-PUSH-04 missing",
		},
		"pushed elsewhere": {
			all(hello, other, "2 C: FETCH a", "2 C: <close>", with(""), none),
			"FWP-PUSH-04 missing",
		},
		"and its reservation ends": {
			all(hello, other, with(""), "2 C: FETCH q", "2 C: <close>", "+1950s", none),
			"FWP-PUSH-04 missing",
		},
		"and it is never tried again": {
			all(hello, other, with(`,"retry":0`), "2 C: FETCH q", "2 C: <close>", "+1950s", none),
			"",
		},
	})
}

// TestWrongAnswersAreToldOnce has what a wrong answer may have changed judged no more.
func TestWrongAnswersAreToldOnce(t *testing.T) {
	t.Parallel()
	held := all(hello, other, with(""), take)
	wrong := func(lines string) string {
		i := strings.LastIndexByte(lines, '\n')
		return lines[:i] + "\n> " + lines[i+1:]
	}
	judge(t, map[string]row{
		"a job whose ACK was refused":  {all(held, wrong(noAck), by("2", take)), ""},
		"a job whose FAIL was refused": {all(held, wrong(refused(fail)), by("2", take)), ""},
		"an unknown job": {
			all(hello, "1 C: PUSH 5", "> 1 S: +OK", "1 C: FETCH q", `1 S: ${"jid":"x"}`),
			"",
		},
		"after a HELLO that must be refused": {all("1 C: HELLO 5", "> 1 S: +OK", noInfo), ""},
		"after one behind a blank": {
			all(`1 C: " HELLO {"v":2}\r\n"`, "> 1 S: +OK", `1 C: HELLO {"v":2}`, "1 S: -ERR"), "",
		},
		"and unknown jobs": {
			all(hello, "2 C: HELLO 5", "> 2 S: +OK", "1 C: FETCH q", `1 S: ${"jid":"x"}`),
			"",
		},
		"after a FLUSH that must be refused": {all(hello, with(""), "1 C: FLUSH x", "> 1 S: +OK", none), ""},
		"FETCH served with spaces":           {all(hello, with(""), "1 C: FETCH  q", "> 1 S: $-1", none), ""},
		"and with a job": {
			all(held[:len(held)-len(take)-1], "1 C: FETCH  q", "> 1 S: JOB", by("2", take)),
			"",
		},
		"of another queue": {
			all(hello, with(""), "1 C: FETCH  a", "> 1 S: $-1", none),
			"FWP-PUSH-04 missing",
		},
		"of the queue default": {
			all(
				hello, unnamed, "1 C: FETCH  a",
				"> 1 S: $-1", "1 C: FETCH", "+2s", missing,
			),
			"",
		},
	})
}

// TestWhatIsNotFollowed has another client do with a job what the server should not have let it do, or what cannot be
// read: whoever holds the job is not blamed for it.
func TestWhatIsNotFollowed(t *testing.T) {
	t.Parallel()
	const id = `"jid-0000000000000001"`
	held := all(hello, other, with(""), take)
	there := all(hello, other, with(""))
	short := all(hello, other, with(`,"reserve_for":60`), take)
	judge(t, map[string]row{
		"nothing":                {all(held, noAck), "FWP-ACK-01 refused"},
		"a blank too many":       {all(held, "2 C: FAIL {\"jid\":"+id+"} \n> 2 S: +OK", noAck), ""},
		"it is refused":          {all(held, "2 C: FAIL {\"jid\":"+id+"} \n2 S: -ERR", noAck), "FWP-ACK-01 refused"},
		"another verb":           {all(held, "2 C: fail {\"jid\":"+id+"}\n> 2 S: +OK", noAck), ""},
		"an escape":              {all(held, "2 C: ACK  {\"jid\":\"jid\\u002d0000000000000001\"}\n> 2 S: +OK", noAck), ""},
		"another job":            {all(held, "2 C: ACK  {\"jid\":\"jid-2\"}\n> 2 S: +OK", noAck), "FWP-ACK-01 refused"},
		"no answer":              {all(held, "2 C: ACK  {\"jid\":"+id+"}\n2 C: <close>", noAck), ""},
		"one that is not judged": {all(held, "2 unjudge\n2 C: ACK {\"jid\":"+id+"}\n2 S: +OK", noAck), ""},
		"a FETCH that waits":     {all(other, "2 C: FETCH q ", hello, with(""), "1 C: FETCH q\n+2s\n1 S: $-1"), ""},
		"one of another queue": {
			all(other, "2 C: FETCH r ", hello, with(""), "1 C: FETCH q\n+2s\n1 S: $-1"), "FWP-PUSH-04 missing",
		},
		"a FETCH that comes later":   {all(there, "1 C: FETCH q\n2 C: fetch q\n+2s\n1 S: $-1"), ""},
		"one that was left":          {all(there, "2 C: fetch q\n2 C: <close>\n1 C: FETCH q\n+2s\n1 S: $-1"), ""},
		"a reservation that is over": {all(short, "+59s", `1 C: ACK {"jid":`+id+"}", "+2s", "1 S: -ERR"), ""},
		"one that is not": {
			all(short, "+57s", `1 C: ACK {"jid":`+id+"}", "+2s", "1 S: -ERR"), "FWP-WU-05 refused",
		},
	})
}
