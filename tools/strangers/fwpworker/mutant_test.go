package main

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/fwpsuite/fwp/tools/strangers/table"
)

var mutants, variants = table.Split(departures)

// TestMain lets the test's binary be the worker itself, and lets many scenes run side by side, as they mostly wait.
func TestMain(m *testing.M) {
	if os.Getenv(childMark) != "" {
		os.Exit(start(os.Args[1:]))
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

const (
	quietBulk  = "$17\r\n{\"state\":\"quiet\"}\r\n"
	quietPlain = "+{\"state\": \"quiet\"}\r\n"
	endBulk    = "$21\r\n{\"state\":\"terminate\"}\r\n"
	refusal    = "-ERR something is wrong\r\n"

	openHI = "+HI {\"v\":2}\r\n"
	saltHI = "+HI {\"v\":2,\"i\":3,\"s\":\"55104dc76695721d\"}\r\n"
	nextHI = "+HI {\"v\":2,\"i\":3,\"s\":\"9ab0c6d1e3f24857\"}\r\n"

	// settle is the time in which a worker surely has taken a job that was sent to it.
	settle = 200 * time.Millisecond

	selfExit = `(?s)x0 exit.*x0 the scene is over`
)

// Jobs that the scenes hand out.
var (
	goodJob  = unit("good-1", "ok", "[]", "")
	nextJob  = unit("good-2", "ok", "[]", "")
	badJob   = unit("bad-1", "fail", `["x"]`, "")
	worseJob = unit("bad-2", "fail", `["y"]`, "")
	longJob  = unit("long-1", "sleep", "[20000]", "")
	longJob2 = unit("long-2", "sleep", "[20000]", "")
)

// two makes the worker use two threads.
var two = []string{"WORKER_CONCURRENCY=2"}

// scenes holds a scene for each mutant, in their order. The right worker passes it and the mutant does not.
var scenes = []scene{
	1:  {hi: []string{"+HI {\"v\":3}\r\n"}, until: `HELLO`, need: `HELLO .*"v":2`},
	2:  {until: `HELLO`, need: `HELLO .*"pid":\d+[,}]`},
	3:  {env: two, until: `(?s)HELLO.*HELLO.*HELLO`, check: oneIdentity},
	4:  {workers: 2, until: `(?s)HELLO.*HELLO.*HELLO.*HELLO`, check: oneIdentity},
	5:  {rules: []rule{{on: `^FETCH`, nth: 1, shut: true}}, until: `C3 `, check: helloFirst},
	6:  {hi: []string{"+HI {\"v\":2,\"flavor\":\"new\"}\r\n"}, until: `HELLO`, last: 2 * time.Second, need: `HELLO`},
	7:  {rules: []rule{{on: `^HELLO`, say: refusal}}, last: time.Second, need: `HELLO`, forbid: `FETCH|BEAT`},
	8:  {hi: []string{saltHI}, password: "foobar", until: `HELLO`, check: rightHash("foobar")},
	9:  {hi: []string{saltHI}, password: "p%40ss%2Fw%21", until: `HELLO`, check: rightHash("p@ss/w!")},
	10: {hi: []string{saltHI, nextHI}, password: "foobar", until: `(?s)HELLO.*HELLO`, check: rightHash("foobar")},
	11: {until: `FETCH`, need: `C\d END<CR><LF>`},
	12: {env: []string{"WORKER_QUEUES=critical,low"}, until: `FETCH`, need: `C\d FETCH critical low<CR><LF>`},
	13: {
		rules: []rule{{on: `^FETCH`, nth: 1, say: unit("bad-1", "fail", `["one\ntwo"]`, "")}},
		until: `FAIL`, need: `FAIL .*one\\ntwo.*}<CR><LF>`,
	},
	14: {
		rules: []rule{
			{on: `^FETCH`, nth: 1, say: goodJob},
			{on: `^ACK`, pause: 200 * time.Millisecond, say: "+OK\r\n"},
		},
		until: `(?s)ACK.*FETCH`, forbid: `(?m)^!`,
	},
	15: {
		rules: []rule{{on: `^FETCH`, nth: 1, say: unit("good-1", "ok", `["żółw"]`, "")}},
		until: `ACK`, last: 2 * time.Second, need: `ACK {"jid":"good-1"}`,
	},
	16: {
		rules: []rule{{on: `^FETCH`, nth: 1, say: goodJob, split: true}},
		until: `ACK`, last: 2 * time.Second, need: `ACK {"jid":"good-1"}`,
	},
	17: {
		rules: []rule{{on: `^BEAT`, nth: 1, say: quietPlain}},
		last:  time.Second, need: `"state"`, forbid: `(?s)"state".*FETCH.*FETCH`,
	},
	18: {
		rules: []rule{{on: `^BEAT`, nth: 1, say: refusal}},
		until: `(?s)BEAT.*BEAT`, last: 8 * time.Second, check: beatGaps,
	},
	19: {
		rules: []rule{{on: `^FETCH`, nth: 1, say: goodJob}, {on: `^ACK`, say: refusal}},
		until: `(?s)ACK.*FETCH`, check: once("good-1"),
	},
	20: {rules: []rule{{on: `^FETCH`, nth: 1, say: badJob}}, until: `ACK|FAIL`, need: `FAIL {"jid":"bad-1"`},
	21: {
		env: two,
		rules: []rule{
			{on: `^FETCH`, nth: 1, say: unit("nap-1", "sleep", "[400]", "")},
			{on: `^FETCH`, nth: 2, say: unit("nap-2", "sleep", "[400]", "")},
		},
		until: `(?s)ACK.*ACK`, check: once("nap-1", "nap-2"),
	},
	22: {
		rules: []rule{{on: `^FETCH`, nth: 1, say: badJob}, {on: `^FETCH`, nth: 2, say: worseJob}},
		until: `(?s)FAIL.*FAIL`, check: once("bad-1", "bad-2"),
	},
	23: {
		rules: []rule{{on: `^FETCH`, nth: 1, say: badJob}, {on: `^FETCH`, nth: 2, say: nextJob}},
		until: `good-2"}<CR>|FAIL.*good-2`, need: `ACK {"jid":"good-2"}`,
	},
	24: {
		rules: []rule{{on: `^FETCH`, nth: 1, say: unit("good-1", "ok", "[]", `,"custom":{"a":{"b":[1]}}`)}},
		until: `ACK`, last: 2 * time.Second, need: `ACK {"jid":"good-1"}`,
	},
	25: {
		rules: []rule{{on: `^FETCH`, nth: 1, say: unit("nap-1", "sleep", "[300]", ""), shut: true}},
		until: `ACK`, last: 3 * time.Second, need: `ACK {"jid":"nap-1"}`,
	},
	26: {
		rules: []rule{{on: `^FETCH`, nth: 1, say: goodJob}, {on: `^FETCH`, nth: 3, shut: true}},
		until: `C3 FETCH`, check: once("good-1"),
	},
	27: {
		rules: []rule{{on: `^FETCH`, nth: 1, say: unit("nap-1", "sleep", "[8500]", "")}},
		last:  9 * time.Second, check: beatGaps,
	},
	28: {
		rules: []rule{{on: `^FETCH`, nth: 1, say: goodJob}, {on: `^FETCH`, nth: 2, say: nextJob}},
		last:  time.Second, check: beatGaps,
	},
	29: {
		rules: []rule{{on: `^BEAT`, nth: 1, say: quietBulk}},
		until: `(?s)"state".*BEAT`, need: `BEAT {"wid":"[0-9a-f]+","current_state":"quiet"`,
	},
	30: {
		rules: []rule{{on: `^BEAT`, nth: 1, shut: true}},
		until: `(?s)BEAT.*BEAT`, last: 8 * time.Second, check: beatGaps,
	},
	31: {
		rules: []rule{{on: `^BEAT`, nth: 1, say: quietBulk}},
		until: `(?s)(BEAT.*){3}`, need: `"state"`, check: noLateFetch,
	},
	32: {
		rules: []rule{
			{on: `^FETCH`, nth: 1, say: unit("nap-1", "sleep", "[1000]", "")},
			{on: `^BEAT`, nth: 1, after: `S\d .*nap-1`, pause: settle, say: quietBulk},
		},
		last: 2 * time.Second, need: `(?s)"state".*ACK`, forbid: `(?s)"state".*FETCH`,
	},
	33: {
		rules: []rule{{on: `^BEAT`, nth: 1, say: quietBulk}},
		until: selfExit, last: 2 * time.Second, need: `"state"`, forbid: selfExit,
	},
	34: {
		rules: []rule{
			{on: `^FETCH`, nth: 1, say: longJob},
			{on: `^BEAT`, after: `S\d .*long-1`, pause: settle, say: endBulk},
		},
		until: `x0 exit`, last: 6 * time.Second, need: selfExit,
	},
	35: {
		env: two,
		rules: []rule{
			{on: `^FETCH`, nth: 1, say: longJob},
			{on: `^FETCH`, nth: 2, say: longJob2},
			{on: `^BEAT`, nth: 1, after: `(?s)S\d .*long-1.*S\d .*long-2|long-2.*long-1`, pause: settle, say: endBulk},
		},
		until: `x0 exit`, last: 8 * time.Second, check: once("long-1", "long-2"),
	},
	36: {
		rules: []rule{{on: `^BEAT`, nth: 1, say: quietBulk}, {on: `^BEAT`, nth: 2, say: endBulk}},
		until: `x0 exit`, last: 5 * time.Second, need: selfExit,
	},
	37: {
		env: two,
		rules: []rule{
			{on: `^FETCH`, nth: 1, say: longJob},
			{on: `^FETCH`, nth: 2, say: unit("nap-1", "sleep", "[1000]", "")},
			{on: `^BEAT`, nth: 1, after: `(?s)long-1.*nap-1|nap-1.*long-1`, pause: settle, say: endBulk},
		},
		until: `x0 exit`, last: 8 * time.Second, need: `ACK .*nap-1`, check: once("long-1", "nap-1"),
	},
	38: {
		env: two,
		rules: []rule{
			{on: `^FETCH`, nth: 1, say: unit("nap-1", "sleep", "[1500]", "")},
			{on: `^BEAT`, nth: 1, after: `S\d .*nap-1`, pause: settle, say: endBulk},
		},
		until: `x0 exit`, last: 5 * time.Second, need: `"state"`, check: noLateFetch,
	},
	39: {until: `FETCH`, forbid: `(?m)^!.*BEAT`, need: `END`},
	40: {until: `(?s)BEAT.*FETCH|FETCH.*BEAT`, check: goodEnd},
}

// TestMutants plays each scene with the right worker, which must pass, and with its mutant, which must not.
func TestMutants(t *testing.T) {
	t.Parallel()
	if len(scenes) != len(mutants)+1 {
		t.Fatalf("%d scenes for %d mutants", len(scenes)-1, len(mutants))
	}
	for number := 1; number < len(scenes); number++ {
		sc := scenes[number]
		if sc.last == 0 {
			sc.last = 8 * time.Second
		}
		t.Run(fmt.Sprintf("%d-right", number), func(t *testing.T) {
			t.Parallel()
			s := sc.play(t)
			if fault := sc.verdict(s); fault != "" {
				t.Errorf("the right worker fails: %s\n%s", fault, s.transcript())
			}
		})
		t.Run(fmt.Sprintf("%d-mutant", number), func(t *testing.T) {
			t.Parallel()
			s := sc.play(t, "--mutant", fmt.Sprint(number))
			fault := sc.verdict(s)
			if fault == "" {
				t.Fatalf("the mutant passes\n%s", s.transcript())
			}
			t.Logf("%s\n%s", fault, tail(s.transcript()))
		})
	}
}
