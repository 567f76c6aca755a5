package run_test

import (
	"bufio"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// verbServer answers by the verb: with a line, with nothing, or by closing.
type verbServer struct {
	answers map[string]string
	pause   time.Duration // before each answer
	watch   func(line string)
}

const noReply, closes = "(hangs)", "(shuts)"

func (s verbServer) talk(c net.Conn) {
	defer c.Close()
	defaults := map[string]string{"HELLO": "+OK", "FETCH": "$-1", "INFO": "$2\r\n{}"}
	_, err := c.Write([]byte("+HI {\"v\":2}\r\n"))
	for in := bufio.NewScanner(c); err == nil && in.Scan(); {
		verb, _, _ := strings.Cut(in.Text(), " ")
		if s.watch != nil {
			s.watch(in.Text())
		}
		answer, special := s.answers[verb]
		if all, set := s.answers["*"]; !special && set {
			answer, special = all, true
		}
		if !special {
			answer = "+OK"
			if defaults[verb] != "" {
				answer = defaults[verb]
			}
		}
		time.Sleep(s.pause)
		switch answer {
		case closes:
			return
		case noReply:
			continue
		}
		if _, err = c.Write([]byte(answer + "\r\n")); verb == "END" {
			return
		}
	}
}

// run runs checks on it in virtual time.
func (s verbServer) run(
	t *testing.T, all []conformance.Check, configure func(*run.Runner), look func(*reports.Report),
) {
	t.Helper()
	talking(t, s.talk, all, configure, look)
}

// talking runs checks on a server that calls talk for each connection, in virtual time.
func talking(
	t *testing.T, talk func(net.Conn), all []conformance.Check,
	configure func(*run.Runner), look func(*reports.Report),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		target := newTarget()
		var served store.Group
		go served.Serve(target.MustListen(), talk)
		runner := runnerOn(run.Server{Target: target, Offers: []scenarios.Need{
			scenarios.NeedOpen, scenarios.NeedSignals, scenarios.NeedRestart, scenarios.NeedKill,
			scenarios.NeedAlone, scenarios.NeedFlush,
		}}, all)
		if configure != nil {
			configure(runner)
		}
		look(runner.Run(t.Context()))
		served.Close()
	})
}

// ninthPart returns every ninth check, for the next i others.
func ninthPart(checks []conformance.Check, i int) (part []conformance.Check) {
	for j, c := range checks {
		if (i+j)%9 == 0 {
			part = append(part, c)
		}
	}
	return part
}

// A quick run ends soon whatever the server does; checks that take longer are
// inconclusive.
func TestAQuickRunEndsOnAnyServer(t *testing.T) {
	t.Parallel()
	const retries = 30 * time.Second // for so long what is not proven is tried again, as slow replies leave it
	const limit = run.QuickRun + retries + conformance.QuickCheck + 15*time.Second
	for name, test := range map[string]struct {
		server verbServer
		shared bool // it offers no exclusive use
		limit  time.Duration
	}{
		"HELLO and then nothing": {verbServer{answers: map[string]string{"*": noReply, "HELLO": "+OK"}}, false, limit},
		"HELLO and then nothing, shared": {
			verbServer{answers: map[string]string{"*": noReply, "HELLO": "+OK"}}, true, limit},
		"nothing to HELLO":              {verbServer{answers: map[string]string{"HELLO": noReply}}, false, limit},
		"nothing to HELLO, shared":      {verbServer{answers: map[string]string{"HELLO": noReply}}, true, limit},
		"FETCH always null":             {verbServer{}, false, time.Minute},
		"FETCH always null, shared":     {verbServer{}, true, 30 * time.Second},
		"FETCH always null, late":       {verbServer{pause: 2 * time.Second}, false, limit},
		"each answer after 9 s":         {verbServer{pause: 9 * time.Second}, false, limit},
		"each answer after 9 s, shared": {verbServer{pause: 9 * time.Second}, true, limit},
		"an error to all, after 9.9 s": {
			verbServer{answers: map[string]string{"*": "-ERR no"}, pause: 9900 * time.Millisecond}, false, limit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checks := suite(t, true)
			if !golden.IsSlow() { // a ninth of them for each server, and others for the next
				checks = ninthPart(checks, len(name))
			}
			test.server.run(t, checks, func(r *run.Runner) {
				if r.Quick = true; test.shared {
					r.Servers[0].Offers = []scenarios.Need{scenarios.NeedOpen}
				}
			}, func(r *reports.Report) {
				assert.Less(t, r.Took, test.limit)
				t.Log(r.Took)
				for _, c := range r.Checks {
					assert.NotEqual(t, reports.Crash, c.Verdict, c.ID)
				}
			})
		})
	}
}

