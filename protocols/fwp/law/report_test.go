package law_test

import (
	"strings"
	"testing"
)

const (
	failMalformed = "1 C: FAIL {\"jid\":\"jid-0000000000000001\",\"errtype\":5}\n1 S: -ERR"
	ackRefused    = "1 C: ACK {\"jid\":\"jid-0000000000000001\"}\n1 S: -ERR"
)

// TestReports has an ACK or a FAIL refused.
func TestReports(t *testing.T) {
	t.Parallel()
	heldJob := join(hello, otherHello, pushWith(""), take)
	const end = "1 C: END\n1 S: +OK"
	twoConns := join(heldJob, onConn("4", hello))
	judge(t, map[string]row{
		"an ACK":                       {join(heldJob, ackRefused), "FWP-ACK-01 refused"},
		"a FAIL":                       {join(heldJob, refuse(fail)), "FWP-FAIL-01 refused"},
		"an ACK within 20 s":           {join(heldJob, "+20s", ackRefused), "FWP-ACK-01 refused"},
		"an ACK after 20 s":            {join(heldJob, "+21s", ackRefused), "FWP-WU-05 refused"},
		"a FAIL after 20 s":            {join(heldJob, "+21s", refuse(fail)), "FWP-WU-05 refused"},
		"an ACK of an unusual time":    {join(hello, otherHello, pushWith(`,"reserve_for":65536`), take, ackRefused), "FWP-WU-05 refused"},
		"an ACK when it is over":       {join(heldJob, "+1800s", ackRefused), ""},
		"an ACK just before":           {join(heldJob, "+1799s", ackRefused), "FWP-WU-05 refused"},
		"an ACK after a bad FAIL":      {join(heldJob, failMalformed, ackRefused), "FWP-FAIL-02 refused"},
		"an ACK after a FLUSH refused": {join(heldJob, "2 C: FLUSH x", "2 S: -ERR", ackRefused), "FWP-FLUSH-03 refused"},
		"an ACK of a flushed job":      {join(heldJob, flush, ackRefused), ""},
		"an ACK after a restart":       {join(heldJob, "restart", ackRefused), ""},
		"a FAIL after a restart":       {join(heldJob, "restart", refuse(fail)), ""},
		"an ACK of a later delivery":   {join(hello, otherHello, pushWith(""), "restart", take, ackRefused), "FWP-ACK-01 refused"},
		"an ACK of another's job":      {join(heldJob, onConn("2", ackRefused)), ""},
		"an ACK of an unknown job":     {join(hello, ackRefused), ""},
		"an ACK by a producer":         {join(heldJob, `3 C: HELLO {"v":2}`, "3 S: +OK", onConn("3", ackRefused)), ""},
		"an ACK on another connection": {join(twoConns, onConn("4", ackRefused)), "FWP-ACK-01 refused"},
		"behind the END of the first":  {join(twoConns, end, onConn("4", ackRefused)), "FWP-END-05 refused"},
		"and another one was served":   {join(twoConns, end, onConn("4", info), onConn("4", ackRefused)), "FWP-END-05 refused"},
		"a FAIL behind the END":        {join(twoConns, end, onConn("4", refuse(fail))), "FWP-END-05 refused"},
		"an ACK 20 s behind it":        {join(twoConns, end, "+21s", onConn("4", ackRefused)), "FWP-HELLO-11 refused"},
		"behind the END of the other":  {join(twoConns, onConn("4", end), ackRefused), "FWP-HELLO-11 refused"},
		"behind the END, by another":   {join(twoConns, end, onConn("2", ackRefused)), ""},
		"and answered with a bulk": {
			join(heldJob, `3 C: HELLO {"v":2}`, "3 S: +OK", strings.ReplaceAll(onConn("3", ackRefused), "-ERR", "$x")),
			"FWP-ACK-01 foreign",
		},
		"a second ACK":                    {join(heldJob, ack, ackRefused), ""},
		"an ACK of a job that nobody has": {join(hello, pushWith(""), ackRefused), ""},
		"an ACK after two HELLOs":         {join(heldJob, hello, ackRefused), ""},
		"an ACK after another's FAIL":     {join(heldJob, onConn("2", fail), ackRefused), ""},
		"an ACK after another's bad FAIL": {join(heldJob, onConn("2", failMalformed), ackRefused), "FWP-FAIL-02 refused"},
		"an ACK of a job pushed twice":    {join(heldJob, pushWith(""), ackRefused), ""},
		"an ACK before HELLO":             {join(heldJob, onConn("3", ackRefused)), ""},
		"an ACK after a lost FAIL": {
			join(heldJob, strings.Split(fail, "\n")[0], "1 C: <close>", "2 C: FETCH a", "+2s", "2 S: $-1"),
			"",
		},
		"delivered after a lost ACK": {
			join(heldJob, strings.Split(ack, "\n")[0], "1 C: <close>", onConn("2", take)),
			"FWP-ACK-02 delivered",
		},
		"delivered after a lost FAIL":    {join(heldJob, strings.Split(fail, "\n")[0], "1 C: <close>", onConn("2", take)), ""},
		"delivered after another's ACK":  {join(heldJob, onConn("2", ack), onConn("2", take)), "FWP-ACK-02 delivered"},
		"delivered after another's FAIL": {join(heldJob, onConn("2", fail), onConn("2", take)), ""},
		"delivered after a bad FAIL":     {join(heldJob, failMalformed, onConn("2", take)), "FWP-FAIL-02 delivered"},
		"after a bad FAIL and an ACK":    {join(heldJob, failMalformed, ack, onConn("2", take)), "FWP-FAIL-02 delivered"},
		"failed after its ACK":           {join(heldJob, ack, fail, "+1m", take), "FWP-ACK-02 delivered"},
		"failed twice without a retry": {
			join(hello, pushWith(`,"retry":0`), take, fail, fail, "+1m", take),
			"FWP-RETRY-01 delivered",
		},
		"missing after another's FAIL": {join(heldJob, onConn("2", fail), "+1800s", "+150s", fetchNothing), ""},
		"missing after another's lost ACK": {
			join(heldJob, onConn("2", strings.Split(ack, "\n")[0]), "2 C: <close>", "+1800s", "+150s", fetchNothing),
			"",
		},
		"missing after a lost PUSH": {
			join(hello, strings.Split(pushWith(""), "\n")[0], "1 C: <close>", onConn("2", join(hello, fetchNothing))),
			"",
		},
		"delivered after a lost PUSH": {
			join(hello, strings.Split(pushWith(""), "\n")[0], "1 C: <close>", onConn("2", join(hello, take))),
			"",
		},
		"missing after a lost FLUSH":   {join(hello, otherHello, pushWith(""), "2 C: FLUSH", "2 C: <close>", fetchNothing), ""},
		"delivered after a lost FLUSH": {join(hello, otherHello, pushWith(""), "2 C: FLUSH", "2 C: <close>", take), ""},
		"missing after a lost FETCH":   {join(hello, otherHello, pushWith(""), "2 C: FETCH q", "2 C: <close>", fetchNothing), ""},
		"pushed within 4 s of a lost FETCH": {
			join(hello, otherHello, "2 C: FETCH q", "2 C: <close>", "+4s", pushWith(""), fetchNothing),
			"",
		},
		"pushed later": {
			join(hello, otherHello, "2 C: FETCH q", "2 C: <close>", "+4001ms", pushWith(""), fetchNothing),
			"FWP-PUSH-04 missing",
		},
		"pushed elsewhere": {
			join(hello, otherHello, "2 C: FETCH a", "2 C: <close>", pushWith(""), fetchNothing),
			"FWP-PUSH-04 missing",
		},
		"and its reservation ends": {
			join(hello, otherHello, pushWith(""), "2 C: FETCH q", "2 C: <close>", "+1950s", fetchNothing),
			"FWP-PUSH-04 missing",
		},
		"and it is never tried again": {
			join(hello, otherHello, pushWith(`,"retry":0`), "2 C: FETCH q", "2 C: <close>", "+1950s", fetchNothing),
			"",
		},
	})
}

