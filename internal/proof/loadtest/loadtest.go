// Package loadtest puts a load on a server of whatever protocol in virtual time, for the tests of its speaker.
package loadtest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/wire"
)

// Run returns the report of two seconds of load, 80 jobs, by 4 producers and 4 workers. Change may change the workload,
// and is nil if it does not; serve starts a server, and returns how it is reached and what ends it.
func Run(
	t *testing.T, protocol wire.Protocol, change func(*plan.Workload), serve func() (load.Config, func()),
) (report *results.Load) {
	t.Helper()
	w := plan.Workload{
		Rate: 40, Producers: 4, Consumers: 4,
		Duration: plan.Duration(2 * time.Second), Drain: plan.Duration(9 * time.Second),
	}
	if change != nil {
		change(&w)
	}
	synctest.Test(t, func(t *testing.T) {
		config, end := serve()
		defer end()
		config.Workload, config.Seed, config.Run, config.CoarseTimers, config.Protocol = w.WithDefaults(), 1, "test", true,
			protocol
		report = load.Run(t.Context(), config).Report
	})
	return report
}

// CheckFinding fails the test unless the report has a finding of a kind.
func CheckFinding(t *testing.T, l *results.Load, kind results.FindingKind) {
	t.Helper()
	var kinds []results.FindingKind
	for _, f := range l.Findings {
		kinds = append(kinds, f.Kind)
	}
	assert.Contains(t, kinds, kind, l.Unreachable)
}
