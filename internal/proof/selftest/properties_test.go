package selftest

import (
	"fmt"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/fakes/variations"
	"github.com/fwpsuite/fwp/internal/base/allow"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/protocols/fwp/crowd"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
)

// properties are the checks without a script that need no password, or those of these names.
func properties(names ...string) []conformance.Check {
	var all []conformance.Check
	for _, p := range append(fwpsuite.Explorations(), crowd.Check()) {
		if len(names) == 0 && len(p.Needs) == 0 || slices.Contains(names, p.Name) {
			all = append(all, p)
		}
	}
	return all
}

// playProperties tries the properties, or those of these names, on a server of this kind, which is another one for each of
// them if there can be others like it.
func playProperties(
	t *testing.T, configure func(*fakes.Config), hook func() func(*fakes.Event), withOthers bool, seed int, names ...string,
) (checks []reports.Check) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		v := &pool{fixture: Fixture{Network: memnet.New()}}
		if hook != nil {
			v = poolWith(hook)
		}
		if configure != nil {
			v.config.Variation = registry.FWPVariation(fakes.Variation{Configure: configure})
		}
		defer v.close()
		build := func() (run.Server, func(), error) {
			server, err := v.build(v.config)
			return server, func() {}, err
		}
		server, _, err := build()
		require.NoError(t, err)
		if withOthers {
			server.StartServer = build
		}
		runner := &run.Runner{
			Suite: fwpsuite.Protocol(), Servers: []run.Server{server}, Checks: properties(names...),
			Seed: uint64(seed), Virtual: true,
			Reproduce: func(check string) string { return "again " + check },
		}
		checks = runner.Run(t.Context()).Checks
	})
	return checks
}

// TestPropertiesBlameNothing tries the properties on servers that are right: on each
// kind with FWP_SLOW=1, and otherwise the short ones on every eightieth. The race detector watches one.
func TestPropertiesBlameNothing(t *testing.T) {
	t.Parallel()
	shortNames := []string{"explore/commands", "explore/waits", "explore/short-lives", "explore/crowd"}
	seeds, step := golden.Sample(1, 2), golden.Sample(80, 1)
	for i, v := range append(variations.All(), fakes.Variation{Name: "none"}) {
		if i%step != 0 || golden.Racing && i > 0 {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			var uses allow.Usage
			for seed := range seeds {
				var names []string // all
				switch {
				case seed > 0:
					names = []string{"explore/commands", "explore/crowd"}
				case !golden.IsSlow():
					names = shortNames
				}
				checks := playProperties(t, v.Configure, nil, seed%2 == 0, seed, names...)
				report := &reports.Report{Checks: checks}
				assert.Empty(t, Fixture{}.FalseAlarms(registry.FWPVariation(v), report, &uses), "seed %d", seed)
				for _, check := range checks {
					for _, f := range check.Findings {
						t.Logf("%s %s: %v", check.ID, f.Clause, f.Script)
					}
				}
			}
			if golden.IsSlow() {
				assert.Empty(t, staleRows(registry.FWPVariation(v), &uses, true))
			}
		})
	}
}

