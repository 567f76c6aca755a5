package selftest

import (
	"bytes"
	"cmp"
	"hash/crc32"
	"maps"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	fakeworker "github.com/fwpsuite/fwp/fakes/worker"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
)

const (
	clientLinesEndWithLF = "worker/line-lf"
	beatsTwiceAsMany     = "every BEAT is sent 3 s after the one before"
	linesAreLate         = "every line is late"
)

// pervasiveOfWorkers are departures that show in most conversations of a worker.
func pervasiveOfWorkers(all []registry.Bug) []registry.Bug {
	some := slices.DeleteFunc(all, func(f registry.Bug) bool {
		return !slices.Contains([]string{
			clientLinesEndWithLF, "worker/hello-without-v", "worker/ack-more-fields", "worker/report-twice",
		}, f.Name)
	})
	sending := func(change func(*fakeworker.Event)) func(*fakeworker.Config) {
		return func(c *fakeworker.Config) {
			c.Hook = catalogue.On(func(e *fakeworker.Event) bool { return e.Point == fakeworker.Sending }, change)
		}
	}
	for _, own := range []fakeworker.Bug{
		{
			Name: beatsTwiceAsMany, Clauses: []string{"FWP-BEAT-07"},
			Configure: func(c *fakeworker.Config) { c.BeatEvery = 3 * time.Second },
		},
		{Name: linesAreLate, Configure: sending(func(e *fakeworker.Event) { e.Delay = 300 * time.Millisecond })},
		{
			Name: "two spaces stand behind each verb", Clauses: []string{"FWP-FRAME-02"},
			Configure: sending(func(e *fakeworker.Event) { e.Line = bytes.Replace(e.Line, []byte(" "), []byte("  "), 1) }),
		},
	} {
		some = append(some, registry.FWPClientBug(own))
	}
	return some
}

// besides is how many bugs of the catalogue are played beside each pervasive one; with FWP_SLOW=1 all are.
const besides = 25

// shiftsTimes are pervasive bugs that hide nothing, but have other things happen.
var shiftsTimes = map[string]bool{beatsTwiceAsMany: true, linesAreLate: true}

// TestBugsOfWorkersBesideAPervasiveOne plays a sample of the catalogue on workers that have a pervasive bug as
// well. A bug is found there if one of the situations that find it alone finds its first clause broken.
func TestBugsOfWorkersBesideAPervasiveOne(t *testing.T) {
	t.Parallel()
	w := worker{fixtureOf(t, "fwp", "worker"), nil}
	var err error
	w.checks, err = w.on.Checks()
	require.NoError(t, err)
	known := documentation(t, "worker-bugs.md", 0, w.on.Bugs()).bugs
	drawn := func(f registry.Bug) uint32 { return crc32.ChecksumIEEE([]byte(path.Base(f.Name))) }
	bugs := slices.SortedFunc(slices.Values(w.on.Bugs()), func(a, b registry.Bug) int {
		return cmp.Compare(drawn(a), drawn(b))
	})
	if !golden.Slow() {
		bugs = bugs[:besides]
	}
	for _, p := range pervasiveOfWorkers(w.on.Bugs()) {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			for _, f := range bugs {
				if slices.Contains(p.Clauses, f.Clauses[0]) || p.Name == beatsTwiceAsMany && f.Name == "worker/beat-rare" {
					continue // what is found cannot be told apart
				}
				t.Run(f.Name, func(t *testing.T) {
					t.Parallel()
					found, ids := false, known[f.Name].caught
					for _, few := range []int{2, 4, 8} { // in which situation a bug shows is a matter of chance for some
						found = found || w.besideAnother(t, f, p, ids[:min(few, len(ids))])
					}
					assert.True(t, found, "%s is not found beside %s", f.Name, p.Name)
				})
			}
		})
	}
}

// besideAnother plays situations on a worker that has a bug and another one, and reports whether one finds the first
// clause of the bug broken. One that does so without the other bug must not pass it, unless that shifts times. What
// differs from play to play is chance.
func (w worker) besideAnother(t *testing.T, f, other registry.Bug, ids []string) (found bool) {
	t.Helper()
	both := func(ids []string) map[string]reports.Verdict {
		return w.verdicts(t, f.Clauses[0], ids, f, other)
	}
	said := both(ids)
	for _, verdict := range said {
		found = found || verdict.Breach()
	}
	passed := slices.Collect(maps.Keys(said))
	for range 3 {
		passed = slices.DeleteFunc(passed, func(id string) bool { return said[id] != reports.Pass })
		if len(passed) == 0 || shiftsTimes[other.Name] {
			return found
		}
		alone := w.verdicts(t, f.Clauses[0], passed, f)
		passed = slices.DeleteFunc(passed, func(id string) bool { return !alone[id].Breach() })
		if len(passed) > 0 {
			said = both(passed)
		}
	}
	assert.Empty(t, passed, "these pass %s, which %s breaks, beside %s", f.Clauses[0], f.Name, other.Name)
	return found
}

// worker is the one of FWP with its situations.
type worker struct {
	on     Fixture
	checks []conformance.Check
}

// verdicts plays situations on a worker with bugs, and returns what each says about a clause.
func (w worker) verdicts(t *testing.T, clause string, ids []string, bugs ...registry.Bug) map[string]reports.Verdict {
	t.Helper()
	checks := slices.DeleteFunc(slices.Clone(w.checks), func(c conformance.Check) bool {
		return !slices.Contains(ids, c.Describe().ID)
	})
	verdicts := map[string]reports.Verdict{}
	for _, c := range reportOf(t, w.on, checks, bugs...).Checks {
		for _, cv := range c.Clauses {
			if cv.ID == clause {
				verdicts[c.ID] = cv.Verdict
			}
		}
	}
	return verdicts
}
