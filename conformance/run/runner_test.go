package run_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// memoryTarget is a target in memory, where an embedded server may listen.
type memoryTarget struct {
	memnet.Place
	isDown func() bool // nil: never
}

func newTarget() *memoryTarget { return &memoryTarget{Place: memnet.NewPlace()} }

func (s *memoryTarget) Dial(ctx context.Context) (net.Conn, error) {
	if s.isDown != nil && s.isDown() {
		return nil, errors.New("no server listens any more")
	}
	return s.Place.Dial(ctx)
}

// scripts parses name/source pairs.
func scripts(t *testing.T, sources map[string]string) []conformance.Check {
	t.Helper()
	var all []conformance.Check
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		s, err := scenarios.Parse(fwpscript.Dialect{}, name, []byte(sources[name]))
		require.NoError(t, err)
		all = append(all, conformance.ScriptCheck{Script: s})
	}
	return all
}

// run plays scripts on an embedded server with the hook, in virtual time.
func runScripts(
	t *testing.T, hook func(*fakes.Event), sources map[string]string,
	check func(r *reports.Report), configure ...func(*run.Runner, *memoryTarget),
) {
	t.Helper()
	all := scripts(t, sources)
	synctest.Test(t, func(t *testing.T) {
		target := newTarget()
		server := fakes.NewServer(fakes.Config{Hook: hook, Listen: target.Listen})
		defer server.Close()
		runner := runnerOn(run.Server{Target: target, Offers: []scenarios.Need{scenarios.NeedOpen}}, all)
		runner.Provide = map[scenarios.Need]string{scenarios.NeedPassword: "give a password"}
		for _, change := range configure {
			change(runner, target)
		}
		check(runner.Run(t.Context()))
	})
}

// runnerOn returns a runner of checks on one server, in virtual time.
func runnerOn(server run.Server, all []conformance.Check) *run.Runner {
	return &run.Runner{Suite: fwpsuite.Protocol(), Servers: []run.Server{server}, Checks: all, Virtual: true}
}

// answering makes a server that answers a verb in another way.
func answering(verb, reply string) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == verb {
			e.Bytes = []byte(reply)
		}
	}
}

const (
	beating = "connect as consumer\nclause FWP-BEAT-01\nC: BEAT {\"wid\":\"$wid\"}\nS: +OK\n"
	strict  = "connect as consumer\nclause FWP-INFO-03\nC bad: INFO x\nS: -\nsetup\nC: INFO\nS: $\n"
)

func TestVerdicts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		hook    func(*fakes.Event)
		script  string
		clause  string
		want    reports.Verdict
		reason  string // a part of it
		finding bool
	}{
		"a clause that holds": {nil, beating, "FWP-BEAT-01", reports.Pass, "", false},
		"a plain one broken":  {answering("BEAT", "-ERR\r\n"), beating, "FWP-BEAT-01", reports.Fail, "-ERR", true},
		"a SHOULD broken": {func(e *fakes.Event) {
			if e.Point == fakes.Checked && e.Command.Verb == "INFO" {
				e.Err, e.Skip = nil, false
			}
		}, strict, "FWP-INFO-03", reports.Warn, "$", true},
		"a level of the script's own": {
			answering("BEAT", "-ERR\r\n"), strings.Replace(beating, "BEAT-01", "BEAT-01 note", 1),
			"FWP-BEAT-01", reports.Observed, "-ERR", false},
		"a reading that is recorded": {nil, "connect as consumer\nrecord FWP-END-01\nC: END\nS: +OK | <close>\n",
			"FWP-END-01", reports.Observed, "+OK", false},
		"the other reading": {answering("END", ""), "connect as consumer\nrecord FWP-END-01\nC: END\nS: +OK | <close>\n",
			"FWP-END-01", reports.Observed, "FIN", false},
		"neither reading": {answering("END", "-ERR\r\n"),
			"connect as consumer\nrecord FWP-END-01\nC: END\nS: +OK | <close>\n",
			"FWP-END-01", reports.Fail, "-ERR", true},
		"a set-up that fails": {answering("PUSH", "-ERR\r\n"),
			"connect as consumer\nC: PUSH $job\nS: +OK\nclause FWP-FETCH-01\nC: FETCH $queue\nS: ${}\n",
			"FWP-FETCH-01", reports.Inconclusive, "line 3: the set-up did not work", false},
		"a twin that fails": {
			answering("INFO", "-ERR\r\n"), strict, "FWP-INFO-03", reports.Inconclusive, "line 7: the set-up did not work",
			false},
		"broken RESP has its own clause": {answering("BEAT", "$2\r\néé\r\n"),
			beating, "FWP-RESP-03", reports.Fail, "é", true},
		"the line of broken RESP": {answering("BEAT", "$3\r\néé\r\n"), beating, "FWP-BEAT-01", reports.Inconclusive,
			"but expected CR LF after a bulk string of 3 bytes", true},
		"no password": {nil, "needs: password\nclause FWP-AUTH-04\nS: +HI {}\n", "FWP-AUTH-04",
			reports.Skipped, "needs a password", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runScripts(t, test.hook, map[string]string{"a/check": test.script}, func(r *reports.Report) {
				require.Equal(t, "a/check", r.Checks[0].ID) // behind it is what the law found
				i := clause(r, test.clause)
				assert.Equal(t, test.want.String(), r.Clauses[i].Verdict.String(), r.Clauses[i].Cause)
				assert.Contains(t, r.Clauses[i].Cause, test.reason)
				assert.Equal(t, test.finding, len(r.Checks[0].Findings) > 0)
			})
		})
	}
}

