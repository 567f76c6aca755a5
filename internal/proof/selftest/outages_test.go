package selftest

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/registry"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/reports"
)

// TestOutages: what is said of workers behind an outage. A worker without work fails a run, though the clause is a
// recommendation, and at once; one that runs fewer jobs is warned; one that ends, for its supervisor to start it again,
// is not blamed.
func TestOutages(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ bug, variation, check, clause, want string }{
		{"refused-ends-executor", "", "outage/refused-idle", "FWP-FETCH-11",
			"fail no work: 3 of 3 jobs were not done within 1m0s after the outage, while it sent BEATs"},
		{"refused-ends-executor", "", "outage/silent-idle", "FWP-FETCH-11", "pass : "},
		{"refused-ends-one", "", "outage/refused-busy", "FWP-FETCH-11",
			"fail no work: at most 1 at a time within 1m0s after the outage; the worker stayed"},
		{"refused-ends-beats", "", "outage/refused-idle", "FWP-BEAT-06", "fail no heartbeats: no BEAT "},
		{"", "refused-exits", "outage/refused-idle", "FWP-WRK-05",
			"observed : it ended with exit status 1 at the first refused connect: a supervisor must restart it"},
		{"", "refused-exits", "outage/refused-busy", "FWP-FETCH-09", "pass : "},
		{"", "refused-exits", "outage/refused-idle", "FWP-FETCH-09", "pass : "},
		{"", "refused-exits", "outage/refused-busy", "FWP-FETCH-11", "pass : "},
		{"", "loss-pause-a-minute", "outage/refused-idle", "FWP-FETCH-11", "pass : "},
		{"", "", "outage/unanswered-idle", "FWP-WRK-05", "observed : it worked again after "},
	} {
		t.Run(row.bug+row.variation+" "+row.check+" "+row.clause, func(t *testing.T) {
			t.Parallel()
			report := outageOf(t, row.bug, row.variation, row.check)
			got := ""
			for _, cv := range report.Checks[0].Clauses {
				if cv.ID == row.clause {
					got = fmt.Sprintf("%s : %s", cv.Verdict, cv.Cause)
				}
			}
			for _, f := range slices.Backward(report.Findings()) {
				if f.Clause == row.clause {
					got = fmt.Sprintf("%s %s: %s", f.Verdict, f.Harm, f.Actual)
				}
			}
			assert.True(t, strings.HasPrefix(got, row.want), got)
			assert.Equal(t, 1, report.Checks[0].Attempts)
		})
	}
}

// TestAWorkerThatStaysAway: a worker that has not come back within a minute is not awaited for a BEAT in addition.
func TestAWorkerThatStaysAway(t *testing.T) {
	t.Parallel()
	report := outageOf(t, "loss-final", "", "outage/refused-idle")
	var clauses []string
	for _, f := range report.Findings() {
		clauses = append(clauses, f.Clause)
	}
	assert.ElementsMatch(t, []string{"FWP-FETCH-11", "FWP-BEAT-06"}, clauses)
	assert.Less(t, report.Checks[0].Took, 2*time.Minute, "of virtual time")
}

// outageOf plays a situation on a worker with a bug or a variation, or with neither.
func outageOf(t *testing.T, bug, variation, check string) (report *reports.Report) {
	t.Helper()
	fixture := fixtureOf(t, "fwp", "worker")
	checks, err := fixture.Checks()
	require.NoError(t, err)
	checks = slices.DeleteFunc(checks, func(c conformance.Check) bool { return c.Describe().ID != check })
	bugs := slices.DeleteFunc(fixture.Bugs(), func(f registry.Bug) bool { return path.Base(f.Name) != bug })
	variations := fixture.Variations()
	v := variations[len(variations)-1]
	for _, other := range variations {
		if path.Base(other.Name) == variation {
			v = other
		}
	}
	synctest.Test(t, func(t *testing.T) {
		fixture.Network = memnet.New()
		if bug != "" {
			report, err = fixture.Report(t.Context(), bugs, checks, nil)
		} else {
			report, err = fixture.Vary(t.Context(), v, checks)
		}
		require.NoError(t, err)
	})
	return report
}

