package wire_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/loadtest"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
)

// runBatches returns the report of a load that pushes up to ten jobs at a time, and how many PUSHBs that took.
func runBatches(t *testing.T, hook func(*fakes.Event), change func(*plan.Workload)) (*results.Load, int) {
	t.Helper()
	var commands atomic.Int64
	l := loadtest.Run(t, &fwpwire.Config{Batches: true}, func(w *plan.Workload) {
		w.Batch = 10
		if change != nil {
			change(w)
		}
	}, func() (load.Config, func()) {
		place := memnet.NewPlace()
		server := fakes.NewUnstarted(fakes.Config{
			Extension: fakes.Faktory, Listen: place.Listen, Hook: func(e *fakes.Event) {
				if e.Point == fakes.Checked && e.Command.Verb == "PUSHB" && len(e.Jobs) > 0 {
					commands.Add(1)
				}
				hook(e)
			},
		})
		server.Start()
		return load.Config{Dial: place.Dial}, server.Close
	})
	return l, int(commands.Load())
}

func TestBatches(t *testing.T) {
	t.Parallel()
	l, commands := runBatches(t, func(*fakes.Event) {}, nil)
	assert.Equal(t, 8, commands, "those of an open loop are due together")
	assert.Empty(t, l.Findings)
	assert.EqualValues(t, 80, l.Jobs.Pushed)
	assert.EqualValues(t, 80, l.Jobs.Acked)

	l, commands = runBatches(t, func(*fakes.Event) {}, func(w *plan.Workload) { w.Rate, w.JobLimit = 0, 75 })
	assert.GreaterOrEqual(t, commands, 8)
	assert.Less(t, commands, 75)
	assert.EqualValues(t, 75, l.Jobs.Acked)
}

// Of each batch one job is refused: those are refused, and no others.
func TestBatchesThatArePartlyRefused(t *testing.T) {
	t.Parallel()
	l, _ := runBatches(t, func(e *fakes.Event) {
		if e.Point == fakes.Checked && len(e.Jobs) > 3 {
			e.Jobs[3].Delete("jobtype")
		}
	}, nil)
	assert.EqualValues(t, 72, l.Jobs.Pushed)
	assert.EqualValues(t, 72, l.Jobs.Acked)
	assert.EqualValues(t, 8, l.Jobs.Refused)
	assert.Zero(t, l.Jobs.LostJobs)
}

// The whole batch is refused.
func TestBatchesThatAreRefused(t *testing.T) {
	t.Parallel()
	l, _ := runBatches(t, func(e *fakes.Event) {
		if e.Point == fakes.Checked && len(e.Jobs) > 0 {
			e.Err = &fakes.Refusal{Text: "no"}
		}
	}, nil)
	assert.Zero(t, l.Jobs.Pushed)
	assert.EqualValues(t, 80, l.Jobs.Refused)
}
