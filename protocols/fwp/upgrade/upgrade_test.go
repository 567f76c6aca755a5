package upgrade_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/fakes/variations"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/upgrade"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// stages returns servers on one folder, each with a configuration.
func stages(t *testing.T, configure ...func(*fakes.Config)) (all []upgrade.Stage) {
	t.Helper()
	dir := t.TempDir()
	var server *fakes.Server
	t.Cleanup(func() { server.Close() })
	for i, c := range configure {
		all = append(all, upgrade.Stage{
			Name: []string{"old", "new", "newer"}[i], Stop: func(context.Context) error { server.Close(); return nil },
			Start: func(context.Context) (upgrade.RunningServer, error) {
				place := memnet.NewPlace()
				config := fakes.Config{Seed: 1, Dir: dir, Listen: place.Listen}
				c(&config)
				server = fakes.NewUnstarted(config)
				err := server.TryStart()
				return upgrade.RunningServer{Target: place, IsAlone: true}, err
			},
		})
	}
	return all
}

// runUpgrade runs an upgrade in virtual time.
func runUpgrade(t *testing.T, r upgrade.Run, configure ...func(*fakes.Config)) (result *upgrade.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		all := stages(t, configure...)
		for i, s := range r.Stages { // those that the test has names for
			all[i].Name = s.Name
		}
		r.Stages, r.StopMode = all, "in order"
		r.Timeout, r.Patience, r.Log = 10*time.Second, cmp.Or(r.Patience, 150*time.Second), t.Logf
		if r.Filling.LargeJobs == 0 {
			r.Filling.LargeJobs = 40
		}
		if r.Filling.ClassInterval == 0 {
			r.Filling.ClassInterval = 60
		}
		result = r.Do(t.Context())
		require.NoError(t, result.Err)
	})
	return result
}

