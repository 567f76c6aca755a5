package load

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/arrivals"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/health"
	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

// How often the run looks where it is, and how long it waits for what does not depend
// on the workload.
const (
	lookEvery    = 20 * time.Millisecond
	connectLimit = 30 * time.Second // without one more connection
	refusedLimit = 3 * time.Second  // the same, after an error
	stopLimit    = 10 * time.Second // beyond the work that is still held
	goneAfter    = 5 * time.Second  // without a single connection

	manyConnections = 100 // from which on it matters how much memory each takes

	hopelessLimit = 3 * time.Second // of a server that answers nothing well: a FETCH takes 2 s
)

// Run puts the load on the server. It blocks until the queues are empty and all
// connections are closed, or until that cannot be had. When ctx is done it stops
// pushing, empties the queues, and the report says that it was interrupted.
func Run(ctx context.Context, config Config) *Result {
	r := newRun(config)
	met, err := introduce(ctx, config.Dial, config.Password)
	r.report.Target.HI, r.report.Target.Info, r.breach = met.hi, met.info, met.breach
	if err != nil {
		r.report.Took = time.Since(r.report.Started)
		if r.report.Interrupted = ctx.Err() != nil; !r.report.Interrupted {
			r.report.Unreachable = err.Error()
		}
		return &Result{Report: r.report}
	}
	r.start()
	r.phases(ctx)
	r.end()
	return &Result{Report: r.report, Total: r.total, History: r.history, Judged: r.judged}
}

// run is one run on its way.
type run struct {
	Config
	work   workload.Workload // with its defaults
	plan   *arrivals.Plan    // nil: a closed loop
	report *reports.Load

	engine    engine.Engine
	began     time.Time // of the engine
	crews     []*client.Crew
	recorders []*measure.Recorder
	recorder  *history.Recorder // nil: none
	history   *history.History
	judged    history.Report
	ledger    *ledger.Ledger
	jobs      *workload.Jobs
	sampler   *health.Sampler

	breach   *client.BreachError // before the load
	status   client.Status       // of all crews together
	hope     hope
	phase    string
	window   measure.Window // in time of the engine; zero until the load begins
	loadFrom time.Duration  // when the first arrival is due
	lastSeen time.Duration  // when there was a connection
	changed  time.Duration  // when their number was another
	nextTick time.Duration  // the end of the current second
	busy     []time.Duration

	total *measure.Set // all that was recorded since the start
}

func newRun(config Config) *run {
	r := &run{Config: config, work: config.Workload.Filled(), plan: config.Workload.Plan(config.Seed)}
	r.report = &reports.Load{
		Version: config.Version, Run: config.Run, Seed: config.Seed, Started: time.Now(),
		Target: config.Target, Machine: health.Machine(), Plan: r.planned(),
	}
	r.total = new(measure.Set)
	return r
}

// start makes the engine and the crews.
func (r *run) start() {
	build := r.Engine
	if build == nil {
		build = engine.NewPortable
	}
	r.began = time.Now()
	r.engine = build(engine.Config{Loops: r.Loops, Dial: r.Dial, Coarse: r.Coarse})
	r.sampler = health.NewSampler(r.began)
	r.ledger = ledger.New()
	r.jobs = r.Workload.Jobs(r.Run, r.Seed)
	loops := r.engine.Loops()
	shared := new(client.Shared)
	if r.History {
		r.recorder = history.NewRecorder()
	}
	for i, loop := range loops {
		recorder := measure.NewRecorder()
		r.recorders = append(r.recorders, recorder)
		config := client.Config{
			Loop: loop, Index: i, Of: len(loops), Workload: &r.Workload, Jobs: r.jobs,
			Recorder: recorder, Ledger: r.ledger, Shared: shared, Overload: r.Overload,
			Run: r.Run, Password: r.Password, PID: os.Getpid(), Began: r.began,
			ConnectRate: r.Pace / float64(len(loops)),
		}
		config.Plan = r.plan
		config.History, config.HistoryLimit = r.recorder, HistoryLimit/int64(len(loops))
		if name, err := os.Hostname(); err == nil {
			config.Hostname = name
		}
		r.crews = append(r.crews, client.NewCrew(config))
	}
	r.busy = make([]time.Duration, len(loops))
}

