package run_test

import (
	"context"
	"maps"
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
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/crowd"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// returning returns a property that dials once and returns the evidence.
func returning(name string, evidence conformance.Evidence) conformance.Property {
	run := func(ctx context.Context, setup conformance.Setup) conformance.Evidence {
		nc, err := setup.Target.Dial(ctx)
		if err != nil {
			return conformance.Evidence{DeadReason: "nothing listens", HasServed: true}
		}
		defer nc.Close()
		_, _ = nc.Read(make([]byte, 100)) // the greeting
		return evidence
	}
	return conformance.Property{Name: name, Title: "An example.", Connections: 1, Run: run}
}

// withProperties adds properties to a run.
func withProperties(properties ...conformance.Property) func(*run.Runner, *memoryTarget) {
	return func(r *run.Runner, _ *memoryTarget) {
		r.Checks = append(r.Checks, checksOf(properties)...)
		r.Reproduce = func(check string) string { return "play " + check }
	}
}

func checksOf(properties []conformance.Property) []conformance.Check {
	var all []conformance.Check
	for _, p := range properties {
		all = append(all, p)
	}
	return all
}

// Where a generated check has no script for what it found, its finding has the command that looks for one.
func TestAFindingWithoutAScriptSaysSo(t *testing.T) {
	t.Parallel()
	evidence := conformance.Evidence{HasServed: true, Findings: []conformance.Finding{
		{Clause: "FWP-PUSH-01", Got: "-ERR"}, {Clause: "FWP-ACK-01", Got: "-ERR", Script: "connect as producer\n"},
	}}
	with := withProperties(returning("generated", evidence))
	runScripts(t, nil, nil, func(r *reports.Report) {
		var all []string
		for _, f := range r.Findings() {
			all = append(all, f.Clause+" "+f.NoScriptReason+"; "+f.Shrink)
		}
		assert.ElementsMatch(t, []string{
			"FWP-PUSH-01 none was found in time; look generated", "FWP-ACK-01 ; ",
		}, all)
	}, func(r *run.Runner, target *memoryTarget) {
		with(r, target)
		r.Shrink = func(check, finding string) string { return "look " + check + finding }
	})
}

func TestVerdictsOfProperties(t *testing.T) {
	t.Parallel()
	found := func(f ...conformance.Finding) conformance.Evidence {
		return conformance.Evidence{HasServed: true, Findings: f}
	}
	tests := map[string]struct {
		evidence conformance.Evidence
		want     reports.Verdict
		reason   string // a part of it
		clauses  string
	}{
		"nothing found": {found(), reports.Pass, "", ""},
		"open": {
			conformance.Evidence{HasServed: true, OpenCause: "a job is missing"}, reports.Inconclusive, "a job is missing", ""},
		"dead": {conformance.Evidence{HasServed: true, DeadReason: "no new connection is served"}, reports.Crash, "", ""},
		"dead, not served": {
			conformance.Evidence{DeadReason: "no new connection is served"}, reports.Inconclusive, "identified", ""},
		"a crash": {found(conformance.Finding{Crash: true, Got: "the end"}), reports.Crash, "", ""},
		"a crash of what did not serve": {
			conformance.Evidence{Findings: []conformance.Finding{{Crash: true, Got: "the end"}}}, reports.Fail, "", ""},
		"a plain clause": {
			found(conformance.Finding{Clause: "FWP-ACK-01", Expected: "+OK", Got: "-ERR"}),
			reports.Fail, "", "FWP-ACK-01 fail"},
		"a SHOULD": {found(conformance.Finding{Clause: "FWP-INFO-03"}), reports.Warn, "", "FWP-INFO-03 warn"},
		"a recommended value": {
			found(conformance.Finding{Clause: "FWP-ACK-01", IsRecommendation: true}), reports.Warn, "", "FWP-ACK-01 warn"},
		"a recorded one": {
			found(conformance.Finding{Clause: "FWP-HELLO-08"}), reports.Observed, "", "FWP-HELLO-08 observed"},
		"two of one clause": {
			found(conformance.Finding{Clause: "FWP-ACK-01"}, conformance.Finding{Clause: "FWP-ACK-01", IsTimed: true}),
			reports.Fail, "", "FWP-ACK-01 fail"},
		"what follows from another": {
			found(conformance.Finding{Clause: "FWP-FLUSH-01", CommandClause: "FWP-ACK-01"}, conformance.Finding{Clause: "FWP-ACK-01"}),
			reports.Fail, "", "FWP-FLUSH-01 inconclusive, FWP-ACK-01 fail"},
		"what would follow": {
			found(conformance.Finding{Clause: "FWP-FLUSH-01", CommandClause: "FWP-ACK-01"}), reports.Fail, "", "FWP-FLUSH-01 fail"},
		"what rests on another": {
			found(conformance.Finding{Clause: "FWP-FLUSH-01", Premises: []string{"FWP-HI-01", "FWP-ACK-01"}},
				conformance.Finding{Clause: "FWP-ACK-01"}),
			reports.Fail, "", "FWP-FLUSH-01 inconclusive, FWP-ACK-01 fail"},
		"what rests on what holds": {
			found(conformance.Finding{Clause: "FWP-FLUSH-01", Premises: []string{"FWP-HI-01"}},
				conformance.Finding{Clause: "FWP-ACK-01"}),
			reports.Fail, "", "FWP-FLUSH-01 fail, FWP-ACK-01 fail"},
		"no clause": {found(conformance.Finding{Detail: "it is wrong"}), reports.Fail, "", ""},
		"found, not served": {
			conformance.Evidence{Findings: []conformance.Finding{{Clause: "FWP-HI-02"}}},
			reports.Fail, "identified", "FWP-HI-02 fail"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runScripts(t, nil, nil, func(r *reports.Report) {
				c := r.Checks[0]
				assert.Equal(t, test.want.String(), c.Verdict.String())
				assert.Contains(t, c.Cause, test.reason)
				assert.Empty(t, c.File)
				var clauses []string
				for _, cv := range c.Clauses {
					clauses = append(clauses, cv.ID+" "+cv.Verdict.String())
				}
				assert.Equal(t, test.clauses, strings.Join(clauses, ", "))
				if test.want.IsBreach() {
					require.NotEmpty(t, c.Findings)
					assert.Equal(t, "play a/property", c.Findings[0].Reproduce)
				}
			}, withProperties(returning("a/property", test.evidence)))
		})
	}
}

