package selftest

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// crowds are the checks that take most of the time: thousands of jobs, megabytes.
var crowds = []string{"framing/long-lines", "jobs/delivered-once", "push/a-thousand-jobs", "retry/own-number"}

// crowded are the kinds of variations that are played against crowds too: all others
// do to each job, or to single commands, what shows in the other checks as well.
const crowded = "connections consumer json line pace queue refuses"

// TestVariations plays the suite on servers that differ and are right: nothing may be
// found, and everything must be decided.
func TestVariations(t *testing.T) {
	t.Parallel()
	all, few := suite(t), few(t)
	for _, v := range fakes.Variations() {
		scripts := few
		if kind, _, _ := strings.Cut(v.Name, "-"); slices.Contains(strings.Fields(crowded), kind) {
			scripts = all
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			report := vary(t, v, scripts)
			assert.Empty(t, report.Internal)
			assert.Len(t, report.Checks, len(scripts))
			for _, check := range report.Checks {
				leftAlone(t, v, check)
			}
		})
	}
}

// few is the suite without the crowds.
func few(t *testing.T) []*scenarios.Script {
	t.Helper()
	all := suite(t)
	few := slices.DeleteFunc(slices.Clone(all), func(s *scenarios.Script) bool { return slices.Contains(crowds, s.Name) })
	require.Len(t, few, len(all)-len(crowds))
	return few
}

// vary plays scripts on an open and a protected server that differ from others.
func vary(t *testing.T, v fakes.Variation, scripts []*scenarios.Script) (report *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		place := newVillage(nil) // its prepared servers are the suite's own, and as it wants them
		defer place.close()
		runner := &conformance.Runner{Scripts: scripts, Prepare: place.prepare}
		for _, password := range []string{"", "correct horse"} {
			config := fakes.Config{Password: password}
			v.Configure(&config)
			runner.Servers = append(runner.Servers, place.build(config))
		}
		report = runner.Run(t.Context())
	})
	return report
}

// leftAlone asserts that a check has decided all its clauses and has nothing against
// a variation, save what its reading advises against: that is warned about, and only
// that.
func leftAlone(t *testing.T, v fakes.Variation, check reports.Check) {
	t.Helper()
	fine := []reports.Verdict{reports.Pass, reports.Note}
	for _, c := range check.Clauses {
		if c.Verdict != reports.Warn || !slices.Contains(v.Warns, c.ID) {
			assert.Contains(t, fine, c.Verdict, "%s: %s: %s", check.ID, c.ID, c.Why)
		}
	}
	for _, f := range check.Findings {
		assert.Equal(t, reports.Warn, f.Verdict, "%s: %s: expected %s, got %s", check.ID, f.Clause, f.Expected, f.Got)
		assert.Contains(t, v.Warns, f.Clause, "%s: expected %s, got %s", check.ID, f.Expected, f.Got)
	}
	if len(check.Clauses) == 0 {
		assert.Equal(t, reports.Pass, check.Verdict, "%s: %s", check.ID, check.Why)
	}
}