// TestWrongAnswerIsReportedOnce has what a wrong answer may have changed judged no more.
func TestWrongAnswerIsReportedOnce(t *testing.T) {
	t.Parallel()
	heldJob := join(hello, otherHello, pushWith(""), take)
	wrong := func(lines string) string {
		i := strings.LastIndexByte(lines, '\n')
		return lines[:i] + "\n> " + lines[i+1:]
	}
	judge(t, map[string]row{
		"a job whose ACK was refused":  {join(heldJob, wrong(ackRefused), onConn("2", take)), ""},
		"a job whose FAIL was refused": {join(heldJob, wrong(refuse(fail)), onConn("2", take)), ""},
		"an unknown job": {
			join(hello, "1 C: PUSH 5", "> 1 S: +OK", "1 C: FETCH q", `1 S: ${"jid":"x"}`),
			"",
		},
		"after a HELLO that must be refused": {join("1 C: HELLO 5", "> 1 S: +OK", infoRefused), ""},
		"after one behind a blank": {
			join(`1 C: " HELLO {"v":2}\r\n"`, "> 1 S: +OK", `1 C: HELLO {"v":2}`, "1 S: -ERR"), "",
		},
		"and unknown jobs": {
			join(hello, "2 C: HELLO 5", "> 2 S: +OK", "1 C: FETCH q", `1 S: ${"jid":"x"}`),
			"",
		},
		"after a FLUSH that must be refused": {join(hello, pushWith(""), "1 C: FLUSH x", "> 1 S: +OK", fetchNothing), ""},
		"FETCH served with spaces":           {join(hello, pushWith(""), "1 C: FETCH  q", "> 1 S: $-1", fetchNothing), ""},
		"and with a job": {
			join(heldJob[:len(heldJob)-len(take)-1], "1 C: FETCH  q", "> 1 S: JOB", onConn("2", take)),
			"",
		},
		"of another queue": {
			join(hello, pushWith(""), "1 C: FETCH  a", "> 1 S: $-1", fetchNothing),
			"FWP-PUSH-04 missing",
		},
		"of the queue default": {
			join(
				hello, pushUnnamed, "1 C: FETCH  a",
				"> 1 S: $-1", "1 C: FETCH", "+2s", emptyReply,
			),
			"",
		},
	})
}

