package load_test

import (
	"bufio"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/wire"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// Answers of an impostor that are no text.
const (
	hangs  = "hang"
	closes = "close"
	noise  = "noise"
)

// impostor is not a real server. The zero value accepts and hangs.
type impostor struct {
	greeting, hello string
	fetch           string // if it is not as the rest
	rest            string
}

func (i impostor) answer(line string) string {
	verb, _, _ := strings.Cut(line, " ")
	switch {
	case verb == "HELLO":
		return i.hello
	case verb == "FETCH" && i.fetch != "":
		return i.fetch
	}
	return i.rest
}

// serve speaks on one connection until the other side has had enough. Each answer takes
// its time: in virtual time a loop of commands that take none would never end.
func (i impostor) serve(nc net.Conn, number uint64) {
	defer nc.Close()
	random := rand.New(rand.NewPCG(4711, number)) //nolint:gosec // the same in every run
	say := func(text string) bool {
		time.Sleep(5 * ms)
		switch text {
		case "", hangs:
			return true
		case closes:
			return false
		case noise:
			buf := make([]byte, 1+random.IntN(100))
			for k := range buf {
				buf[k] = byte(random.Uint32())
			}
			_, err := nc.Write(buf)
			return err == nil
		}
		_, err := nc.Write([]byte(text + "\r\n"))
		return err == nil
	}
	if !say(i.greeting) {
		return
	}
	in := bufio.NewScanner(nc)
	for in.Scan() && say(i.answer(in.Text())) {
		continue
	}
}

// runAgainst runs a workload against an impostor. It must come to an end.
func (i impostor) runAgainst(t *testing.T, w plan.Workload) *results.Load {
	t.Helper()
	return i.runLoad(t, w, fwpwire.New(""))
}

func (i impostor) runLoad(t *testing.T, w plan.Workload, spoken wire.Protocol) (report *results.Load) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		var served store.Group
		var connections atomic.Uint64
		go served.Serve(place.MustListen(), func(nc net.Conn) { i.serve(nc, connections.Add(1)) })
		require.NoError(t, w.Check())
		result := load.Run(t.Context(), load.Config{
			Workload: w, Seed: 1, Run: "test", CoarseTimers: true, Loops: 2, ClauseOf: fwpsuite.ClauseOf, Protocol: spoken,
			Dial: place.Dial,
		})
		served.Close()
		report = result.Report
		if report.Unreachable == "" {
			evaluateQuiet(report, nil)
		}
	})
	return report
}

// suspects are the impostors, with the expected report of each.
var suspects = map[string]struct {
	impostor
	code   int
	words  string // of the last line, an expression, if they are the same for every workload
	clause string // of a finding that is there whatever the workload
}{
	"closes at once": {impostor{greeting: closes}, reports.ExitUnreachable,
		"closed the connection instead of greeting", ""},
	"hangs": {impostor{}, reports.ExitUnreachable, "sent nothing for 10s instead of greeting", ""},
	"noise": {impostor{greeting: noise}, reports.ExitUnreachable, "invalid RESP instead of greeting", ""},
	"+OK to all": {impostor{greeting: "+OK", hello: "+OK", rest: "+OK"}, reports.ExitUnreachable,
		`got a simple string "OK"`, ""},
	"HI, then -ERR": {impostor{greeting: hi, hello: "-ERR no", rest: "-ERR no"}, reports.ExitUnreachable,
		"the server refused HELLO: ERR no", ""},
	"HI, then closes": {impostor{greeting: hi, hello: closes}, reports.ExitUnreachable,
		"the server closed the connection instead of answering HELLO", ""},
	"HI, then hangs": {impostor{greeting: hi}, reports.ExitUnreachable,
		"sent nothing for 10s instead of answering HELLO", ""},
	"HI, then noise": {impostor{greeting: hi, hello: noise}, reports.ExitUnreachable,
		"invalid RESP instead of answering HELLO", ""},
	"HI, +YES":        {impostor{greeting: hi, hello: "+YES", rest: "+YES"}, reports.ExitLoss, "", "FWP-HELLO-03"},
	"HELLO, then +OK": {impostor{greeting: hi, hello: "+OK", rest: "+OK"}, reports.ExitLoss, "", "FWP-INFO-01"},
	"HELLO, then -ERR": {impostor{greeting: hi, hello: "+OK", rest: "-ERR no"}, reports.ExitInconclusive,
		`\(ERR no\)`, ""},
	"HELLO, then hangs": {impostor{greeting: hi, hello: "+OK"}, reports.ExitInconclusive, noLoad, ""},
	"HELLO, then closes": {impostor{greeting: hi, hello: "+OK", rest: closes}, reports.ExitInconclusive, noLoad,
		""},
	"HELLO, then noise":      {impostor{greeting: hi, hello: "+OK", rest: noise}, reports.ExitLoss, "", "FWP-RESP-01"},
	"HELLO, then too much":   {impostor{greeting: hi, hello: "+OK", rest: "+OK\r\n+OK"}, reports.ExitLoss, "", ""},
	"FETCH is always empty":  {impostor{greeting: hi, hello: "+OK", fetch: "$-1", rest: "+OK"}, reports.ExitLoss, "", ""},
	"FETCH is always a null": {impostor{greeting: hi, hello: "+OK", fetch: "*-1", rest: "+OK"}, reports.ExitLoss, "", ""},
}

const (
	hi = `+HI {"v":2}`
	// noLoad is what the last line says of a load that never began to carry: one with jobs to push beforehand stops there.
	noLoad = `nothing was achieved: |stopped after 0 of 100,000 jobs: `
)

