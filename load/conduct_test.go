package load_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/protocols/fwp/record"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
)

// TestClientsFollowTheSpecification: in what a load sends, whatever its preset, fwpcheck record finds nothing but what is
// observed.
func TestClientsFollowTheSpecification(t *testing.T) {
	t.Parallel()
	for name, w := range loads(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.JobLimit, w.Prefill = min(w.JobLimit, 200), min(w.Prefill, 200)
			if !w.BeatOnly {
				w.Duration = min(w.Duration, plan.Duration(200*ms))
			}
			b := bench{server: fakes.Config{Password: "secret", Iterations: 10}, load: w}
			b.withServer(t, func(ctx context.Context, config load.Config) {
				place := memnet.NewPlace()
				l := place.MustListen()
				r := record.New(record.Config{Dial: config.Dial, Watch: clientrules.Config{Password: "secret"}})
				serving, stop := context.WithCancel(ctx)
				served := make(chan error)
				go func() { served <- r.Serve(serving, l) }()
				config.Dial = place.Dial
				load.Run(ctx, config)
				stop()
				assert.NoError(t, <-served)
				r.Close()
				requireNoDeparture(t, r.Summary())
			})
		})
	}
}

// requireNoDeparture fails the test if clients departed from a rule of the specification.
func requireNoDeparture(t *testing.T, s record.Summary) {
	t.Helper()
	assert.NotEmpty(t, s.Counts.Commands["END"])
	for _, result := range s.Results {
		clause, _ := fwpsuite.ClauseByID(fwpsuite.ClauseOf(result.Rule.Breach))
		if clause.BreachVerdict() != reports.Observed {
			assert.Empty(t, result.Examples, "%s %s", clause.ID, result.Rule.Breach)
		}
	}
}
