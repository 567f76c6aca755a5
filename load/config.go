// Package load puts the load of a workload on a server, and tells what came of it: how
// many connections the server took, what it carried and how long that took, what became
// of every job, and how far the generator itself is to be believed.
//
// Run goes through the phases of a run; what is below it (arrivals, workload, engine,
// client, measure, ledger, health) knows nothing of them. The package prints nothing;
// who wants to see a run while it goes gives Config.Watch.
package load

import (
	"context"
	"crypto/rand"
	"net"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

// Config is one run. Workload, Run and Dial must be set.
type Config struct {
	Workload workload.Workload // passes its Check
	Seed     uint64            // decides everything that looks like chance
	Run      string            // names queues, jobs and workers; see NewRun

	Dial     func(context.Context) (net.Conn, error)
	Password string
	Overload client.Overload
	Pace     float64 // connections opened a second; 0 is 1,000
	Loops    int     // of the engine; 0 is 1
	Coarse   bool    // for virtual time: see engine.Config

	// Engine makes the engine; nil is engine.NewPortable.
	Engine func(engine.Config) engine.Engine

	// Watch, if set, is told of every second when it is over. Calls do not come side
	// by side; what it takes delays the next.
	Watch func(Moment)

	// History has every PUSH, FETCH, ACK and FAIL recorded, up to HistoryLimit of them, and
	// judged: see Result.
	History bool

	Version    string             // of the tool, for the report
	Target     reports.LoadTarget // URL and how it was chosen; Run adds what the server says of itself
	Thresholds []reports.Threshold

	// ClauseOf, if set, returns the clause of a breach by its name (reports.LoadFinding.Breach), for the report.
	ClauseOf func(breach string) string
}

// Moment is a run after one more second.
type Moment struct {
	reports.Second
	Run   string
	Began time.Time // when time 0 of the set was
	// Set is what was recorded in the second. It is valid during the call only.
	Set *measure.Set
	// Left is how long the measured window still lasts; negative if that depends on the
	// target.
	Left   time.Duration
	Errors int64 // so far
}

// Result is what came of a run.
type Result struct {
	Report *reports.Load
	Total  *measure.Set // all that was measured; nil if nothing was
	// History is what was recorded, to be saved; nil without Config.History.
	History *history.History
	// Judged is what the examination of History found.
	Judged history.Report
}

// NewRun returns a name for a run that no other has.
func NewRun() string { return strings.ToLower(rand.Text()[:8]) }

// Ops returns the kinds of commands of a load, as reports and thresholds name them, in the order of tables.
func Ops() []string {
	var names []string
	for _, op := range measure.Ops() {
		names = append(names, string(op))
	}
	return names
}

// Connections returns how many connections a workload has open at a time, at most.
func Connections(w *workload.Workload) int {
	full := w.Filled()
	each := 1
	if full.Topology.Kind == workload.Pool {
		each = full.Topology.Fetchers + full.Topology.Reporters + 1
	}
	return full.Producers + full.Consumers*each + full.Connections + full.Observers + client.Helpers(&full)
}
