// Package suitetest has the tests that the suite of each protocol must pass: its scripts are in order, its document of
// clauses is current, and it finds nothing on a conforming server. For eMQP it has a broker in memory.
package suitetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// Scripts returns the scripts of a protocol as checks.
func Scripts(t *testing.T, protocol *conformance.Suite) []conformance.Check {
	t.Helper()
	scripts, err := protocol.Scripts()
	require.NoError(t, err)
	return conformance.Scripts(scripts...)
}

// CheckOrder fails the test unless lint finds nothing in the scripts of a protocol, they are in the normal form and
// have a title, their clauses are in the catalogue and bind servers, and each check that is no more has been replaced.
func CheckOrder(t *testing.T, protocol *conformance.Suite) {
	t.Helper()
	scripts, err := protocol.Scripts()
	require.NoError(t, err)
	for _, s := range scripts {
		assert.Empty(t, scenarios.Lint(s), s.Name)
		assert.Equal(t, string(scenarios.Format(s)), strings.Join(s.Source, "\n"), "%s: write it with fwpcheck fmt", s.Name)
		assert.NotEmpty(t, s.Title, s.Name)
		for m := range s.Marks() {
			clause, ok := protocol.ClauseByID(m.Clause)
			assert.True(t, ok && clause.BindsServer(), "%s: %s", s.Name, m.Clause)
		}
	}
	var ids []string
	for _, c := range Scripts(t, protocol) {
		ids = append(ids, c.Describe().ID)
	}
	for old, now := range protocol.Retired {
		_, isRule := protocol.Law.Rules[strings.TrimPrefix(now, reports.LawPrefix)]
		assert.NotContains(t, ids, old)
		assert.True(t, isRule || slices.Contains(ids, now), "%s, instead of %s", now, old)
	}
}

// Document returns the catalogue of a protocol as a table behind an introduction. It fails the test unless what binds
// servers is either decided by a script or excluded with a reason.
func Document(t *testing.T, protocol *conformance.Suite, introduction string) string {
	t.Helper()
	checks := map[string][]string{}
	for _, c := range Scripts(t, protocol) {
		for _, m := range c.Describe().Clauses() {
			checks[m.Clause] = append(checks[m.Clause], c.Describe().ID)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# The clauses of %s\n\n%s\n\n", protocol.Title, introduction)
	b.WriteString("| id | party | level | statement | reading | checks | source |\n|---|---|---|---|---|---|---|\n")
	for _, c := range protocol.Clauses() {
		deciders := strings.Join(checks[c.ID], ", ")
		assert.Equal(t, c.BindsServer() && c.ExclusionReason == "", deciders != "", c.ID)
		if c.ExclusionReason != "" {
			deciders = "excluded: " + c.ExclusionReason
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join([]string{
			c.ID, c.Party, string(c.Level), c.Statement, c.Reading, deciders,
			cmp.Or(strings.TrimSpace(c.Sources[0].Heading+" "+c.Sources[0].Units), c.Sources[0].Document),
		}, " | "))
	}
	return b.String()
}

// CheckPasses fails the test unless each check of a report passes, and each clause that is played.
func CheckPasses(t *testing.T, report *reports.Report) {
	t.Helper()
	require.Empty(t, report.Internal)
	isBad := func(c reports.ClauseVerdict) bool { return c.Verdict != reports.Pass }
	for _, c := range report.Checks {
		if c.Verdict != reports.Pass && (len(c.Clauses) == 0 || slices.ContainsFunc(c.Clauses, isBad)) {
			t.Errorf("%s: %s %s %+v", c.ID, c.Verdict, c.Cause, c.Findings)
			for _, l := range c.Conversation {
				t.Log(l.Conn, l.From, l.Text)
			}
		}
		assert.Empty(t, c.LeftoverJobs, c.ID)
	}
	for _, c := range report.Clauses {
		if !slices.Contains([]reports.Verdict{reports.Pass, reports.NotApplicable, reports.NotSelected}, c.Verdict) {
			t.Errorf("%s: %s %s", c.ID, c.Verdict, c.Cause)
		}
	}
}

// CheckTimes fails the test unless each script was played in the time of its waits: line, or in a second where it has
// none: that is what a quick run goes by.
func CheckTimes(t *testing.T, report *reports.Report, checks []conformance.Check) {
	t.Helper()
	for _, c := range checks {
		description := c.Describe()
		i := slices.IndexFunc(report.Checks, func(r reports.Check) bool { return r.ID == description.ID })
		elapsed, limit := report.Checks[i].Took, max(description.Wait, time.Second)
		line := (elapsed + time.Second - 1).Truncate(time.Second)
		assert.LessOrEqual(t, elapsed.Truncate(time.Second/10), limit, "%s: write waits: %.0fs", description.ID,
			line.Seconds())
	}
}

// BrokenClauses returns the clauses that the checks of a report found broken, and these checks.
func BrokenClauses(report *reports.Report) (clauses, checks []string) {
	for _, c := range report.Checks {
		for _, cv := range c.Clauses {
			if cv.Verdict.IsBreach() {
				clauses, checks = append(clauses, cv.ID), append(checks, c.ID)
			}
		}
	}
	slices.Sort(clauses)
	slices.Sort(checks)
	return slices.Compact(clauses), slices.Compact(checks)
}
