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
		s.CPU, s.MemoryBytes, s.Server = sample.CPU, sample.Memory, r.usedSince(now)
	}
	r.mu.Lock()
	set := r.recorder.Take(now)
	if r.hold(0, now); s.Server != nil && now > r.handAt {
		s.Server.InHand = (r.hand.all - r.handBefore) / float64(now-r.handAt)
	}
	r.handAt, r.handBefore = now, r.hand.all
	s.InFlight, s.Backlog, s.Connections = r.hand.now, r.account.Pushed-r.account.Delivered, r.server.Connections()
	account := r.account
	r.mu.Unlock()
	r.total.Add(set)
	if s.At, s.Over = set.From, set.Until-set.From; s.Over <= 0 {
		return
	}
	finished := set.Done(measure.Job) + set.Aside(measure.Job)
	s.Achieved = reports.PerSecond(finished, s.Over)
	if from := r.start(); r.open && from > 0 && set.Until > from {
		s.Target = (r.plan.Due(set.Until-from) - r.plan.Due(max(0, set.From-from))) / s.Over.Seconds()
	}
	s.Ops, s.Flows = load.SecondFigures(set, r.Percentiles...)
	r.series = append(r.series, s)
	load.AddHeat(&r.heat, set, measure.Job)
	if r.Watch != nil {
		r.Watch(load.Moment{
			Second: s, Run: r.Run, Began: r.began, Set: set, Left: r.left(now), Op: string(measure.Job), Jobs: account,
			Errors: r.total.Failed(measure.Job),
		})
	}
}

// left returns how long the window still lasts, negative if that depends on the worker.
func (r *run) left(now time.Duration) time.Duration {
	if r.window.Until == 0 {
		return -1
	}
	return max(0, r.window.Until-now)
}

// usedSince returns what the worker used since the tick before; nil if that is not known.
func (r *run) usedSince(now time.Duration) *results.ServerSecond {
	if r.program == nil {
		return nil
	}
	used, known := r.program.Usage()
	if !known {
		return nil
	}
	before, over := r.usage, now-r.usageAt
	r.usage, r.usageAt = used, now
	r.memory = max(r.memory, used.Memory)
	if over <= 0 {
		return nil
	}
	return &results.ServerSecond{
		CPU: max(0, float64(used.CPU-before.CPU)/float64(over)), MemoryBytes: used.Memory, Threads: used.Threads,
	}
}

// report returns the result of the run. An error is why there was no server or no worker.
func (r *run) report(ctx context.Context, err error) *results.Load {
	r.endPhase()
	l := &results.Load{
		Head: reports.Head{
			Version: r.Version, Seed: r.Workload.Seed, Started: r.began, Took: r.now(),
			Trouble: reports.Trouble{Interrupted: ctx.Err() != nil, Internal: text.OfError(err)},
		},
		Run:     r.Run,
		Target:  results.LoadTarget{Subject: r.Subject, Chosen: r.Command},
		Machine: validity.ThisMachine(), Engine: "embedded server", Phases: r.phases, Series: r.series, Heat: r.heat,
		Health: r.health, GivenUp: r.givenUp, Percentiles: r.Percentiles, Failed: results.FailedSpans(r.series),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.window.Until > r.window.From {
		l.Measured = r.window.Until - r.window.From
	}
	l.Plan = r.planned()
	l.Connections = results.Connections{Planned: int(r.opened), Opened: int(r.opened)}
	l.Worker, l.Jobs, l.Rate = r.worker(), r.jobsReport(), r.rate(l.Measured)
	l.Health.ServerCPU = max(0, r.used)
	l.Ops, l.Flows = load.Figures(r.total)
	for i := range l.Ops {
		op := &l.Ops[i]
		op.Rate = reports.PerSecond(op.Count, l.Measured)
		for k := range op.Errors {
			op.Errors[k].Example = r.example[op.Errors[k].Kind]
		}
	}
	l.Histograms = load.Log(r.total, r.began, r.Run)
	_ = load.AddPercentiles(l, load.Wanted(r.Thresholds, r.Percentiles, r.Metrics...)...) // the log was just written
	validity.Evaluate(l, r.Thresholds...)
	return l
}

func (r *run) worker() *results.LoadWorker {
	w := &results.LoadWorker{
		Command: r.Command, Concurrency: r.Concurrency, InHandMost: r.hand.most, Connections: r.most,
		MemoryPeak: r.memory, Beats: r.beats, BeatGap: r.longest,
	}
	if over := r.window.Until - r.window.From; over > 0 {
		w.InHand = r.hand.sum / float64(over)
	}
	for _, x := range r.workers {
		if x.beat > 0 {
			w.BeatGap = max(w.BeatGap, r.ended-x.beat)
		}
	}
	if r.owned > 0 {
		w.ServerOwn = r.own / time.Duration(r.owned)
	}
	if r.givenUp != "" && r.program != nil {
		w.Output = r.program.Output()
	}
	return w
}

// jobsReport returns the account of the jobs.
func (r *run) jobsReport() results.LoadJobs {
	j := r.account
	j.Missing, j.Held = j.Pushed-j.Delivered, r.hand.now
	if j.Drained = j.Missing+j.Held == 0; !j.Drained {
		j.NotDrained = fmt.Sprintf("the worker left %s in the queue and %s unfinished", text.Count(j.Missing, "job"),
			text.Grouped(j.Held))
	}
	return j
}

func (r *run) rate(measured time.Duration) results.LoadRate {
	rate := results.LoadRate{Op: string(measure.Job), Done: r.total.Carried()}
	rate.Achieved = reports.PerSecond(rate.Done, measured)
	if r.open && measured > 0 {
		rate.Planned = r.plan.Before(r.from+measured) - r.plan.Before(r.from)
		rate.Target = (r.plan.Due(r.from+measured) - r.plan.Due(r.from)) / measured.Seconds()
	}
	return rate
}

// planned returns the plan.
func (r *run) planned() results.LoadPlan {
	p := results.LoadPlan{Words: Describe(r.Workload, r.Concurrency), Open: r.open, Consumers: r.Concurrency}
	if r.open {
		for _, s := range r.plan.Stages {
			p.Stages = append(p.Stages, results.Stage{Over: s.Over, From: s.From, To: s.To})
		}
	}
	return p
}

// Describe describes a run in one sentence.
func Describe(w plan.Workload, concurrency int) string {
	words := fmt.Sprintf("one worker, told to work %s at a time; ", text.Count(concurrency, "job"))
	from, until := w.Window()
	switch {
	case w.Open():
		words += fmt.Sprintf("open loop: %v", w.Rate)
		if w.Poisson {
			words += " at random"
		}
	case w.JobLimit > 0:
		words += fmt.Sprintf("closed loop: %s, as many ready as fit", text.Count(w.JobLimit, "job"))
	default:
		words += fmt.Sprintf("closed loop: always %s ready", text.Count(usualReady, "job"))
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
