package load

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/load/wire"
)

// The interval between two reads of the status, and the limits that do not depend on the workload.
const (
	lookEvery    = 20 * time.Millisecond
	connectLimit = 30 * time.Second // without one more connection at a time
	refusedLimit = 3 * time.Second  // the same, after an error
	stopLimit    = 10 * time.Second // more than the time of the work that is still held
	stalledLimit = 3 * time.Second  // the same for a server that has stalled: a fetch takes 2 s
	goneAfter    = 5 * time.Second  // without a single connection

	// After an interrupt the drain and the end of the connections take at most so long, together with the pushes that
	// are awaited before: less than the 10 s after which many service managers kill a process.
	interruptedDrain = 6 * time.Second
	interruptedStop  = 2 * time.Second

	manyConnections = 100 // with these or more the memory of connections matters
)

// Run puts the load of config on the server. It blocks until the queues are empty and all connections are closed, or
// until it gives up waiting for that. When ctx is done it stops pushing, empties the queues, and the report has
// Interrupted set.
func Run(ctx context.Context, config Config) *Result {
	r := newRun(config)
	var err error
	if r.isTooLate() {
		l := r.report()
		validity.Evaluate(l)
		return &Result{Report: l}
	}
	if r.introduction, err = config.Protocol.Introduce(ctx, config.Dial); err != nil {
		r.figures.wasInterrupted, r.figures.unreachable = ctx.Err() != nil, err
		return &Result{Report: r.report()}
	}
	if err := r.start(); err != nil {
		r.figures.unreachable = err
		return &Result{Report: r.report()}
	}
	defer context.AfterFunc(ctx, func() { r.interrupted.Store(int64(r.now())) })()
	r.phases(ctx)
	r.examineHistory()
	_ = r.engine.Close() // it has no error
	return &Result{Report: r.report(), Total: r.figures.total, History: r.figures.history,
		Examination: r.figures.examination}
}

// startEngine makes the epoll engine if it can have addresses, and else the portable one.
func (r *run) startEngine() (err error) {
	config := engine.Config{
		Loops: r.config.Loops, Dial: r.config.Dial, CoarseTimers: r.config.CoarseTimers,
		KeepProcessors: r.config.KeepProcessors,
		Resolve:        r.config.Resolve, SpreadSources: r.work.Churn,
		DialBackend: r.config.DialBackend, ResolveBackend: r.config.ResolveBackend, OnOpen: r.config.OnOpen,
	}
	if config.Resolve == nil {
		r.engine = engine.NewPortable(config)
		return nil
	}
	r.engine, err = engine.NewEpoll(config)
	return err
}

// run is the state of one run. Its report is made from it once, at the end.
type run struct {
	config       Config
	work         plan.Workload // with its defaults
	plan         *plan.Plan    // nil: a closed loop
	startTime    time.Time
	introduction wire.Introduction

	engine          engine.Engine // nil until the introduction has succeeded
	began           time.Time     // of the engine
	shards          []*client.Shard
	recorders       []*measure.Recorder
	historyRecorder *history.Recorder // nil: none
	ledger          *ledger.Ledger
	shared          *client.SharedState
	jobs            *plan.Jobs
	sampler         *validity.Sampler
	disruptionLog   disruptionLog

	status     client.Status // of all shards together
	watchdog   watchdog
	gaps       gaps
	window     measure.Window // in time of the engine; zero until the load begins
	loadFrom   time.Duration  // when the first arrival is due
	planEnds   time.Duration  // when its plan is over
	dueAt      time.Duration  // the latest time at which arrivals waited for a client
	lastConnAt time.Duration  // when there was a connection
	isLeaving  bool           // the run ends its connections
	wasGone    bool           // until then the server was gone
	lostBefore int64          // connections
	mostReady  int            // the most connections that were ready at the same time
	lastGrowth time.Duration  // when there were more than ever before
	doubtCount doubtCount

	refusedSince time.Duration // since when every reply to an arrival of the load is a refusal; 0: the latest one was none
	nextTick     time.Duration // the end of the current second

	serverBefore validity.Usage // what the server had used at the end of the previous second

	interrupted atomic.Int64 // when the context ended, in time of the engine; 0: it has not

	figures figures
}

