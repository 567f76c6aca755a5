package selftest

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	fakeworker "github.com/fwpsuite/fwp/fakes/worker"
	"github.com/fwpsuite/fwp/internal/base/jobtype"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/registry"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/reports"
)

// clients are those of all protocols.
func clients() (all []Fixture) {
	for _, entry := range registry.All() {
		all = append(all, slices.DeleteFunc(Fixtures(entry), func(f Fixture) bool { return f.Client == nil })...)
	}
	return all
}

// TestClientVariations plays situations on clients that differ and are right: without FWP_SLOW=1 an eighth of them, by
// the names of both, but all on those that have no variation. Nothing is found, and each clause is decided in some
// situation.
func TestClientVariations(t *testing.T) {
	t.Parallel()
	for _, fixture := range clients() {
		checks, err := fixture.Checks()
		require.NoError(t, err)
		for _, v := range fixture.Variations() {
			t.Run(fixture.Entry.Name+"/"+v.Name, func(t *testing.T) {
				t.Parallel()
				selection := checks
				if !golden.IsSlow() && path.Base(v.Name) != conforming {
					selection = sample(8, v.Name, checks, v.Allows...)
				}
				checkVariation(t, fixture, v, selection)
			})
		}
	}
}

// TestBugsOfClients: each clause that a situation of another protocol than the default decides is the first of a
// bug, and is on the page for authors of workers; the clauses of each bug bind clients.
func TestBugsOfClients(t *testing.T) {
	t.Parallel()
	fixing, err := os.ReadFile(docs + "how-to-fix-workers.md")
	require.NoError(t, err)
	for _, fixture := range clients() {
		firstClauses := map[string]bool{}
		for _, f := range fixture.Bugs() {
			firstClauses[f.Clauses[0]] = true
			assert.NotEmpty(t, f.Summary, f.Name)
			assert.NotContains(t, f.Summary, "\n", f.Name)
			for _, id := range f.Clauses {
				c, ok := fixture.Entry.ClauseByID(id)
				assert.True(t, ok && (!c.BindsServer() || len(c.Party) != 1), "%s: %s", f.Name, id)
			}
		}
		checks, err := fixture.Checks()
		require.NoError(t, err)
		for _, c := range checks {
			for _, id := range Clauses(c) {
				if !fixture.Entry.IsDefault() {
					assert.True(t, firstClauses[id], "no planted bug is about %s", id)
					assert.Contains(t, string(fixing), id)
				}
			}
		}
	}
}

// pairLauncher is a launcher of programs that have two workers each, with a worker id of its own.
type pairLauncher struct{ fwpsituations.Launcher }

func (l pairLauncher) Launch(e fwpsituations.Environment) (fwpsituations.Process, error) {
	e.Concurrency = max(1, e.Concurrency/2)
	first, err := l.Launcher.Launch(e)
	if err != nil {
		return nil, err
	}
	second, err := l.Launcher.Launch(e)
	if err != nil {
		first.Kill()
		return nil, err
	}
	p := &processPair{first, second, make(chan struct{})}
	go func() {
		<-first.Done()
		<-second.Done()
		close(p.done)
	}()
	return p, nil
}

// processPair is such a program.
type processPair struct {
	fwpsituations.Process
	second fwpsituations.Process
	done   chan struct{}
}

func (p *processPair) Done() <-chan struct{} { return p.done }
func (p *processPair) Kill()                 { p.Process.Kill(); p.second.Kill(); <-p.done }
func (p *processPair) Signal(name string)    { p.Process.Signal(name); p.second.Signal(name) }

// TestSeveralWorkersInAProcess: what one worker of a process was told binds this one, and no other.
func TestSeveralWorkersInAProcess(t *testing.T) {
	t.Parallel()
	report := playLaunched(t, func(l fwpsituations.Launcher) fwpsituations.Launcher { return pairLauncher{l} }, nil,
		"quiet/*", "terminate/*", "beat/eventful", "fetch/*", "signal/*")
	count := 0
	for _, c := range report.Checks {
		for _, cv := range c.Clauses {
			assert.False(t, cv.Verdict.IsBreach(), "%s: %s %s: %s", c.ID, cv.ID, cv.Verdict, cv.Cause)
			if cv.Verdict == reports.Pass {
				count++
			}
		}
	}
	assert.Greater(t, count, 20)
}

