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
	doubleBeats          = "every BEAT is sent 3 s after the one before"
	linesAreLate         = "every line is late"
)

// workerPervasives are departures that show in most conversations of a worker.
func workerPervasives(all []registry.Bug) []registry.Bug {
	result := slices.DeleteFunc(all, func(f registry.Bug) bool {
		return !slices.Contains([]string{
			clientLinesEndWithLF, "worker/hello-without-v", "worker/ack-more-fields", "worker/report-twice",
		}, f.Name)
	})
	sending := func(change func(*fakeworker.Event)) func(*fakeworker.Config) {
		return func(c *fakeworker.Config) {
			c.Hook = catalogue.ActIf(func(e *fakeworker.Event) bool { return e.Point == fakeworker.Sending }, change)
		}
	}
	for _, bug := range []fakeworker.Bug{
		{
			Name: doubleBeats, Clauses: []string{"FWP-BEAT-07"},
			Configure: func(c *fakeworker.Config) { c.BeatEvery = 3 * time.Second },
		},
		{Name: linesAreLate, Configure: sending(func(e *fakeworker.Event) { e.Delay = 300 * time.Millisecond })},
		{
			Name: "two spaces stand behind each verb", Clauses: []string{"FWP-FRAME-02"},
			Configure: sending(func(e *fakeworker.Event) { e.Line = bytes.Replace(e.Line, []byte(" "), []byte("  "), 1) }),
		},
	} {
		result = append(result, registry.FWPClientBug(bug))
	}
	return result
}

// besideCount is how many bugs of the catalogue are played beside each pervasive one; with FWP_SLOW=1 all are.
const besideCount = 25

// shiftsTimes are pervasive bugs that hide nothing, but have other things happen.
var shiftsTimes = map[string]bool{doubleBeats: true, linesAreLate: true}

// TestBugsOfWorkersBesideAPervasiveOne plays a sample of the catalogue on workers that have a pervasive bug as
// well. A bug is found there if one of the situations that find it alone finds its first clause broken.
func TestBugsOfWorkersBesideAPervasiveOne(t *testing.T) {
	t.Parallel()
	w := worker{fixtureOf(t, "fwp", "worker"), nil}
	var err error
	w.checks, err = w.fixture.Checks()
	require.NoError(t, err)
	rows := documentation(t, "worker-bugs.md", 0, w.fixture.Bugs()).bugs
	hash := func(f registry.Bug) uint32 { return crc32.ChecksumIEEE([]byte(path.Base(f.Name))) }
	bugs := slices.SortedFunc(slices.Values(w.fixture.Bugs()), func(a, b registry.Bug) int {
		return cmp.Compare(hash(a), hash(b))
	})
	if !golden.IsSlow() {
		bugs = bugs[:besideCount]
	}
	for _, p := range workerPervasives(w.fixture.Bugs()) {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			for _, f := range bugs {
				if slices.Contains(p.Clauses, f.Clauses[0]) || p.Name == doubleBeats && f.Name == "worker/beat-rare" {
					continue // what is found cannot be told apart
				}
				t.Run(f.Name, func(t *testing.T) {
					t.Parallel()
					isFound, ids := false, rows[f.Name].catchers
					for _, limit := range []int{2, 4, 8} { // in which situation a bug shows is a matter of chance for some
						isFound = isFound || w.isFoundBeside(t, f, p, ids[:min(limit, len(ids))])
					}
					assert.True(t, isFound, "%s is not found beside %s", f.Name, p.Name)
				})
			}
		})
	}
}

// isFoundBeside plays situations on a worker that has a bug and another one, and reports whether one finds the first
// clause of the bug broken. One that does so without the other bug must not pass it, unless that shifts times. What
// differs from play to play is chance.
func (w worker) isFoundBeside(t *testing.T, f, other registry.Bug, ids []string) (isFound bool) {
	t.Helper()
	verdictsOf := func(ids []string) map[string]reports.Verdict {
		return w.verdicts(t, f.Clauses[0], ids, f, other)
	}
	verdicts := verdictsOf(ids)
	for _, verdict := range verdicts {
		isFound = isFound || verdict.IsBreach()
	}
	passIDs := slices.Collect(maps.Keys(verdicts))
	for range 3 {
		passIDs = slices.DeleteFunc(passIDs, func(id string) bool { return verdicts[id] != reports.Pass })
		if len(passIDs) == 0 || shiftsTimes[other.Name] {
			return isFound
		}
		single := w.verdicts(t, f.Clauses[0], passIDs, f)
		passIDs = slices.DeleteFunc(passIDs, func(id string) bool { return !single[id].IsBreach() })
		if len(passIDs) > 0 {
			verdicts = verdictsOf(passIDs)
		}
	}
	assert.Empty(t, passIDs, "these pass %s, which %s breaks, beside %s", f.Clauses[0], f.Name, other.Name)
	return isFound
}

// worker is the one of FWP with its situations.
type worker struct {
	fixture Fixture
	checks  []conformance.Check
}

// verdicts plays situations on a worker with bugs, and returns what each says about a clause.
func (w worker) verdicts(t *testing.T, clause string, ids []string, bugs ...registry.Bug) map[string]reports.Verdict {
	t.Helper()
	checks := slices.DeleteFunc(slices.Clone(w.checks), func(c conformance.Check) bool {
		return !slices.Contains(ids, c.Describe().ID)
	})
	verdicts := map[string]reports.Verdict{}
	for _, c := range reportOf(t, w.fixture, checks, bugs...).Checks {
		for _, cv := range c.Clauses {
			if cv.ID == clause {
				verdicts[c.ID] = cv.Verdict
			}
		}
	}
	return verdicts
}