// A span of time that was wrong at one moment is a finding when a second try has it wrong, too.
func TestOneMomentIsNoFinding(t *testing.T) {
	t.Parallel()
	unsteadyPlay := conformance.Evidence{HasServed: true, Findings: []conformance.Finding{
		{Clause: "FWP-FETCH-06", IsTimed: true, IsUnsteady: true, Got: "a reply after 4s"},
	}}
	for want, second := range map[reports.Verdict]conformance.Evidence{reports.Pass: {HasServed: true}, reports.Fail: unsteadyPlay} {
		tries := 0
		property := returning("a/property", conformance.Evidence{})
		play := property.Run
		property.Run = func(ctx context.Context, setup conformance.Setup) conformance.Evidence {
			_ = play(ctx, setup)
			evidence := second
			if tries++; tries == 1 {
				evidence = unsteadyPlay
			}
			evidence.Findings = slices.Clone(evidence.Findings) // the runner drops some
			return evidence
		}
		runScripts(t, nil, nil, func(r *reports.Report) {
			assert.Equal(t, want.String(), r.Checks[0].Verdict.String())
			assert.Equal(t, 2, r.Checks[0].Attempts)
		}, withProperties(property))
	}
}

func TestEvidenceOfAProperty(t *testing.T) {
	t.Parallel()
	f := conformance.Finding{
		Clause: "FWP-ACK-01", Expected: "+OK", Got: "-ERR", Detail: "it was held", Script: "C: INFO\nS: $\n",
	}
	runScripts(t, nil, nil, func(r *reports.Report) {
		got := r.Checks[0].Findings[0]
		assert.Equal(t, "+OK", got.Expected)
		assert.Equal(t, "-ERR; it was held", got.Actual)
		assert.Equal(t, reports.LevelPlain, got.Level)
		assert.NotEmpty(t, got.Statement)
		assert.Equal(t, f.Script, got.Script)
	}, withProperties(returning("a/property", conformance.Evidence{HasServed: true, Findings: []conformance.Finding{f}})))
	f.Script, f.UnscriptedReason, f.Unshrunk = "", "no time was left", []string{"C: INFO"}
	f.Conversation = []reports.Line{
		{From: reports.FromClient, Conn: "c1", Text: "INFO"}, {From: reports.FromServer, Conn: "c1", Text: "-ERR"},
	}
	runScripts(t, nil, nil, func(r *reports.Report) {
		got := r.Checks[0].Findings[0]
		assert.Equal(t, "no time was left", got.NoScriptReason)
		assert.Equal(t, "look a/property", got.Shrink, "the command that looks for one")
		assert.Equal(t, f.Unshrunk, got.LastSteps)
		assert.Equal(t, []string{reports.FromClient, reports.FromServer},
			[]string{got.Conversation[0].From, got.Conversation[1].From})
		assert.Equal(t, 2, got.MarkedLine)
	}, withProperties(returning("a/property", conformance.Evidence{HasServed: true, Findings: []conformance.Finding{f}})),
		func(r *run.Runner, _ *memoryTarget) {
			r.Shrink = func(check, finding string) string { return "look " + check + finding }
		})
}