// TestUnfollowedLines has another client do with a job what the server should not have let it do, or what cannot be
// read: whoever holds the job is not blamed for it.
func TestUnfollowedLines(t *testing.T) {
	t.Parallel()
	const id = `"jid-0000000000000001"`
	heldJob := join(hello, otherHello, pushWith(""), take)
	queuedJob := join(hello, otherHello, pushWith(""))
	short := join(hello, otherHello, pushWith(`,"reserve_for":60`), take)
	judge(t, map[string]row{
		"nothing":                {join(heldJob, ackRefused), "FWP-ACK-01 refused"},
		"a blank too many":       {join(heldJob, "2 C: FAIL {\"jid\":"+id+"} \n> 2 S: +OK", ackRefused), ""},
		"it is refused":          {join(heldJob, "2 C: FAIL {\"jid\":"+id+"} \n2 S: -ERR", ackRefused), "FWP-ACK-01 refused"},
		"another verb":           {join(heldJob, "2 C: fail {\"jid\":"+id+"}\n> 2 S: +OK", ackRefused), ""},
		"an escape":              {join(heldJob, "2 C: ACK  {\"jid\":\"jid\\u002d0000000000000001\"}\n> 2 S: +OK", ackRefused), ""},
		"another job":            {join(heldJob, "2 C: ACK  {\"jid\":\"jid-2\"}\n> 2 S: +OK", ackRefused), "FWP-ACK-01 refused"},
		"no answer":              {join(heldJob, "2 C: ACK  {\"jid\":"+id+"}\n2 C: <close>", ackRefused), ""},
		"one that is not judged": {join(heldJob, "2 unjudge\n2 C: ACK {\"jid\":"+id+"}\n2 S: +OK", ackRefused), ""},
		"a FETCH that waits":     {join(otherHello, "2 C: FETCH q ", hello, pushWith(""), "1 C: FETCH q\n+2s\n1 S: $-1"), ""},
		"one of another queue": {
			join(otherHello, "2 C: FETCH r ", hello, pushWith(""), "1 C: FETCH q\n+2s\n1 S: $-1"), "FWP-PUSH-04 missing",
		},
		"a FETCH that comes later":   {join(queuedJob, "1 C: FETCH q\n2 C: fetch q\n+2s\n1 S: $-1"), ""},
		"one that was left":          {join(queuedJob, "2 C: fetch q\n2 C: <close>\n1 C: FETCH q\n+2s\n1 S: $-1"), ""},
		"a reservation that is over": {join(short, "+59s", `1 C: ACK {"jid":`+id+"}", "+2s", "1 S: -ERR"), ""},
		"one that is not": {
			join(short, "+57s", `1 C: ACK {"jid":`+id+"}", "+2s", "1 S: -ERR"), "FWP-WU-05 refused",
		},
	})
}
