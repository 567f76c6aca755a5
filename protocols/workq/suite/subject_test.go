package suite_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	fakeworkq "github.com/fwpsuite/fwp/fakes/workq"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	workqscript "github.com/fwpsuite/fwp/protocols/workq/script"
	workqsuite "github.com/fwpsuite/fwp/protocols/workq/suite"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// servers starts servers, each in a network of its own.
func servers(configure func(*fakeworkq.Config)) func() (play.Target, func(), error) {
	return func() (play.Target, func(), error) {
		place := memnet.NewPlace()
		var config fakeworkq.Config
		if configure != nil {
			configure(&config)
		}
		s := fakeworkq.NewServer(config)
		go s.Serve(place.MustListen())
		return place, s.Close, nil
	}
}

// runExplorer explores a server in virtual time.
func runExplorer(t *testing.T, configure func(*fakeworkq.Config), seed uint64, steps int) (r *explore.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fresh := servers(configure)
		at, end, err := fresh()
		require.NoError(t, err)
		defer end()
		e := explore.Explorer{
			Alphabet: workqsuite.Alphabet(), Target: at, StartTarget: fresh, Seed: seed, Steps: steps, LongestWait: time.Second, Alone: true,
		}
		r = e.Run(t.Context())
		time.Sleep(time.Minute) // of the bubble: what a server does late ends with it
	})
	return r
}

// TestNothingIsBlamed explores servers that are right: a few of them, all with FWP_SLOW=1.
func TestNothingIsBlamed(t *testing.T) {
	t.Parallel()
	steps, every := 200, 14
	if golden.IsSlow() {
		steps, every = 5000, 1
	}
	for i, v := range append(fakeworkq.Variations(), fakeworkq.Variation{Name: "none"}) {
		if i%every != 0 && v.Name != "none" {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			r := runExplorer(t, v.Configure, uint64(i)+1, steps)
			for _, f := range r.Findings {
				t.Errorf("%s %s: expected %s, got %s\n%s", f.Rule, f.Clause, f.Expected, f.Got, f.Script)
			}
			assert.Greater(t, r.Commands, steps*9/10)
			assert.True(t, len(r.LeftoverJobs) == 0 || v.Name == "reply-late", r.LeftoverJobs) // which has no time to clean up
		})
	}
}

// TestBugsAreFound explores servers with bugs: the first clause of each is found, by a script that parses. Without
// FWP_SLOW=1 it is a sample.
func TestBugsAreFound(t *testing.T) {
	t.Parallel()
	names := []string{
		"add-priority-ignored", "delete-keeps", "refused-ttr",
	}
	if golden.IsSlow() {
		names = append(names, "add-lost", "complete-lost", "lease-other-id", "line-lf", "add-payload-trimmed",
			"add-same-id", "fail-again-always", "fail-again-never",
			"complete-unknown-ok", "inspect-queue-empty", "inspect-state-new", "inspect-jobs-empty", "lease-first-name",
			"lease-ttr-seconds", "line-reply-twice", "result-unknown-timeout", "schedule-at-once",
			"inspect-fails-zero", "inspect-count-less", "line-refused-closes", "add-payload-cut")
	}
	otherClauses := map[string][]string{ // where an exploration may see a bug first
		"add-same-id": {"WORKQ-LEASE-02", "WORKQ-INSP-10"}, "fail-again-always": {"WORKQ-INSP-04"},
		"fail-again-never": {"WORKQ-INSP-06", "WORKQ-LEASE-02"},
		"add-lost":         {"WORKQ-DEL-01"}, "complete-lost": {"WORKQ-RESULT-01", "WORKQ-INSP-04"},
	}
	for _, f := range fakeworkq.Bugs() {
		if !slices.Contains(names, f.Name) {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			r := runExplorer(t, func(c *fakeworkq.Config) { c.Hook = f.Hook() }, 1, 5000)
			require.NotEmpty(t, r.Findings)
			found := r.Findings[0]
			assert.Contains(t, append(f.Clauses, otherClauses[f.Name]...), found.Clause,
				"%s: expected %s, got %s", found.Rule, found.Expected, found.Got)
			assert.Equal(t, 5, found.Hits, found.Script)
			if found.UnscriptedReason != "" { // its bytes can stand in no script
				return
			}
			script, err := scenarios.Parse(workqscript.Dialect{}, "found.fwp", []byte(found.Script))
			require.NoError(t, err, found.Script)
			assert.Empty(t, scenarios.Lint(script), found.Script)
			t.Log(found.Script)
		})
	}
}

