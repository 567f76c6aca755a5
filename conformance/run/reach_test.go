package run_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// A server that avoids a situation passes no clause that is about it.
func TestAServerThatAvoidsASituationPassesNothingAboutIt(t *testing.T) {
	t.Parallel()
	instead := func(verb, reply string) func(*fakes.Event) {
		return func(e *fakes.Event) {
			if e.Point == fakes.Writing && bytes.HasPrefix(e.Bytes, []byte(verb)) && e.Command.Verb != "" {
				e.Bytes = []byte(reply)
			}
		}
	}
	tests := map[string]struct {
		hook    func(*fakes.Event)
		clauses string
	}{
		"delivers nothing":      {answering("FETCH", "$-1\r\n"), "STATE-05 FETCH-01 FETCH-04 FETCH-14 WU-03 WU-13 PUSH-04"},
		"refuses every FETCH":   {answering("FETCH", "-ERR no\r\n"), "RESP-04 FETCH-03 FETCH-05 STATE-05 ACK-02"},
		"refuses every PUSH":    {answering("PUSH", "-ERR no\r\n"), "PUSH-01 PUSH-04 STATE-04 WU-07 WU-11"},
		"takes every PUSH":      {answering("PUSH", "+OK\r\n"), "PUSH-02 PUSH-03"},
		"refuses every ACK":     {answering("ACK", "-ERR no\r\n"), "ACK-01 ACK-02"},
		"refuses every FAIL":    {answering("FAIL", "-ERR no\r\n"), "FAIL-01 STATE-06"},
		"refuses every BEAT":    {answering("BEAT", "-ERR no\r\n"), "BEAT-01 BEAT-03 BEAT-04"},
		"has no other state":    {answering("BEAT", "+OK\r\n"), "BEAT-03 BEAT-04"},
		"refuses nothing":       {instead("-", "+OK\r\n"), "RESP-02 RESP-07 STATE-12 PUSH-03"},
		"refuses every INFO":    {answering("INFO", "-ERR no\r\n"), "INFO-01 INFO-02"},
		"refuses every FLUSH":   {answering("FLUSH", "-ERR no\r\n"), "FLUSH-02"},
		"refuses every command": {instead("", "-ERR no\r\n"), "STATE-03 STATE-05 FETCH-03 PUSH-01 ACK-01 BEAT-01 INFO-01"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "delivers nothing" && name != "refuses nothing" {
				golden.OnlySlow(t)
			}
			runScripts(t, test.hook, nil, func(r *reports.Report) {
				for id := range strings.FieldsSeq(test.clauses) {
					c := r.Clauses[clause(r, "FWP-"+id)]
					assert.NotEqual(t, reports.Pass, c.Verdict, id)
				}
			}, func(r *run.Runner, _ *memoryTarget) {
				r.Checks, r.Quick = suite(t, true), true
				if !golden.IsSlow() { // those that decide the clauses
					r.Checks = checksOfClauses(r.Checks, strings.Fields(test.clauses))
				}
				r.Servers[0].Offers = append(r.Servers[0].Offers, scenarios.NeedAlone, scenarios.NeedFlush)
			})
		})
	}
}

// All refusals of a verb that is never served are one finding, whatever the clauses of the lines. One that is served
// once leaves each what it is about.
func TestAVerbThatIsNeverServed(t *testing.T) {
	t.Parallel()
	lines := map[string]string{
		"a": "clause FWP-PUSH-04\nC: FETCH $queue\nS: ${}\n", "b": "clause FWP-WU-06\nC: FETCH $queue\nS: ${}\n",
		"c": "C: FETCH $queue\nS: -\nclause FWP-STATE-12\nC: FETCH $queue\nS: $-1\n",
		"d": "clause FWP-INFO-01\nC: INFO\nS: +OK\n", // another verb, and no refusal
	}
	for name, text := range lines {
		lines[name] = "connect as consumer\n" + text
	}
	for fetch, want := range map[string][]string{
		"-ERR no": {"FWP-FETCH-01", "FWP-INFO-01"},
		"$-1":     {"FWP-INFO-01", "FWP-PUSH-04", "FWP-WU-06"},
	} {
		verbServer{answers: map[string]string{"FETCH": fetch}}.run(t, scripts(t, lines), nil, func(r *reports.Report) {
			clauses := map[string]bool{}
			for _, c := range r.Checks {
				for _, f := range c.Findings {
					clauses[f.Clause] = true
				}
			}
			assert.Equal(t, want, slices.Sorted(maps.Keys(clauses)), fetch)
			if fetch == "-ERR no" {
				assert.Equal(t, "FETCH was always refused", r.Clauses[clause(r, "FWP-WU-06")].Cause)
			}
		})
	}
}

// checksOfClauses returns the checks that decide one of these clauses of FWP.
func checksOfClauses(checks []conformance.Check, clauses []string) []conformance.Check {
	return slices.DeleteFunc(checks, func(c conformance.Check) bool {
		return !slices.ContainsFunc(c.Describe().Marks, func(m scenarios.ClauseMark) bool {
			return slices.Contains(clauses, strings.TrimPrefix(m.Clause, "FWP-"))
		})
	})
}

// A script whose lines take several replies passes its clause only by the first one of a line, or where a rule of the
// law about the clause was kept.
func TestAClauseThatNothingShowsIsOpen(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		clause, script string
		want           reports.Verdict
	}{
		"nothing delivered": {"FETCH-04", "C: FETCH $queue\nS: ${} | $-1\n", reports.Inconclusive},
		"a job":             {"FETCH-04", "C: PUSH $job\nS: +OK\nC: FETCH $queue\nS: ${} | $-1\n", reports.Pass},
		"a job, by the law": {"FETCH-04", "C: PUSH $job\nS: - | +OK\nC: FETCH $queue\nS: $-1 | ${}\n", reports.Pass},
		"no wait":           {"FETCH-14", "C: PUSH $job\nS: - | +OK\nC: FETCH $queue\nS: $-1 | ${}\n", reports.Inconclusive},
		"nothing refused":   {"RESP-07", "C: INFO\nS: - | $\n", reports.Inconclusive},
		"a refusal":         {"RESP-07", "C bad: INFO x\nS: - | $\n", reports.Pass},
		"one reply":         {"HELLO-04", "C: INFO\nS: $\n", reports.Pass},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := "connect as consumer\nclause FWP-" + test.clause + "\n" + test.script
			runScripts(t, nil, map[string]string{"a": script}, func(r *reports.Report) {
				check := r.Checks[0]
				assert.Equal(t, test.want, check.Clauses[0].Verdict, check.Clauses[0].Cause)
				assert.Equal(t, test.want, r.Clauses[clause(r, "FWP-"+test.clause)].Verdict)
				if test.want == reports.Inconclusive {
					assert.Equal(t, reports.ReasonSetUp, check.Clauses[0].Reason)
					assert.True(t, check.Clauses[0].IsHalted)
					assert.NotEmpty(t, check.Conversation)
				}
			})
		})
	}
}

// A clause that one check has shown is passed, whatever another one met.
func TestOneCheckThatShowsAClauseIsEnough(t *testing.T) {
	t.Parallel()
	const head = "connect as consumer\nclause FWP-FETCH-04\n"
	sources := map[string]string{
		"a": head + "C: PUSH $job\nS: +OK\nC: FETCH $queue\nS: ${} | $-1\n", "b": head + "C: FETCH $queue\nS: ${} | $-1\n",
	}
	runScripts(t, nil, sources, func(r *reports.Report) {
		assert.Equal(t, reports.Pass, r.Clauses[clause(r, "FWP-FETCH-04")].Verdict)
	})
}
