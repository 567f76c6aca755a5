package selftest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
)

// Proof plays checks on servers with faults, which they have to find, and on servers that
// are right. Checks must be set.
type Proof struct {
	Fixture    Fixture
	Checks     []conformance.Check
	Skipped    []conformance.Check // of the suite, and not played
	Faults     []fakes.Fault
	Variations []fakes.Variation // the zero Variation is the conforming server

	// NoSlow leaves out the plays of slow checks on variations.
	NoSlow bool

	Timeout  time.Duration // on servers with faults; see scenarios.Player
	Patience time.Duration // on servers with faults; see scenarios.Player
	Parallel int           // faults at a time, and a quarter as many variations, which keep a processor busier

	Progress func(done, total int, what string) // told what is over; calls do not come side by side
}

// Outcome is what a proof has shown.
type Outcome struct {
	Matrix  Matrix
	Blamed  map[string]map[string][]string // what was held against servers that are right, by variation and check
	Plays   int                            // of a check on a fault, that came to their end
	Varied  int                            // variations that were played to the end
	Again   int                            // faults and variations that had to be tried again
	Errors  []error                        // of our own
	Stopped bool                           // it was interrupted before it was over
}

// Run blocks until all has been played, or ctx is done: then it ends early.
func (p *Proof) Run(ctx context.Context) *Outcome {
	r := &proofRun{proof: p, out: &Outcome{Blamed: map[string]map[string][]string{}}, total: p.Size()}
	for _, f := range p.Faults {
		for _, s := range p.Skipped {
			if names(f, s) {
				r.out.Matrix.Leave(f, s)
			}
		}
	}
	faults, variations := r.tasks(ctx)
	var both sync.WaitGroup
	both.Go(func() { r.all(ctx, faults, r.proof.Parallel) })
	both.Go(func() { r.all(ctx, variations, r.proof.Parallel/4) })
	both.Wait()
	r.again(ctx)
	r.out.Stopped = ctx.Err() != nil
	return r.out
}

// tasks are what has to be done.
func (r *proofRun) tasks(ctx context.Context) (faults, variations []task) {
	for _, v := range r.proof.Variations {
		checks := r.proof.Checks
		if r.proof.NoSlow && v.Configure != nil {
			checks = withoutSlow(checks)
		}
		variations = append(variations, task{v.Name, func() error { return r.vary(ctx, v, checks) }})
	}
	for _, f := range r.proof.Faults {
		for _, s := range r.proof.of(f) {
			faults = append(faults, task{f.Name + ": " + s.Describe().ID, func() error { return r.play(ctx, f, s) }})
		}
	}
	return faults, variations
}

// of are the checks that decide one of the clauses of a fault.
func (p *Proof) of(fault fakes.Fault) []conformance.Check {
	return slices.DeleteFunc(slices.Clone(p.Checks), func(c conformance.Check) bool { return !names(fault, c) })
}

// slowChecks are the checks that take most of the time: thousands of jobs, megabytes.
var slowChecks = []string{"framing/long-lines", "jobs/delivered-once", "push/a-thousand-jobs", "push/ten-thousand-jobs", "retry/own-number"}

func withoutSlow(checks []conformance.Check) []conformance.Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c conformance.Check) bool { return slices.Contains(slowChecks, c.Describe().ID) })
}

// Size is the number of steps that Progress is told of.
func (p *Proof) Size() int {
	faults, variations := (&proofRun{proof: p}).tasks(context.Background())
	return len(faults) + len(variations)
}

// task is one thing to be done.
type task struct {
	name string
	do   func() error
}

// proofRun is one run of a proof.
type proofRun struct {
	proof *Proof
	mu    sync.Mutex // of what follows
	out   *Outcome
	done  int
	total int
}

// all does the tasks, some at a time.
func (r *proofRun) all(ctx context.Context, tasks []task, width int) {
	queue := make(chan task)
	var workers sync.WaitGroup
	for range max(width, 1) {
		workers.Go(func() {
			for t := range queue {
				r.end(ctx, t, t.do())
			}
		})
	}
	for _, t := range tasks {
		if ctx.Err() != nil {
			break
		}
		queue <- t
	}
	close(queue)
	workers.Wait()
}

func (r *proofRun) end(ctx context.Context, t task, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.note(ctx, fmt.Errorf("%s: %w", t.name, err))
	}
	r.done++
	if r.proof.Progress != nil {
		r.proof.Progress(r.done, r.total, t.name)
	}
}

// play plays a check on servers with a fault.
func (r *proofRun) play(ctx context.Context, fault fakes.Fault, check conformance.Check) error {
	result, err := r.proof.Fixture.Play(ctx, fault, check, func(runner *conformance.Runner) {
		runner.Timeout, runner.Patience = r.proof.Timeout, r.proof.Patience
	})
	if err != nil {
		return err
	}
	r.out.Matrix.Add(fault, check, result)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Plays++
	return nil
}

// vary plays checks on servers that are right.
func (r *proofRun) vary(ctx context.Context, variation fakes.Variation, checks []conformance.Check) error {
	report, err := r.proof.Fixture.Vary(ctx, variation, checks)
	switch {
	case err != nil:
		return err
	case report.Internal != "":
		return fmt.Errorf("play the suite: %s", report.Internal)
	case report.Interrupted:
		return ctx.Err()
	}
	wrong := map[string][]string{}
	for _, check := range report.Checks {
		if found := blamed(variation, check); len(found) > 0 {
			wrong[check.ID] = found
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Varied++
	if len(wrong) > 0 {
		r.out.Blamed[variation.Name] = wrong
	} else {
		delete(r.out.Blamed, variation.Name)
	}
	return nil
}

// again plays once more, a few at a time, what is not as it should be: this machine may
// have been too busy. What it shows then counts.
func (r *proofRun) again(ctx context.Context) {
	var tasks []task
	for _, row := range r.out.Matrix.Rows() {
		if row.Missing() == "" && len(row.Stray) == 0 {
			continue
		}
		r.out.Again++
		r.out.Matrix.forget(row)
		for _, s := range r.proof.of(row.Fault) {
			r.out.Plays--
			tasks = append(tasks, task{row.Fault.Name + ": " + s.Describe().ID, func() error { return r.play(ctx, row.Fault, s) }})
		}
	}
	for _, v := range r.proof.Variations {
		wrong := r.out.Blamed[v.Name]
		if len(wrong) == 0 {
			continue
		}
		r.out.Again++
		r.out.Varied--
		checks := slices.DeleteFunc(slices.Clone(r.proof.Checks), func(c conformance.Check) bool { return wrong[c.Describe().ID] == nil })
		tasks = append(tasks, task{v.Name, func() error { return r.vary(ctx, v, checks) }})
	}
	r.total += len(tasks)
	r.all(ctx, tasks, r.proof.Parallel/16)
}

// note keeps an error, unless it comes from the interruption.
func (r *proofRun) note(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		r.out.Errors = append(r.out.Errors, err)
	}
}
