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
			varies(t, Fixture{}, v, sample(golden.Sample[uint32](320, 4), v.Name, all, v.Allows...))
		})
	}
}

// TestOtherVariations does the same with Workq and eMQP: each has an eighth of the scripts, with FWP_SLOW=1 all.
func TestOtherVariations(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"workq", "emqp"} {
		of, err := registry.Named(name)
		require.NoError(t, err)
		all, err := of.Scripts()
		require.NoError(t, err)
		for _, v := range (Fixture{Peer: of}).Variations() {
			t.Run(name+"/"+v.Name, func(t *testing.T) {
				t.Parallel()
				varies(t, Fixture{Peer: of}, v, sample(golden.Sample[uint32](8, 1), v.Name, all, v.Allows...))
			})
		}
	}
}

// varies plays checks on what differs and is right: they find nothing, and leave nothing open, but what the variation
// allows, and meet all of that. It returns the report.
func varies(t *testing.T, on Fixture, v registry.Variation, checks []conformance.Check) *reports.Report {
	t.Helper()
	report := vary(t, on, v, checks)
	played := slices.DeleteFunc(slices.Clone(report.Checks), func(c reports.Check) bool {
		return strings.HasPrefix(c.ID, reports.LawPrefix)
	})
	assert.Len(t, played, len(checks))
	var met allow.Met
	assert.Empty(t, on.FalseAlarms(v, report, &met))
	assert.Empty(t, stale(v, &met, false))
	return report
}

// stale says which rows of a variation have allowed nothing: those about explorations, which have a test of their own,
// or the others.
func stale(v registry.Variation, met *allow.Met, explored bool) []string {
	return met.Stale(slices.DeleteFunc(slices.Clone(v.Allows), func(row allow.Row) bool {
		return strings.HasPrefix(row.Where[0], "explore/") != explored
	}))
}

// few is the suite without the slow checks.
func few(t *testing.T) []conformance.Check {
	t.Helper()
	all := suite(t)
	few := withoutSlow(all)
	require.Len(t, few, len(all)-len(slowChecks))
	return few
}

// light returns the checks without the heaviest, unless FWP_SLOW=1 asks for everything.
func light(checks []conformance.Check) []conformance.Check {
	return slices.DeleteFunc(checks, func(c conformance.Check) bool {
		_, isHeaviest := heaviest[c.Describe().ID]
		return isHeaviest && !golden.Slow()
	})
}

// vary plays checks on what differs from others.
func vary(t *testing.T, on Fixture, v registry.Variation, checks []conformance.Check) (report *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		time.Sleep(123456789 * time.Nanosecond) // bubbles begin at midnight, where times have no fractions
		var err error
		on.Network = memnet.New()
		report, err = on.Vary(t.Context(), v, checks)
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