// loads are what every impostor is loaded with: the presets, in small, and what has no
// end in time.
func loads(t *testing.T) map[string]plan.Workload {
	t.Helper()
	all := map[string]plan.Workload{}
	for _, name := range plan.Presets() {
		w, err := plan.Preset(name)
		require.NoError(t, err)
		w.Duration = plan.Duration(2 * second)
		if w.BeatOnly {
			w.Duration *= 10 // a BEAT comes every 15 s
		}
		w.Producers, w.Consumers, w.Connections = min(w.Producers, 5), min(w.Consumers, 5), min(w.Connections, 10)
		all[name] = w
	}
	rateLoad := steadyLoad()
	rateLoad.Rate, rateLoad.Duration = 100, plan.Duration(3*second)
	jobLoad := rateLoad
	jobLoad.Rate, jobLoad.Duration, jobLoad.JobLimit = 0, 0, 1_000_000
	all["rate"], all["jobs"] = rateLoad, jobLoad
	return all
}

// TestImpostors puts each load on each impostor, without FWP_SLOW=1 every fifth of them.
func TestImpostors(t *testing.T) {
	t.Parallel()
	all := loads(t)
	for i, name := range slices.Sorted(maps.Keys(suspects)) {
		suspect := suspects[name]
		for j, preset := range slices.Sorted(maps.Keys(all)) {
			w := all[preset]
			if !golden.IsSlow() && (i+j)%5 != 0 {
				continue
			}
			if strings.HasPrefix(suspect.rest, "+OK") { // a million jobs that seem to go well take their time
				w.JobLimit, w.Prefill = min(w.JobLimit, 1000), min(w.Prefill, 1000)
			}
			t.Run(name+"/"+preset, func(t *testing.T) {
				t.Parallel()
				l := suspect.runAgainst(t, w)
				code, words := l.Outcome(reports.ExitOptions{}).Values()
				assert.Equal(t, suspect.code, code, words)
				assert.Regexp(t, suspect.words, words)
				assert.Less(t, l.Took, max(2*time.Minute, time.Duration(w.Drain)+10*second)) // retries may take minutes
				assert.Positive(t, l.Took)
				text := string(page.Text(l.Page(reports.PageOptions{}), page.TextOptions{}))
				lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
				assert.NotEmpty(t, strings.TrimSpace(lines[len(lines)-1]))
				if suspect.clause != "" {
					assert.Contains(t, clauses(l), suspect.clause)
				}
				if t.Failed() {
					t.Log(text)
				}
			})
		}
	}
}

func clauses(l *results.Load) []string {
	var all []string
	for _, f := range l.Findings {
		all = append(all, f.Clause)
	}
	return all
}

// A wrong reply is reported with the clause of its command.
func TestImpostorsAreBlamedByCommand(t *testing.T) {
	t.Parallel()
	yes := suspects["HELLO, then +OK"].impostor
	yes.rest = "+YES"
	empty, ok := suspects["FETCH is always empty"].impostor, suspects["HELLO, then +OK"].impostor
	cases := []struct {
		impostor impostor
		preset   string
		clause   string
		note     string
	}{
		{ok, "rate", "FWP-FETCH-01", `FETCH was answered with the simple string "OK"`},
		{yes, "push", "FWP-PUSH-01", `PUSH was answered with the simple string "YES"`},
		{yes, "idle", "FWP-BEAT-01", `BEAT was answered with the simple string "YES"`},
		{empty, "rate", "FWP-PUSH-04", ""},
		{suspects["FETCH is always a null"].impostor, "rate", "FWP-RESP-04", "the reply to FETCH is invalid RESP"},
		{suspects["HELLO, then too much"].impostor, "rate", "FWP-RESP-06",
			`after the reply to PUSH the server sent "+OK\r\n"`},
	}
	for _, test := range cases {
		t.Run(test.preset+"/"+test.clause, func(t *testing.T) {
			t.Parallel()
			l := test.impostor.runAgainst(t, loads(t)[test.preset])
			require.Contains(t, clauses(l), test.clause)
			for _, f := range l.Findings {
				if f.Clause == test.clause && test.note != "" {
					assert.Contains(t, strings.Join(f.Notes, "\n"), test.note)
				}
			}
		})
	}
}

// An arrival counts only if its command succeeded: a short-lived connection has
// come for its PUSH.
func TestWhatIsRefusedIsNotCarried(t *testing.T) {
	t.Parallel()
	for preset, op := range map[string]string{"churn": "connect", "rate": "push", "fetch": "ack"} {
		l := suspects["HELLO, then -ERR"].runAgainst(t, loads(t)[preset])
		assert.Equal(t, op, l.Rate.Op)
		assert.Zero(t, l.Rate.Done, preset)
		assert.Zero(t, l.Rate.Achieved, preset)
		_, words := l.Outcome(reports.ExitOptions{}).Values()
		assert.Regexp(t, `^(nothing was achieved: [0-9,]+ pushes refused|`+
			`stopped after 0 of 100,000 jobs: only errors for 5 s) \(ERR no\)`, words)
		for _, s := range l.Series {
			assert.Zero(t, s.Achieved, preset)
		}
	}
}

// A drain that cannot end well is given up soon, and the report has the reason.
func TestTheDrainIsGivenUp(t *testing.T) {
	t.Parallel()
	for rest, reason := range map[string]string{
		"-ERR no": "the drain was stopped: only errors for 5 s (ERR no)",
		hangs:     "the drain was stopped: no reply for 10 s",
	} {
		i := suspects["HELLO, then +OK"].impostor
		i.fetch = rest
		l := i.runAgainst(t, loads(t)["rate"])
		assert.Equal(t, int64(300), l.Jobs.Pushed)
		assert.Equal(t, reason, l.Jobs.DrainFailure)
		assert.Less(t, l.Took, 35*second)
		assert.Contains(t, phases(l), "drain")
	}
}
