package run_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/reports"
)

// traffic records what checks send to a server that others use too.
type traffic struct {
	mu      sync.Mutex
	lines   []string
	queues  map[string]bool // of jobs that were enqueued
	fetched []string        // jids that were delivered
}

func (v *traffic) hook(e *fakes.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e.Point {
	case fakes.LineRead:
		v.lines = append(v.lines, string(e.Line))
	case fakes.Enqueued:
		v.queues[e.Object.Text("queue")] = true
	case fakes.Delivered:
		v.fetched = append(v.fetched, e.Object.Text("jid"))
	}
}

// A server that is only known by its address may have jobs of others: no check may touch
// them, however lenient the server is.
func TestNothingOfOthersIsTouched(t *testing.T) {
	t.Parallel()
	all := suite(t, false)
	if !golden.IsSlow() { // a third
		all = slices.Concat(ninthPart(all, 0), ninthPart(all, 3), ninthPart(all, 6))
	}
	for name, password := range map[string]string{"open": "", "protected": "secret"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if password != "" {
				golden.OnlySlow(t)
			}
			synctest.Test(t, func(t *testing.T) {
				v := &traffic{queues: map[string]bool{}}
				pool := &serverPool{nw: memnet.New(), config: fakes.Config{Hook: v.hook}}
				defer pool.close()
				server, _, err := pool.build(fakes.Config{Password: password})
				assert.NoError(t, err)
				server.Offers = server.Offers[len(server.Offers)-1:] // only that it is open, or has a password
				r := runnerOn(server, all).Run(t.Context())
				assert.Empty(t, r.Findings())
				v.assertOurs(t)
				assert.Greater(t, len(v.fetched), golden.Sample(30, 100), "it was not all refused")
				assertSkipped(t, r)
			})
		})
	}
}

func (v *traffic) assertOurs(t *testing.T) {
	t.Helper()
	for _, line := range v.lines {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch strings.ToUpper(words[0]) {
		case "FLUSH":
			assert.Fail(t, "FLUSH was sent", "%q", line)
		case "FETCH":
			assert.Greater(t, len(words), 1, "a FETCH that names no queue: %q", line)
			for _, queue := range words[1:] {
				assert.True(t, isOurs(queue), "FETCH of a queue that is not ours: %q", line)
			}
		case "ACK", "FAIL":
			var job struct{ JID string }
			if json.Unmarshal([]byte(strings.Join(words[1:], " ")), &job) == nil && job.JID != "" {
				assert.True(t, isOurs(job.JID), "about a job that is not ours: %q", line)
			}
		}
	}
	for queue := range v.queues {
		assert.True(t, isOurs(queue), "a job in a queue that is not ours: %q", queue)
	}
	for _, jid := range v.fetched {
		assert.True(t, isOurs(jid), "a job that is not ours was fetched: %q", jid)
	}
}

func isOurs(name string) bool { return strings.HasPrefix(name, "fwp") || explored.MatchString(name) }

// explored matches the names that explorations generate.
var explored = regexp.MustCompile("^x[0-9a-f]{16}-")

// assertSkipped asserts why checks were skipped.
func assertSkipped(t *testing.T, r *reports.Report) {
	t.Helper()
	reasons := map[string]int{}
	for _, c := range r.Checks {
		if c.Verdict == reports.Skipped {
			reasons[c.Cause]++
		}
	}
	for _, need := range []string{"exclusive use", "permission to delete everything"} {
		assert.NotZero(t, reasons["needs "+need], "%v", reasons)
	}
}
