package selftest

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/allow"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
)

// TestVariations plays the suite on servers that differ and are right: nothing may be found, and everything must be
// decided. Each has about one of 320 scripts, with FWP_SLOW=1 a quarter, and those that its own rows name.
func TestVariations(t *testing.T) {
	t.Parallel()
	all := suite(t)
	for _, v := range (Fixture{}).Variations() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			checkVariation(t, Fixture{}, v, sample(golden.Sample[uint32](320, 4), v.Name, all, v.Allows...))
		})
	}
}

// TestOtherVariations does the same with Workq and eMQP: each has an eighth of the scripts, with FWP_SLOW=1 all.
func TestOtherVariations(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"workq", "emqp"} {
		entry, err := registry.Lookup(name)
		require.NoError(t, err)
		all, err := entry.Scripts()
		require.NoError(t, err)
		for _, v := range (Fixture{Entry: entry}).Variations() {
			t.Run(name+"/"+v.Name, func(t *testing.T) {
				t.Parallel()
				checkVariation(t, Fixture{Entry: entry}, v, sample(golden.Sample[uint32](8, 1), v.Name, all, v.Allows...))
			})
		}
	}
}

// checkVariation plays checks on what differs and is right: they find nothing, and leave nothing open, but what the variation
// allows, and meet all of that. It returns the report.
func checkVariation(t *testing.T, fixture Fixture, v registry.Variation, checks []conformance.Check) *reports.Report {
	t.Helper()
	report := vary(t, fixture, v, checks)
	played := slices.DeleteFunc(slices.Clone(report.Checks), func(c reports.Check) bool {
		return strings.HasPrefix(c.ID, reports.LawPrefix)
	})
	assert.Len(t, played, len(checks))
	var uses allow.Usage
	assert.Empty(t, fixture.FalseAlarms(v, report, &uses))
	assert.Empty(t, staleRows(v, &uses, false))
	return report
}

// staleRows says which rows of a variation have allowed nothing: those about explorations, which have a test of their own,
// or the others.
func staleRows(v registry.Variation, uses *allow.Usage, isExploration bool) []string {
	return uses.Stale(slices.DeleteFunc(slices.Clone(v.Allows), func(row allow.Row) bool {
		return strings.HasPrefix(row.Places[0], "explore/") != isExploration
	}))
}

// quickChecks is the suite without the slow checks.
func quickChecks(t *testing.T) []conformance.Check {
	t.Helper()
	all := suite(t)
	result := withoutSlow(all)
	require.Len(t, result, len(all)-len(slowChecks))
	return result
}

// light returns the checks without the heaviest, unless FWP_SLOW=1 asks for everything.
func light(checks []conformance.Check) []conformance.Check {
	return slices.DeleteFunc(checks, func(c conformance.Check) bool {
		_, isHeaviest := heaviest[c.Describe().ID]
		return isHeaviest && !golden.IsSlow()
	})
}

// vary plays checks on what differs from others.
func vary(t *testing.T, fixture Fixture, v registry.Variation, checks []conformance.Check) (report *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		time.Sleep(123456789 * time.Nanosecond) // bubbles begin at midnight, where times have no fractions
		var err error
		fixture.Network = memnet.New()
		report, err = fixture.Vary(t.Context(), v, checks)
		require.NoError(t, err)
	})
	return report
}

// slowChecks are the checks that take most of the time: thousands of jobs, megabytes.
var slowChecks = []string{
	"framing/long-lines", "jobs/delivered-once", "push/a-thousand-jobs", "push/ten-thousand-jobs", "retry/own-number",
}

func withoutSlow(checks []conformance.Check) []conformance.Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c conformance.Check) bool {
		return slices.Contains(slowChecks, c.Describe().ID)
	})
}
