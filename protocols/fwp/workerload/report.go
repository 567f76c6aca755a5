package workerload

import (
	"context"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

// tick ends a second.
func (r *run) tick() {
	now := r.now()
	s := results.Second{Phase: r.phases[len(r.phases)-1].Name}
	if r.sampler != nil {
		sample := r.sampler.Sample()
		s.CPU, s.MemoryBytes, s.Server = sample.CPU, sample.Memory, r.usageSince(now)
	}
	r.mu.Lock()
	set := r.recorder.Take(now)
	if r.addInHand(0, now); s.Server != nil && now > r.handAt {
		s.Server.InHand = (r.hand.totalSum - r.handBefore) / float64(now-r.handAt)
	}
	r.handAt, r.handBefore = now, r.hand.totalSum
	s.InFlight, s.Backlog, s.Connections = r.hand.jobs, r.account.Pushed-r.account.Delivered, r.server.Connections()
	account := r.account
	r.mu.Unlock()
	r.total.Add(set)
	if s.At, s.Length = set.From, set.Until-set.From; s.Length <= 0 {
		return
	}
	jobs := set.Done(measure.Job) + set.OutsideWindow(measure.Job)
	s.Achieved = reports.PerSecond(jobs, s.Length)
	if from := r.start(); r.isOpen && from > 0 && set.Until > from {
		s.Target = (r.plan.Expected(set.Until-from) - r.plan.Expected(max(0, set.From-from))) / s.Length.Seconds()
	}
	s.Ops, s.Flows = load.SecondFigures(set, r.Percentiles...)
	r.series = append(r.series, s)
	load.AddHeat(&r.heat, set, measure.Job)
	if r.Watch != nil {
		r.Watch(load.Progress{
			Second: s, Run: r.Run, Began: r.startTime, Set: set, Remaining: r.remaining(now), Op: string(measure.Job),
			Jobs:   account,
			Errors: r.total.Failed(measure.Job),
		})
	}
}

// remaining returns how long the window still lasts, negative if that depends on the worker.
func (r *run) remaining(now time.Duration) time.Duration {
	if r.window.Until == 0 {
		return -1
	}
	return max(0, r.window.Until-now)
}

// usageSince returns what the worker used since the tick before; nil if that is not known.
func (r *run) usageSince(now time.Duration) *results.ServerSecond {
	if r.program == nil {
		return nil
	}
	usage, ok := r.program.Usage()
	if !ok {
		return nil
	}
	before, elapsed := r.usage, now-r.usageAt
	r.usage, r.usageAt = usage, now
	r.memory = max(r.memory, usage.Memory)
	if elapsed <= 0 {
		return nil
	}
	return &results.ServerSecond{
		CPU: max(0, float64(usage.CPU-before.CPU)/float64(elapsed)), MemoryBytes: usage.Memory, Threads: usage.Threads,
	}
}

// report returns the result of the run. An error is why there was no server or no worker.
func (r *run) report(ctx context.Context, err error) *results.Load {
	r.endPhase()
	l := &results.Load{
		Head: reports.Head{
			Version: r.Version, Seed: r.Workload.Seed, StartTime: r.startTime, Took: r.now(),
			Trouble: reports.Trouble{Interrupted: ctx.Err() != nil, Internal: text.OfError(err)},
		},
		Run:     r.Run,
		Target:  results.LoadTarget{Subject: r.Subject, Chosen: r.Command},
		Machine: validity.ThisMachine(), Engine: "embedded server", Phases: r.phases, Series: r.series, Heat: r.heat,
		Health: r.health, GivenUp: r.giveUpReason, Percentiles: r.Percentiles, FailedSpans: results.FailedSpans(r.series),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.window.Until > r.window.From {
		l.Measured = r.window.Until - r.window.From
	}
	l.Plan = r.planReport()
	l.Connections = results.Connections{Planned: int(r.connCount), Opened: int(r.connCount)}
	l.Worker, l.Jobs, l.Rate = r.worker(), r.jobsReport(), r.rate(l.Measured)
	l.Health.ServerCPU = max(0, r.cpuTime)
	l.Ops, l.Flows = load.Figures(r.total)
	for i := range l.Ops {
		op := &l.Ops[i]
		op.Rate = reports.PerSecond(op.Count, l.Measured)
		for k := range op.Errors {
			op.Errors[k].Example = r.examples[op.Errors[k].Kind]
		}
	}
	l.Histograms = load.Log(r.total, r.startTime, r.Run)
	// the log was just written
	_ = load.AddPercentiles(l, load.ExtraPercentiles(r.Thresholds, r.Percentiles, r.Metrics...)...)
	validity.Evaluate(l, r.Thresholds...)
	return l
}

func (r *run) worker() *results.LoadWorker {
	w := &results.LoadWorker{
		Command: r.Command, Concurrency: r.Concurrency, InHandMax: r.hand.peak, Connections: r.maxConns,
		MemoryPeak: r.memory, Beats: r.beats, BeatGap: r.maxBeatGap,
	}
	if measured := r.window.Until - r.window.From; measured > 0 {
		w.InHand = r.hand.measuredSum / float64(measured)
	}
	for _, x := range r.workers {
		if x.beat > 0 {
			w.BeatGap = max(w.BeatGap, r.endTime-x.beat)
		}
	}
	if r.ownCount > 0 {
		w.ServerTime = r.ownTime / time.Duration(r.ownCount)
	}
	if r.giveUpReason != "" && r.program != nil {
		w.Output = r.program.Output()
	}
	return w
}

// jobsReport returns the account of the jobs.
func (r *run) jobsReport() results.LoadJobs {
	j := r.account
	j.Missing, j.HeldJobs = j.Pushed-j.Delivered, r.hand.jobs
	if j.IsDrained = j.Missing+j.HeldJobs == 0; !j.IsDrained {
		j.DrainFailure = fmt.Sprintf("the worker left %s in the queue and %s unfinished", text.Count(j.Missing, "job"),
			text.GroupDigits(j.HeldJobs))
	}
	return j
}

func (r *run) rate(measured time.Duration) results.LoadRate {
	rate := results.LoadRate{Op: string(measure.Job), Done: r.total.Carried()}
	rate.Achieved = reports.PerSecond(rate.Done, measured)
	if r.isOpen && measured > 0 {
		rate.Planned = r.plan.CountBefore(r.from+measured) - r.plan.CountBefore(r.from)
		rate.Target = (r.plan.Expected(r.from+measured) - r.plan.Expected(r.from)) / measured.Seconds()
	}
	return rate
}

// planReport returns the plan.
func (r *run) planReport() results.LoadPlan {
	p := results.LoadPlan{Words: Describe(r.Workload, r.Concurrency), IsOpenLoop: r.isOpen, Consumers: r.Concurrency}
	if r.isOpen {
		for _, s := range r.plan.Stages {
			p.Stages = append(p.Stages, results.Stage{Length: s.Length, From: s.From, To: s.To})
		}
	}
	return p
}

// Describe describes a run in one sentence.
func Describe(w plan.Workload, concurrency int) string {
	words := fmt.Sprintf("one worker, told to work %s at a time; ", text.Count(concurrency, "job"))
	from, until := w.Window()
	switch {
	case w.IsOpen():
		words += fmt.Sprintf("open loop: %v", w.Rate)
		if w.Poisson {
			words += " at random"
		}
	case w.JobLimit > 0:
		words += fmt.Sprintf("closed loop: %s, as many ready as fit", text.Count(w.JobLimit, "job"))
	default:
		words += fmt.Sprintf("closed loop: always %s ready", text.Count(defaultReady, "job"))
	}
	if until > 0 {
		words += fmt.Sprintf(", measured for %v", plan.Duration(until-from))
	}
	if from > 0 {
		words += fmt.Sprintf(" after a warm-up of %v", plan.Duration(from))
	}
	if size := w.Payload.String(); size != "0" && size != "" {
		words += ", padding " + size
	}
	if w.FailShare > 0 {
		words += fmt.Sprintf(", %.4g %% fail", 100*w.FailShare)
	}
	return words
}