// TestPropertiesCatch tries the properties on servers with bugs that each of them has
// to find. What is wrong in a history can look like several things.
func TestPropertiesCatch(t *testing.T) {
	t.Parallel()
	tests := map[string]map[string]bool{ // whether nothing else is blamed and a script shows it always
		"explore/commands": {
			"job-retry-follows": true, "ack-malformed-ok": false, "fetch-order": false, "push-lost": false,
		},
		"explore/values":      {"job-integer-rounded": true, "job-retry-follows": true},
		"explore/lives":       {"reservation-lost": false, "retry-zero-kept": false, "schedule-early": false},
		"explore/short-lives": {"fail-after-ack": false},

		"explore/restart": {"restart-returns-done": false, "restart-ascii": false},

		"explore/restarted-lives": {"restart-forgets-failures": false},

		"explore/crowd": {"delivered-twice": false, "push-lost": false, "reply-swapped": false},
	}
	for check, chosen := range tests {
		for _, bug := range bugs.All() {
			isPlain, ok := chosen[bug.Name]
			names := []string{"job-retry-follows", "delivered-twice", "restart-returns-done"}
			if !ok || !golden.IsSlow() && !slices.Contains(names, bug.Name) {
				continue // conformance/explore and protocols/fwp/crowd search for some of the others
			}
			t.Run(check+"/"+bug.Name, func(t *testing.T) {
				t.Parallel()
				if check != "explore/crowd" {
					golden.NotRacing(t)
				}
				for i, withOthers := range golden.Sample([]bool{len(bug.Name)%2 == 0}, []bool{true, true, false, false}) {
					result := playProperties(t, nil, slowDown(bug.Hook), withOthers, 5-i%2, check)[0]
					assert.True(t, result.Verdict.IsBreach(), "%s: %s", result.Verdict, result.Cause)
					count, isNamed := 0, false
					for _, f := range result.Findings {
						isNamed = isNamed || slices.Contains(bug.Clauses, f.Clause)
						count += len(f.Script)
						assert.NotEmpty(t, f.Level)
						assert.Equal(t, "again "+check, f.Reproduce)
						assert.True(t, !isPlain || slices.Contains(bug.Clauses, f.Clause), "%s: %s", f.Clause, f.Actual)
					}
					inCrowd := check == "explore/crowd"
					pairs := bug.Name == "reply-swapped" // of which there need not be one in a short conversation
					assert.True(t, isNamed || !inCrowd, "it was taken for something else")
					assert.True(t, count > 0 || !isPlain && (!inCrowd || !withOthers || pairs), "no script shows it")
				}
			})
		}
	}
}

// A server that has its jobs in memory alone is free to: whatever a restart has lost is no more than a warning.
func TestPropertiesWarnOfARestart(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	bug, ok := bugs.Lookup("restart-forgets")
	require.True(t, ok)
	for seed := range golden.Sample(2, 8) {
		result := playProperties(t, nil, slowDown(bug.Hook), true, seed, "explore/restart")[0]
		assert.Equal(t, reports.Warn, result.Verdict, "%s %+v", result.Cause, result.Findings)
	}
}

// slowDown has a server take a little time for each reply: where nothing takes time,
// nothing comes before anything else.
func slowDown(hook func() func(*fakes.Event)) func() func(*fakes.Event) {
	return func() func(*fakes.Event) {
		bug := hook()
		return func(e *fakes.Event) {
			bug(e)
			if e.Point == fakes.Writing {
				e.Delay += 50 * time.Microsecond
			}
		}
	}
}

// TestPropertiesOfNoServers tries the properties on what is no server: they come to
// their end, and pass nothing. Without FWP_SLOW=1 each such server has a part of them.
func TestPropertiesOfNoServers(t *testing.T) {
	t.Parallel()
	const hi, ok = `+HI {"v":2}`, "+OK"
	const part = 5
	for name, serve := range map[string]func(net.Conn){
		"silent":             impostor{}.serve,
		"closing":            impostor{answer: "close"}.serve,
		"OK":                 impostor{answer: ok}.serve,
		"ERR":                impostor{answer: "-ERR no"}.serve,
		"random":             noise("", ""),
		"HI, random":         noise(hi, ""),
		"HI, HELLO, silent":  impostor{greeting: hi, welcome: ok}.serve,
		"HI, HELLO, closing": impostor{hi, ok, "close"}.serve,
		"HI, HELLO, OK":      impostor{hi, ok, ok}.serve,
		"HI, HELLO, ERR":     impostor{hi, ok, "-ERR no"}.serve,
		"HI, HELLO, random":  noise(hi, ok),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forLong := name == "HI, HELLO, OK" // explorations end soon on the others
			if forLong {
				golden.NotRacing(t)
			}
			for i, script := range properties() {
				isPicked := (i+len(name))%part == 0
				if forLong {
					isPicked = script.Describe().ID == "explore/commands"
				}
				if !isPicked && !golden.IsSlow() {
					continue
				}
				report := against(t, serve, []conformance.Check{script})
				check := report.Checks[0]
				assert.NotEqual(t, reports.Pass, check.Verdict, check.ID)
				assert.NotEqual(t, reports.Observed, check.Verdict, check.ID)
				assert.NotEmpty(t, fmt.Sprint(check.Cause, check.Findings), check.ID)
				for _, c := range check.Clauses {
					assert.NotEqual(t, reports.Pass, c.Verdict, c.ID)
				}
			}
		})
	}
}
