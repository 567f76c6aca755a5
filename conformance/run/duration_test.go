package run_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/reports"
)

// runOnPool runs checks on a serverPool in virtual time, in which only waiting takes any.
func runOnPool(
	t *testing.T, config fakes.Config, all []conformance.Check,
	configure func(*run.Runner), look func(*reports.Report),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		pool := &serverPool{nw: memnet.New(), config: config}
		defer pool.close()
		runner := pool.runner(all)
		if configure != nil {
			configure(runner)
		}
		look(runner.Run(t.Context()))
	})
}

// longest returns the check that took longest.
func longest(r *reports.Report) (worst reports.Check) {
	for _, c := range r.Checks {
		if c.Took > worst.Took {
			worst = c
		}
	}
	return worst
}

func TestAQuickRunIsQuick(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config fakes.Config
		limit  time.Duration
	}{
		"on the embedded server":                           {fakes.Config{}, conformance.QuickWait},
		"on a server that looks every 5 s for what is due": {fakes.Config{ScanEvery: 5 * time.Second}, 8 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.config.ScanEvery > 0 {
				golden.OnlySlow(t)
			}
			set := func(r *run.Runner) { r.Quick = true }
			runOnPool(t, test.config, suite(t, true), set, func(r *reports.Report) {
				for _, c := range r.Clauses {
					assert.NotContains(t, c.Cause, "no line about it got", c.ID)
				}
				assert.LessOrEqual(t, r.Took, test.limit, "shorten the wait of %s, or let it be over %v (header `waits:`), "+
					"so that a quick run leaves it out", longest(r).ID, conformance.QuickWait)
			})
		})
	}
}

func TestWaitsOverlap(t *testing.T) {
	t.Parallel()
	all := suite(t, false) // internal/proof/selftest plays all of them on such a server
	if !golden.IsSlow() {
		all = ninthPart(all, 0)
	}
	runOnPool(t, fakes.Config{}, all, nil, func(r *reports.Report) {
		assert.LessOrEqual(t, r.Took, longest(r).Took+5*time.Second, "the longest wait is that of %s", longest(r).ID)
	})
}
