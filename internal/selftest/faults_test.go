package selftest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// waiting are the faults that no check catches yet although one looks at the clause
// that they break first, and why.
var waiting = map[string]string{
	"fail-ignored":       "the job does not come back, which the checks of FWP-STATE-06 find",
	"retry-dead-dropped": "what is dead and what is gone look alike to a client",
	"waiting-job-lost":   "is none, as it turns out: the job comes back when its reservation has run out",
}

// heavy are the checks that take longer than all others together.
var heavy = []string{"framing/long-lines", "jobs/delivered-once", "push/a-thousand-jobs", "resp/own-replies"}

// TestFaults plays scripts against every fault: those that decide one of its clauses,
// those that only record, and a third of the others, each time another. Each pair has servers of its own: a
// fault that comes with every fiftieth job must not come up in a check that has no
// fifty.
func TestFaults(t *testing.T) {
	t.Parallel()
	scripts := suite(t)
	m := &matrix{caught: map[string][]string{}}
	t.Run("each", func(t *testing.T) {
		for i, fault := range fakes.Faults() {
			t.Run(fault.Name, func(t *testing.T) {
				t.Parallel()
				m.hold(t, fault, pick(fault, i, scripts))
			})
		}
	})
	for _, script := range scripts {
		assert.NotEmpty(t, m.caught[script.Name], "%s catches no fault", script.Name)
	}
}

// matrix is which check catches which faults.
type matrix struct {
	mu     sync.Mutex
	caught map[string][]string
}

// hold plays the scripts against one fault: its first clause turns red if it is
// looked at, and nothing turns red that it does not declare.
func (m *matrix) hold(t *testing.T, fault fakes.Fault, scripts []*scenarios.Script) {
	t.Helper()
	var all, decided []string
	for _, script := range scripts {
		check := play(t, fault.Hook, script)
		ids := red(check)
		for _, id := range ids {
			assert.Contains(t, fault.Clauses, id, "%s: %s", script.Name, evidence(check))
		}
		if check.Verdict == reports.Crash {
			assert.True(t, strings.HasPrefix(fault.Name, "dies-"), "%s takes the server for dead: %s", script.Name, evidence(check))
		}
		if catches(script, check) {
			m.add(script.Name, fault.Name)
		}
		all, decided = append(all, ids...), append(decided, clauses(script)...)
	}
	first := fault.Clauses[0]
	switch {
	case waiting[fault.Name] != "":
		assert.NotContains(t, all, first, "it is caught: take it off the list")
	case slices.Contains(decided, first) && !strings.HasPrefix(fault.Name, "dies-"):
		assert.Contains(t, all, first, "nothing turned red")
	}
}

// pick takes the scripts that are played against the ith fault.
func pick(fault fakes.Fault, i int, scripts []*scenarios.Script) []*scenarios.Script {
	var picked []*scenarios.Script
	for j, script := range scripts {
		every := 3
		if slices.Contains(heavy, script.Name) {
			every = 30
		}
		if (i+j)%every == 0 || names(fault, script) || !judges(script) {
			picked = append(picked, script)
		}
	}
	return picked
}

// names reports whether a fault may break a clause that a script decides.
func names(fault fakes.Fault, script *scenarios.Script) bool {
	return slices.ContainsFunc(clauses(script), func(id string) bool { return slices.Contains(fault.Clauses, id) })
}

func (m *matrix) add(check, fault string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.caught[check] = append(m.caught[check], fault)
}

// play plays one script on fresh servers with a fault.
func play(t *testing.T, hook func() func(*fakes.Event), script *scenarios.Script) (check reports.Check) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		v := newVillage(hook)
		defer v.close()
		report := v.runner(script).Run(t.Context())
		require.Empty(t, report.Internal)
		require.Len(t, report.Checks, 1)
		check = report.Checks[0]
	})
	return check
}

// evidence is what a check has found, in short.
func evidence(check reports.Check) string {
	var b strings.Builder
	for _, f := range check.Findings {
		fmt.Fprintf(&b, "\nline %d, %s: expected %s, got %s", f.Line, f.Clause, f.Expected, f.Got)
	}
	return b.String()
}

func clauses(script *scenarios.Script) []string {
	var ids []string
	for mark := range script.Marks() {
		ids = append(ids, mark.Clause)
	}
	return ids
}

// catches reports whether a check has found a fault that is its own: one of the
// clauses that it decides is broken, or the server. A check that only records
// finds no fault of its own, so that any will do.
func catches(script *scenarios.Script, check reports.Check) bool {
	if !judges(script) || check.Verdict == reports.Crash {
		return check.Verdict.Breach()
	}
	own := clauses(script)
	return slices.ContainsFunc(red(check), func(id string) bool { return slices.Contains(own, id) })
}

// judges reports whether a script can break a clause.
func judges(script *scenarios.Script) bool {
	for mark := range script.Marks() {
		clause, known := conformance.ClauseByID(mark.Clause)
		if known && !mark.Record && (mark.Level != "" || clause.Breach().Breach()) {
			return true
		}
	}
	return false
}