// playLaunched plays situations on workers of FWP that another launcher starts.
func playLaunched(
	t *testing.T, launcher func(fwpsituations.Launcher) fwpsituations.Launcher, bugs []registry.Bug, ids ...string,
) (report *reports.Report) {
	t.Helper()
	return playClient(t, func(h *fwpsituations.Harness) { h.Launcher = launcher(h.Launcher) }, bugs, ids...)
}

// playClient plays situations on workers of FWP by a harness that is changed.
func playClient(
	t *testing.T, change func(*fwpsituations.Harness), bugs []registry.Bug, ids ...string,
) (report *reports.Report) {
	t.Helper()
	fixture := fixtureOf(t, "fwp", "worker")
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		h, err := fixture.Client.Harness(registry.Config{Network: memnet.New(), Bugs: bugs})
		require.NoError(t, err)
		change(h)
		_, err = h.Identify(t.Context())
		require.NoError(t, err)
		checks, _, err := conformance.Selection{Suite: fixture.Entry.Suite, Checks: ids}.Apply(h.Checks())
		require.NoError(t, err)
		report = (&run.Runner{
			Suite: fixture.Entry.Suite, Servers: []run.Server{{Target: fwpsituations.NoServer{}}}, Checks: checks,
			Parties: fixture.Client.Parties, Virtual: true,
		}).Run(t.Context())
	})
	return report
}

// TestSituationsUseEachJobType: what the program of a worker must have, or may have, is delivered to it.
func TestSituationsUseEachJobType(t *testing.T) {
	t.Parallel()
	var types sync.Map
	noting := registry.FWPClientBug(fakeworker.Bug{Configure: func(c *fakeworker.Config) {
		c.Hook = func(e *fakeworker.Event) {
			if e.Point == fakeworker.Delivered {
				types.Store(e.Job.Type, true)
			}
		}
	}})
	same := func(l fwpsituations.Launcher) fwpsituations.Launcher { return l }
	playLaunched(t, same, []registry.Bug{noting}, "jobs/*", "executor/*")
	for _, name := range jobtype.Names(jobtype.FWP()) {
		_, ok := types.Load(name)
		assert.True(t, ok, "no situation has a job of the type %s", name)
	}
}

// TestOtherQueues plays fetch/queues on workers that fetch from other queues than those in their environment.
func TestOtherQueues(t *testing.T) {
	t.Parallel()
	const notTaken = "it seems to ignore {queues} and FWP_QUEUES"
	toUpper := func(names []string) []string { return strings.Fields(strings.ToUpper(strings.Join(names, " "))) }
	for _, row := range []struct {
		name   string
		queues func(names []string) []string
		want   string // the verdict on FWP-WRK-11, and why
	}{
		{
			"in upper case", toUpper,
			"fail it fetches from FWP-HIGH FWP-LOW, and with the queues fwp-one,fwp-two from FWP-ONE FWP-TWO",
		},
		{
			"as JSON", func(names []string) []string { return []string{fmt.Sprintf("%q", names)} },
			`fail it fetches from ["fwp-high" "fwp-low"], and with the queues fwp-one,fwp-two from ["fwp-one" "fwp-two"]`,
		},
		{"its own", func([]string) []string { return []string{"*"} }, "inconclusive " + notTaken},
		{"in a namespace", func(names []string) []string { return []string{"ns:" + names[0]} }, "inconclusive " + notTaken},
		{
			"all as one name", func(names []string) []string { return []string{strings.Join(names, ",")} },
			"inconclusive it uses the whole value of FWP_QUEUES as the name of one queue",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			bug := registry.FWPClientBug(fakeworker.Bug{
				Configure: func(c *fakeworker.Config) { c.Queues = row.queues(c.Queues) },
			})
			launcher := func(l fwpsituations.Launcher) fwpsituations.Launcher { return ownQueues{l} }
			var got []string
			for _, c := range playLaunched(t, launcher, []registry.Bug{bug}, "fetch/queues").Checks[0].Clauses {
				if c.ID == "FWP-WRK-11" {
					got = append(got, fmt.Sprintf("%s %s", c.Verdict, c.Cause))
				}
			}
			assert.Equal(t, []string{row.want}, got)
		})
	}
}

// ownQueues is a launcher that does not say whether its program takes the queues in its environment.
type ownQueues struct{ fwpsituations.Launcher }

func (ownQueues) Sets(string) bool { return false }