// TestLivesAreFollowed: what time does wrong with a job shows, whatever has happened to the job before; nothing shows
// of a server that is right.
func TestLivesAreFollowed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, clause string
		lives        func() *explore.Alphabet
	}{
		{"", "", workqsuite.Lives},
		{"", "", workqsuite.LongLives},
		{"lease-expires-once", "WORKQ-ADD-06", workqsuite.Lives},
		{"add-ttl-reported", "WORKQ-ADD-08", workqsuite.Lives},
		{"add-ttl-leased", "WORKQ-ADD-08", workqsuite.Lives},
		{"lease-again-longer", "WORKQ-ADD-06", workqsuite.LongLives},
	} {
		name, clause := test.name, test.clause
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				at, end, err := servers(func(c *fakeworkq.Config) {
					for _, f := range fakeworkq.Bugs() {
						if f.Name == name {
							c.Hook = f.Hook()
						}
					}
				})()
				require.NoError(t, err)
				defer end()
				e := explore.Explorer{
					Alphabet: test.lives(), Target: at, Seed: 1, Exploring: time.Minute, Time: 2 * time.Minute, Alone: true,
					Findings: 20, SkipsShrinking: true,
				}
				var clauses, details []string
				start := time.Now()
				for _, f := range e.Run(t.Context()).Findings {
					clauses = append(clauses, f.Clause)
					details = append(details, fmt.Sprintf("%s: expected %s, got %s\n%s", f.Clause, f.Expected, f.Got, f.Script))
				}
				assert.Greater(t, time.Since(start), 4900*time.Millisecond, "until all that is due has happened")
				if assert.Equal(t, clause != "", len(clauses) > 0, strings.Join(details, "\n")); clause != "" {
					assert.Contains(t, clauses, clause)
				}
			})
		})
	}
}

// TestCompared compares a server with itself, of which nothing differs but the choice among several jobs, and with one
// that has a bug.
func TestCompared(t *testing.T) {
	t.Parallel()
	compare := func(bug string) (r *explore.ComparisonResult) {
		synctest.Test(t, func(t *testing.T) {
			a, endA, err := servers(nil)()
			require.NoError(t, err)
			defer endA()
			b, endB, err := servers(func(c *fakeworkq.Config) {
				for _, f := range fakeworkq.Bugs() {
					if f.Name == bug {
						c.Hook = f.Hook()
					}
				}
			})()
			require.NoError(t, err)
			defer endB()
			c := explore.Comparison{Second: b, OwnsServers: true, Explorer: explore.Explorer{
				Alphabet: workqsuite.Alphabet(), Target: a, Seed: 1, Steps: 300, Alone: true, SkipsShrinking: true,
			}}
			r = c.Run(t.Context())
		})
		return r
	}
	for _, d := range compare("").Differences {
		assert.Equal(t, "another job", d.Field)
	}
	var replies []string
	for _, d := range compare("delete-keeps").Differences {
		replies = append(replies, d.Sides[0].Reply+" "+d.Sides[1].Reply)
	}
	assert.Contains(t, replies, "-NOT-FOUND +OK")
	var broken []string
	for _, d := range compare("inspect-attempts-zero").Differences {
		if v := d.Sides[1].Violation; v != nil && d.Sides[0].Violation == nil {
			broken = append(broken, v.Clause)
		}
	}
	assert.Contains(t, broken, "WORKQ-INSP-03")
}
