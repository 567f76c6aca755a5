package load

import (
	"context"
	"crypto/rand"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/load/health"
	"github.com/fwpsuite/fwp/load/judge"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

// Config is one run. Workload, Run, Dial and Protocol must be set.
type Config struct {
	Workload workload.Workload // passes its Check; of a segment: what Workload.Segment returns
	Seed     uint64            // of all that is random
	Segment  workload.Segment  // of the load that the run puts on the server; zero: all of it
	Run      string            // names queues, jobs and workers; see NewRun

	Dial     func(context.Context) (net.Conn, error)
	Protocol protocol.Protocol // of the server, such as fwpspeaker.New
	// Tap, if set, is [client.Config.Tap]; it is safe for concurrent use.
	Tap      func(worker string) client.Tap
	Overload client.Overload
	Pace     float64 // connections opened a second; 0 is 1,000
	Loops    int     // of the engine; 0 is 1
	// KeepProcessors is [engine.Config.KeepProcessors].
	KeepProcessors bool
	Coarse         bool // for virtual time: see engine.Config

	// Timeout is how long a reply may take before its connection is given up; 0 is client.DefaultPatience. It
	// must be longer than a fetch may block. A phase without an end of its own is given up when nothing was answered for
	// as long, or for 10 s if that is longer or Timeout is 0.
	Timeout time.Duration

	// End is when emptying queues and closing connections is given up, whatever is left; zero: when a run without an End
	// gives up.
	End time.Time

	// Addresses are those of the server, for the epoll engine (Linux, no TLS). Without any the engine is the
	// portable one, which opens all its connections with Dial.
	Addresses []netip.AddrPort

	// DialBack and BackAddresses are the same for workers, where these connect to another port of the server.
	DialBack      func(context.Context) (net.Conn, error)
	BackAddresses []netip.AddrPort

	// Start, if set, is called when all connections are open and the prefill is done. It blocks until it is known when
	// the load begins, and returns that moment, or why the load does not begin. Its context ends with that of the run, and
	// when the server is lost meanwhile.
	Start func(context.Context) (time.Time, error)

	// Crossing, if set, says that jobs cross between this run and others, which load the same queues at the same time.
	Crossing *Crossing

	// Watch, if set, is called at the end of every second, one call at a time. A call that takes long delays the next.
	Watch func(Moment)

	// History makes Run record every push, fetch, ack and fail, up to HistoryLimit of them, and examine them: see Result.
	History bool

	// Schedule is what is done to the target on purpose while the load goes on, by Disrupt, which must be set if there is
	// anything. Times count from the first arrival. A worker's reservation (reserve_for) should be short then: the drain
	// waits until every job that may be in doubt has had the time to come back, if the workload's Drain is long enough.
	Schedule []disrupt.Disruption
	Disrupt  disrupt.Target

	// ServerUsage, if set, returns what the server uses, and whether it is known. It is called each second.
	ServerUsage func() (health.Usage, bool)

	Version    string             // of the tool, for the report
	Target     results.LoadTarget // URL and how it was chosen; Run adds the greeting and what the server says about itself
	Thresholds []judge.Threshold

	// Findings, if set, is called once when all connections are closed, and returns what somebody else has found, with
	// clauses. What is about a clause that the run has found broken itself is left out.
	Findings func() []results.LoadFinding

	// ClauseOf, if set, returns the clause of a breach by its name (results.LoadFinding.Breach), for the report, and
	// LevelOf the level of a clause.
	ClauseOf func(breach string) string
	LevelOf  func(clause string) reports.Level
}

// Crossing is what a run has in common with others between which jobs cross: what one pushes, any may fetch. Its
// account of the jobs is a part then, of which JoinCrossed makes the whole. The seeds must be the same, and each needs
// a Start, which is the same moment for all: the times in jobs count from the first arrival.
type Crossing struct {
	// Run is the name of the queues and jobs of all. Config.Run is unlike that of the others: it names the workers.
	Run string
	// Pushed is called once, when every push of this run has been answered. It blocks until that is so for every run, or
	// until its context is done: before that no worker may take its queues for empty.
	Pushed func(context.Context) error
}

// Moment holds the figures of a run at the end of a second.
type Moment struct {
	results.Second
	Run   string
	Began time.Time // time 0 of the set
	// Set is what was recorded in the second. It is valid during the call only.
	Set *measure.Set
	// Left is how long the measured window still lasts, negative if that depends on the target.
	Left   time.Duration
	Errors int64 // so far
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
	// History is what was recorded, to be saved; nil without Config.History.
	History *history.History
	// Judged is what the examination of History found.
	Judged history.Report
	// Account is the part of the account of the jobs that a run with a Crossing has, for JoinCrossed; else nil.
	Account []byte
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