// each calls fn for every crew, inside its loop.
func (r *run) each(fn func(*client.Crew)) {
	for i, crew := range r.crews {
		r.engine.Do(i, func(time.Duration) { fn(crew) })
	}
}

// now is the time of the engine.
func (r *run) now() time.Duration { return time.Since(r.began) }

// phases goes through the run. Whatever ends it early, what was pushed is accounted for.
// Without all of its connections it puts no load on the server: its figures would be of
// another run, and nobody would empty the queues of the workers that are not there.
func (r *run) phases(ctx context.Context) {
	r.each((*client.Crew).Connect)
	r.enter("connect")
	r.until(ctx, r.connected)
	r.report.Connections.Asked, r.report.Connections.Opened = r.status.Wanted, r.status.Ready
	if r.status.Ready < r.status.Wanted && r.status.First != nil {
		r.report.Connections.Refused = r.status.First.Error()
	}
	if r.status.Ready >= manyConnections {
		debug.FreeOSMemory() // the stacks that greeting and hashing have made grow
	}
	if r.status.Ready >= r.status.Wanted {
		r.prefill(ctx)
		r.load(ctx)
		r.drain()
	}
	r.report.Interrupted = ctx.Err() != nil // in the drain too, which goes on all the same
	r.leave()
}

// connected says that all connections are there, or that no more will be.
func (r *run) connected() bool {
	still := r.now() - r.changed
	return r.status.Ready >= r.status.Wanted || still > connectLimit || still > refusedLimit && r.status.Errors > 0
}

// prefill has the jobs pushed that are to be there before the load.
func (r *run) prefill(ctx context.Context) {
	if r.work.Prefill == 0 {
		return
	}
	r.enter("prefill")
	r.setWindow(measure.Window{From: math.MaxInt64}) // what is pushed beforehand is not what is measured
	r.renew()
	r.each((*client.Crew).Prefill)
	r.until(ctx, func() bool { return !r.status.Pushing || r.hopeless() })
	r.noteGivenUp()
}

// noteGivenUp says of the current phase that it was given up, if it was.
func (r *run) noteGivenUp() {
	if r.hopeless() {
		r.note("", "given up: "+r.hope.dashed)
	}
}

// load begins the load and lets it go on until its window is over, its arrivals are
// used up, or the target is gone.
func (r *run) load(ctx context.Context) {
	if ctx.Err() != nil || r.hopeless() { // what was pushed before has to be fetched all the same
		r.report.Interrupted = ctx.Err() != nil
		r.each(func(c *client.Crew) { c.Start(r.now()); c.StopPushing() })
		return
	}
	r.open()
	r.renew()
	r.each(func(c *client.Crew) { c.Start(r.loadFrom) })
	if r.window.From > r.loadFrom {
		r.enter("warm-up")
		r.until(ctx, func() bool { return r.now() >= r.window.From || r.over() })
	}
	r.enter("measure")
	r.sampler.Begin()
	r.markBusy()
	r.until(ctx, r.over)
	r.shut()
	r.each((*client.Crew).StopPushing)
}

// open says when the first arrival is due, and what is measured.
func (r *run) open() {
	from, until := r.Workload.Window()
	r.loadFrom = r.now() + time.Millisecond // the same for all
	r.window = measure.Window{From: r.loadFrom + from}
	if until > 0 {
		r.window.Until = r.loadFrom + until
	}
	r.setWindow(r.window)
}

// shut ends what is measured.
func (r *run) shut() {
	if r.window.Until == 0 {
		r.noteGivenUp()
	}
	r.report.Measured = r.now() - r.window.From
	if r.window.Until > 0 {
		r.report.Measured = min(r.report.Measured, r.window.Until-r.window.From)
	}
	r.report.Measured = max(0, r.report.Measured) // it may have ended before
	r.window.Until = r.window.From + r.report.Measured
	r.setWindow(r.window)
	r.report.Health = r.sampler.End()
	r.report.Health.Loops = r.loopsBusy(r.report.Measured)
}

// setWindow says which commands are recorded from now on.
func (r *run) setWindow(w measure.Window) {
	for i, recorder := range r.recorders {
		r.engine.Do(i, func(time.Duration) { recorder.SetWindow(w) })
	}
}