// TestAccountsOfProducers: what is said of jobs to which no jid was given, and of jobs that are pushed together.
func TestAccountsOfProducers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ departure, check, clause, want string }{
		{"", "loss/no-jid", "FWP-WRK-06", "observed no job was pushed with two jids"},
		{"push-repeated-renamed", "loss/no-jid", "FWP-WRK-06",
			"observed the job with the arguments [2] was pushed with 2 jids (fakeworker"},
		{"", "bulk/all", "FWP-WU-19", "pass "},
		{"", "bulk/refused", "FWP-RESP-09", "pass "},
		{"refused-pushed-alone", "bulk/refused", "FWP-RESP-09", "pass "},
		{"", "bulk/unread", "FWP-WU-19", "pass "},
		{"push-dropped-seldom", "bulk/all", "FWP-WU-19", "fail "},
		{"error-ignored", "bulk/refused", "FWP-RESP-09", "fail "},
		{"loss-ignored", "bulk/unread", "FWP-WU-19", "fail "},
	} {
		t.Run(row.departure+" "+row.check, func(t *testing.T) {
			t.Parallel()
			report, got := likeFaktory(t, row.departure, row.check), ""
			for _, cv := range report.Checks[0].Clauses {
				if cv.ID == row.clause {
					got = cv.Verdict.String() + " " + cv.Cause
				}
			}
			assert.True(t, strings.HasPrefix(got, row.want), got)
		})
	}
}

// likeFaktory plays a situation of a server that is like Faktory on a producer with a bug, a variation or neither.
func likeFaktory(t *testing.T, departure, check string) (report *reports.Report) {
	t.Helper()
	fixture, config := fixtureOf(t, "fwp", "producer"), registry.Config{}
	for _, f := range fixture.Bugs() {
		if path.Base(f.Name) == departure {
			config.Bugs = append(config.Bugs, f)
		}
	}
	for _, v := range fixture.Variations() {
		if path.Base(v.Name) == departure {
			config.Variation = v
		}
	}
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		config.Network = memnet.New()
		h, err := fixture.Client.Harness(config)
		require.NoError(t, err)
		h.Extension = string(fakes.Faktory)
		_, err = h.Identify(t.Context())
		require.NoError(t, err)
		checks, _, err := conformance.Selection{Suite: fixture.Entry.Suite, Checks: []string{check}}.Apply(h.Checks())
		require.NoError(t, err)
		report = (&run.Runner{
			Suite: fixture.Entry.Suite, Servers: []run.Server{{Target: fwpsituations.NoServer{}}}, Checks: checks,
			Parties: fixture.Client.Parties, Virtual: true,
		}).Run(t.Context())
	})
	return report
}

// TestJobsInMemory: a job that counts as pushed while it is only in the memory of the producer is a finding, whether it
// is lost at the end or pushed later.
func TestJobsInMemory(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ departure, check, want string }{
		{"loss-buffered", "outage/refused-last", "the server did not accept "},
		{"loss-buffered", "outage/slow-last", "the server did not accept "},
		{"loss-buffered", "outage/refused-between", " s before the OK"},
		{"", "outage/refused-last", ""},
		{"", "outage/slow-last", ""},
		{"", "outage/stalled-last", ""},
	} {
		t.Run(row.departure+" "+row.check, func(t *testing.T) {
			t.Parallel()
			report, got := likeFaktory(t, row.departure, row.check), ""
			for _, f := range report.Findings() {
				assert.Equal(t, "FWP-WU-19", f.Clause)
				got += f.Actual
			}
			assert.Contains(t, got, row.want)
			assert.Equal(t, row.want == "", got == "", got)
		})
	}
}
