package load

import (
	"context"
	"crypto/rand"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/load/wire"
	"github.com/fwpsuite/fwp/reports"
)

// Config is one run. Workload, Run, Dial and Protocol must be set.
type Config struct {
	Workload plan.Workload // passes its Check; of a segment: what Workload.Segment returns
	Seed     uint64        // of all that is random
	Segment  plan.Segment  // of the load that the run puts on the server; zero: all of it
	Run      string        // names queues, jobs and workers; see NewRunName

	Dial     func(context.Context) (net.Conn, error)
	Protocol wire.Protocol // of the server, such as fwpwire.New
	// MayBeForwarded says that no more than an address is known of the server: a forwarder may be in between.
	MayBeForwarded bool
	// Tap, if set, is [client.Config.Tap]; it is safe for concurrent use.
	Tap      func(worker string) client.Tap
	Overload client.Overload
	Pace     float64 // connections opened a second; 0 is 1,000
	Loops    int     // of the engine; 0 is 1
	// KeepProcessors is [engine.Config.KeepProcessors].
	KeepProcessors bool
	CoarseTimers   bool // for virtual time: see engine.Config

	// Timeout is how long a reply may take before its connection is given up; 0 is client.DefaultPatience. It
	// must be longer than a fetch may block. A phase without an end of its own is given up when nothing was answered for
	// as long, or for 10 s if that is longer or Timeout is 0.
	Timeout time.Duration

	// Deadline is when the run stops emptying queues and closing connections, whatever is left; zero: its own limits end
	// that.
	Deadline time.Time

	// MissingWait is how long the drain goes on for missing jobs once every queue was seen empty, in place of all its
	// time. Such jobs are called lost only after all of it; 0: all of it.
	MissingWait time.Duration

	// Resolve returns the addresses of the server, for the epoll engine (Linux, no TLS): see [engine.Config]. Without it
	// the engine is the portable one, which opens all its connections with Dial.
	Resolve engine.Resolve

	// OnOpen, if set, is called with the address of each connection that the epoll engine has opened: see [engine.Config].
	OnOpen func(netip.AddrPort)

	// DialBackend and ResolveBackend are Dial and Resolve for workers of a server that takes these at another port.
	DialBackend    func(context.Context) (net.Conn, error)
	ResolveBackend engine.Resolve

	// StartAt is when the load begins, by the clock of this machine, with all connections open and the prefill done: if
	// they are not, it does not begin. Zero: as soon as they are.
	StartAt time.Time

	// Watch, if set, is called at the end of every second, one call at a time. A call that takes long delays the next.
	Watch func(Progress)

	// RecordHistory makes Run record every push, fetch, ack and fail, up to MaxCalls of them (0: DefaultMaxCalls), and
	// examine them: see Result.
	RecordHistory bool
	MaxCalls      int64

	// Schedule is what is done to the target on purpose while the load goes on, by Disrupt, which must be set if there is
	// anything. Times count from the first arrival. A worker's reservation (reserve_for) should be short then: the drain
	// waits until every job that may be in doubt has had the time to come back, if the workload's Drain is long enough.
	Schedule []disrupt.Disruption
	Disrupt  disrupt.Target

	// ServerUsage, if set, returns what the server uses, and whether it is known. It is called each second.
	ServerUsage func() (validity.Usage, bool)

	Version    string             // of the tool, for the report
	Target     results.LoadTarget // URL and how it was chosen; Run adds the greeting and what the server says about itself
	Thresholds []validity.Threshold
	// AbortOn are conditions that end the load before its time. Without any it ends when nothing but refusals came for
	// half a minute, unless there is a Schedule.
	AbortOn []validity.Abort

	// Percentiles are those that tables and seconds show in place of the usual ones; Metrics are further figures that the
	// report must have the percentile of, beside those of Thresholds.
	Percentiles []results.Percentile
	Metrics     []string

	// Findings, if set, is called once when all connections are closed, and returns what somebody else has found, with
	// clauses. What is about a clause that the run has found broken itself is left out.
	Findings func() []results.LoadFinding

	// ClauseOf, if set, returns the clause of a breach by its name (results.LoadFinding.Breach), for the report, and
	// LevelOf the level of a clause.
	ClauseOf func(breach string) string
	LevelOf  func(clause string) reports.Level
}

// ExtraPercentiles returns the percentiles that a report needs for thresholds, tables and metrics, and that not every
// report has.
func ExtraPercentiles(limits []validity.Threshold, percentiles []results.Percentile,
	metrics ...string) []results.Percentile {
	metrics = slices.Clone(metrics)
	for _, t := range limits {
		metrics = append(metrics, t.Metric)
	}
	for _, p := range percentiles {
		metrics = append(metrics, "."+p.String())
	}
	return results.ExtraPercentiles(metrics...)
}

// Progress holds the figures of a run at the end of a second.
type Progress struct {
	results.Second
	Run   string
	Began time.Time // time 0 of the set
	// Set is what was recorded in the second. It is valid during the call only.
	Set *measure.Set
	// Remaining is how long the measured window still lasts, negative if that depends on the target.
	Remaining time.Duration
	Errors    int64 // so far
	// Op is the command that has to succeed for an arrival to count.
	Op string
	// Jobs is the account so far.
	Jobs results.LoadJobs
	// Disruption is what is being done to the target on purpose, as in "pause for 5s"; empty if nothing is.
	Disruption string
}

// Result is the result of a run.
type Result struct {
	Report *results.Load
	Total  *measure.Set // all that was measured; nil if nothing was
	// History is what was recorded, to be saved; nil without Config.RecordHistory.
	History *history.History
	// Examination is what the examination of RecordHistory found.
	Examination history.Report
}

// NewRunName returns a name for a run that no other has.
func NewRunName() string { return strings.ToLower(rand.Text()[:8]) }

// Ops returns the kinds of commands of a load, as reports and thresholds name them, in the order of tables.
func Ops() []string {
	var names []string
	for _, op := range measure.Ops() {
		names = append(names, string(op))
	}
	return names
}

// Connections returns how many connections a workload has open at a time, at most.
func Connections(w *plan.Workload) int {
	full := w.WithDefaults()
	each := 1
	if full.Topology.Kind == plan.Pool {
		each = full.Topology.Fetchers + full.Topology.Reporters + 1
	}
	return full.Producers + full.Consumers*each + full.Connections + full.Observers + client.Helpers(&full)
}
