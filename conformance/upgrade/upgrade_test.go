package upgrade_test

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/fwpupgrade"
	"github.com/fwpsuite/fwp/conformance/upgrade"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/faults"
	"github.com/fwpsuite/fwp/fakes/variations"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/internal/slow"
)

// stages returns servers on one folder, each with a configuration.
func stages(t *testing.T, configure ...func(*fakes.Config)) (all []upgrade.Stage) {
	t.Helper()
	dir := t.TempDir()
	var now *fakes.Server
	t.Cleanup(func() { now.Close() })
	for i, c := range configure {
		all = append(all, upgrade.Stage{
			Name: []string{"old", "new", "newer"}[i], Stop: func(context.Context) error { now.Close(); return nil },
			Start: func(context.Context) (upgrade.Site, error) {
				place := memnet.NewPlace()
				config := fakes.Config{Seed: 1, Dir: dir, Listen: place.Listen}
				c(&config)
				now = fakes.NewUnstarted(config)
				err := now.TryStart()
				return upgrade.Site{Target: place, Alone: true}, err
			},
		})
	}
	return all
}

// played runs an upgrade in virtual time.
func played(t *testing.T, r upgrade.Run, configure ...func(*fakes.Config)) (result *upgrade.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r.Subject, r.Stages, r.How = fwpupgrade.Subject(), stages(t, configure...), "in order"
		r.Timeout, r.Patience, r.Log = 10*time.Second, cmp.Or(r.Patience, 150*time.Second), t.Logf
		if r.Plan.Large == 0 {
			r.Plan.Large = 40
		}
		if r.Plan.Every == 0 {
			r.Plan.Every = 60
		}
		result = r.Do(t.Context())
		require.NoError(t, result.Err)
	})
	return result
}

// fates returns the fates of jobs by state: "enqueued lost".
func fates(r *upgrade.Result, allowed bool) (all []string) {
	for _, s := range r.Steps {
		for _, f := range s.Facts {
			if f.Allowed == allowed {
				all = append(all, string(f.State)+" "+string(f.Fate))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func plain(*fakes.Config) {}

func TestARestartKeepsEverything(t *testing.T) {
	t.Parallel()
	slow.NotRacing(t)
	every := 9
	if slow.Enabled() {
		every = 1
	}
	r := played(t, upgrade.Run{Plan: upgrade.Plan{Every: every, Large: 1000}, Rollback: true}, plain, plain)
	require.Len(t, r.Steps, 2)
	for _, s := range r.Steps {
		for _, f := range s.Facts {
			t.Errorf("%s %s %s: expected %s, got %s", f.State, f.Fate, f.Clause, f.Expected, f.Actual)
		}
		for _, state := range []upgrade.State{upgrade.Enqueued, upgrade.Soon, upgrade.Later, upgrade.Stays, upgrade.Leaves,
			upgrade.Failed, upgrade.Far, upgrade.Dead, upgrade.Discarded, upgrade.Done} {
			assert.Positive(t, s.Jobs[state], state)
		}
		assert.Equal(t, 1000, s.Jobs[upgrade.Large])
	}
}

// wanted is what is found of each fault of the embedded server's folder: a state and a fate.
var wanted = map[string]string{
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

func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/upgrades.md")
	require.NoError(t, err)
	for i, f := range faults.Keeping() {
		require.Contains(t, wanted, f.Name)
		assert.Contains(t, string(page), "| `"+f.Name+"` | "+f.Summary+" |")
		if !slow.Enabled() && i%8 > 0 {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			plan := upgrade.Plan{}
			if f.Name == "keeps-500-jobs" {
				plan.Large = 510
			}
			r := played(t, upgrade.Run{Plan: plan}, plain, func(c *fakes.Config) {
				c.Restored = func(s *fakes.Snapshot) {
					time.Sleep(10 * time.Second) // it is down
					f.Hook()(s)
				}
			})
			found := fates(r, false)
			t.Log(strings.Join(found, ", "))
			assert.Contains(t, found, wanted[f.Name])
		})
	}
}

// Reservations end while a slow server receives the reports of their jobs.
func TestASlowServer(t *testing.T) {
	t.Parallel()
	for _, delays := range []int{6, 9} {
		quick := upgrade.Run{Plan: upgrade.Plan{Quick: true}, Patience: 30 * time.Second}
		r := played(t, quick, plain, func(c *fakes.Config) {
			c.RetryDelay = func(int) time.Duration { return 49 * time.Second } // the longest one
			left := delays
			c.Hook = func(e *fakes.Event) {
				if e.Point == fakes.Parsed && e.Command.Verb == fwp.ACK && left > 0 {
					left--
					time.Sleep(8 * time.Second)
				}
			}
		})
		assert.Empty(t, fates(r, false), delays)
	}
}

func TestVariationsAreNotBlamed(t *testing.T) {
	t.Parallel()
	for i, v := range append(variations.Keeping(), variations.All()...) {
		if i >= len(variations.Keeping()) && i%16 > 0 && !slow.Enabled() || slow.Racing && i > 0 {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			r := played(t, upgrade.Run{Plan: upgrade.Plan{Every: 97, Large: 40}}, v.Configure, v.Configure)
			for _, f := range r.Steps[0].Facts {
				if !f.Allowed {
					t.Errorf("%s %s %s: expected %s, got %s", f.State, f.Fate, f.Clause, f.Expected, f.Actual)
				}
			}
		})
	}
}