// over says that the load has had its time, or has nothing left to do.
func (r *run) over() bool {
	if r.window.Until > 0 && r.now() >= r.window.Until || r.status.Aborted || r.gone() {
		return true
	}
	if r.window.Until == 0 && r.hopeless() {
		return true
	}
	switch {
	case r.status.Pushing:
		return false
	case r.plan != nil || r.work.JobLimit > 0:
		return true // all arrivals have been answered
	case r.work.Prefill > 0 && r.work.Producers == 0:
		return r.ledger.Count(false).Missing == 0 && r.status.Held == 0
	}
	return false
}

// gone says that no connection is left, for some time, of a server that had some.
func (r *run) gone() bool {
	return r.status.Wanted > 0 && r.status.Ready == 0 && r.now()-r.lastSeen > goneAfter
}

// drain has the queues emptied: a job that is accepted and does not come now is lost.
func (r *run) drain() {
	if r.ledger.Count(false).Sent == 0 {
		return // nothing went in
	}
	r.enter("drain")
	limit := r.now() + time.Duration(r.work.Drain) + r.work.Delay.Max
	patient := func() bool { return r.now() < limit && !r.gone() && !r.hopeless() }
	forever := context.Background()
	r.renew()
	r.until(forever, func() bool { return !r.status.Pushing || !patient() })
	from := r.now()
	r.renew() // a server that answers no PUSH may answer a FETCH
	r.each(func(c *client.Crew) { c.Drain(from) })
	r.until(forever, func() bool { return r.drained() || !patient() })
	jobs := &r.report.Jobs
	if jobs.Drained = r.drained(); !jobs.Drained {
		jobs.NotDrained = r.whyNotDrained()
	}
	r.note(fmt.Sprintf("empty after %v", (r.now()-from).Round(time.Millisecond)), jobs.NotDrained)
}

// drained says that every queue was seen empty and that nothing is still to come back.
// Every worker has to see it; where some have no connection, what is known of the jobs
// has to stand in for them.
func (r *run) drained() bool {
	s := &r.status
	if s.Pushing || s.Held > 0 {
		return false
	}
	if !s.Drained && (s.Ready >= s.Wanted || s.Emptied == 0 || r.ledger.Count(false).Missing > 0) {
		return false
	}
	return r.work.FailShare == 0 || r.ledger.Count(false).Waiting <= s.Repeated
}

func (r *run) whyNotDrained() string {
	counts := r.ledger.Count(false)
	switch {
	case r.gone():
		return "the target was gone"
	case r.hopeless():
		return "the drain was given up: " + r.hope.dashed
	case r.status.Held > 0:
		return fmt.Sprintf("%d jobs were still being worked on when the time for the drain was up", r.status.Held)
	case r.status.Ready < r.status.Wanted:
		return fmt.Sprintf("%d of %d connections were missing, so their queues were not emptied", r.status.Wanted-r.status.Ready, r.status.Wanted)
	case counts.Waiting > 0 && r.work.FailShare > 0:
		return fmt.Sprintf("%d jobs were still to be tried again when the time for the drain was up", counts.Waiting)
	}
	return "not every worker had found its queues empty when the time for the drain was up"
}

// leave ends the connections, in good order if the server lets us.
func (r *run) leave() {
	r.enter("close")
	limit := r.now() + stopLimit + r.work.Work.Max
	if r.hopeless() {
		limit = r.now() + hopelessLimit
	}
	r.each((*client.Crew).Stop)
	r.until(context.Background(), func() bool { return r.status.Open == 0 || r.now() > limit || r.gone() })
	if r.gone() {
		r.report.Gone = r.whyGone()
	}
	r.each((*client.Crew).Abandon)
	r.tick(r.now())
}

func (r *run) whyGone() string {
	why := "it closed all connections and took no new ones"
	if r.status.Last != nil {
		why = r.status.Last.Error()
	}
	return fmt.Sprintf("%s, %v after the start", why, r.lastSeen.Round(100*time.Millisecond))
}

// end closes what is open and completes the report.
func (r *run) end() {
	r.judgeHistory()
	_ = r.engine.Close() // it has no error
	r.report.Took = time.Since(r.report.Started)
	r.settle()
	r.settleHistory()
	r.report.Judge(r.Thresholds...)
}
