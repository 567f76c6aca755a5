package fakeworker

import (
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/jobtype"
)

// days are those on which variations show.
var days = map[string]day{
	"password": {hi: `+HI {"i":3,"s":"sält","v":2}`, password: "p%40ss", losses: []time.Duration{20 * time.Second}},
	"errors": {
		jobs: []string{unit("job-1", jobtype.OK, "[]"), unit("job-2", jobtype.Fail, `["x"]`)},
		answer: first("ACK", "-ERR not possible\r\n", "FETCH", "-ERR later"+strings.Repeat(".", 5000)+"\r\n",
			"BEAT", "-ERR quiet: Unknown worker\r\n"),
	},
	"losses": {
		jobs:   []string{unit("job-1", jobtype.OK, "[]")},
		answer: first("ACK", "close"), losses: []time.Duration{20 * time.Second, 30 * time.Second, 40 * time.Second},
	},
	"terminate": {
		jobs:   []string{unit("job-1", jobtype.Sleep, "[600]"), unit("job-2", jobtype.Sleep, "[600]")},
		answer: nthBeat(2, "+{\"state\":\"terminate\"}\r\n"), ends: 3 * time.Minute,
	},
	"late":     {late: unit("job-late", jobtype.OK, "[1]"), answer: nthBeat(2, bulk(`{"state":"quiet"}`))},
	"late-end": {late: unit("job-late", jobtype.OK, "[1]"), answer: nthBeat(2, bulk(`{"state":"terminate"}`))},
	"pieces":   {pieces: true, jobs: []string{unit("job-ü", jobtype.OK, `["ü"]`)}},
	"again":    {jobs: []string{unit("job-1", jobtype.Sleep, `[1]`), unit("job-1", jobtype.Sleep, `[3]`)}},
	"first":    {answer: nthBeat(1, bulk(`{"state":"quiet"}`))},
	"signal":   {signal: "TSTP", at: 20 * time.Second, jobs: []string{unit("job-1", jobtype.Sleep, "[50]")}},
	"batch": {jobs: []string{
		unit("job-1", jobtype.Sleep, "[5]"), unit("job-2", jobtype.Sleep, "[12]"), unit("job-3", jobtype.OK, "[]"),
		unit("job-4", jobtype.Fail, `["x"]`), unit("job-5", jobtype.Fail, `["x"]`), unit("job-6", jobtype.OK, "[]"),
		unit("job-7", jobtype.OK, "[]"), unit("job-8", jobtype.OK, "[]"), unit("job-9", jobtype.OK, "[]"),
		unit("job-10", jobtype.OK, "[]"), unit("job-11", jobtype.OK, "[]"), unit("job-12", jobtype.OK, "[]"),
	}},
	"many": {jobs: slices.Repeat([]string{unit("job", jobtype.OK, "[]")}, 30)},
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
	"declined-push": {
		pushes: []string{`{"jid":"j1","jobtype":"a","args":[]}`},
		hi:     `+HI {"v": 3, "x": 1,"i":2,"s":"sü"}`,
		answer: first("HELLO", "-ERR no\r\n"),
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
