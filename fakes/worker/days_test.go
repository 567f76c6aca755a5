package worker

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/jobtype"
)

// days are those on which variations show.
var days = map[string]day{
	"password": {password: "p@ss", losses: []time.Duration{20 * time.Second}},
	"errors": {
		jobs: []string{unit("job-1", jobtype.OK, "[]"), unit("job-2", jobtype.Fail, `["x"]`)},
		rules: "on checked FETCH; first 1: refuse 'later" + strings.Repeat(".", 5000) + "'\n" +
			"on ran BEAT; first 1: reply '-ERR quiet: Unknown worker'",
	},
	"refused-ack": {
		jobs: []string{unit("job-1", jobtype.OK, "[]")}, rules: "on ran ACK; first 1: reply '-ERR not possible'",
	},
	"end":      {rules: "on ran END: delay 1s"},
	"end-push": {rules: "on ran END: delay 1s", pushes: []string{`{"jid":"j1","jobtype":"a","args":[]}`}},
	"losses": {
		jobs:  []string{unit("job-1", jobtype.OK, "[]")},
		rules: lossRule("ACK"), losses: []time.Duration{20 * time.Second, 30 * time.Second, 40 * time.Second},
	},
	"terminate": {
		jobs:  []string{unit("job-1", jobtype.Sleep, "[600]"), unit("job-2", jobtype.Sleep, "[600]")},
		rules: `on ran BEAT; from 2: reply '+{"state":"terminate"}'`, ends: 3 * time.Minute,
	},
	"late":     {delayedJob: unit("job-late", jobtype.OK, "[1]"), rules: stateRule("quiet")},
	"late-end": {delayedJob: unit("job-late", jobtype.OK, "[1]"), rules: stateRule("terminate")},
	"pieces":   {rules: "on writing: pieces 1", jobs: []string{unit("job-ü", jobtype.OK, `["ü"]`)}},
	"again":    {jobs: []string{unit("job-1", jobtype.Sleep, `[1]`), unit("job-2", jobtype.Sleep, `[3]`)}},
	"first":    {rules: `on ran BEAT; first 1: reply '${"state":"quiet"}'`},
	"signal":   {signal: "TSTP", at: 20 * time.Second, jobs: []string{unit("job-1", jobtype.Sleep, "[50]")}},
	"batch": {jobs: []string{
		unit("job-1", jobtype.Sleep, "[5]"), unit("job-2", jobtype.Sleep, "[12]"), unit("job-3", jobtype.OK, "[]"),
		unit("job-4", jobtype.Fail, `["x"]`), unit("job-5", jobtype.Fail, `["x"]`), unit("job-6", jobtype.OK, "[]"),
		unit("job-7", jobtype.OK, "[]"), unit("job-8", jobtype.OK, "[]"), unit("job-9", jobtype.OK, "[]"),
		unit("job-10", jobtype.OK, "[]"), unit("job-11", jobtype.OK, "[]"), unit("job-12", jobtype.OK, "[]"),
	}},
	"many": {jobs: okJobs(30)},
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
		rules:  "on writing: pieces 1",
	},
	"refused": {
		pushes: []string{
			`{"jid":"j1","jobtype":"a","args":[]}`, `{"jid":"j2","jobtype":"a","args":[]}`,
			`{"jid":"j3","jobtype":"a","args":[]}`, `{"jid":"j4","jobtype":"a","args":[]}`,
		},
		rules:     "on ran PUSH; first 1: reply '-NOT OK'\non ran PUSH if jid = j3; first 1: silent, close",
		configure: func(c *Config) { c.Concurrency = 1 },
	},
	"declined-push": {
		pushes: []string{`{"jid":"j1","jobtype":"a","args":[]}`},
		rules:  `on greeting: reply '+HI {"v": 3, "x": 1,"i":2,"s":"sü"}'` + "\non ran HELLO: reply '-ERR no'",
	},
}

// lossRule is a rule by which the first command of a verb has no reply, and its connection ends.
func lossRule(verb string) string { return "on ran " + verb + "; first 1: silent, close" }

// stateRule is a rule by which each BEAT from the second on is answered with a state.
func stateRule(state string) string { return `on ran BEAT; from 2: reply '${"state":"` + state + `"}'` }

// okJobs returns jobs that do nothing.
func okJobs(n int) (jobs []string) {
	for i := range n {
		jobs = append(jobs, unit(fmt.Sprint("job-", i), jobtype.OK, "[]"))
	}
	return jobs
}
