package upgrade

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/reports"
)

// Stage is a server of a run.
type Stage struct {
	Name string // for people: "faktory 1.9.0"
	// Start has it serve on the data that are there, and returns where. It is an error if it cannot be told from the
	// server before.
	Start func(ctx context.Context) (RunningServer, error)
	// Stop ends it.
	Stop func(ctx context.Context) error
}

// Run goes from server to server. Stages must be set.
type Run struct {
	Stages   []Stage
	Filling  Filling
	StopMode string // how they are stopped, for people
	IsKilled bool   // they are not stopped in order
	// RollsBack goes the same way back.
	RollsBack         bool
	Timeout, Patience time.Duration
	Log               func(format string, args ...any)
}

// Step is the way from one server to the next one.
type Step struct {
	reports.UpgradeStep // its States are set by Result.Report

	Jobs  map[State]int
	Facts []Fact // none is FateKept
	// IsDone is set if all jobs were asked for.
	IsDone  bool
	number  int
	hasJobs map[State]bool // of which the next server has jobs
	// isLost are the states of which all jobs are lost; unfound those of them that another version does not find.
	isLost, isUnfound map[State]bool
}

// Result is what a run has found.
type Result struct {
	Steps    []Step
	History  *history.History
	IsKilled bool
	StopMode string
	Record   string // the file that the history, or the report, is written to; empty: none
	Err      error  // why not all was done
}

// walk is a run that goes on.
type walk struct {
	*Run

	recorder *history.Recorder
	operator *history.Client
	jobs     Inventory // of all fills
	result   Result
}

// Do does the run. With an Err the result has what was found until then. The last server goes on.
func (r *Run) Do(ctx context.Context) *Result {
	w := &walk{Run: r, recorder: history.NewRecorder()}
	w.operator = w.recorder.Client(0, "")
	w.result.IsKilled, w.result.StopMode = r.IsKilled, r.StopMode
	w.result.Err = w.walk(ctx)
	w.result.History = w.recorder.History()
	return &w.result
}

func (w *walk) walk(ctx context.Context) error {
	way := slices.Clone(w.Stages)
	if w.RollsBack {
		for _, s := range slices.Backward(w.Stages[:len(w.Stages)-1]) {
			way = append(way, s)
		}
	}
	site, err := way[0].Start(ctx)
	if err != nil {
		return err
	}
	w.complete(&site, 0)
	for i := 1; i < len(way); i++ {
		s := Step{number: i, UpgradeStep: reports.UpgradeStep{
			From: cmp.Or(site.Name, way[i-1].Name), To: way[i].Name, IsDowngrade: i >= len(w.Stages),
		}}
		site, err = w.step(ctx, &s, site, way[i-1].Stop, way[i])
		w.result.Steps = append(w.result.Steps, s)
		if err != nil {
			return err
		}
	}
	return nil
}

// complete fills in what a site has of the run.
func (w *walk) complete(s *RunningServer, step int) {
	s.Filling, s.Step, s.History, s.Timeout, s.Patience = w.Filling, step, w.recorder, w.Timeout, w.Patience
	s.ReadyTime = time.Now()
}

// step goes from a server to the next one.
func (w *walk) step(ctx context.Context, s *Step, from RunningServer, stop func(context.Context) error,
	to Stage) (RunningServer, error) {
	n := s.number
	w.Log("step %d: filling %s", n, s.From)
	from.Step, from.Tell = n, func(f Fact) { w.tell(s, f) }
	fillCtx, leave := context.WithCancel(ctx)
	defer leave()
	inventory, err := Fill(fillCtx, &from)
	if err != nil {
		return from, fmt.Errorf("fill %s: %w", s.From, err)
	}
	w.Log("step %d: %s in %s; stopping it (%s), starting %s", n, text.Count(len(inventory.Jobs), "job"), s.From,
		w.StopMode, s.To)
	start := time.Now()
	if err := stop(ctx); err != nil {
		return from, fmt.Errorf("stop %s: %w", s.From, err)
	}
	leave()
	site, err := to.Start(ctx)
	if err != nil {
		return site, err
	}
	w.complete(&site, n)
	s.To, s.Differs = cmp.Or(site.Name, s.To), site.Differences
	s.Downtime = time.Since(start)
	w.recordStop(start)
	inventory.Jobs = append(slices.Clone(w.jobs.Jobs), inventory.Jobs...)
	inventory.UnclearJIDs = append(w.jobs.UnclearJIDs, inventory.UnclearJIDs...)
	w.jobs = *inventory
	s.count(inventory.Jobs)
	w.Log("step %d: asking %s for %s", n, s.To, text.Count(len(inventory.Jobs), "job"))
	site.Tell = from.Tell
	err = account(ctx, &site, inventory)
	if err != nil {
		err = fmt.Errorf("ask %s for the jobs: %w", s.To, err)
	}
	s.IsDone = err == nil
	return site, err
}

// recordStop records the stop.
func (w *walk) recordStop(start time.Time) {
	op := history.Restart
	if w.IsKilled {
		op = history.Kill
	}
	w.operator.Add(history.Event{
		Op: op, Outcome: history.OK, Call: start.Sub(w.recorder.Begin()), Return: time.Since(w.recorder.Begin()),
	})
}

// count counts the jobs of a step.
func (s *Step) count(jobs []*Job) {
	s.Jobs, s.hasJobs = map[State]int{}, map[State]bool{}
	for _, j := range jobs {
		if j.Step == s.number {
			s.Jobs[j.State]++
		}
	}
}

// tell keeps what was found of a job. One that was lost in an earlier step, and comes now, was hidden there.
func (w *walk) tell(s *Step, f Fact) {
	if f.Job != nil {
		f.State = cmp.Or(f.State, f.Job.State)
	}
	if f.Job == nil || f.Job.Step == s.number || f.Fate == FateDoubled || f.Fate == FateEarly {
		if f.Fate == FateKept {
			s.hasJobs[f.State] = true
		} else {
			s.Facts = append(s.Facts, f)
		}
		return
	}
	for i := range w.result.Steps {
		for k := range w.result.Steps[i].Facts {
			if at := &w.result.Steps[i].Facts[k]; at.Job == f.Job && at.Fate == FateLost && f.Fate != FateLost {
				at.Fate = FateHidden
				at.Actual += "; it came from " + s.To
			}
		}
	}
}

// AccountFor asks a server for the jobs of an inventory that was written down before.
func AccountFor(ctx context.Context, site *RunningServer, jobs *Inventory) *Result {
	w := &walk{Run: &Run{}, result: Result{StopMode: "by others"}}
	s := Step{number: site.Step, UpgradeStep: reports.UpgradeStep{From: "the server of the fill", To: "this one"}}
	s.count(jobs.Jobs)
	site.Tell = func(f Fact) { w.tell(&s, f) }
	w.result.Err = account(ctx, site, jobs)
	s.IsDone = w.result.Err == nil
	w.result.Steps, w.result.History = []Step{s}, site.History.History()
	return &w.result
}