// figures is what the report is made from, together with the status and the ledger at the end.
type figures struct {
	total    *measure.Set // all that was recorded since the start
	phases   []results.Phase
	series   []results.Second
	heat     results.LoadHeat
	answered int64 // commands of a closed loop that were answered while the window was open
	backlog  int64 // the most arrivals that waited for a connection
	dueJobs  dueJobs

	plannedConnections, openedConnections int // connections before the load
	refusal                               error
	measured                              time.Duration // the length of the window
	usage                                 results.Health
	serverCPU                             time.Duration   // when the window began, then within it; 0: not known
	busyTimes                             []time.Duration // of each loop when the window began, then within it
	// how long what was received has waited for all loops, in the same way
	waitTime     time.Duration
	replies      int64
	isDrained    bool
	drainFailure string
	history      *history.History
	examination  history.Report

	wasInterrupted bool
	unreachable    error
	goneReason     string
	loadFrom       time.Time // when the load began; zero if it did not
	startFailure   string    // why the load did not begin, although its connections were open
	givenUp        string    // why a phase ended before its jobs were pushed
	abortReason    string    // which condition ended the load
}

func newRun(config Config) *run {
	r := &run{
		config: config, work: config.Workload.WithDefaults(), plan: config.Workload.Plan(config.Seed),
		startTime: time.Now(), figures: figures{total: new(measure.Set)},
	}
	return r
}

// start makes the engine and the shards. The error is one of this machine, such as too many open files.
func (r *run) start() error {
	r.began = time.Now()
	if err := r.startEngine(); err != nil {
		return err
	}
	r.sampler = validity.NewSampler(r.began, max(1, r.config.Loops))
	r.ledger = ledger.New()
	r.jobs = r.config.Workload.Jobs(r.config.Run, r.config.Seed)
	loops := r.engine.Loops()
	r.shared = new(client.SharedState)
	if r.config.RecordHistory {
		r.historyRecorder = history.NewRecorder()
	}
	r.disruptionLog.begin(r)
	for i, loop := range loops {
		recorder := measure.NewRecorder(measure.Ops()...)
		r.recorders = append(r.recorders, recorder)
		config := client.Config{
			Loop: loop, Index: i, Shards: len(loops), Workload: &r.config.Workload, Jobs: r.jobs,
			Recorder: recorder, Ledger: r.ledger, Shared: r.shared, Overload: r.config.Overload,
			Segment: r.config.Segment, Run: r.config.Run, Speaker: r.config.Protocol.Speaker, Tap: r.config.Tap,
			EngineStart: r.began,
			ConnectRate: r.config.Pace / float64(len(loops)), Patience: r.config.Timeout,
		}
		config.Plan, config.Disrupted = r.plan, len(r.config.Schedule) > 0
		config.History, config.MaxCalls = r.historyRecorder, cmp.Or(r.config.MaxCalls, DefaultMaxCalls)/int64(len(loops))
		r.shards = append(r.shards, client.NewShard(config))
	}
	r.figures.busyTimes = make([]time.Duration, len(loops))
	return nil
}

// eachShard calls fn for every shard, inside its loop.
func (r *run) eachShard(fn func(*client.Shard)) {
	for i, shard := range r.shards {
		r.engine.Do(i, func(time.Duration) { fn(shard) })
	}
}

// now is the time of the engine.
func (r *run) now() time.Duration { return time.Since(r.began) }

// phases goes through the run. If it ends early, all jobs that were pushed are still accounted for. Unless all
// connections are open there is no load: the figures would be those of another workload, and the queues of the missing
// workers would not be emptied.
func (r *run) phases(ctx context.Context) {
	r.eachShard((*client.Shard).Connect)
	r.enter("connect")
	r.waitUntil(ctx, r.isConnected)
	r.figures.plannedConnections, r.figures.openedConnections = r.status.Target, r.status.ReadyConns
	if r.status.ReadyConns >= manyConnections {
		debug.FreeOSMemory() // stacks that greeting and hashing have made large
	}
	if r.status.ReadyConns < r.status.Target {
		r.figures.refusal = r.status.FirstError
	} else {
		r.prefill(ctx)
		r.load(ctx)
		r.drain()
	}
	r.figures.wasInterrupted = ctx.Err() != nil // during the drain as well, which continues
	r.leave()
	if r.figures.refusal != nil && r.figures.goneReason == "" && r.refusesAll(ctx) {
		r.figures.goneReason = r.goneReason()
	}
}

// isConnected reports whether all connections are open, or no more are expected.
func (r *run) isConnected() bool {
	wait := r.now() - r.lastGrowth
	return r.status.ReadyConns >= r.status.Target || wait > connectLimit || wait > refusedLimit &&
		r.status.FirstError != nil
}

// prefill pushes the jobs that have to be in the queues before the load.
func (r *run) prefill(ctx context.Context) {
	if r.work.Prefill == 0 {
		return
	}
	r.enter("prefill")
	r.setWindow(measure.Window{From: math.MaxInt64}) // these jobs are not measured
	r.resetWatchdog()
	r.eachShard((*client.Shard).Prefill)
	r.waitUntil(ctx, func() bool { return !r.status.IsPushing || r.watchdog.hasStalled() })
	r.noteStall(0, r.work.Prefill)
}

