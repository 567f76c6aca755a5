package workerload

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

// Config is one run. Start, Run and Workload must be set.
type Config struct {
	// Start starts the worker, which finds its server at url, fetches from the queues, and works so many jobs at a time.
	Start func(url string, queues []string, concurrency int) (Program, error)
	// Command is how the worker is started, in words, and Subject what it is.
	Command string
	Subject reports.Subject

	Run, Version string
	// Workload says how many jobs there are, when and of what size, and which share of them fails. Of its settings those
	// in Settings count.
	Workload    plan.Workload
	Concurrency int
	Patience    time.Duration // until the first fetch
	Processors  int           // that this process may use

	Thresholds  []validity.Threshold
	Percentiles []results.Percentile
	Metrics     []string            // that the result is to have besides
	Watch       func(load.Progress) // called each second; nil: not
	// Listen opens the listener of the server; nil means a free port of 127.0.0.1.
	Listen func() (net.Listener, error)
}

// Program is a worker that was started.
type Program interface {
	// Done returns a channel that is closed when it has ended, ExitStatus how that was, and Output the last lines that it
	// printed.
	Done() <-chan struct{}
	ExitStatus() string
	Output() []string
	// Kill ends it with everything that it started.
	Kill()
	// Usage is what it and all that it started use, if that is known.
	Usage() (validity.Usage, bool)
}

// Settings returns the settings of a workload that a run of a worker knows, by their keys.
func Settings() []string {
	return []string{"rate", "poisson", "duration", "jobs", "warmup", "seed", "payload", "fail_share", "drain"}
}

// ForWorker returns a workload as a run of a worker has it: jobs that are not tried again, in one queue.
func ForWorker(w plan.Workload) plan.Workload {
	retries := 0
	w.Preset, w.Producers, w.Consumers, w.Backlog, w.Retry, w.Queues.Number = "", 1, 1, 0, &retries, 1
	if w.Duration == 0 && w.JobLimit == 0 {
		w.Duration = DefaultDuration
	}
	return w
}

// DefaultDuration is how long is measured where neither a time nor a number of jobs is given.
const DefaultDuration = plan.Duration(10 * time.Second)

// maxSilence is how long no job may be fetched or reported while some are there.
const maxSilence = 10 * time.Second

// run is a run that goes on.
type run struct {
	Config
	*watch
	okJobs, failJobs *plan.Jobs // those that succeed, and those that fail
	plan             *plan.Plan // nil: a closed loop
	program          Program
	sampler          *validity.Sampler

	phases  []results.Phase
	series  []results.Second
	heat    results.LoadHeat
	total   *measure.Set
	usage   validity.Usage // of the worker at the last tick, which was at usageAt
	usageAt time.Duration
	handAt  time.Duration // of the last tick, as handBefore: see inHand.all

	handBefore float64

	cpuTime      time.Duration // its CPU time while measuring
	memory       int64
	endTime      time.Duration
	health       results.Health
	giveUpReason string
}

// Run has the worker work jobs, and returns the result. It returns when nothing of the worker is left.
func Run(ctx context.Context, c Config) *load.Result {
	r := &run{Config: c, watch: newWatch(c.Concurrency), total: new(measure.Set)}
	r.plan = c.Workload.Plan(c.Workload.Seed)
	r.isOpen = r.plan != nil
	r.from, r.until = c.Workload.Window()
	r.okJobs, r.failJobs = jobsOf(c, "fwp.ok"), jobsOf(c, "fwp.fail")
	r.jobs, r.queues = r.okJobs, r.okJobs.Queues()
	err := r.play(ctx)
	return &load.Result{Report: r.report(ctx, err), Total: r.total}
}

func jobsOf(c Config, kind string) *plan.Jobs {
	w := c.Workload
	w.JobTypes = []string{kind}
	return w.Jobs(c.Run, w.Seed)
}

