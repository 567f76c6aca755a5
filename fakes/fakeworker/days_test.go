package fakeworker

import (
	"strings"
	"time"
)

// days are those on which faults show.
var days = map[string]day{
	"jobs": {jobs: []string{
		unit("job-ok-0123456789-abcdef", TypeOK, "[]", ""),
		unit("job-FAIL-1", TypeFail, `["böse\nzeile"]`, `,"retry":0`),
		unit("job-silent", TypeFail, `[""]`, ""),
		unit(" 4711 ", TypeOK, `[]`, `,"fwp_unknown":1,"custom":null`),
		unit("4711", TypeOK, `[]`, `,"failure":{"retry_count":1}`),
		unit(`quo"te`, TypeOK, `[[[[[[[[[[[1]]]]]]]]]]]`, `,"at":"2030-01-01T00:00:00Z"`),
		unit("job-other", "other", "[1]", `,"created_at":"2026-01-01T01:00:00+01:00"`),
		unit("job-echo-1", TypeEcho, `[1,null,1,{"a":"2026-01-01T01:00:00+01:00"}]`, ""),
		unit("job-echo-2", TypeEcho, `[["x","y"]]`, ""),
		unit("job-echo-3", TypeEcho, `["2026-01-01T01:00:00+01:00",2,3,4,5,6]`, ""),
		unit("job-again", TypeOK, `[1]`, ""), unit("job-again", TypeOK, `[1]`, ""),
		unit("job-long", TypeFail, `["`+strings.Repeat("x", 70_000)+`"]`, ""),
		unit("job-lines", TypeOK, "[\r\n1]", ""), unit("job-ünï", TypeOK, `["ü"]`, ""),
	}},
	"password": {hi: `+HI {"i":3,"s":"sält","v":2}`, password: "p%40ss", losses: []time.Duration{20 * time.Second}},
	"salt":     {hi: `+HI {"v":2,"s":"salt9","i":4}`, password: "p%40ss"},
	"newer":    {hi: `+HI {"v": 3, "x": 1}`},
	"declined": {answer: first("HELLO", "-ERR no\r\n")},
	"errors": {
		jobs: []string{unit("job-1", TypeOK, "[]", ""), unit("job-2", TypeFail, `["x"]`, "")},
		answer: first("ACK", "-ERR not possible\r\n", "FETCH", "-ERR later"+strings.Repeat(".", 5000)+"\r\n",
			"BEAT", "-ERR quiet: Unknown worker\r\n"),
	},
	"losses": {
		jobs:   []string{unit("job-1", TypeOK, "[]", "")},
		answer: first("ACK", "close"), losses: []time.Duration{20 * time.Second, 30 * time.Second, 40 * time.Second},
	},
	"quiet": {
		jobs:   []string{unit("job-1", TypeSleep, "[20]", "")},
		answer: nthBeat(2, bulk(`{"state": "quiet"}`)), losses: []time.Duration{50 * time.Second}, ends: 2 * time.Minute,
	},
	"terminate": {
		jobs:   []string{unit("job-1", TypeSleep, "[600]", ""), unit("job-2", TypeSleep, "[600]", "")},
		answer: nthBeat(2, "+{\"state\":\"terminate\"}\r\n"), ends: 3 * time.Minute,
	},
	"refused-at-end": {
		jobs:   []string{unit("job-1", TypeSleep, "[600]", ""), unit("job-2", TypeSleep, "[600]", "")},
		answer: first("BEAT", "+{\"state\":\"terminate\"}\r\n", "FAIL", "-ERR no\r\n"), ends: 3 * time.Minute,
	},
	"late":     {late: unit("job-late", TypeOK, "[1]", ""), answer: nthBeat(2, bulk(`{"state":"quiet"}`))},
	"late-end": {late: unit("job-late", TypeOK, "[1]", ""), answer: nthBeat(2, bulk(`{"state":"terminate"}`))},
	"outage":   {losses: every(time.Second, 20), jobs: []string{unit("job-1", TypeSleep, "[5]", "")}},
	"pieces":   {pieces: true, jobs: []string{unit("job-ü", TypeOK, `["ü"]`, "")}},
	"again":    {jobs: []string{unit("job-1", TypeSleep, `[1]`, ""), unit("job-1", TypeSleep, `[3]`, "")}},
	"queues":   {configure: func(c *Config) { c.Queues = []string{"a", "b", "c"} }},
	"first":    {answer: nthBeat(1, bulk(`{"state":"quiet"}`))},
	"third":    {answer: nthBeat(3, bulk(`{"state":"quiet"}`))},
	"signal":   {signal: "TSTP", at: 20 * time.Second, jobs: []string{unit("job-1", TypeSleep, "[50]", "")}},
	"batch": {jobs: []string{
		unit("job-1", TypeSleep, "[5]", ""), unit("job-2", TypeSleep, "[12]", ""), unit("job-3", TypeOK, "[]", ""),
		unit("job-4", TypeFail, `["x"]`, ""), unit("job-5", TypeFail, `["x"]`, ""), unit("job-6", TypeOK, "[]", ""),
		unit("job-7", TypeOK, "[]", ""), unit("job-8", TypeOK, "[]", ""), unit("job-9", TypeOK, "[]", ""),
		unit("job-10", TypeOK, "[]", ""), unit("job-11", TypeOK, "[]", ""), unit("job-12", TypeOK, "[]", ""),
	}},
	"pushes": {pushes: []string{
		`{"jid":"Job 1 ","jobtype":"a","args":["2026-01-01T01:00:00+01:00","ü\r\n",2],"queue":"High","custom":{"a":1}}`,
		`{"jid":"job-2-0123456789-0123456789","jobtype":"a","args":[],"retry":0,"at":"2030-01-01T00:00:00+01:00",` +
			`"reserve_for":60}`,
		`{"jobtype":"a","args":[9007199254740993]}`, `{"jobtype":"a","args":[]}`, `{"jid":"j5","jobtype":"a","args":[1]}`,
		`{"jid":"j6","jobtype":"a","args":[1]}`, `{"jid":"j7","jobtype":"a","args":[1]}`,
		`{"jid":"j8","jobtype":"a","args":[1]}`,
	}, configure: func(c *Config) { c.Concurrency = 1 }},
	"callers": {
		pushes: []string{`{"jid":"j1","jobtype":"a","args":["\\r\\n"]}`, `{"jid":"j2","jobtype":"a","args":[1]}`},
		pieces: true,
	},
	"refused": {
		pushes: []string{
			`{"jid":"j1","jobtype":"a","args":[]}`, `{"jid":"j2","jobtype":"a","args":[]}`,
			`{"jid":"j3","jobtype":"a","args":[]}`, `{"jid":"j4","jobtype":"a","args":[]}`,
		},
		answer: first("PUSH", "-NOT OK\r\n", "PUSH", "", "PUSH", "close"), configure: func(c *Config) { c.Concurrency = 1 },
	},
	"newer-push": {pushes: []string{`{"jid":"j1","jobtype":"a","args":[]}`}, hi: `+HI {"v": 3, "x": 1}`},
	"declined-push": {
		pushes: []string{`{"jid":"j1","jobtype":"a","args":[]}`},
		hi:     `+HI {"v": 3, "x": 1,"i":2,"s":"sü"}`,
		answer: first("HELLO", "-ERR no\r\n"),
	},
	"password-push": {
		pushes: []string{`{"jid":"j1","jobtype":"a","args":[]}`, `{"jid":"j2","jobtype":"a","args":[]}`},
		hi:     `+HI {"v":2,"s":"salt9","i":4}`, password: "p%40ss",
	},
}

// first returns answers to the first commands of verbs: pairs of a verb and a reply, the second of a verb for its
// second command; "" is the usual one.
func first(pairs ...string) func(string, int) string {
	return func(verb string, n int) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == verb {
				if n--; n == 0 {
					return pairs[i+1]
				}
			}
		}
		return ""
	}
}

// nthBeat returns an answer to the nth BEAT.
func nthBeat(n int, reply string) func(string, int) string {
	return func(v string, m int) string {
		if v == "BEAT" && m == n {
			return reply
		}
		return ""
	}
}

// every returns the first n times of a period.
func every(d time.Duration, n int) (all []time.Duration) {
	for i := range n {
		all = append(all, time.Duration(i+1)*d)
	}
	return all
}