// fates returns the fates of jobs by state: "enqueued lost". What is allowed is left out.
func fates(r *upgrade.Result) (all []string) {
	for _, s := range r.Steps {
		for _, f := range s.Facts {
			if !f.IsAllowed {
				all = append(all, string(f.State)+" "+string(f.Fate))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func noChange(*fakes.Config) {}

func TestARestartKeepsEverything(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	every := 9
	if golden.IsSlow() {
		every = 1
	}
	r := runUpgrade(t, upgrade.Run{Filling: upgrade.Filling{ClassInterval: every, LargeJobs: 1000}, RollsBack: true}, noChange, noChange)
	require.Len(t, r.Steps, 2)
	for _, s := range r.Steps {
		for _, f := range s.Facts {
			t.Errorf("%s %s %s: expected %s, got %s", f.State, f.Fate, f.Clause, f.Expected, f.Actual)
		}
		for _, state := range []upgrade.State{upgrade.StateEnqueued, upgrade.StateSoon, upgrade.StateLater, upgrade.StateStays, upgrade.StateLeaves,
			upgrade.StateFailed, upgrade.StateFar, upgrade.StateDead, upgrade.StateDiscarded, upgrade.StateDone} {
			assert.Positive(t, s.Jobs[state], state)
		}
		assert.Equal(t, 1000, s.Jobs[upgrade.StateLarge])
	}
}

// wantFates is what is found of each bug of the embedded server's folder: a state and a fate.
var wantFates = map[string]string{
	"keeps-no-queues": "enqueued lost", "keeps-one-queue": "enqueued lost", "keeps-500-jobs": "large-queue lost",
	"keeps-short-jobs": "enqueued lost", "keeps-plain-queues": "enqueued lost", "keeps-no-schedule": "scheduled-later lost",
	"keeps-no-missed": "scheduled-soon lost", "keeps-no-retries": "failed lost",
	"keeps-no-held": "held-by-one-that-leaves lost", "keeps-no-far": "scheduled-far miscount",
	"keeps-queues-twice": "enqueued doubled", "keeps-retries-twice": "failed doubled",
	"keeps-held-queued": "held-by-one-that-stays doubled", "keeps-no-failures": "failed doubled",
	"keeps-no-custom": "enqueued altered", "keeps-floats": "enqueued altered", "keeps-ascii": "scheduled-later altered",
	"keeps-trimmed-texts": "enqueued altered", "keeps-no-retry": "enqueued altered",
	"keeps-own-created-at": "held-by-one-that-leaves altered", "keeps-no-failure": "failed altered",
	"keeps-schedule-due": "scheduled-later early", "keeps-schedule-hour-early": "scheduled-later early",
	"keeps-far-due": "scheduled-far early", "keeps-schedule-hour-late": "scheduled-later lost",
	"keeps-held-forever": "held-by-one-that-leaves lost", "keeps-retries-forever": "failed lost",
	"keeps-reversed": "large-queue order", "keeps-no-dead": "dead miscount", "keeps-no-last": "enqueued lost",
}

// wantClauses is the clause, where others are broken by the same fate.
var wantClauses = map[string]string{"keeps-no-failures": "FWP-RETRY-03", "keeps-queues-twice": "FWP-ACK-02"}

func TestBugsAreFound(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../docs/upgrades.md")
	require.NoError(t, err)
	for i, f := range bugs.Snapshots() {
		require.Contains(t, wantFates, f.Name)
		assert.Contains(t, string(doc), "| `"+f.Name+"` | "+f.Summary+" |")
		if !golden.IsSlow() && i%8 > 0 && wantClauses[f.Name] == "" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			plan := upgrade.Filling{}
			if f.Name == "keeps-500-jobs" {
				plan.LargeJobs = 510
			}
			r := runUpgrade(t, upgrade.Run{Filling: plan}, noChange, func(c *fakes.Config) {
				c.Restored = func(s *fakes.Snapshot) {
					time.Sleep(10 * time.Second) // it is down
					f.Hook()(s)
				}
			})
			found := fates(r)
			t.Log(strings.Join(found, ", "))
			assert.Contains(t, found, wantFates[f.Name])
			for _, fact := range r.Steps[0].Facts {
				if clause := wantClauses[f.Name]; clause != "" && fact.Fate == upgrade.FateDoubled {
					assert.Equal(t, clause, fact.Clause)
				}
			}
		})
	}
}

// Reservations end while a slow server receives the reports of their jobs.
func TestASlowServer(t *testing.T) {
	t.Parallel()
	for _, delays := range []int{6, 9} {
		run := upgrade.Run{Filling: upgrade.Filling{IsQuick: true}, Patience: 30 * time.Second}
		r := runUpgrade(t, run, noChange, func(c *fakes.Config) {
			c.RetryDelay = func(int) time.Duration { return 49 * time.Second } // the longest one
			remaining := delays
			c.Hook = func(e *fakes.Event) {
				if e.Point == fakes.Parsed && e.Command.Verb == fwp.ACK && remaining > 0 {
					remaining--
					time.Sleep(8 * time.Second)
				}
			}
		})
		assert.Empty(t, fates(r), delays)
	}
}

func TestVariationsAreNotBlamed(t *testing.T) {
	t.Parallel()
	for i, v := range append(variations.Snapshots(), variations.All()...) {
		isFrequent := i < len(variations.Snapshots()) || i%16 == 0 || v.Name == "info-refused" || v.Name == "queues-limited"
		if !isFrequent && !golden.IsSlow() || golden.Racing && i > 0 {
			continue
		}
		if v.Name == "time-clock-ahead" { // a server that fwpcheck starts has the clock of this machine
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			r := runUpgrade(t, upgrade.Run{Filling: upgrade.Filling{ClassInterval: 97, LargeJobs: 40}}, v.Configure, v.Configure)
			for _, f := range r.Steps[0].Facts {
				if !f.IsAllowed {
					t.Errorf("%s %s %s: expected %s, got %s", f.State, f.Fate, f.Clause, f.Expected, f.Actual)
				}
			}
		})
	}
}

// One reply that cannot be read is a finding, and the other jobs are asked for.
func TestAnUnreadableReply(t *testing.T) {
	t.Parallel()
	lf := []byte("-ERR Job not found a\nb\r\n")
	for _, test := range []struct {
		name, verb  string
		from, every int // of the verb
		reply       []byte
		clause      string
		state       upgrade.State
	}{
		{"an ACK of a held job", fwp.ACK, 2, 0, lf, "FWP-RESP-07", upgrade.StateStays},
		{"several", fwp.ACK, 3, 7, lf, "FWP-RESP-07", upgrade.StateStays},
		{"a job", fwp.FETCH, 5, 0, []byte("$2\r\nshort\r\n"), "FWP-RESP-03", upgrade.StateEnqueued},
		{"a length that no reply has", fwp.FETCH, 5, 0, []byte("$9223372036854775807\r\n"), "FWP-RESP-03", upgrade.StateEnqueued},
		{"a list", fwp.FETCH, 5, 0, []byte("*1\r\n$2\r\n{}\r\n"), "FWP-FETCH-01", upgrade.StateEnqueued},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			run := upgrade.Run{Filling: upgrade.Filling{IsQuick: true}, Patience: 5 * time.Second}
			r := runUpgrade(t, run, noChange, func(c *fakes.Config) {
				n := 0
				c.Hook = func(e *fakes.Event) {
					if e.Point != fakes.Writing || e.Command.Verb != test.verb {
						return
					}
					if n++; n == test.from || test.every > 0 && n%test.every == 0 && n < 5*test.every {
						e.Bytes = test.reply
					}
				}
			})
			assert.Equal(t, []string{string(test.state) + " unknown"}, fates(r))
			report := r.Report(func(string) (c conformance.Clause, ok bool) { return c, false })
			assert.True(t, r.Steps[0].IsDone)
			for _, f := range report.Findings() {
				assert.Equal(t, test.clause, f.Clause, f.Actual)
				assert.Equal(t, reports.Fail, f.Verdict)
			}
			for _, s := range report.Upgrade.Steps[0].States {
				assert.Equal(t, *s.Jobs, s.Fates["kept"]+s.Fates["unknown"], s.State)
			}
		})
	}
}

