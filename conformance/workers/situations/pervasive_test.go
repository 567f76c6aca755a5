package situations

import (
	"cmp"
	"hash/crc32"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes/fakeworker"
	"github.com/fwpsuite/fwp/internal/slow"
)

const (
	linesEndWithLF   = "line-lf"
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
	}, fakeworker.Fault{Name: "every line is late", Configure: func(c *fakeworker.Config) {
		c.Hook = func(e *fakeworker.Event) {
			if e.Point == fakeworker.Sending {
				e.Delay = 300 * time.Millisecond
			}
		}
	}})
}

// besides is how many faults of the catalogue are played beside each pervasive one; with FWP_SLOW=1 all are.
const besides = 25

// hidden are the faults that are not found beside a pervasive one, with the reason.
var hidden = map[string]map[string]string{
	reportsAreTwice: {
		"ack-error-ends":          "it ends at its second ACK, which the server refuses, before it has done three jobs",
		"connection-for-each-job": "each connection carries both reports of its job",
	},
	beatsTwiceAsMany: {"beat-rare": "one setting has two values"},
}

// TestFaultsBesideAPervasiveOne plays a sample of the catalogue on workers that have a pervasive fault as well. A fault
// is found there if one of the situations that find it alone finds its first clause broken.
func TestFaultsBesideAPervasiveOne(t *testing.T) { //nolint:tparallel // the group is over before it is counted
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
		var alone, missed atomic.Int32
		t.Run(p.Name, func(t *testing.T) {
			for _, f := range faults {
				if slices.Contains(p.Clauses, f.Clauses[0]) {
					continue // what is found cannot be told apart
				}
				t.Run(f.Name, func(t *testing.T) {
					t.Parallel()
					alone.Add(1)
					found, ids := false, known[f.Name]
					for _, few := range []int{2, 4, 8} { // in which situation a fault shows is a matter of chance for some
						found = found || findsBeside(t, f, p, ids[:min(few, len(ids))])
					}
					if !found {
						missed.Add(1)
						assert.NotEmpty(t, hidden[p.Name][f.Name], "%s is not found beside %s", f.Name, p.Name)
					}
				})
			}
		})
		assert.GreaterOrEqual(t, int(alone.Load()), len(faults)*9/10, "beside %s", p.Name)
		assert.LessOrEqual(t, int(missed.Load()), int(alone.Load())/20, "beside %s", p.Name)
	}
}

// findsBeside reports whether one of some situations finds the first clause of a fault broken beside another fault.
func findsBeside(t *testing.T, f, beside fakeworker.Fault, ids []string) bool {
	t.Helper()
	report := runChecks(t, func(c *fakeworker.Config) {
		f.Configure(c)
		first := c.Hook
		c.Hook = nil
		beside.Configure(c)
		second := c.Hook
		c.Hook = func(e *fakeworker.Event) {
			for _, hook := range []func(*fakeworker.Event){first, second} {
				if hook != nil {
					hook(e)
				}
			}
		}
	}, ids...)
	red := map[string]bool{}
	for _, c := range report.Checks {
		for _, cv := range c.Clauses {
			red[cv.ID] = red[cv.ID] || cv.Verdict.Breach()
		}
	}
	return red[f.Clauses[0]]
}
