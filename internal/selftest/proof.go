package selftest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/peer"
)

// Proof plays checks on servers with faults, which they have to find, and on conforming
// servers. Checks must be set.
type Proof struct {
	Fixture    Fixture
	Checks     []conformance.Check
	Skipped    []conformance.Check // of the suite, and not played
	Faults     []peer.Fault
	Variations []peer.Variation

	// Sample has a fault be played until a check finds it, and each variation, but not the conforming server, with a
	// sixteenth of the checks, and none of the slow ones. Variations that follow each other have others.
	Sample bool
	OneOf  int // of so many faults and variations one was picked, see Thin; zero: all are played

	Timeout  time.Duration // on servers with faults; see scenarios.Player
	Patience time.Duration // on servers with faults; see scenarios.Player
	Parallel int           // faults at a time, and a quarter as many variations, which need more CPU time

	Progress func(done, total int, what string) // is called when a play is over; calls do not overlap
}

// Outcome is the result of a proof.
type Outcome struct {
	Matrix      Matrix
	FalseAlarms map[string]map[string][]string // findings on conforming servers, by variation and check
	Plays       int                            // of a check on a fault, without an error
	Varied      int                            // variations, without an error
	Again       int                            // faults and variations that were tried again
	Errors      []error                        // internal ones
	Stopped     bool                           // it was interrupted
}

func newOutcome(p *conformance.Protocol) *Outcome {
	out := &Outcome{FalseAlarms: map[string]map[string][]string{}}
	out.Matrix.Protocol = p
	return out
}

// Thin leaves every nth fault and variation, and the conforming server.
func (p *Proof) Thin(n int) {
	p.OneOf, p.Faults = n, every(n, p.Faults, 0)
	last := len(p.Variations) - 1
	p.Variations = append(every(n, p.Variations[:last], 0), p.Variations[last])
}

// Run blocks until everything was played, or ctx is done: then it ends early.
func (p *Proof) Run(ctx context.Context) *Outcome {
	r := &proofRun{proof: p, out: newOutcome(p.Fixture.peer().Protocol), total: p.Size()}
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

// tasks returns the plays of the proof.
func (r *proofRun) tasks(ctx context.Context) (faults, variations []task) {
	for i, v := range r.proof.Variations {
		checks := r.proof.Checks
		if r.proof.Sample && v.Name != conforming {
			checks = every(16, withoutSlow(checks), i)
		}
		variations = append(variations, task{v.Name, func() error { return r.vary(ctx, v, checks) }})
	}
	for _, f := range r.proof.Faults {
		if r.proof.Sample {
			faults = append(faults, task{f.Name, func() error { return r.find(ctx, f) }})
			continue
		}
		for _, s := range r.proof.deciding(f) {
			faults = append(faults, r.playing(ctx, f, s))
		}
	}
	return faults, variations
}

// deciding returns the checks that decide one of the clauses of a fault: first those that decide the one that it breaks
// whenever a check looks at it, and of these the ones that wait least.
func (p *Proof) deciding(fault peer.Fault) []conformance.Check {
	rank := func(c conformance.Check) time.Duration {
		if !slices.Contains(clauses(c), fault.Clauses[0]) {
			return time.Hour
		}
		return c.Describe().Wait
	}
	all := slices.DeleteFunc(slices.Clone(p.Checks), func(c conformance.Check) bool { return !names(fault, c) })
	slices.SortStableFunc(all, func(a, b conformance.Check) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

// every returns every nth of a list; for the next i they are others.
func every[T any](n int, all []T, i int) (some []T) {
	for j, one := range all {
		if (i+j)%n == 0 {
			some = append(some, one)
		}
	}
	return some
}

// slowChecks are the checks that take most of the time: thousands of jobs, megabytes.
var slowChecks = []string{
	"framing/long-lines", "jobs/delivered-once", "push/a-thousand-jobs", "push/ten-thousand-jobs", "retry/own-number",
}

func withoutSlow(checks []conformance.Check) []conformance.Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c conformance.Check) bool {
		return slices.Contains(slowChecks, c.Describe().ID)
	})
}

// Size returns the number of steps that Progress counts.
func (p *Proof) Size() int {
	faults, variations := (&proofRun{proof: p}).tasks(context.Background())
	return len(faults) + len(variations)
}

// task is one play.
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

// all runs the tasks, up to width at a time.
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

// playing returns play as a task.
func (r *proofRun) playing(ctx context.Context, fault peer.Fault, check conformance.Check) task {
	name := fault.Name + ": " + check.Describe().ID
	return task{name, func() error { return r.play(ctx, fault, check) }}
}

// play plays a check on servers with a fault.
func (r *proofRun) play(ctx context.Context, fault peer.Fault, check conformance.Check) error {
	result, err := r.proof.Fixture.Play(ctx, fault, check, func(runner *run.Runner) {
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

// find plays checks on servers with a fault until one finds it: those that decide its first clause, if there are any,
// a few side by side, because they mostly wait.
func (r *proofRun) find(ctx context.Context, fault peer.Fault) error {
	all, decides := r.proof.deciding(fault), func(c conformance.Check) bool {
		return slices.Contains(clauses(c), fault.Clauses[0])
	}
	if len(all) > 0 && decides(all[0]) {
		all = slices.DeleteFunc(all, func(c conformance.Check) bool { return !decides(c) })
	}
	for width := 1; len(all) > 0 && !r.out.Matrix.found(fault); width = sideBySide {
		errs, some := make([]error, min(width, len(all))), sync.WaitGroup{}
		for i := range errs {
			check := all[i]
			some.Go(func() { errs[i] = r.play(ctx, fault, check) })
		}
		some.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		all = all[len(errs):]
	}
	return nil
}

// sideBySide is how many checks look for a fault at once that the first one has not found.
const sideBySide = 8

// vary plays checks on conforming servers.
func (r *proofRun) vary(ctx context.Context, variation peer.Variation, checks []conformance.Check) error {
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
		if found := falseAlarms(variation, check); len(found) > 0 {
			wrong[check.ID] = found
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Varied++
	if len(wrong) > 0 {
		r.out.FalseAlarms[variation.Name] = wrong
	} else {
		delete(r.out.FalseAlarms, variation.Name)
	}
	return nil
}

// again plays once more, a few at a time, what is not as expected: this machine may have
// been too busy. The second result counts.
func (r *proofRun) again(ctx context.Context) {
	var tasks []task
	for _, row := range r.out.Matrix.Rows() {
		if row.Missing() == "" && len(row.Unexpected) == 0 {
			continue
		}
		r.out.Again++
		r.out.Matrix.forget(row)
		for _, s := range r.proof.deciding(row.Fault) {
			r.out.Plays--
			tasks = append(tasks, r.playing(ctx, row.Fault, s))
		}
	}
	for _, v := range r.proof.Variations {
		wrong := r.out.FalseAlarms[v.Name]
		if len(wrong) == 0 {
			continue
		}
		r.out.Again++
		r.out.Varied--
		checks := slices.DeleteFunc(slices.Clone(r.proof.Checks), func(c conformance.Check) bool {
			return wrong[c.Describe().ID] == nil
		})
		tasks = append(tasks, task{v.Name, func() error { return r.vary(ctx, v, checks) }})
	}
	r.total += len(tasks)
	r.all(ctx, tasks, r.proof.Parallel/16)
}

// note keeps an error, unless the interruption is its cause.
func (r *proofRun) note(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		r.out.Errors = append(r.out.Errors, err)
	}
}