func TestAPropertyIsRunLikeAScript(t *testing.T) {
	t.Parallel()
	property := returning("a", conformance.Evidence{HasServed: true, Findings: []conformance.Finding{{Clause: "FWP-ACK-01"}}})
	wait := func(ctx context.Context, _ conformance.Setup) conformance.Evidence {
		<-ctx.Done()
		return conformance.Evidence{HasServed: true}
	}
	patient := conformance.Property{Name: "b", Wait: time.Hour, Run: wait}
	t.Run("repeated", func(t *testing.T) {
		t.Parallel()
		runScripts(t, nil, nil, func(r *reports.Report) {
			assert.Equal(t, []reports.Count{{Verdict: reports.Fail, Times: 3}}, r.Checks[0].Runs)
		}, withProperties(property), func(r *run.Runner, _ *memoryTarget) { r.Repeat = 3 })
	})
	t.Run("ended with the first finding", func(t *testing.T) {
		t.Parallel()
		runScripts(t, nil, nil, func(r *reports.Report) {
			assert.Equal(t, reports.Fail, r.Checks[0].Verdict)
			assert.Equal(t, reports.NotRun, r.Checks[1].Verdict)
		}, withProperties(property, patient), func(r *run.Runner, _ *memoryTarget) {
			server := r.Servers[0]
			r.FailFast, r.Servers[0].StartServer = true, func() (run.Server, func(), error) { return server, func() {}, nil }
		})
	})
	t.Run("passes no clause of the catalogue", func(t *testing.T) {
		t.Parallel()
		runScripts(t, nil, nil, func(r *reports.Report) {
			for _, c := range r.Clauses {
				assert.NotEqual(t, reports.Pass, c.Verdict, c.ID)
			}
		}, withProperties(returning("a", conformance.Evidence{HasServed: true})))
	})
	t.Run("an internal error", func(t *testing.T) {
		t.Parallel()
		panics := func(context.Context, conformance.Setup) conformance.Evidence { panic("ours") }
		ours := conformance.Property{Name: "a", Run: panics}
		runScripts(t, nil, nil, func(r *reports.Report) {
			assert.Contains(t, r.Internal, "check a: ours")
			assert.Equal(t, reports.Inconclusive, r.Checks[0].Verdict)
		}, withProperties(ours))
	})
}

func TestPropertiesAreSelected(t *testing.T) {
	t.Parallel()
	all := append(scripts(t, map[string]string{"push/ok": "clause FWP-PUSH-01\nS: +HI {}\n"}),
		returning("explore/a", conformance.Evidence{}), conformance.Property{Name: "explore/slow", Wait: time.Minute})
	tests := map[string]struct {
		selection conformance.Selection
		want      string
	}{
		"all": {conformance.Selection{Suite: fwpsuite.Protocol()}, "push/ok explore/a explore/slow"},
		"by glob": {
			conformance.Selection{Suite: fwpsuite.Protocol(), Checks: []string{"explore/*"}}, "explore/a explore/slow",
		},
		"quick":         {conformance.Selection{Suite: fwpsuite.Protocol(), Quick: true}, "push/ok explore/a"},
		"not by clause": {conformance.Selection{Suite: fwpsuite.Protocol(), Clauses: []string{"FWP-*"}}, "push/ok"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, _, err := test.selection.Apply(all)
			require.NoError(t, err)
			var names []string
			for _, s := range in {
				names = append(names, s.Describe().ID)
			}
			assert.Equal(t, test.want, strings.Join(names, " "))
		})
	}
}

