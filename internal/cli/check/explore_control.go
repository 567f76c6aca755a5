package check

import (
	"context"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// controlWait is the longest that a control waits for: what needs more is not tried.
const controlWait = 10 * time.Second

// control plays the script of a finding on the embedded server, which is right: what fails
// there says nothing against another. The verdict is Undecided if that was not tried, or
// did not come to its end.
func control(ctx context.Context, text string) reports.Verdict {
	script, err := scenarios.Parse(fwpdialect.Dialect{}, "control.fwp", []byte(text))
	if err != nil || script.Wait() > controlWait {
		return reports.Inconclusive
	}
	servers, end, err := embedAll()
	if err != nil {
		return reports.Inconclusive
	}
	defer end()
	runner := &conformance.Runner{Servers: servers, Checks: conformance.Scripts(script), Prepare: prepare}
	return runner.Run(ctx).Checks[0].Verdict
}
