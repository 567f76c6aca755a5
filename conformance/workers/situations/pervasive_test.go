package situations

import (
	"bytes"
	"cmp"
	"hash/crc32"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes/fakeworker"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/reports"
)

const (
	linesEndWithLF   = "line-lf"
	spacesAreTwo     = "two spaces stand behind each verb"
	linesAreLate     = "every line is late"
	beatsTwiceAsMany = "every BEAT is sent 3 s after the one before"
	reportsAreTwice  = "report-twice"
)

// pervasive are departures that show in most conversations of a worker.
func pervasive(t *testing.T) (all []fakeworker.Fault) {
	t.Helper()
	for _, f := range fakeworker.Faults() {
		if slices.Contains([]string{linesEndWithLF, "hello-without-v", "ack-more-fields", reportsAreTwice}, f.Name) {
			all = append(all, f)
		}
	}
	return append(all, fakeworker.Fault{
		Name: beatsTwiceAsMany, Clauses: []string{"FWP-BEAT-07", "FWP-BEAT-08"},
		Configure: func(c *fakeworker.Config) { c.BeatEvery = 3 * time.Second },
	}, sending(linesAreLate, func(e *fakeworker.Event) { e.Delay = 300 * time.Millisecond }),
		sending(spacesAreTwo, func(e *fakeworker.Event) { e.Line = bytes.Replace(e.Line, []byte(" "), []byte("  "), 1) },
			"FWP-FRAME-02"))
}

// sending is a fault that changes each line.
func sending(name string, change func(*fakeworker.Event), clauses ...string) fakeworker.Fault {
	return fakeworker.Fault{Name: name, Clauses: clauses, Configure: func(c *fakeworker.Config) {
		c.Hook = func(e *fakeworker.Event) {
			if e.Point == fakeworker.Sending {
				change(e)
			}
		}
	}}
}

// besides is how many faults of the catalogue are played beside each pervasive one; with FWP_SLOW=1 all are.
const besides = 25

// shiftsTimes are pervasive faults that hide nothing, but have other things happen.
var shiftsTimes = map[string]bool{beatsTwiceAsMany: true, linesAreLate: true}

// TestFaultsBesideAPervasiveOne plays a sample of the catalogue on workers that have a pervasive fault as well. A fault
// is found there if one of the situations that find it alone finds its first clause broken.
func TestFaultsBesideAPervasiveOne(t *testing.T) {
	t.Parallel()
	known := caught(t, 0)
	drawn := func(f fakeworker.Fault) uint32 { return crc32.ChecksumIEEE([]byte(f.Name)) }
	faults := slices.SortedFunc(slices.Values(fakeworker.Faults()), func(a, b fakeworker.Fault) int {
		return cmp.Compare(drawn(a), drawn(b))
	})
	if !slow.Enabled() {
		faults = faults[:besides]
	}
	for _, p := range pervasive(t) {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			for _, f := range faults {
				if slices.Contains(p.Clauses, f.Clauses[0]) || p.Name == beatsTwiceAsMany && f.Name == "beat-rare" {
					continue // what is found cannot be told apart
				}
				t.Run(f.Name, func(t *testing.T) {
					t.Parallel()
					found, ids := false, known[f.Name]
					for _, few := range []int{2, 4, 8} { // in which situation a fault shows is a matter of chance for some
						found = found || besideAnother(t, f, p, ids[:min(few, len(ids))])
					}
					assert.True(t, found, "%s is not found beside %s", f.Name, p.Name)
				})
			}
		})
	}
}

// besideAnother plays situations on a worker that has a fault and another one, and reports whether one finds the first
// clause of the fault broken. One that does so without the other fault must not pass it, unless that shifts times. What
// differs from play to play is chance.
func besideAnother(t *testing.T, f, other fakeworker.Fault, ids []string) (found bool) {
	t.Helper()
	both := func(ids []string) map[string]reports.Verdict {
		return saidOf(f.Clauses[0], runChecks(t, func(c *fakeworker.Config) { configureBoth(c, f, other) }, ids...))
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
		alone := saidOf(f.Clauses[0], runChecks(t, f.Configure, passed...))
		passed = slices.DeleteFunc(passed, func(id string) bool { return !alone[id].Breach() })
		if len(passed) > 0 {
			said = both(passed)
		}
	}
	assert.Empty(t, passed, "these pass %s, which %s breaks, beside %s", f.Clauses[0], f.Name, other.Name)
	return found
}

// configureBoth gives a worker two faults.
func configureBoth(c *fakeworker.Config, f, other fakeworker.Fault) {
	f.Configure(c)
	first := c.Hook
	c.Hook = nil
	other.Configure(c)
	second := c.Hook
	c.Hook = func(e *fakeworker.Event) {
		for _, hook := range []func(*fakeworker.Event){first, second} {
			if hook != nil {
				hook(e)
			}
		}
	}
}

// saidOf returns what the situations of a report say about a clause.
func saidOf(clause string, report *reports.Report) map[string]reports.Verdict {
	verdicts := map[string]reports.Verdict{}
	for _, c := range report.Checks {
		for _, cv := range c.Clauses {
			if cv.ID == clause {
				verdicts[c.ID] = cv.Verdict
			}
		}
	}
	return verdicts
}
