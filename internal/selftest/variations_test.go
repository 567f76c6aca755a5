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
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/reports"
)

// crowded are the kinds of variations that are played with slow checks too: all others
// do to each job, or to single commands, what shows in the other checks as well.
const crowded = "connections consumer json line pace queue refuses"

// TestVariations plays the suite on servers that differ and are right: nothing may be
// found, and everything must be decided. With FWP_SLOW=1 each variation has a third of the
// scripts, and the crowded ones all; otherwise each has about one of 320, and none of the slow checks.
func TestVariations(t *testing.T) {
	t.Parallel()
	all, few := suite(t), few(t)
	for _, v := range (Fixture{}).Variations() {
		scripts := sample(slow.Pick[uint32](320, 3), v.Name, few)
		if kind, _, _ := strings.Cut(v.Name, "-"); slow.Enabled() && slices.Contains(strings.Fields(crowded), kind) {
			scripts = all
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			report := vary(t, peer.Default(), v, scripts)
			assert.Empty(t, report.Internal)
			played := slices.DeleteFunc(slices.Clone(report.Checks), func(c reports.Check) bool {
				return strings.HasPrefix(c.ID, reports.LawPrefix)
			})
			assert.Len(t, played, len(scripts))
			for _, check := range report.Checks {
				assert.Empty(t, falseAlarms(v, check, false))
			}
		})
	}
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
		return isHeaviest && !slow.Enabled()
	})
}

// vary plays scripts on an open and a protected server that differ from others.
func vary(t *testing.T, of *peer.Peer, v peer.Variation, scripts []conformance.Check) (report *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		time.Sleep(123456789 * time.Nanosecond) // bubbles begin at midnight, where times have no fractions
		var err error
		report, err = Fixture{Peer: of, Network: memnet.New()}.Vary(t.Context(), v, scripts)
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