// play starts the server and the worker, and goes through the phases.
func (r *run) play(ctx context.Context) error {
	server := fakes.NewUnstarted(fakes.Config{Listen: r.Listen, Hook: r.hook})
	if err := server.TryStart(); err != nil {
		return err
	}
	defer server.Close()
	r.server = server
	sourceCtx, cancel := context.WithCancel(ctx)
	var source sync.WaitGroup
	stop := func() {
		cancel()
		source.Wait()
	}
	defer stop()
	if !r.isOpen {
		source.Go(func() { r.supply(sourceCtx) })
	}
	r.enterPhase("start")
	program, err := r.Start(server.URL(), r.queues, r.Concurrency)
	if err != nil {
		return err
	}
	defer program.Kill()
	defer func() { r.endTime = r.now() }()
	r.program, r.sampler = program, validity.NewSampler(r.startTime, max(1, r.Processors))
	if end := r.await(ctx, r.firstFetch, r.Patience, false); end != endEvent {
		r.giveUp(end)
		return nil
	}
	if r.isOpen {
		source.Go(func() { r.arrive(sourceCtx) })
	}
	if end := r.measure(ctx, stop); end != endEvent {
		r.giveUp(end)
	}
	return nil
}

// measure goes through the phases from the first fetch on. It calls stop, which waits for the source, when no more jobs
// are to be given.
func (r *run) measure(ctx context.Context, stop func()) ending {
	if r.from > 0 {
		r.enterPhase("warm-up")
		if end := r.await(ctx, nil, r.from, true); end != endTimeout {
			return end
		}
	}
	r.enterPhase("measure")
	r.sampler.Begin()
	before := r.usage.CPU
	var done <-chan struct{}
	if r.Workload.JobLimit > 0 {
		done = r.done
	}
	end := r.await(ctx, done, r.until-r.from, true)
	stop()
	if !r.isOpen && r.Workload.JobLimit == 0 {
		r.withdraw()
	}
	r.closeWindow(r.Workload.JobLimit > 0 || end != endTimeout)
	r.enterPhase("drain")
	r.health = r.sampler.End()
	r.cpuTime = r.usage.CPU - before
	if end == endTimeout || end == endEvent {
		end = r.await(ctx, r.done, time.Duration(r.Workload.WithDefaults().Drain), true)
	}
	r.tick()
	if end == endTimeout { // what is left is in the account
		return endEvent
	}
	return end
}

// ending is what ends a phase before its event; endEvent if that came.
type ending string

const (
	endEvent     ending = ""
	endTimeout   ending = "the time is up"
	endExit      ending = "the worker ended by itself"
	endInterrupt ending = "interrupted"
	endStall     ending = "no job was fetched or reported for 10s" // maxSilence
)

// await waits for an event, or for so long if limit is not 0, and ends each second. Where jobs are there, it does not
// wait for ever for the worker.
func (r *run) await(ctx context.Context, event <-chan struct{}, limit time.Duration, isWorking bool) ending {
	var timeout <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		timeout = timer.C
	}
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-event:
			return endEvent
		case <-timeout:
			return endTimeout
		case <-ctx.Done():
			return endInterrupt
		case <-r.program.Done():
			return endExit
		case <-second.C:
			if r.tick(); isWorking && r.silence() >= maxSilence {
				return endStall
			}
		}
	}
}

// giveUp sets why the run did not go to its end.
func (r *run) giveUp(end ending) {
	pushed, finished := r.jobCounts()
	words := string(end)
	switch end {
	case endInterrupt:
		return
	case endTimeout:
		words = fmt.Sprintf("the worker did not fetch within %v", r.Patience)
	case endExit:
		words += " (" + r.program.ExitStatus() + ")"
		if !isClosed(r.firstFetch) {
			words += " before it fetched a job"
		}
	}
	if isClosed(r.firstFetch) {
		planned := max(r.Workload.JobLimit, pushed) // the worker may end before all jobs are pushed
		words = fmt.Sprintf("stopped after %s of %s: %s", text.GroupDigits(finished), text.Count(planned, "job"), words)
	}
	if lines := r.program.Output(); len(lines) > 0 {
		words += "; it printed: " + strings.TrimSpace(lines[len(lines)-1])
	}
	r.giveUpReason = words
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// enterPhase begins a phase. The second ends with the one before.
func (r *run) enterPhase(name string) {
	if len(r.phases) > 0 {
		r.tick()
	}
	r.endPhase()
	r.phases = append(r.phases, results.Phase{Name: name, From: r.now()})
}

func (r *run) endPhase() {
	if n := len(r.phases); n > 0 {
		r.phases[n-1].Took = r.now() - r.phases[n-1].From
	}
}