// noteStall notes that the current phase ended by a stall, if it did: it was to push so many jobs, and the run had
// pushed some before.
func (r *run) noteStall(before, jobs int64) {
	if !r.watchdog.hasStalled() {
		return
	}
	r.note("stopped: " + r.watchdog.stall)
	r.figures.givenUp = fmt.Sprintf("stopped after %s of %s: %s", text.GroupDigits(r.ledger.Count(false).Pushed-before),
		text.Count(r.config.Segment.Share(jobs), "job"), r.watchdog.stall)
}

// load starts the load and returns when its window is over, its arrivals are used up, or the target is gone.
func (r *run) load(ctx context.Context) {
	if ctx.Err() != nil || r.watchdog.hasStalled() || !r.setStart(ctx) { // the jobs pushed so far have to be fetched
		r.eachShard(func(c *client.Shard) { c.Start(r.now()); c.StopPushing() })
		return
	}
	r.openWindow()
	r.resetWatchdog()
	r.eachShard(func(c *client.Shard) { c.Start(r.loadFrom) })
	defer r.disrupt(ctx)()
	if r.window.From > r.loadFrom {
		r.enter("warm-up")
		r.waitUntil(ctx, func() bool { return r.now() >= r.window.From || r.isOver() })
	}
	r.enter("measure")
	r.sampleDueJobs(r.now(), true)
	r.sampler.Begin()
	r.takeServerCPU()
	r.takeBusy()
	r.waitUntil(ctx, r.isOver)
	r.closeWindow()
	r.eachShard((*client.Shard).StopPushing)
}

// openWindow sets the window, from the time of the first arrival.
func (r *run) openWindow() {
	from, until := r.config.Workload.Window()
	r.window = measure.Window{From: r.loadFrom + from}
	if until > 0 {
		r.window.Until = r.loadFrom + until
	}
	if r.plan != nil {
		r.planEnds = r.loadFrom + r.plan.End()
	}
	r.figures.loadFrom = r.began.Add(r.loadFrom)
	r.setWindow(r.window)
}

// closeWindow ends the window.
func (r *run) closeWindow() {
	r.sampleDueJobs(r.now(), true)
	if r.window.Until == 0 {
		r.noteStall(r.work.Prefill, r.work.JobLimit)
	}
	until := r.now()
	if r.window.Until > 0 {
		until = min(until, r.window.Until)
	}
	if r.plan != nil {
		until = min(until, max(r.planEnds, r.dueAt))
	}
	measured := max(0, until-r.window.From) // the load may have ended during the warm-up
	r.window.Until = r.window.From + measured
	r.setWindow(r.window)
	r.figures.measured, r.figures.usage = measured, r.sampler.End()
	r.takeServerCPU()
	r.takeBusy()
}

// takeServerCPU replaces the CPU time of the server by its increase since the last call.
func (r *run) takeServerCPU() {
	if r.config.ServerUsage == nil {
		return
	}
	now, ok := r.config.ServerUsage()
	if r.figures.serverCPU = now.CPU - r.figures.serverCPU; !ok {
		r.figures.serverCPU = 0
	}
}

// takeBusy replaces how busy each loop was, and how long what was received has waited, by the increase since the last
// call.
func (r *run) takeBusy() {
	f := &r.figures
	f.waitTime, f.replies = -f.waitTime, -f.replies
	for i, before := range f.busyTimes {
		f.busyTimes[i] = r.engine.Busy(i) - before
		waited, replies := r.engine.WaitTime(i)
		f.waitTime, f.replies = f.waitTime+waited, f.replies+replies
	}
}

// setWindow sets which commands are recorded from now on.
func (r *run) setWindow(w measure.Window) {
	for i, recorder := range r.recorders {
		r.engine.Do(i, func(time.Duration) { recorder.SetWindow(w) })
	}
}

// isOver reports whether the time of the load is over, or nothing is left to do.
func (r *run) isOver() bool {
	windowIsOver := r.watchdog.hasStalled // of a load without a window
	if r.window.Until > 0 {
		windowIsOver = func() bool { return r.now() >= r.window.Until }
	}
	if windowIsOver() || r.status.IsAborted || r.figures.abortReason != "" || r.isGone() {
		return true
	}
	switch {
	case r.plan != nil && (r.status.HasDue || r.now() < r.planEnds), r.plan == nil && r.status.IsPushing:
		return false
	case r.plan != nil || r.work.JobLimit > 0:
		return true // all arrivals were taken; those in flight are awaited
	case r.work.Prefill > 0 && r.work.Producers == 0:
		return r.ledger.Count(false).Missing == 0 && r.status.HeldJobs == 0
	}
	return false
}