// What only patience can decide is inconclusive in a quick run, and checks that would begin
// too late are not run.
func TestAQuickRunLeavesOpenWhatTakesLonger(t *testing.T) {
	t.Parallel()
	all := scripts(t, map[string]string{
		"eventual": "connect as consumer\nclause FWP-STATE-11\neventually\n  C: FETCH $queue\n  S: ${}\nend\n",
		"slow": "connect as consumer\nclause FWP-INFO-01\n" + strings.Repeat("C: FETCH $queue\nS: $-1\n", 40) +
			"C: INFO\nS: $\n",
	})
	reasonOf := func(r *reports.Report, id string) string {
		c := r.Checks[slices.IndexFunc(r.Checks, func(c reports.Check) bool { return c.ID == id })]
		return c.Verdict.String() + ": " + c.Clauses[0].Cause
	}
	quick := func(r *run.Runner) { r.Quick = true }
	verbServer{pause: 2 * time.Second}.run(t, all, quick, func(r *reports.Report) {
		assert.Contains(t, reasonOf(r, "eventual"),
			"inconclusive: line 5: a quick run waits at most 15s for late events")
		assert.Contains(t, reasonOf(r, "slow"), "a quick run limits each check to 1m0s")
	})
	verbServer{pause: 2 * time.Second}.run(t, all, nil, func(r *reports.Report) {
		assert.Contains(t, reasonOf(r, "eventual"), "fail: ")
		assert.Equal(t, "pass: ", reasonOf(r, "slow"))
	})
	checks := scripts(t, copies(10, "slow", "connect as consumer\nclause FWP-INFO-01\nrepeat 25\n  C: INFO\n  S: $\nend\n"))
	oneByOne := func(r *run.Runner) { r.Quick, r.Parallel = true, 1 }
	verbServer{pause: 2 * time.Second}.run(t, checks, oneByOne, func(r *reports.Report) {
		lateChecks := 0
		for _, c := range r.Checks {
			lateChecks += bit(c.Verdict == reports.NotRun && strings.Contains(c.Cause, "a quick run starts no more checks after"))
		}
		assert.Positive(t, lateChecks)
		assert.Less(t, lateChecks, 10)
	})
}

// A quick run that plays one check at a time is as long as any other, and begins with what waits least.
func TestAQuickRunOfOneAtATimeEnds(t *testing.T) {
	t.Parallel()
	all := scripts(t, copies(60, "waits", "waits: 4s\nconnect as consumer\nclause FWP-RESP-05\nsilence 4s\n"))
	all = append(all, scripts(t, copies(20, "zeros", "connect as consumer\nclause FWP-INFO-01\nC: INFO\nS: $\n"))...)
	oneByOne := func(r *run.Runner) { r.Quick, r.Parallel = true, 1 }
	verbServer{pause: 100 * time.Millisecond}.run(t, all, oneByOne, func(r *reports.Report) {
		assert.Less(t, r.Took, run.QuickRun+conformance.QuickCheck)
		starts := 0
		for _, c := range r.Checks {
			assert.False(t, strings.HasPrefix(c.ID, "zeros") && c.Verdict != reports.Pass, c.ID+" "+c.Verdict.String())
			starts += bit(strings.HasPrefix(c.ID, "waits") && c.Verdict == reports.Pass)
		}
		assert.Greater(t, starts, 20)
		assert.Less(t, starts, 60)
	})
}

