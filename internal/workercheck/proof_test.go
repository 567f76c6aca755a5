package workercheck

import (
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes/fakeworker"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/reports"
)

// inMemory returns a harness for the worker of fakes/fakeworker on a network of its own.
func inMemory(configure func(*fakeworker.Config)) *Harness {
	network := memnet.New()
	var last atomic.Int64
	listen := func(ipv6 bool) (net.Listener, error) {
		host := fmt.Sprintf("fwp%d", last.Add(1))
		if ipv6 {
			host = fmt.Sprintf("[fd00::%d]", last.Load())
		}
		return network.Listen(host + ":7419")
	}
	return &Harness{
		Launcher: &InProcess{Dial: network.DialContext, Configure: configure},
		Listen:   listen, ListenAgain: network.Listen,
	}
}

// run plays situations in virtual time; no ids: all.
func run(t *testing.T, configure func(*fakeworker.Config), ids ...string) *reports.Report {
	t.Helper()
	var report *reports.Report
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		h := inMemory(configure)
		_, err := h.Identify(t.Context())
		require.NoError(t, err)
		selection := conformance.Selection{Checks: ids}
		checks, _, err := selection.Apply(h.Checks())
		require.NoError(t, err)
		r := &conformance.Runner{
			Servers: []conformance.Server{{Target: Target{}}}, Checks: checks, Parties: []string{"C", "K"},
		}
		report = r.Run(t.Context())
	})
	require.Empty(t, report.Internal)
	return report
}

// wrong returns what is not green in a report.
func wrong(report *reports.Report) (all []string) {
	for _, c := range report.Checks {
		for _, cv := range c.Clauses {
			if cv.Verdict.Breach() || cv.Verdict == reports.Inconclusive || cv.Verdict == reports.NotRun {
				all = append(all, fmt.Sprintf("%s: %s %s: %s", c.ID, cv.ID, cv.Verdict, cv.Why))
			}
		}
	}
	return all
}

// TestConformingWorker judges a worker that is right: nothing is found, and every clause is decided in some situation.
// In which one is a matter of chance for a few: a worker may have done all its jobs before its second connection greets.
func TestConformingWorker(t *testing.T) {
	t.Parallel()
	report := run(t, nil)
	passed := map[string]bool{}
	for _, c := range report.Checks {
		for _, cv := range c.Clauses {
			passed[cv.ID] = passed[cv.ID] || cv.Verdict == reports.Pass
		}
	}
	for _, c := range report.Checks {
		for _, cv := range c.Clauses {
			assert.False(t, cv.Verdict.Breach(), "%s: %s %s: %s", c.ID, cv.ID, cv.Verdict, cv.Why)
			open := cv.Verdict == reports.Inconclusive || cv.Verdict == reports.NotRun
			assert.False(t, open && !passed[cv.ID], "%s: %s %s: %s", c.ID, cv.ID, cv.Verdict, cv.Why)
		}
	}
}