// A fill goes on as well: what is not known of a job is not asked for.
func TestAnUnreadableReplyWhileFilling(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{fwp.PUSH, fwp.FETCH, fwp.ACK, fwp.FAIL} {
		n := 0
		run := upgrade.Run{Filling: upgrade.Filling{IsQuick: true}, Patience: 5 * time.Second}
		r := runUpgrade(t, run, func(c *fakes.Config) {
			c.Hook = func(e *fakes.Event) {
				if e.Point != fakes.Writing || e.Command.Verb != verb {
					return
				}
				if n++; n%13 == 1 {
					e.Bytes = []byte("-ERR a\nb\r\n")
				}
			}
		}, noChange)
		assert.Positive(t, r.Steps[0].Jobs[upgrade.StateLarge])
		for _, fate := range fates(r) {
			assert.Contains(t, fate, "unknown", verb)
		}
		assert.NotEmpty(t, fates(r), verb)
	}
}

// What is not known is absent, and has its cause.
func TestWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	result := &upgrade.Result{Err: errors.New("ask new for the jobs: no reply within 10s"), History: &history.History{},
		Steps: []upgrade.Step{{UpgradeStep: reports.UpgradeStep{From: "old", To: "new"}}}}
	report := result.Report(func(string) (c conformance.Clause, ok bool) { return c, false })
	report.Schema = reports.Schema
	data, err := json.Marshal(report)
	require.NoError(t, err)
	assert.Contains(t, string(data), `queues, with all kinds of contents and names","fates":{},"verdict":"inconclusive"`)
	assert.NotContains(t, string(data), "down_ns")
	text := string(page.Text(report.Page(reports.PageOptions{}), page.TextOptions{}))
	assert.Contains(t, text, "ask new for the jobs: no reply within 10s")
	assert.NotContains(t, text, "no reason was given")
	assert.NotContains(t, text, "after 0")
	assert.Regexp(t, `enqueued +– +–`, text)
}

// In a server of another version the jobs in queues are hidden, or lost, as if it stored them elsewhere.
func TestATotalLoss(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, to       string
		back, killed   bool
		all            bool // jobs of other states are lost, too
		first          string
		findings, exit int
	}{
		{"in order", "new", true, false, false, "after the upgrade (all that were enqueued); [0-9,]+ are missing", 2, 1},
		{
			"a kill, and they are hidden", "new", true, true, false,
			"(all that were enqueued); [0-9,]+ are missing after the", 2, 1,
		},
		{
			"a kill, and only they are lost", "new", false, true, false,
			"missing after the upgrade (all that were enqueued)", 1, 1,
		},
		{
			"a kill that loses everything", "new", false, true, true,
			"are missing after the upgrade (all that were enqueued,", 1, 3,
		},
		{"a kill, and the same server", "old", false, true, false, "are missing after the upgrade", 1, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var stored []fakes.StoredJob
			swap := func(s *fakes.Snapshot) {
				back := stored
				stored = nil
				s.Jobs = slices.DeleteFunc(s.Jobs, func(j fakes.StoredJob) bool {
					if j.Place == "queue" && !test.all {
						stored = append(stored, j)
					}
					return j.Place == "queue" || test.all
				})
				if test.all {
					s.Dead = 0
				}
				s.Jobs = append(s.Jobs, back...)
			}
			configure := func(c *fakes.Config) { c.Restored = swap }
			run := upgrade.Run{
				Filling: upgrade.Filling{IsQuick: true}, Patience: 5 * time.Second, RollsBack: test.back, IsKilled: test.killed,
				Stages: []upgrade.Stage{{Name: "old"}, {Name: test.to}},
			}
			report := runUpgrade(t, run, configure, configure).Report(func(id string) (c conformance.Clause, ok bool) {
				return conformance.Clause{ID: id, Level: reports.LevelShould}, true
			})
			text := string(page.Text(report.Page(reports.PageOptions{}), page.TextOptions{}))
			first, _, _ := strings.Cut(text, "\n")
			assert.Regexp(t, strings.NewReplacer("(", `\(`, ")", `\)`).Replace(test.first), first)
			assert.Contains(t, text, fmt.Sprintf("FINDINGS: %d (", test.findings))
			assert.NotContains(t, text, "line 0")
			assert.NotRegexp(t, "fail .*SHOULD", text)
			code, _ := report.Outcome(reports.ExitOptions{}).Values()
			assert.Equal(t, test.exit, code)
			if !test.back { // of the first job: its PUSH and the reply, and the stop
				assert.Len(t, report.Findings()[0].Conversation, 3)
			}
			assert.Equal(t, "fwpcheck upgrade", report.Suite(reports.ExitOptions{}).Name)
		})
	}
}
