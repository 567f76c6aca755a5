package selftest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/reports"
)

// Proof plays checks on servers and clients with faults, which they have to find, and on conforming ones.
type Proof struct {
	Parts []Part

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

// Thin leaves every nth fault and variation, and what conforms.
func (p *Proof) Thin(n int) {
	p.OneOf = n
	for i := range p.Parts {
		part := &p.Parts[i]
		last := len(part.Variations) - 1
		part.Faults = every(n, part.Faults, 0)
		part.Variations = append(every(n, part.Variations[:last], 0), part.Variations[last])
	}
}

// Counts returns how many faults, variations and skipped checks there are, the latter of parts with a fault.
func (p *Proof) Counts() (faults, variations, skipped int) {
	for _, part := range p.Parts {
		faults += len(part.Faults)
		variations += len(part.Variations)
		if len(part.Faults) > 0 {
			skipped += len(part.Skipped)
		}
	}
	return faults, variations, skipped
}

// Run blocks until everything was played, or ctx is done: then it ends early.
func (p *Proof) Run(ctx context.Context) *Outcome {
	r := &proofRun{proof: p, out: &Outcome{FalseAlarms: map[string]map[string][]string{}}, total: p.Size()}
	r.out.Matrix.Protocol = p.Parts[0].Fixture.peer().Protocol
	for _, part := range p.Parts {
		for _, f := range part.Faults {
			for _, s := range part.Skipped {
				if names(f, s) || !part.apart() {
					r.out.Matrix.Leave(f, s)
				}
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
	for i := range r.proof.Parts {
		part := &r.proof.Parts[i]
		variations = append(variations, r.varying(ctx, part)...)
		for _, f := range part.Faults {
			if r.proof.Sample && part.apart() {
				faults = append(faults, task{f.Name, func() error { return r.find(ctx, part, f) }})
				continue
			}
			faults = append(faults, r.playing(ctx, part, f, r.proof.Sample)...)
		}
	}
	return faults, variations
}

// varying returns the plays on what conforms. Those of a client mostly wait: a sample has them all.
func (r *proofRun) varying(ctx context.Context, part *Part) (tasks []task) {
	for i, v := range part.Variations {
		checks := part.Checks
		if r.proof.Sample && v.Name != conforming && part.Fixture.Client == nil {
			checks = every(16, withoutSlow(checks), i)
		}
		tasks = append(tasks, task{v.Name, func() error { return r.vary(ctx, part, v, checks) }})
	}
	return tasks
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

// sampleTime is how long a sample plays on one fault at most, or on a client with a variation: some of them wait for
// minutes.
const sampleTime = 25 * time.Second

// timedOut reports whether an error is that of such a bound, and not of the interruption of the proof.
func timedOut(ctx context.Context, err error) bool {
	return errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
}

// playing returns the plays of the checks that decide a clause of a fault, or of all checks where they share servers.
// The latter may end with the first finding.
func (r *proofRun) playing(ctx context.Context, part *Part, fault peer.Fault, first bool) (tasks []task) {
	if !part.apart() {
		return []task{{fault.Name, func() error { return r.playAll(ctx, part, fault, first) }}}
	}
	for _, check := range part.deciding(fault) {
		name := fault.Name + ": " + check.Describe().ID
		tasks = append(tasks, task{name, func() error { return r.play(ctx, part, fault, check) }})
	}
	return tasks
}

// playAll plays all checks on servers, or a client, with a fault: rules, and the law, may find it in any.
func (r *proofRun) playAll(ctx context.Context, part *Part, fault peer.Fault, first bool) error {
	limited, cancel := ctx, func() {}
	if first {
		limited, cancel = context.WithTimeout(ctx, sampleTime)
	}
	defer cancel()
	report, err := part.Fixture.Report(limited, []peer.Fault{fault}, part.Checks, func(runner *run.Runner) {
		runner.Timeout, runner.Patience, runner.FailFast = r.proof.Timeout, r.proof.Patience, first
	})
	switch {
	case timedOut(ctx, err):
		r.out.Matrix.Leave(fault, part.Checks[0])
		if report == nil {
			return nil
		}
	case err != nil:
		return err
	}
	r.out.Matrix.AddReport(fault, part.Checks, report)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Plays += len(part.Checks)
	return nil
}

// play plays a check on servers, or a client, with a fault.
func (r *proofRun) play(ctx context.Context, part *Part, fault peer.Fault, check conformance.Check) error {
	result, err := part.Fixture.Play(ctx, []peer.Fault{fault}, check, func(runner *run.Runner) {
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
func (r *proofRun) find(ctx context.Context, part *Part, fault peer.Fault) error {
	all, decides := part.deciding(fault), func(c conformance.Check) bool {
		return slices.Contains(clauses(c), fault.Clauses[0])
	}
	if len(all) > 0 && decides(all[0]) {
		all = slices.DeleteFunc(all, func(c conformance.Check) bool { return !decides(c) })
	}
	for width := 1; len(all) > 0 && !r.out.Matrix.found(fault); width = sideBySide {
		errs, some := make([]error, min(width, len(all))), sync.WaitGroup{}
		for i := range errs {
			check := all[i]
			some.Go(func() { errs[i] = r.play(ctx, part, fault, check) })
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

// broken leaves the checks of a report that found something: it ended before the others did.
func broken(report *reports.Report) {
	report.Checks = slices.DeleteFunc(report.Checks, func(c reports.Check) bool { return !c.Verdict.Breach() })
	for i := range report.Checks {
		c := &report.Checks[i]
		c.Clauses = slices.DeleteFunc(c.Clauses, func(cv reports.ClauseVerdict) bool { return !cv.Verdict.Breach() })
	}
}

// vary plays checks on conforming servers, or a conforming client.
func (r *proofRun) vary(
	ctx context.Context, part *Part, variation peer.Variation, checks []conformance.Check,
) error {
	limited, cancel := ctx, func() {}
	if r.proof.Sample && part.Fixture.Client != nil {
		limited, cancel = context.WithTimeout(ctx, sampleTime)
	}
	defer cancel()
	report, err := part.Fixture.Vary(limited, variation, checks)
	switch {
	case timedOut(ctx, err) && report != nil:
		broken(report)
	case timedOut(ctx, err):
		report = &reports.Report{}
	case err != nil:
		return err
	case report.Interrupted:
		return ctx.Err()
	}
	wrong := part.Fixture.falseAlarms(variation, report)
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
	for i := range r.proof.Parts {
		tasks = append(tasks, r.againOf(ctx, &r.proof.Parts[i])...)
	}
	r.total += len(tasks)
	r.all(ctx, tasks, r.proof.Parallel/16)
}

// againOf returns the plays of a part.
func (r *proofRun) againOf(ctx context.Context, part *Part) (tasks []task) {
	for _, fault := range part.Faults {
		row := r.out.Matrix.rows[fault.Name]
		if row == nil || row.Missing() == "" && len(row.Unexpected) == 0 {
			continue
		}
		r.out.Again++
		r.out.Matrix.forget(row)
		again := r.playing(ctx, part, fault, false)
		r.out.Plays -= len(again)
		if !part.apart() {
			r.out.Plays -= len(part.Checks) - 1
		}
		tasks = append(tasks, again...)
	}
	for _, v := range part.Variations {
		wrong := r.out.FalseAlarms[v.Name]
		if len(wrong) == 0 {
			continue
		}
		r.out.Again++
		r.out.Varied--
		checks := slices.DeleteFunc(slices.Clone(part.Checks), func(c conformance.Check) bool {
			return wrong[c.Describe().ID] == nil
		})
		tasks = append(tasks, task{v.Name, func() error { return r.vary(ctx, part, v, checks) }})
	}
	return tasks
}

// note keeps an error, unless the interruption is its cause.
func (r *proofRun) note(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		r.out.Errors = append(r.out.Errors, err)
	}
}