// suiteProperties returns the checks of the suite that are not scripts, but for those that need a password. Without
// FWP_SLOW=1, those that push thousands of jobs are left out.
func suiteProperties() []conformance.Property {
	return slices.DeleteFunc(append(fwpsuite.Explorations(), crowd.Check()), func(p conformance.Property) bool {
		isLong := slices.Contains([]string{"explore/lives", "explore/values"}, p.Name)
		return len(p.Needs) > 0 || isLong && !golden.IsSlow()
	})
}

// withSuiteProperties adds them to a run.
func withSuiteProperties() func(*run.Runner, *memoryTarget) {
	return withProperties(suiteProperties()...)
}

func TestPropertiesEndWithinTheirWait(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	for _, p := range suiteProperties() {
		runScripts(t, nil, nil, func(r *reports.Report) {
			assert.Equal(t, reports.Pass, r.Checks[0].Verdict, r.Checks[0].Cause)
			assert.LessOrEqual(t, r.Checks[0].Took, p.Wait+play.DefaultTimeout, "%s: and a last reply", p.Name)
		}, withProperties(p))
	}
}

func TestALimitOfConnectionsIsNoFindingOfAProperty(t *testing.T) {
	t.Parallel()
	for i, limit := range []int{40, 20, 4} {
		for _, silent := range golden.Sample([]bool{i%2 == 0}, []bool{false, true}) {
			all := append(checksOf(suiteProperties()), scripts(t, copies(5, "x", beating))...)
			runLimited(t, limit, silent, all, func(r *reports.Report) {
				assert.Empty(t, r.Findings())
				for _, c := range r.Checks {
					if strings.HasPrefix(c.ID, "x") {
						assert.Equal(t, reports.Pass, c.Verdict, c.ID)
						continue
					}
					if c.Verdict == reports.Inconclusive && limit < 20 {
						assert.Contains(t, c.Cause, "too few connections", c.ID)
						continue
					}
					assert.Equal(t, reports.Pass.String(), c.Verdict.String(), "%s: %s", c.ID, c.Cause)
				}
			})
		}
	}
}

func TestAServerThatDiesOfAPropertyIsACrash(t *testing.T) {
	t.Parallel()
	var fetches atomic.Int64
	hook := func(e *fakes.Event) {
		if e.Point == fakes.Parsed && e.Command.Verb == fwp.FETCH {
			fetches.Add(1)
		}
		if e.Point == fakes.Ran && fetches.Load() > 20 {
			e.Reply, e.Close = fwp.Reply{}, true
		}
	}
	runScripts(t, hook, nil, func(r *reports.Report) {
		crashes := 0
		for _, c := range r.Checks {
			crashes += bit(c.Verdict == reports.Crash)
			assert.Contains(t, []reports.Verdict{reports.Crash, reports.Inconclusive}, c.Verdict, c.ID)
		}
		assert.Equal(t, 1, crashes, "of one of them if only that was under way, or of none")
	}, withSuiteProperties(), func(_ *run.Runner, s *memoryTarget) {
		s.isDown = func() bool { return fetches.Load() > 20 }
	})
}

func TestPropertiesTouchNothingOfOthers(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	for _, password := range golden.Sample([]string{"secret"}, []string{"", "secret"}) {
		for seed := range golden.Sample[uint64](1, 5) {
			synctest.Test(t, func(t *testing.T) {
				v := &traffic{queues: map[string]bool{}}
				pool := &serverPool{nw: memnet.New(), config: fakes.Config{Hook: v.hook}}
				defer pool.close()
				server, _, err := pool.build(fakes.Config{Password: password})
				assert.NoError(t, err)
				r := &run.Runner{Suite: fwpsuite.Protocol(), Servers: []run.Server{server}, Seed: seed, Virtual: true}
				withSuiteProperties()(r, nil)
				assert.Empty(t, r.Run(t.Context()).Findings())
				for _, name := range slices.Collect(maps.Keys(v.queues)) {
					assert.True(t, isOurs(name), "not ours: %q", name)
				}
				for _, line := range v.lines {
					assert.NotContains(t, strings.ToUpper(line), fwp.FLUSH)
				}
				assert.Greater(t, len(v.fetched), 100, "it was not all refused")
			})
		}
	}
}
