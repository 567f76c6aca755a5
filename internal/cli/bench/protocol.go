package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
)

// checkProtocol returns an error for flags and parts of a workload that the protocol of a target does not have, and has
// the embedded server have its bug.
func (o *benchOptions) checkProtocol(at *shared.Endpoint, w *plan.Workload) error {
	if !at.Entry.CanDisrupt && o.history != "" {
		return fmt.Errorf("--history is for fwpcheck recheck, which works with FWP only: %s has no history yet",
			at.Entry.Title)
	}
	return o.applyProtocol(at, w)
}

// applyProtocol returns an error for a flag of the load and parts of a workload that the protocol of a target does not
// have, and has the embedded server have its bug and its variation.
func (o *loadFlags) applyProtocol(at *shared.Endpoint, w *plan.Workload) error {
	if o.awaitsResults && at.Entry.Requests == "" {
		return fmt.Errorf("--requests is about %s: %s has no command that waits for a result",
			strings.Join(requests(), " and "), at.Entry.Title)
	}
	return cmp.Or(o.useBatches(at, w), at.SetVariation(o.variation), at.SetBug(o.bug), checkWorkload(*at, w))
}

// useBatches has the target be one of the extension that has a command for several jobs, if the workload pushes with
// that.
func (o *loadFlags) useBatches(at *shared.Endpoint, w *plan.Workload) (err error) {
	o.needsBatch = w.Batch > 1
	switch {
	case !o.needsBatch, at.Entry.Extension != "":
	case at.Entry.Batches == "":
		return fmt.Errorf("batch: %s has no command for that", at.Entry.Title)
	default:
		at.Entry, err = at.Entry.WithExtension(at.Entry.Batches)
	}
	return err
}

// checkWorkload returns an error for a workload with something that no message of a target's protocol says.
func checkWorkload(at shared.Endpoint, w *plan.Workload) error {
	if at.Entry.CheckWorkload == nil {
		return nil
	}
	return at.Entry.CheckWorkload(w)
}

// checkQueues returns an error for a load whose metrics would be about queues for whose jobs no worker waits, and not
// about the server: the rate of a closed loop that holds its producers, and the times of jobs and fetches.
func (o *loadFlags) checkQueues(at shared.Endpoint, w *plan.Workload, metrics []string) error {
	queues, awaited := w.WithDefaults().Queues.Number, w.AwaitedQueues()
	i := slices.IndexFunc(metrics, func(m string) bool {
		return strings.HasPrefix(m, "job.") || strings.HasPrefix(m, "fetch")
	})
	isHeld := !w.IsOpen() && w.Backlog > 0 && w.Producers > 0
	if awaited >= queues || !isHeld && i < 0 || !o.speaker(at).Speaker("").Times().WaitsOnFirst {
		return nil
	}
	metric := "the rate"
	if !isHeld {
		metric = metrics[i]
	}
	return fmt.Errorf("%d queues, and workers wait for jobs of %d of them: a FETCH that finds no job waits for its first "+
		"queue only, so %s would not be that of the server; use --queues %d, or more --consumers", queues, awaited, metric,
		awaited)
}

// requests returns the commands of all protocols by which producers wait until their jobs are done.
func requests() (all []string) {
	for _, p := range registry.All() {
		if p.Requests != "" {
			all = append(all, p.Requests)
		}
	}
	return all
}

// speaker returns what speaks the protocol of a target.
func (o *loadFlags) speaker(at shared.Endpoint) wire.Protocol {
	return at.Entry.Wire(registry.WireConfig{Password: at.Password, Requests: o.awaitsResults, Batches: o.needsBatch})
}