// The findings about a server that declines every HELLO are about HELLO.
func TestTheClauseOfADeclinedHELLO(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		hello  string
		broken []string
	}{
		"an error":     {"-ERR no", []string{"FWP-HELLO-03"}},
		"a close":      {closes, []string{"FWP-HELLO-04", "FWP-HELLO-06", "FWP-HELLO-15", "FWP-HELLO-16"}},
		"another word": {"+WELCOME", []string{"FWP-HELLO-03"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := slices.DeleteFunc(suite(t, true), func(c conformance.Check) bool {
				return !strings.HasPrefix(c.Describe().ID, "hello/") && !strings.HasPrefix(c.Describe().ID, "examples/")
			})
			verbServer{answers: map[string]string{"HELLO": test.hello}}.run(t, all, nil, func(r *reports.Report) {
				var clauses []string
				for _, c := range r.Clauses {
					assert.NotEqual(t, reports.Crash, c.Verdict, c.ID)
					if c.Verdict == reports.Fail && strings.HasPrefix(c.ID, "FWP-HELLO-") {
						clauses = append(clauses, c.ID)
					}
				}
				assert.Subset(t, clauses, test.broken)
				assert.Equal(t, name != "a close", slices.Contains(clauses, "FWP-HELLO-03"))
			})
		})
	}
}

// A crash that no line reports names the clause of the last line, if that has one.
func TestTheClauseOfACrash(t *testing.T) {
	t.Parallel()
	for clauses, want := range map[string]string{"FWP-FRAME-03": "FWP-FRAME-03", "FWP-FRAME-03 FWP-RESP-02": ""} {
		t.Run(clauses, func(t *testing.T) {
			t.Parallel()
			all := scripts(t, map[string]string{
				"x": "connect as producer\nC: INFO\nS: $\nclause " + clauses + "\nC bad: PUSH x\nS: -\n",
			})
			var isDead atomic.Bool
			talk := func(c net.Conn) {
				if isDead.Load() {
					c.Close()
					return
				}
				watch := func(line string) {
					if isDead.Load() {
						c.Close()
					}
					isDead.CompareAndSwap(false, line == "PUSH x")
				}
				verbServer{answers: map[string]string{"PUSH": "-ERR no"}, watch: watch}.talk(c)
			}
			talking(t, talk, all, nil, func(r *reports.Report) {
				require.Len(t, r.Findings(), 1)
				f := r.Findings()[0]
				assert.Equal(t, reports.Crash, f.Verdict)
				assert.Equal(t, want, f.Clause)
				assert.Equal(t, 6, f.Line)
			})
		})
	}
}

// A greeting that fails is reported without the line, with what each side did.
func TestADeclinedGreetingIsOneCause(t *testing.T) {
	t.Parallel()
	all := scripts(t, map[string]string{
		"a": "connect as consumer\nclause FWP-INFO-01\nC: INFO\nS: $\n",
		"b": "\n\nconnect as consumer\nclause FWP-INFO-01\nC: INFO\nS: $\n",
	})
	for hello, want := range map[string]string{
		closes:   "the greeting failed: the server closed the connection on HELLO",
		"-ERR x": "the greeting failed: HELLO was answered with -ERR x",
		noReply:  "the greeting failed: HELLO was not answered",
	} {
		verbServer{answers: map[string]string{"HELLO": hello}}.run(t, all, nil, func(r *reports.Report) {
			for _, c := range r.Checks {
				assert.Equal(t, reports.Inconclusive, c.Verdict)
				assert.Equal(t, "the set-up did not work: expected a consumer's connection, got "+want, c.Clauses[0].Cause)
			}
		})
	}
}