// clause is the place of a clause in a report.
func clause(r *reports.Report, id string) int {
	for i, c := range r.Clauses {
		if c.ID == id {
			return i
		}
	}
	return -1
}

func TestAScriptWithoutClausesIsJudgedAsAWhole(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]reports.Verdict{"+OK\r\n": reports.Pass, "-ERR\r\n": reports.Fail} {
		bug := map[string]string{"bug.fwp": "connect as consumer\nC: BEAT {\"wid\":\"$wid\"}\nS: +OK\n"}
		runScripts(t, answering("BEAT", reply), bug, func(r *reports.Report) {
			assert.Equal(t, want, r.Checks[0].Verdict)
		})
	}
}

func TestTheWorstOfSeveralChecksCounts(t *testing.T) {
	t.Parallel()
	runScripts(t, answering("BEAT", "-ERR\r\n"), map[string]string{
		"a": beating, "b": "clause FWP-BEAT-01\nS: +HI {\"v\":2}\n",
	}, func(r *reports.Report) {
		c := r.Clauses[clause(r, "FWP-BEAT-01")]
		assert.Equal(t, reports.Fail, c.Verdict)
		assert.Equal(t, []string{"a", "b"}, c.Checks)
	})
}

func TestAServerThatIsGoneIsACrashOfOneCheck(t *testing.T) {
	t.Parallel()
	var hasEnded bool
	hook := func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == fwp.INFO && e.Err != nil {
			hasEnded, e.Bytes, e.Close = true, nil, true
		}
	}
	runScripts(t, hook, map[string]string{"a": strict, "b": strict, "c": strict}, func(r *reports.Report) {
		assert.ElementsMatch(t, []string{"crash", "inconclusive", "inconclusive"}, slices.Collect(maps.Values(verdictsOf(r))))
		assert.Equal(t, reports.ExitFindings, r.ExitCode(reports.ExitOptions{}))
	}, func(r *run.Runner, s *memoryTarget) {
		r.Parallel = 1
		s.isDown = func() bool { return hasEnded }
	})
}

// sluggish returns a server that takes its time for INFO, and a script that it leaves open: nothing comes for a FETCH,
// and the server may have read the line beside it late.
func sluggish() (hook func(*fakes.Event), script string) {
	hook = func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == "INFO" {
			e.Delay = 300 * time.Millisecond
		}
	}
	const info = "C[b]: INFO\nS[b]: $\n"
	return hook, "connect a as consumer\nconnect b as producer\nrepeat 10\n" + info + "end\nC[a]: FETCH $queue\n" + info +
		"clause FWP-FETCH-05\nS[a]: ${\"jid\":\"x\"}\n"
}

func TestLagIsTriedAgainAloneAndThenInconclusive(t *testing.T) {
	t.Parallel()
	slow, script := sluggish()
	runScripts(t, slow, map[string]string{"a": script}, func(r *reports.Report) {
		assert.Equal(t, reports.Inconclusive, r.Checks[0].Verdict)
		assert.Equal(t, 4, r.Checks[0].Attempts)
		assert.Contains(t, r.Checks[0].Clauses[0].Cause, "may be the reason")
		assert.Equal(t, reports.ExitInconclusive, r.ExitCode(reports.ExitOptions{}))
	})
}

func TestAnInterruptedRunReportsWhatItHas(t *testing.T) {
	t.Parallel()
	all := scripts(t, map[string]string{
		"a": beating, "b": beating, "c": "connect as consumer\nclause FWP-RESP-05\nsilence 1h\n",
	})
	synctest.Test(t, func(t *testing.T) {
		target := newTarget()
		server := fakes.NewServer(fakes.Config{Listen: target.Listen})
		defer server.Close()
		ctx, cancel := context.WithCancel(t.Context())
		runner := runnerOn(run.Server{Target: target}, all)
		runner.Progress = func(done, _ int, _ string) {
			if done == 2 {
				cancel()
			}
		}
		r := runner.Run(ctx)
		assert.True(t, r.Interrupted)
		assert.Equal(t, reports.Pass, r.Checks[0].Verdict)
		assert.Equal(t, reports.Pass, r.Checks[1].Verdict)
		assert.Equal(t, reports.Inconclusive, r.Checks[2].Verdict)
		assert.Equal(t, reports.ExitInterrupted, r.ExitCode(reports.ExitOptions{}))
	})
}

func TestTheSeedOrdersTheChecks(t *testing.T) {
	t.Parallel()
	order := func(seed uint64) (names []string) {
		runScripts(t, nil, copies(5, "x", beating), func(*reports.Report) {},
			func(r *run.Runner, _ *memoryTarget) {
				r.Seed, r.Parallel = seed, 1
				r.Progress = func(_, _ int, check string) { names = append(names, check) }
			})
		return names
	}
	first := order(1)
	assert.Equal(t, first, order(1))
	assert.NotEqual(t, first, order(2))
}
